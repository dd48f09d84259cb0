import { FUNCTIONS } from "../expression/functions.ts";

/** The closed table of expression functions, as `ambit explain functions` prints it. */
export function functionsText(json: boolean): string {
  if (json) {
    const rows = FUNCTIONS.map(({ name, group, forms, signature, doc }) => ({ name, group, forms, signature, doc }));
    return `${JSON.stringify(rows)}\n`;
  }
  const width = Math.max(...FUNCTIONS.map((row) => row.signature.length));
  const lines: string[] = [];
  let group = "";
  for (const row of FUNCTIONS) {
    if (row.group !== group) {
      if (group !== "") lines.push("");
      group = row.group;
      lines.push(group);
    }
    lines.push(`  ${row.signature.padEnd(width)}  ${row.doc}`);
  }
  return `${lines.join("\n")}\n`;
}
