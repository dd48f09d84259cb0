import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { SourceText, type TreeNode } from "../../../text/tree.ts";
import { parseYaml } from "../../../text/yaml.ts";
import { format } from "../../format.ts";
import { parseWorkfile } from "../parse.ts";
import { bare } from "../testing/harness.ts";
import { whatIsLost } from "./format.ts";
import { chooser } from "./testing/untidy.ts";

const root = resolve(import.meta.dirname, "../../../..");

const corpus = ["conformance", "examples"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /^workflow\.yaml$|\.workfile\.yaml$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ file, text: readFileSync(file, "utf8") })),
);

const planOf = (text: string): unknown => bare(parseWorkfile(new SourceText("x.yaml", text)).plan);

/** The same text with other blanks: what a formatter has to take away. */
function roughened(text: string, seed: number): string {
  const pick = chooser(seed);
  const wide = 1 + pick(3);
  let block = -1;
  return text
    .split("\n")
    .flatMap((line) => {
      const indent = line.length - line.trimStart().length;
      if (line.trim() !== "" && indent <= block) block = -1;
      const inBlock = block >= 0;
      if (!inBlock && /[|>][+-]?\s*(?:#.*)?$/.test(line)) block = indent;
      const out = " ".repeat(indent * wide) + line.trimStart();
      return !inBlock && !line.includes("'") && !line.includes('"') && pick(4) === 0 ? ["", "", out] : [out];
    })
    .join("\n");
}

describe("formatted Workfiles", () => {
  test("fmt(fmt(x)) is fmt(x) and plan(fmt(x)) is plan(x), for all cases and examples, roughened or not", () => {
    let formatted = 0;
    for (const { file, text } of corpus) {
      for (const seed of [0, 1]) {
        const before = seed === 0 ? text : roughened(text, seed);
        const plan = planOf(before);
        if (plan === null) continue;
        const { text: once } = format(before, "x.yaml");
        if (once === null) throw new Error(`${file} is not formatted`);
        formatted++;
        expect(planOf(once), file).toEqual(plan);
        expect(format(once, "x.yaml").text, file).toBe(once);
      }
    }
    expect(formatted).toBeGreaterThan(200);
  });

  test.each([
    ["no YAML", "a: [\n"],
    ["unknown keys", 'workfile: "1"\nname: a\nstep: []\n'],
    ["names that are not there", 'workfile: "1"\nname: a\nsteps: [ { b: { wf.notify: "{{ c }}" } } ]\n'],
    ["nothing", ""],
  ])("a file with errors has no form: %s", (_, text) => {
    const { text: out, diagnostics } = format(text, "x.yaml");
    expect(out).toBeNull();
    expect(diagnostics.some(({ severity }) => severity === "error")).toBe(true);
  });

  test("a file with warnings is formatted", () => {
    const text = 'workfile: "1"\nname: a\ninputs: {k: {type: string, sensitive: true}}\nsteps:\n';
    const step = '- c: { run: python, code: return 1, with: { key: "{{ inputs.k }}" } }\n';
    const { text: out, diagnostics } = format(text + step, "x.yaml");
    expect(diagnostics.map(({ code }) => code)).toEqual(["workfile.sensitive_value"]);
    expect(out).toContain("inputs: { k: { type: string, sensitive: true } }\nsteps:\n  - c:");
  });

  test("both spellings and the order of keys stay", () => {
    const text = [
      "name: a",
      'workfile: "1"',
      "steps:",
      "  - b: { run: javascript, code: return 1 }",
      "  - c: { code: return 1, wf.run: javascript }",
      "",
    ].join("\n");
    expect(format(text, "x.yaml").text).toBe(text);
  });

  test("what is no Workfile is left alone", () => {
    expect(format("@start\n", "x.awl")).toMatchObject({
      text: null,
      diagnostics: [{ code: "workfile.not_supported" }],
    });
  });
});

test.each([
  ["values", 'a: 1 # x\nb: "2"\n', "a: 1 # x\nb: 2\n"],
  ["values", "a: 1\nb: 2\n", "b: 2\na: 1\n"],
  ["values", "a: [1]\n", "a: [1, 2]\n"],
  ["values", "a: 1\n", "a: [\n"],
  ["comments", "a: 1 # x\n", "a: 1\n"],
  ["comments", "# x\n# y\na: 1\n", "# x\n# x\na: 1\n"],
  [null, "# x\na: 1 # y\n", "# y\n# x\n'a': 1\n"],
] as const)("what a printed text has lost is seen before anybody gets it: %s", (lost, before, after) => {
  const { root: tree } = parseYaml(new SourceText("x.yaml", before));
  expect(whatIsLost(before, tree as TreeNode, after)).toBe(lost);
});
