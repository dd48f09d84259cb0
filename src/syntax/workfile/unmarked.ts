import { compile } from "../../expression/cel.ts";
import type { ScalarNode } from "../../text/tree.ts";
import type { Names } from "./names.ts";

/** Whether a plain text is an expression that only lacks its marks: words that name nothing here are a sentence. */
export function isUnmarked(text: string, node: ScalarNode, names: Names): boolean {
  const compiled = node.style === "literal" || node.style === "folded" ? null : compile(text);
  return compiled?.ok === true && compiled.expr.check(names).problems.length === 0;
}
