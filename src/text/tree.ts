import type { Json } from "../base/json.ts";
import type { Span } from "../base/span.ts";
import { Places } from "./places.ts";

/** One text with a name: what spans and code frames refer to. */
export class SourceText {
  readonly file: string;
  readonly text: string;
  readonly #places: Places;

  constructor(file: string, text: string) {
    this.file = file;
    this.text = text;
    this.#places = new Places(text);
  }

  /** A span from UTF-16 offsets, the end exclusive. */
  span(start: number, end: number): Span {
    return this.#places.span(start, end);
  }
}

/** A tree of a YAML or JSON text. Offsets are UTF-16 units into the text, the end exclusive. */
export type TreeNode = MapNode | ListNode | ScalarNode;

export interface MapEntry {
  key: string;
  /** Where the key stands. */
  keyStart: number;
  keyEnd: number;
  value: TreeNode;
}

export interface MapNode {
  kind: "map";
  start: number;
  end: number;
  entries: MapEntry[];
}

export interface ListNode {
  kind: "list";
  start: number;
  end: number;
  items: TreeNode[];
}

export interface ScalarNode {
  kind: "scalar";
  start: number;
  end: number;
  value: null | boolean | number | string;
  style: "plain" | "single" | "double" | "literal" | "folded" | "json";
  /**
   * The source offset of the i-th UTF-16 unit of a text value, exact in every style that can be mapped
   * back; null where this one cannot be (callers then point at the start of the scalar).
   */
  offsetOf(index: number): number | null;
}

/** The plain JSON of a tree. */
export function toJson(node: TreeNode): Json {
  switch (node.kind) {
    case "scalar":
      return node.value;
    case "list":
      return node.items.map(toJson);
    case "map": {
      const out: { [key: string]: Json } = {};
      for (const entry of node.entries) {
        Object.defineProperty(out, entry.key, {
          value: toJson(entry.value),
          enumerable: true,
          writable: true,
          configurable: true,
        });
      }
      return out;
    }
  }
}
