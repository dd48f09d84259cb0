import { invariant } from "../../../base/invariant.ts";
import { type Diagnostic, hasErrors } from "../../../errors/diagnostic.ts";
import { SourceText, type TreeNode } from "../../../text/tree.ts";
import { parseYaml } from "../../../text/yaml.ts";
import { parseWorkfile } from "../parse.ts";
import { commentsOf } from "./comments.ts";
import { printYaml } from "./print.ts";

export interface FormattedWorkfile {
  /** Null exactly if the file has errors: then it is not touched. */
  text: string | null;
  diagnostics: Diagnostic[];
}

/**
 * A Workfile in its one form. What was printed is read again and compared before anybody gets it: a printer that
 * lost something would be a bug (`internal.invariant`), never a changed file.
 */
export function formatWorkfile(source: SourceText): FormattedWorkfile {
  const { diagnostics } = parseWorkfile(source);
  const { root } = parseYaml(source);
  if (root === null || hasErrors(diagnostics)) return { text: null, diagnostics };
  const text = printYaml(source.text, root);
  const lost = whatIsLost(source.text, root, text);
  invariant(lost === null, `the formatted Workfile has other ${lost}`);
  return { text, diagnostics };
}

/** What a printed text does not say as the original did: "values" or "comments"; null if it says all of it. */
export function whatIsLost(before: string, root: TreeNode, after: string): "values" | "comments" | null {
  const again = parseYaml(new SourceText("printed.yaml", after));
  if (again.root === null || hasErrors(again.diagnostics) || !sameTree(root, again.root)) return "values";
  return sortedComments(before) === sortedComments(after) ? null : "comments";
}

function sortedComments(text: string): string {
  return commentsOf(text)
    .map((comment) => comment.text)
    .sort()
    .join("\n");
}

/** The same values and keys in the same order, however they are written. */
function sameTree(a: TreeNode, b: TreeNode): boolean {
  if (a.kind === "scalar") return b.kind === "scalar" && a.value === b.value;
  if (a.kind === "list") {
    if (b.kind !== "list" || a.items.length !== b.items.length) return false;
    return a.items.every((item, i) => sameTree(item, b.items[i] as TreeNode));
  }
  if (b.kind !== "map" || a.entries.length !== b.entries.length) return false;
  return a.entries.every((entry, i) => {
    const other = b.entries[i];
    return other !== undefined && entry.key === other.key && sameTree(entry.value, other.value);
  });
}
