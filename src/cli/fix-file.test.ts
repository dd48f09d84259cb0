import { describe, expect, test } from "vitest";
import { diagnostic } from "../errors/diagnostic.ts";
import { diagnose } from "../syntax/diagnose.ts";
import { fixText } from "./fix-file.ts";

const HEAD = 'workfile: "1"\nname: a\ninputs: { n: integer, x: string }\nsteps:\n';

/** The file of one step with what could be put right put right, and the codes that are left. */
function fixed(step: string): { step: string; count: number; left: string[] } {
  const { text, count } = fixText(`${HEAD}${step}\n`, "x.yaml");
  const left = diagnose(text, "x.yaml").diagnostics.map(({ code }) => code);
  return { step: text.slice(HEAD.length).trimEnd(), count, left };
}

describe("what check --fix puts right", () => {
  test.each([
    ["an expression without quotes", "  - b: { wf.notify: {{ inputs.x }} }", '  - b: { wf.notify: "{{ inputs.x }}" }'],
    ["a colon in a text", "  - b:\n      wf.notify: Do this: now", '  - b:\n      wf.notify: "Do this: now"'],
    [
      "code on the line of its key",
      "  - b:\n      run: javascript\n      code: return { a: 1 }",
      "  - b:\n      run: javascript\n      code: |\n        return { a: 1 }",
    ],
    [
      "a condition that is not marked",
      "  - b: { wf.notify: x, if: inputs.n > 1 }",
      '  - b: { wf.notify: x, if: "{{ inputs.n > 1 }}" }',
    ],
    [
      "one in quotes",
      "  - b: { wf.notify: x, if: 'inputs.x == \"y\"' }",
      "  - b: { wf.notify: x, if: '{{ inputs.x == \"y\" }}' }",
    ],
    ["a number where a text belongs", "  - b: { wf.notify: 12 }", '  - b: { wf.notify: "12" }'],
    ["a word where a text belongs", "  - b: { wf.notify: true }", '  - b: { wf.notify: "true" }'],
  ])("%s", (_, before, after) => {
    expect(fixed(before)).toEqual({ step: after, count: 1, left: [] });
  });

  test("the version without quotes", () => {
    const { text, count } = fixText("workfile: 1\nname: a\nsteps: []\n", "x.yaml");
    expect({ text, count }).toEqual({ text: 'workfile: "1"\nname: a\nsteps: []\n', count: 1 });
  });

  test("several at once, and those that others hid", () => {
    const before = "  - b: { wf.notify: 1, if: inputs.n > 1 }\n  - c: { wf.notify: {{ inputs.x }} }";
    expect(fixed(before)).toEqual({
      step: '  - b: { wf.notify: "1", if: "{{ inputs.n > 1 }}" }\n  - c: { wf.notify: "{{ inputs.x }}" }',
      count: 3,
      left: [],
    });
  });

  test.each([
    ["a misspelt key: which one was meant is a guess", "  - b: { wf.notfy: x }", "workfile.unknown_key"],
    ["a text that is no expression", "  - b: { wf.notify: x, if: when it rains }", "expression.not_marked"],
    ["words that name nothing", "  - b: { wf.notify: x, if: always }", "expression.not_marked"],
    ["half an expression", '  - b: { wf.notify: x, if: "{{ inputs.n }} > 1" }', "expression.not_marked"],
    ["code with a comment behind it", "  - b:\n      run: python\n      code: return {'a': 1} # x", "yaml.code_line"],
    ["a list where a text belongs", "  - b: { wf.notify: [1] }", "workfile.wrong_type"],
  ])("and what it leaves alone: %s", (_, before, code) => {
    expect(fixed(before)).toEqual({ step: before, count: 0, left: expect.arrayContaining([code]) });
  });

  test("nothing else of a file changes, line breaks and comments included", () => {
    const before = "workfile: 1 # one\r\nname:   a\r\nsteps:  []   # none\r\n";
    expect(fixText(before, "x.yaml").text).toBe('workfile: "1" # one\r\nname:   a\r\nsteps:  []   # none\r\n');
  });

  test("what makes more faults than it takes away is not kept, and rounds have an end", () => {
    const fix = { line: 1, column: 1, endLine: 1, endColumn: 2, text: "y" };
    const fault = { ...diagnostic("workfile.bad_value", "No.", { file: "x.yaml" }), fix };
    expect(fixText("x: 1\n", "x.yaml", [fault], () => [fault, fault])).toEqual({ text: "x: 1\n", count: 0 });
    expect(fixText("x: 1\n", "x.yaml", [fault], () => [fault]).count).toBe(20);
  });
});
