import { describe, expect, test } from "vitest";
import { SourceText, type TreeNode } from "../../../text/tree.ts";
import { parseYaml } from "../../../text/yaml.ts";
import { printYaml, WIDTH } from "./print.ts";

function print(text: string): string {
  const { root, diagnostics } = parseYaml(new SourceText("x.yaml", text));
  expect(diagnostics).toEqual([]);
  return printYaml(text, root as TreeNode);
}

/** Lines without the indentation that they have in this file. */
function lines(text: string): string {
  const all = text.replace(/^\n/, "").split("\n");
  const indent = /^ */.exec(all[0] ?? "")?.[0].length ?? 0;
  return all
    .map((line) => line.slice(indent))
    .join("\n")
    .replace(/ *$/, "");
}

const cases: { [what: string]: [string, string] } = {
  "two blanks a level, lists too": ["a:\n    - b:\n          c: 1\n      d: 2\n", "a:\n  - b:\n      c: 1\n    d: 2\n"],
  "a list below its key is indented": ["a:\n- 1\n-   2\n", "a:\n  - 1\n  - 2\n"],
  "lists in lists": ["- - 1\n  - 2\n-\n  - 3\n", "- - 1\n  - 2\n- - 3\n"],
  "brackets on one line": ["a: {b: 1,c: [ 1,2 ], d: [{e: 1}]}\n", "a: { b: 1, c: [1, 2], d: [ { e: 1 } ] }\n"],
  "brackets that stand on several lines are spread": ["a: {\n  b: 1, c: [1] }\n", "a:\n  b: 1\n  c: [1]\n"],
  "brackets that are too long are spread": [
    `a: { b: ${"x".repeat(WIDTH)}, c: { d: 1 } }\n`,
    `a:\n  b: ${"x".repeat(WIDTH)}\n  c: { d: 1 }\n`,
  ],
  "what is empty": ["a: { }\nb: [\n]\nc:\nd: ~\ne: null\n", "a: {}\nb: []\nc:\nd: ~\ne: null\n"],
  "an entry without a value in brackets": ["a: { b, c: }\n", "a: { b: null, c: null }\n"],
  "the root in brackets": [
    '{"a": 1, "b": [2]}\n',
    '{ "a": 1, "b": [2] }\n'.replace("{ ", "").replace(', "b"', '\n"b"').replace(" }", ""),
  ],
  "quotes with the fewest escapes": [
    `a: 'b'\nc: "say \\"x\\""\nd: 'it''s'\ne: "it's"\nf: '"'''\n'g': 1\n`,
    `a: "b"\nc: 'say "x"'\nd: "it's"\ne: "it's"\nf: "\\"'"\n"g": 1\n`,
  ],
  "what was written as an escape": ['a: "b\\n"\nc: "\\u00e9"\n', 'a: "b\\n"\nc: "\\u00e9"\n'],
  "words keep their spelling": ["a: yes\nb: 1.50\nc: 2026-01-01\n", "a: yes\nb: 1.50\nc: 2026-01-01\n"],
  "texts over several lines": [
    "a:\n   one\n     two\n\n   three\nb: 'x\n y'\n",
    "a: one\n  two\n\n  three\nb: 'x\n  y'\n",
  ],
  "block texts": [
    "a: |\n      one\n        two\n\n\nb: >-\n three\n four\n",
    "a: |\n  one\n    two\n\nb: >-\n  three\n  four\n",
  ],
  "block texts that begin with blanks": ["a: |4-\n      one\n    two\n", "a: |2-\n    one\n  two\n"],
  "block texts that keep their last line breaks": ["a: |+\n   b\n\n\nc: 1\n", "a: |+\n  b\n\n\nc: 1\n"],
  "line breaks and the end": ["\ufeffa: 1\r\nb: |\r\n   c\r\n   d", "a: 1\nb: |\n  c\n  d\n"],
  "at most one blank line in a row, none at the start of anything": [
    "\n\na:\n\n  b: 1\n\n\n\n  c: 2\n\n\nd: 3\n\n",
    "a:\n  b: 1\n\n  c: 2\n\nd: 3\n",
  ],
  "the mark of a document": ["---\na: 1\n...\n", "a: 1\n"],
  "comments stay with what follows": [
    "# top\n\n# of a\na:\n      # of b\n      b: 1\n# of c\nc: 2\n# end\n",
    "# top\n\n# of a\na:\n  # of b\n  b: 1\n# of c\nc: 2\n# end\n",
  ],
  "comments at the end of a list stay in it": [
    "a:\n- b: 1\n  # of the map\n# of c\nc:\n  - 1\n  # - 2\nd: 1\n",
    "a:\n  - b: 1\n    # of the map\n# of c\nc:\n  - 1\n  # - 2\nd: 1\n",
  ],
  "comments behind something, below each other": [
    "a: 1 # one\nbcd:   2   # two\n\ne: 3     # three\n",
    "a: 1   # one\nbcd: 2 # two\n\ne: 3 # three\n",
  ],
  "comments behind a key, a dash, a header": [
    "a: # x\n  b: 1\nc:\n  - # y\n    d: 1\ne: | # z\n  f # no comment\n",
    "a: # x\n  b: 1\nc:\n  # y\n  - d: 1\ne: | # z\n  f # no comment\n",
  ],
  "comments between a key and its value": ["a:\n  # x\n  1\n", "# x\na: 1\n"],
  "comments in brackets": ["a: [ # x\n  1, # y\n  # z\n  2\n] # end\n", "a: # x\n  - 1 # y\n  # z\n  - 2 # end\n"],
};

describe("the one form", () => {
  test.each(Object.entries(cases))("%s", (_, [before, after]) => {
    expect(print(before)).toBe(after);
    expect(print(after)).toBe(after);
  });

  test("a whole file", () => {
    const before = lines(`
      # Tells the team.
      workfile:   "1"
      name: tell
      steps:
      -   find:
            agent: helper   # the older spelling stays
            goal: >
              Find it.

            tools: [ crm.search ,billing.lookup ]
            returns: {id: string}
            budget: {steps: 3}


      - tell: {messaging.post: {channel: 'ops', text: "{{ find.id }}"}}
    `);
    expect(print(before)).toBe(
      lines(`
      # Tells the team.
      workfile: "1"
      name: tell
      steps:
        - find:
            agent: helper # the older spelling stays
            goal: >
              Find it.

            tools: [crm.search, billing.lookup]
            returns: { id: string }
            budget: { steps: 3 }

        - tell: { messaging.post: { channel: "ops", text: "{{ find.id }}" } }
    `),
    );
  });

  test("is found in time that grows with the text", () => {
    const entry = (i: number): string => `- k${i}: { a: [1, 2] } # c\n# own\n`;
    const text = Array.from({ length: 2_000 }, (_, i) => entry(i)).join("");
    expect(print(text).split("\n")).toHaveLength(4_001);
  });
});
