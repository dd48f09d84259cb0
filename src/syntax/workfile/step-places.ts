import type { Span } from "../../base/span.ts";
import type { Step } from "../../plan/step.ts";
import { itemPath, keyPath } from "../../text/path.ts";
import type { MapEntry, SourceText, TreeNode } from "../../text/tree.ts";
import { SUBJECT_KEYS } from "./tables.ts";

/**
 * A word of a step: what it does (`subject`: the agent's name, else the key that says what it does), one of its
 * tools, an argument of its action, or a key of it (`budget.tokens`: below one another).
 */
export type StepWord =
  | { is: "subject" }
  | { is: "tool"; name: string }
  | { is: "argument"; name: string }
  | { is: "key"; name: string };

/** Where a word stands: its place in the text, and in the tree (`steps[0].resolve.tools[1]`). */
export interface WordPlace {
  span: Span;
  path: string;
}

/**
 * Where the words of a file's steps stand. A Plan holds the place of each step's id only; what is found out about
 * a word of it later is to be shown at that word.
 */
export class StepPlaces {
  readonly #source: SourceText;
  readonly #steps = new Map<string, { entry: MapEntry; path: string }>();

  constructor(source: SourceText) {
    this.#source = source;
  }

  add(entry: MapEntry, path: string): void {
    this.#steps.set(keyOf(this.#source.span(entry.keyStart, entry.keyEnd)), { entry, path });
  }

  /** The step's id where the word is not found; null for a step of another text. */
  find(step: Pick<Step, "span">, word: StepWord | null): WordPlace | null {
    const found = this.#steps.get(keyOf(step.span));
    if (found === undefined) return null;
    const { entry, path } = found;
    const place = word === null ? null : this.#word(entry.value, path, word);
    return place ?? { span: this.#source.span(entry.keyStart, entry.keyEnd), path };
  }

  #word(body: TreeNode, path: string, word: StepWord): WordPlace | null {
    if (word.is === "key") return this.#key(body, path, word.name.split("."));
    const head = entriesOf(body).find((item) => SUBJECT_KEYS.has(item.key) || item.key.includes("."));
    if (word.is === "tool") {
      const tools = entriesOf(body).find((item) => item.key === "tools")?.value;
      const items = tools?.kind === "list" ? tools.items : [];
      const i = items.findIndex((item) => item.kind === "scalar" && item.value === word.name);
      const item = items[i];
      return item === undefined ? null : this.#place(item, itemPath(keyPath(path, "tools"), i));
    }
    if (head === undefined) return null;
    const at = keyPath(path, head.key);
    const argument = word.is === "argument" ? this.#key(head.value, at, [word.name]) : null;
    if (argument !== null) return argument;
    const isAgent = SUBJECT_KEYS.get(head.key) === "agent";
    return this.#place(isAgent ? head.value : { start: head.keyStart, end: head.keyEnd }, at);
  }

  #key(node: TreeNode, path: string, keys: readonly string[]): WordPlace | null {
    const [key = "", ...rest] = keys;
    const entry = entriesOf(node).find((item) => item.key === key);
    if (entry === undefined) return null;
    const at = keyPath(path, key);
    const below = rest.length === 0 ? null : this.#key(entry.value, at, rest);
    return below ?? this.#place({ start: entry.keyStart, end: entry.keyEnd }, at);
  }

  #place(at: { start: number; end: number }, path: string): WordPlace {
    return { span: this.#source.span(at.start, at.end), path };
  }
}

function entriesOf(node: TreeNode): readonly MapEntry[] {
  return node.kind === "map" ? node.entries : [];
}

function keyOf(span: Span): string {
  return `${span.line}:${span.column}`;
}
