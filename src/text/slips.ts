import type { Slip } from "./prescan.ts";

const LONGEST_LINE = 200;

/** What belongs in the place of a slip; null where that cannot be said of the stretch alone. */
export function fixOfSlip(text: string, slip: Slip): string | null {
  if (slip.code !== "yaml.code_line" || slip.flow) return put(text, slip);
  const code = oneLine(text, slip);
  // Whether a comment was meant for the code or for the file nobody knows.
  if (/\s#/.test(code)) return null;
  return `|\n${" ".repeat(indentOf(text, slip.start) + 2)}${code}`;
}

/** The words for a slip: what is wrong, and the line put right. */
export function describeSlip(text: string, slip: Slip, all: readonly Slip[]): { message: string; help: string } {
  const value = oneLine(text, slip);
  const line = repaired(text, slip, all);
  switch (slip.code) {
    case "yaml.unquoted_expression":
      return {
        message: "An expression without quotes is a map to YAML: put the whole value in quotes.",
        help: `Write: ${line}`,
      };
    case "yaml.colon_in_text":
      return {
        message: "A colon and a blank in a text without quotes begin a map to YAML: put the whole value in quotes.",
        help: `Write: ${line}${slip.flow ? "" : "\nor begin the value with | and put it on the lines below."}`,
      };
    case "yaml.code_line": {
      const message = "This code holds signs that YAML reads as its own: begin it with | on a line of its own.";
      if (slip.flow) return { message, help: `Write: ${line}` };
      const indent = " ".repeat(indentOf(text, slip.start));
      return { message, help: `Write:\n${line}\n${indent}  ${value}` };
    }
  }
}

function indentOf(text: string, at: number): number {
  const before = text.slice(text.lastIndexOf("\n", at - 1) + 1, at);
  return before.length - before.trimStart().replace(/^(?:- +)+/, "").length;
}

function oneLine(text: string, slip: Slip): string {
  return text.slice(slip.start, slip.end).replaceAll(/\s*\n\s*/g, " ");
}

/** The line of a slip with all slips on it put right; of a long line only the key. */
function repaired(text: string, slip: Slip, all: readonly Slip[]): string {
  const lineStart = text.lastIndexOf("\n", slip.start - 1) + 1;
  const found = text.indexOf("\n", slip.end);
  const lineEnd = found === -1 ? text.length : found;
  const value = put(text, slip);
  if (lineEnd - lineStart > LONGEST_LINE) return slip.key === null ? value : `${slip.key}: ${value}`;
  let line = "";
  let at = lineStart;
  for (const other of all) {
    if (other.start < at || other.end > lineEnd) continue;
    line += text.slice(at, other.start) + put(text, other);
    at = other.end;
  }
  line += text.slice(at, lineEnd);
  return slip.code === "yaml.code_line" && !slip.flow ? line.trimEnd() : line.trim();
}

function put(text: string, slip: Slip): string {
  return slip.code === "yaml.code_line" && !slip.flow ? "|" : quoted(oneLine(text, slip));
}

/** A text as a quoted YAML scalar, in the quotes that need the fewest escapes. */
export function quoted(value: string): string {
  if (!/["\\]/.test(value)) return `"${value}"`;
  return `'${value.replaceAll("'", "''")}'`;
}
