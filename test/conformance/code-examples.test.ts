/** The pages of `ambit explain`: the example of a code that a text by itself can raise does raise it. */
import { expect, test } from "vitest";
import { CODES, type Code } from "../../src/errors/codes.ts";
import { diagnose } from "../../src/syntax/diagnose.ts";

const HEAD = `workfile: "1"
name: example
inputs: { n: integer, count: integer, sender: string, name: string, token: { type: string, sensitive: true } }
`;

const indented = (text: string, by: number): string => text.replaceAll(/^/gm, " ".repeat(by));
const asTop = (line: string): string => `${HEAD}steps:\n  - tell: { wf.notify: hello }\n${line}\n`;
const asSteps = (lines: string): string =>
  `${HEAD}steps:\n${indented(lines.replaceAll("{ ... }", "{ wf.notify: hello }"), 2)}\n`;
const inStep = (line: string, ...rest: string[]): string =>
  `${HEAD}steps:\n  - a:\n${[line, ...rest].map((entry) => `${indented(entry, 6)}\n`).join("")}`;

const AGENT = { "wf.agent": "helper", goal: "Look.", returns: "{ seen: boolean }", budget: "{ steps: 3 }" };
/** A key of an agent step in place of its own. */
const inAgent = (line: string): string => {
  const others = Object.entries(AGENT).filter(([key]) => !line.startsWith(`${key}:`));
  return inStep(line, ...others.map(([key, value]) => `${key}: ${value}`));
};
const inNotice = (line: string): string => inStep(line, "wf.notify: hello");

/** Where the example of a code belongs; null for one that only speaks of a text, or that needs a run. */
const PLACES: {
  [C in Extract<Code, `${"yaml" | "text" | "workfile" | "expression"}.${string}`>]:
    | ((example: string) => string)
    | null;
} = {
  "yaml.syntax": asTop,
  "yaml.too_large": null,
  "yaml.too_deep": null,
  "yaml.duplicate_key": inAgent,
  "yaml.alias": asTop,
  "yaml.tag": asTop,
  "yaml.merge_key": asTop,
  "yaml.several_documents": (text) => text,
  "yaml.number": asTop,
  "yaml.character": asTop,
  "text.more_findings": null,
  "yaml.not_a_map": (text) => text,
  "yaml.unquoted_expression": asTop,
  "yaml.colon_in_text": inAgent,
  "yaml.code_line": (line) => inStep(line, "wf.run: javascript"),
  "workfile.unknown_key": inAgent,
  "workfile.missing_key": (line) => asSteps(`- ${line}`),
  "workfile.wrong_type": (line) => `${line}\nname: example\nsteps:\n  - tell: { wf.notify: hello }\n`,
  "workfile.bad_value": (line) => inStep(line, "code: return 1"),
  "workfile.duplicate_id": asSteps,
  "workfile.reserved_id": asSteps,
  "workfile.sensitive_value": inAgent,
  "workfile.not_supported": inStep,
  "expression.syntax": inNotice,
  "expression.unknown_name": inAgent,
  "expression.not_marked": inNotice,
  "expression.failed": null,
};

/** Without what stands behind it: the line put right, or a remark. */
function exampleOf(code: Code): string {
  const [first = ""] = CODES[code].example.split("\n# right:");
  return first.replaceAll(/ {2,}#.*$/gm, "");
}

const shown = Object.entries(PLACES).flatMap(([code, place]) => (place === null ? [] : [[code, place] as const]));

test.each(shown)("the example of %s raises it", (code, place) => {
  const text = place(exampleOf(code as Code));
  const codes = diagnose(text, "example.workfile.yaml").diagnostics.map((entry) => entry.code);
  expect(codes, text).toContain(code);
});
