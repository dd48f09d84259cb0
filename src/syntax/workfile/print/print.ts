/**
 * Prints a YAML text that parses in the one form that `ambit fmt` gives it.
 *
 * I1: What the text says stays: keys, values, their order, the spelling of each word.
 * I2: Each comment stays, before, behind or below what it stood before, behind or below.
 * I3: What was printed is printed the same again.
 *
 * The form: two blanks a level, lists too; `{ a: 1 }` and `[a, b]` stay on the line where they stand on one and it
 * fits, else each entry gets a line of its own; quotes that need the fewest escapes; at most one blank line in a
 * row; one blank before a comment, and comments on lines in a row below each other; line breaks of one character,
 * one of them at the end.
 */
import type { ListNode, MapEntry, MapNode, ScalarNode, TreeNode } from "../../../text/tree.ts";
import { type Comment, commentsOf } from "./comments.ts";
import { blockScalar, foldedLines, inlineScalar, needsIndicator } from "./scalar.ts";
import { Sheet } from "./sheet.ts";

/** A line that is longer gets its brackets spread over several. */
export const WIDTH = 120;

/** `text` parses without an error, `root` is its tree. */
export function printYaml(text: string, root: TreeNode): string {
  return new Printer(text).print(root);
}

type Collection = MapNode | ListNode;

class Printer {
  readonly #text: string;
  readonly #alone: Comment[];
  readonly #trailing: Comment[];
  readonly #sheet = new Sheet();
  /** How many of the comments that stand alone are printed. */
  #printed = 0;

  constructor(text: string) {
    this.#text = text;
    const comments = commentsOf(text);
    this.#alone = comments.filter((comment) => comment.alone);
    this.#trailing = comments.filter((comment) => !comment.alone);
  }

  print(root: TreeNode): string {
    if (root.kind === "scalar") this.#scalar("", root, 0, root.start);
    else if (isEmpty(root)) this.#sheet.add(root.kind === "map" ? "{}" : "[]", root.start);
    else this.#block(root, 0, false, Number.POSITIVE_INFINITY);
    this.#comments(Number.POSITIVE_INFINITY, -1, 0, false);
    return this.#sheet.text(this.#trailing);
  }

  /** `until`: where the next thing behind the collection stands in the source. */
  #block(node: Collection, indent: number, flow: boolean, until: number): void {
    const brackets = this.#isFlow(node, flow);
    const end = brackets ? node.end : until;
    if (node.kind === "map") this.#entries(node, indent, brackets, end);
    else this.#items(node, indent, brackets, end);
    // What stands below the last entry, as far in as it, belongs to the same collection.
    this.#comments(end, brackets ? -1 : this.#column(node), indent, false);
  }

  #entries(node: MapNode, indent: number, flow: boolean, end: number): void {
    for (const [i, entry] of node.entries.entries()) {
      const { value, keyStart } = entry;
      const until = node.entries[i + 1]?.keyStart ?? end;
      const head = `${" ".repeat(indent)}${this.#key(entry)}:`;
      const inline = this.#inline(value, head.length + 1, flow);
      const spread = value.kind !== "scalar" && inline === null;
      this.#lead(spread ? keyStart : Math.max(keyStart, value.start), keyStart, indent, i === 0);
      if (inline !== null) this.#sheet.add(`${head} ${inline}`, keyStart);
      else if (value.kind === "scalar") this.#scalar(head, value, indent, keyStart);
      else {
        this.#sheet.add(head, keyStart);
        this.#block(value, indent + 2, flow, until);
      }
    }
  }

  #items(node: ListNode, indent: number, flow: boolean, end: number): void {
    const starts = node.items.map((item) => (flow ? item.start : this.#dash(node, item)));
    const head = `${" ".repeat(indent)}-`;
    for (const [i, item] of node.items.entries()) {
      const start = starts[i] ?? item.start;
      const inline = this.#inline(item, head.length + 1, flow);
      const spread = item.kind !== "scalar" && inline === null;
      this.#lead(spread ? this.#bound(item, indent + 2, flow) : item.start, start, indent, i === 0);
      if (inline !== null) this.#sheet.add(`${head} ${inline}`, start);
      else if (item.kind === "scalar") this.#scalar(head, item, indent, start);
      else {
        const index = this.#sheet.length;
        this.#block(item, indent + 2, flow, starts[i + 1] ?? end);
        this.#sheet.dash(index, indent, start);
      }
    }
  }

  /** Comments and the blank line before an entry that stands at `start`. */
  #lead(bound: number, start: number, indent: number, first: boolean): void {
    const some = this.#comments(bound, -1, indent, first);
    if ((!first || some) && this.#blankBefore(start)) this.#sheet.blank();
  }

  /** Prints the comments before `bound` that stand at `column` or further in, up to the first that does not. */
  #comments(bound: number, column: number, indent: number, first: boolean): boolean {
    const before = this.#printed;
    for (;;) {
      const comment = this.#alone[this.#printed];
      if (comment === undefined || comment.start >= bound || comment.column < column) break;
      if ((!first || this.#printed > before) && this.#blankBefore(comment.start)) this.#sheet.blank();
      this.#sheet.add(" ".repeat(indent) + comment.text, comment.start);
      this.#printed++;
    }
    return this.#printed > before;
  }

  /** A scalar behind `head` ("key:", "-"), which stands at `indent`. */
  #scalar(head: string, node: ScalarNode, indent: number, from: number): void {
    const source = this.#text.slice(node.start, node.end);
    const behind = head === "" ? "" : " ";
    const pad = " ".repeat(indent + 2);
    if (node.style === "literal" || node.style === "folded") {
      const block = blockScalar(source, String(node.value), this.#contentColumn(node));
      const indicator = needsIndicator(block.lines) ? "2" : "";
      const part = block.chomp === "+" ? "kept" : "whole";
      this.#sheet.add(`${head}${behind}${block.style}${indicator}${block.chomp}`, from, part);
      const below = node.start + Math.max(1, source.indexOf("\n"));
      for (const line of block.lines) this.#sheet.add(line === "" ? "" : pad + line, below, part);
      return;
    }
    if (!source.includes("\n")) {
      const text = inlineScalar(source, node.value, node.style);
      this.#sheet.add(text === "" ? head : `${head}${behind}${text}`, from);
      return;
    }
    const [first = "", ...rest] = foldedLines(source);
    this.#sheet.add(`${head}${behind}${first}`, from, "open");
    for (const [i, line] of rest.entries()) {
      this.#sheet.add(line === "" ? "" : pad + line, node.start, i < rest.length - 1 ? "open" : "whole", indent);
    }
  }

  /** The column of the first sign of a block scalar's content; null if it has none. */
  #contentColumn(node: ScalarNode): number | null {
    const at = String(node.value).search(/[^\n]/);
    const offset = at === -1 ? null : node.offsetOf(at);
    return offset === null ? null : offset - this.#lineStart(offset);
  }

  /** A collection on one line, or null if it does not stand on one, or would not fit behind `before` characters. */
  #inline(node: TreeNode, before: number, flow: boolean): string | null {
    if (node.kind === "scalar") return null;
    if (isEmpty(node)) return node.kind === "map" ? "{}" : "[]";
    if (!this.#isFlow(node, flow) || this.#text.slice(node.start, node.end).includes("\n")) return null;
    const text = this.#flowText(node);
    return before + text.length <= WIDTH ? text : null;
  }

  #flowText(node: TreeNode): string {
    if (node.kind === "scalar") {
      return inlineScalar(this.#text.slice(node.start, node.end), node.value, node.style) || "null";
    }
    if (isEmpty(node)) return node.kind === "map" ? "{}" : "[]";
    if (node.kind === "map") {
      return `{ ${node.entries.map((entry) => `${this.#key(entry)}: ${this.#flowText(entry.value)}`).join(", ")} }`;
    }
    const items = node.items.map((item) => this.#flowText(item)).join(", ");
    return node.items.some((item) => item.kind !== "scalar") ? `[ ${items} ]` : `[${items}]`;
  }

  #key(entry: MapEntry): string {
    const source = this.#text.slice(entry.keyStart, entry.keyEnd);
    if (source.includes("\n") || /^[|>]/.test(source)) return JSON.stringify(entry.key);
    if (source.startsWith("'")) return inlineScalar(source, entry.key, "single");
    return source.startsWith('"') ? inlineScalar(source, entry.key, "double") : source;
  }

  /** Whether a collection is written in brackets, its own or those around it. */
  #isFlow(node: Collection, flow: boolean): boolean {
    const sign = this.#text[node.start];
    return flow || (node.kind === "map" ? sign === "{" : sign === "[");
  }

  /** Up to where comments stand before the first line of a collection that is spread over lines from `indent` on. */
  #bound(node: Collection, indent: number, flow: boolean): number {
    const brackets = this.#isFlow(node, flow);
    const [entry] = node.kind === "map" ? node.entries : [];
    const value = entry?.value ?? (node.kind === "list" ? node.items[0] : undefined);
    if (value === undefined) return node.start;
    const start = entry?.keyStart ?? value.start;
    const before = entry === undefined ? indent + 2 : indent + this.#key(entry).length + 2;
    const inline = value.kind === "scalar" || this.#inline(value, before, brackets) !== null;
    if (inline) return Math.max(start, value.start);
    return entry === undefined ? this.#bound(value as Collection, indent + 2, brackets) : start;
  }

  /** The column from which a comment below the last entry belongs to a collection. */
  #column(node: Collection): number {
    const column = node.start - this.#lineStart(node.start);
    // A list may stand as far out as the key above it: a comment there is the map's.
    return node.kind === "list" && column === this.#indentAbove(node) ? column + 1 : column;
  }

  /** The indentation of the line above a list that begins a line, -1 if it does not. */
  #indentAbove(node: ListNode): number {
    let start = this.#lineStart(node.start);
    if (this.#text.slice(start, node.start).trim() !== "") return -1;
    while (start > 0) {
      const end = start - 1;
      start = this.#lineStart(end);
      const line = this.#text.slice(start, end);
      if (line.trim() !== "" && !line.trimStart().startsWith("#")) {
        return line.length - line.replace(/^\s*(?:-\s+)*/, "").length;
      }
    }
    return -1;
  }

  /** Where the dash of an item stands. */
  #dash(list: ListNode, item: TreeNode): number {
    const column = list.start - this.#lineStart(list.start);
    for (let start = this.#lineStart(item.start); ; start = this.#lineStart(start - 1)) {
      const at = start + column;
      if (at <= item.start && this.#text[at] === "-" && /^\s*(?:-\s+)*$/.test(this.#text.slice(start, at))) return at;
      if (start <= list.start) return item.start;
    }
  }

  #blankBefore(offset: number): boolean {
    const start = this.#lineStart(offset);
    if (start === 0 || !/^\s*(?:[-?]\s+)*$/.test(this.#text.slice(start, offset).slice(0, 200))) return false;
    const above = this.#lineStart(start - 1);
    return this.#text.slice(above, start).trim() === "";
  }

  #lineStart(offset: number): number {
    return offset <= 0 ? 0 : this.#text.lastIndexOf("\n", offset - 1) + 1;
  }
}

function isEmpty(node: Collection): boolean {
  return node.kind === "map" ? node.entries.length === 0 : node.items.length === 0;
}
