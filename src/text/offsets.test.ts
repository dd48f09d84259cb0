import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type ScalarNode, SourceText, type TreeNode } from "./tree.ts";
import { parseYaml } from "./yaml.ts";

function firstScalar(node: TreeNode | null): ScalarNode {
  if (node?.kind === "scalar") return node;
  if (node?.kind === "map") return firstScalar(node.entries[0]?.value ?? null);
  return firstScalar(node?.items[0] ?? null);
}

/** The source character that stands at each character of the value. */
function mapped(text: string): { value: string; found: string } {
  const { root } = parseYaml(new SourceText("t", text));
  const scalar = firstScalar(root);
  const value = String(scalar.value);
  const found = [...Array(value.length).keys()].map((i) => text[scalar.offsetOf(i) ?? -1] ?? "?").join("");
  return { value, found };
}

describe("offsets are exact", () => {
  test.each([
    ["plain", "a: hello world"],
    ["plain over lines", "a: one\n  two\n   three\n"],
    ["single quotes", "a: 'one two'"],
    ["single quotes over lines", "a: 'one\n   two\n\n   three'"],
    ["double quotes", 'a: "one two"'],
    ["double quotes over lines", 'a: "one \n   two"'],
    ["a literal block", "a: |\n  one\n    two\n\n  three\n"],
    ["a literal block with carriage returns", "a: |\r\n  one\r\n  two\r\n"],
    ["a literal block with an indicator", "a: |2\n   one\n  two\n"],
    ["a literal block in a list", "- |-\n  one\n  two"],
    ["a folded block", "a: >\n  one\n  two\n\n  three\n    more\n  four\n"],
    ["a block kept at its end", "a: |+\n  one\n\n\n"],
  ])("%s", (_, text) => {
    const { value, found } = mapped(text);
    expect(value.length).toBeGreaterThan(0);
    for (let i = 0; i < value.length; i++) {
      // Folded breaks are blanks in the value and breaks in the source.
      if (/\S/.test(value[i] ?? "")) expect(found[i]).toBe(value[i]);
      else expect(found[i]).toMatch(/[\s]/);
    }
  });

  test("behind escapes and doubled quotes", () => {
    expect(mapped("a: 'it''s x'").found).toBe("it's x");
    expect(mapped('a: "\\u0041\\n\\"x"').found).toBe("\\\\\\x");
    expect(mapped('a: "one\\\n   two"')).toEqual({ value: "onetwo", found: "onetwo" });
  });

  test("in any text of any style", () => {
    const style = fc.constantFrom("plain", "single", "double", "literal", "folded");
    const words = fc.array(fc.stringMatching(/^[a-z{}"' ]{1,8}$/), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(style, words, (how, lines) => {
        const body = lines.map((line) => `x${line.trim()}`);
        const joined = body.join("\n  ");
        const text = {
          plain: `a: ${joined}`,
          single: `a: '${joined.replaceAll("'", "''")}'`,
          double: `a: "${joined.replaceAll('"', '\\"')}"`,
          literal: `a: |\n  ${joined}\n`,
          folded: `a: >\n  ${joined}\n`,
        }[how];
        const { root } = parseYaml(new SourceText("t", text));
        if (root === null) return;
        const scalar = firstScalar(root);
        const value = String(scalar.value);
        for (let i = 0; i < value.length; i++) {
          const offset = scalar.offsetOf(i);
          expect(offset).not.toBeNull();
          const char = text[offset ?? -1] ?? "";
          if (/\s/.test(value[i] ?? "")) expect(char).toMatch(/\s/);
          else if (char !== "\\") expect(char).toBe(value[i]);
        }
      }),
      { numRuns: 300 },
    );
  });
});
