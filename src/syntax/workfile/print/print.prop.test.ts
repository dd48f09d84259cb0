import * as fc from "fast-check";
import { expect, test } from "vitest";
import { SourceText, type TreeNode, toJson } from "../../../text/tree.ts";
import { parseYaml } from "../../../text/yaml.ts";
import { commentsOf } from "./comments.ts";
import { printYaml } from "./print.ts";
import { chooser, sketches, untidy } from "./testing/untidy.ts";

function treeOf(text: string): TreeNode | null {
  const { root, diagnostics } = parseYaml(new SourceText("x.yaml", text));
  return diagnostics.length > 0 ? null : root;
}

/** Values and keys in order, which JSON would not keep for keys like "10". */
function told(node: TreeNode): unknown {
  if (node.kind === "map") return { map: node.entries.map((entry) => [entry.key, told(entry.value)]) };
  return node.kind === "list" ? node.items.map(told) : toJson(node);
}

const words = (text: string): string[] =>
  commentsOf(text)
    .map((comment) => comment.text)
    .sort();

test("I1, I2, I3: however a text is written, it keeps values, order and comments, and is printed the same again", () => {
  fc.assert(
    fc.property(sketches, fc.integer(), (sketch, seed) => {
      const text = untidy(sketch, chooser(seed));
      const root = treeOf(text);
      fc.pre(root !== null);
      const printed = printYaml(text, root);
      const again = treeOf(printed);
      if (again === null) expect.fail(`${text}=>\n${printed}`);
      expect(told(again), `${text}=>\n${printed}`).toEqual(told(root));
      expect(words(printed), `${text}=>\n${printed}`).toEqual(words(text));
      expect(printYaml(printed, again), `${text}=>\n${printed}`).toBe(printed);
    }),
    { numRuns: Number(process.env["AMBIT_RUNS"] ?? 300) },
  );
});
