/** The syntax tree of one expression. Offsets are UTF-16 units into its source, the end exclusive. */
import type { Pattern } from "./regex.ts";

interface Place {
  start: number;
  end: number;
}

export type LoopKind = "map" | "filter" | "all" | "exists" | "exists_one";

export interface NameNode extends Place {
  kind: "name";
  name: string;
  /** The slot of a loop's or `cel.bind`'s variable; null: a root name. */
  slot: number | null;
}

export interface SelectNode extends Place {
  kind: "select";
  target: Node;
  field: string;
  fieldStart: number;
}

export interface IndexNode extends Place {
  kind: "index";
  target: Node;
  index: Node;
}

export interface CallNode extends Place {
  kind: "call";
  name: string;
  /** Written `x.f(y)`: `x` is the first argument. */
  method: boolean;
  args: Node[];
  nameStart: number;
  nameEnd: number;
  /** The compiled pattern of `matches`; null where it is no literal. */
  pattern: Pattern | { error: string } | null;
}

export type Operator = "+" | "-" | "*" | "/" | "%" | "<" | "<=" | ">" | ">=" | "==" | "!=" | "in";

/** Operators of one level, from left to right: `a - b + c`. A flat list, so that long sums nest nothing. */
export interface ChainNode extends Place {
  kind: "chain";
  first: Node;
  rest: { op: Operator; opStart: number; right: Node }[];
}

export interface LoopNode extends Place {
  kind: "loop";
  how: LoopKind;
  target: Node;
  variable: string;
  slot: number;
  /** The middle argument of `map(x, test, value)`. */
  test: Node | null;
  body: Node;
}

export interface BindNode extends Place {
  kind: "bind";
  variable: string;
  slot: number;
  value: Node;
  body: Node;
}

export type Node =
  | (Place & { kind: "literal"; value: null | boolean | string })
  | (Place & { kind: "number"; value: number; fault: string | null })
  | NameNode
  | SelectNode
  | (Place & { kind: "has"; select: SelectNode })
  | IndexNode
  | CallNode
  | (Place & { kind: "default"; value: Node; other: Node })
  | (Place & { kind: "list"; items: Node[] })
  | (Place & { kind: "map"; entries: { key: Node; value: Node }[] })
  | (Place & { kind: "not" | "minus"; operand: Node })
  | ChainNode
  | (Place & { kind: "and" | "or"; items: Node[] })
  | (Place & { kind: "cond"; test: Node; then: Node; other: Node })
  | LoopNode
  | BindNode;

/** The nodes directly below a node, in the order of the text. */
export function childrenOf(node: Node): Node[] {
  switch (node.kind) {
    case "literal":
    case "number":
    case "name":
      return [];
    case "select":
      return [node.target];
    case "has":
      return [node.select];
    case "index":
      return [node.target, node.index];
    case "call":
      return node.args;
    case "default":
      return [node.value, node.other];
    case "list":
      return node.items;
    case "map":
      return node.entries.flatMap((entry) => [entry.key, entry.value]);
    case "not":
    case "minus":
      return [node.operand];
    case "chain":
      return [node.first, ...node.rest.map((part) => part.right)];
    case "and":
    case "or":
      return node.items;
    case "cond":
      return [node.test, node.then, node.other];
    case "loop":
      return node.test === null ? [node.target, node.body] : [node.target, node.test, node.body];
    case "bind":
      return [node.value, node.body];
  }
}
