import { childrenOf, type Node } from "./tree.ts";

/** The static field paths a tree reads from roots, the longest prefix of each, sorted, each once. */
export function pathsIn(root: Node): readonly (readonly string[])[] {
  const found = new Map<string, readonly string[]>();
  const visit = (node: Node): void => {
    const path = pathOf(node);
    if (path !== null) {
      found.set(JSON.stringify(path), Object.freeze(path));
      return;
    }
    childrenOf(node).forEach(visit);
  };
  visit(root);
  return Object.freeze([...found.keys()].sort().map((key) => found.get(key) ?? []));
}

/** The path of a node that is nothing but names behind a root; null for any other. */
export function pathOf(node: Node): string[] | null {
  if (node.kind === "name") return node.slot === null ? [node.name] : null;
  if (node.kind === "select") {
    const before = pathOf(node.target);
    return before === null ? null : [...before, node.field];
  }
  if (node.kind === "index" && node.index.kind === "literal" && typeof node.index.value === "string") {
    const before = pathOf(node.target);
    return before === null ? null : [...before, node.index.value];
  }
  return null;
}
