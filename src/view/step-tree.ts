import type { StepRow } from "../journal/steps.ts";
import type { Position } from "../plan/position.ts";

/** A step with the steps below it. */
export interface StepNode {
  row: StepRow;
  /** The last part of its position, iteration included: `look` or `look[2]`. */
  label: string;
  /** How it stands. */
  word: string;
  children: StepNode[];
}

/** Rows as a tree by position; rows whose parent has no row stand at the top. */
export function stepTree(rows: readonly StepRow[], wordOf: (row: StepRow) => string): StepNode[] {
  const top: StepNode[] = [];
  const nodes = new Map<Position, StepNode>();
  for (const row of rows) {
    const parent = nearestAbove(row.position, nodes);
    const label = parent === null ? row.position : row.position.slice(parent.row.position.length).replace(/^\./, "");
    const node: StepNode = { row, label, word: wordOf(row), children: [] };
    (parent?.children ?? top).push(node);
    nodes.set(row.position, node);
  }
  return top;
}

function nearestAbove(position: Position, nodes: ReadonlyMap<Position, StepNode>): StepNode | null {
  let above = position;
  while (above !== "") {
    const cut = Math.max(above.lastIndexOf("."), above.lastIndexOf("["));
    above = cut < 0 ? "" : above.slice(0, cut);
    const node = nodes.get(above);
    if (node) return node;
  }
  return null;
}
