import { formatDuration, parseDuration } from "../base/duration.ts";
import type { Json } from "../base/json.ts";
import { didYouMean, nearestName } from "../base/nearest.ts";
import type { Code } from "../errors/codes.ts";
import { type Diagnostic, diagnostic, type Severity } from "../errors/diagnostic.ts";
import { keyPath } from "./path.ts";
import { type MapEntry, type SourceText, type TreeNode, toJson } from "./tree.ts";

/** The codes that a reader of one kind of file reports under. */
export interface ReaderCodes {
  unknownKey: Code;
  missingKey: Code;
  wrongType: Code;
  badValue: Code;
}

export interface Bounds {
  min?: number;
  max?: number;
}

/** Whether a key that is missing stands there misspelt: then that is the one mistake, and is reported as such. */
export function standsMisspelt(key: string, entries: readonly MapEntry[], legal: readonly string[]): boolean {
  return entries.some((entry) => !legal.includes(entry.key) && nearestName(entry.key, legal) === key);
}

/** More names than this in a hint help nobody. */
const MOST_NAMES = 40;

/**
 * Reads a tree of a YAML or JSON text by closed tables. Nothing is thrown: what does not fit is reported with
 * its span, and the method gives null. `path` is the place in the tree (`steps[0].resolve.budget`), "" for the
 * root; `what` names the thing in messages ("the budget").
 */
export class Reader {
  readonly source: SourceText;
  readonly codes: ReaderCodes;
  readonly diagnostics: Diagnostic[] = [];

  constructor(source: SourceText, codes: ReaderCodes) {
    this.source = source;
    this.codes = codes;
  }

  /** Adds a finding at UTF-16 offsets of the source. */
  report(
    code: Code,
    at: { start: number; end: number },
    path: string,
    message: string,
    help = "",
    severity: Severity = "error",
  ): void {
    const span = this.source.span(at.start, at.end);
    this.diagnostics.push(diagnostic(code, message, { file: this.source.file, span, path, help }, severity));
  }

  /** Adds to the last finding what puts it right: a text in the place of a stretch of the source. */
  offer(at: { start: number; end: number }, text: string): void {
    const last = this.diagnostics.at(-1);
    if (last !== undefined) last.fix = { ...this.source.span(at.start, at.end), text };
  }

  /**
   * Checks a closed map: unknown keys get the legal keys and a nearest-name hint, missing required ones are
   * named. Returns the known entries by key, or null if it is no map. Without `required` none is.
   */
  closed(
    node: TreeNode,
    path: string,
    what: string,
    keys: readonly string[],
    required: readonly string[] = [],
  ): Map<string, MapEntry> | null {
    const entries = this.open(node, path, what);
    if (entries === null) return null;
    const known = new Map<string, MapEntry>();
    for (const entry of entries) {
      if (keys.includes(entry.key)) {
        if (!known.has(entry.key)) known.set(entry.key, entry);
      } else {
        this.unknownKey(entry, path, what, keys);
      }
    }
    for (const key of required) {
      if (!known.has(key) && !standsMisspelt(key, entries, keys)) {
        this.report(
          this.codes.missingKey,
          headOf(node),
          path,
          `The key "${key}" is missing in ${what}.`,
          `Required here: ${required.join(", ")}.`,
        );
      }
    }
    return known;
  }

  /** Reports a key that has no place here. */
  unknownKey(entry: MapEntry, path: string, what: string, keys: readonly string[]): void {
    const near = didYouMean(entry.key, keys);
    const legal = keys.length === 0 ? "No keys are legal here." : `Legal keys: ${shown(keys)}.`;
    this.report(
      this.codes.unknownKey,
      { start: entry.keyStart, end: entry.keyEnd },
      keyPath(path, entry.key),
      `"${clip(entry.key)}" is no key of ${what}.`,
      near === "" ? legal : `${near} ${legal}`,
    );
  }

  /** A map with any keys. */
  open(node: TreeNode, path: string, what: string): MapEntry[] | null {
    if (node.kind === "map") return node.entries;
    return this.wrong(node, path, what, "a map");
  }

  list(node: TreeNode, path: string, what: string): TreeNode[] | null {
    if (node.kind === "list") return node.items;
    return this.wrong(node, path, what, "a list");
  }

  /** Any string, the empty one included. */
  text(node: TreeNode, path: string, what: string): string | null {
    if (node.kind === "scalar" && typeof node.value === "string") return node.value;
    const quote =
      node.kind === "scalar" && node.value !== null && this.#source(node).length <= 60
        ? `Put it in quotes: "${this.#source(node)}".`
        : "";
    this.wrong(node, path, what, "a text", quote);
    if (quote !== "") this.offer(node, `"${this.#source(node)}"`);
    return null;
  }

  boolean(node: TreeNode, path: string, what: string): boolean | null {
    if (node.kind === "scalar" && typeof node.value === "boolean") return node.value;
    return this.wrong(node, path, what, "true or false");
  }

  /** A whole number, both bounds included. */
  integer(node: TreeNode, path: string, what: string, bounds: Bounds = {}): number | null {
    if (node.kind !== "scalar" || typeof node.value !== "number" || !Number.isSafeInteger(node.value)) {
      return this.wrong(node, path, what, "a whole number");
    }
    return this.#within(node.value, node, path, what, bounds, String);
  }

  number(node: TreeNode, path: string, what: string, bounds: Bounds = {}): number | null {
    if (node.kind !== "scalar" || typeof node.value !== "number") return this.wrong(node, path, what, "a number");
    return this.#within(node.value, node, path, what, bounds, String);
  }

  /** One of a closed set of texts. */
  oneOf<T extends string>(node: TreeNode, path: string, what: string, values: readonly T[]): T | null {
    const legal = `Legal values: ${shown(values)}.`;
    if (node.kind !== "scalar" || typeof node.value !== "string") {
      return this.wrong(node, path, what, `one of ${shown(values)}`);
    }
    const found = values.find((value) => value === node.value);
    if (found !== undefined) return found;
    const near = didYouMean(node.value, values);
    this.report(
      this.codes.badValue,
      node,
      path,
      `${upper(what)} cannot be "${clip(node.value)}".`,
      near === "" ? legal : `${near} ${legal}`,
    );
    return null;
  }

  /** A duration as text, in milliseconds, both bounds included. */
  duration(node: TreeNode, path: string, what: string, bounds: Bounds = {}): number | null {
    if (node.kind === "scalar" && typeof node.value === "string") {
      const parsed = parseDuration(node.value);
      if (!parsed.ok) {
        this.report(
          this.codes.badValue,
          node,
          path,
          `${upper(what)} is no duration: "${clip(node.value)}".`,
          `${upper(parsed.message)}.`,
        );
        return null;
      }
      return this.#within(parsed.ms, node, path, what, bounds, formatDuration);
    }
    const bare = node.kind === "scalar" && typeof node.value === "number";
    return this.wrong(
      node,
      path,
      what,
      "a duration like 30s",
      bare ? "A bare number has no unit: write 500ms, 30s, 5m or 2h." : "",
    );
  }

  json(node: TreeNode): Json {
    return toJson(node);
  }

  /** Reports that a node is of another kind than it has to be; gives null, so that it can be returned. */
  wrong(node: TreeNode, path: string, what: string, wanted: string, help = ""): null {
    this.report(
      this.codes.wrongType,
      headOf(node),
      path,
      `${upper(what)} must be ${wanted}, not ${kindOf(node)}.`,
      help,
    );
    return null;
  }

  #within(
    value: number,
    node: TreeNode,
    path: string,
    what: string,
    bounds: Bounds,
    print: (value: number) => string,
  ): number | null {
    const { min, max } = bounds;
    if ((min === undefined || value >= min) && (max === undefined || value <= max)) return value;
    const range =
      min === undefined
        ? `at most ${print(max ?? value)}`
        : max === undefined
          ? `at least ${print(min)}`
          : `from ${print(min)} to ${print(max)}`;
    this.report(this.codes.badValue, node, path, `${upper(what)} must be ${range}.`);
    return null;
  }

  #source(node: TreeNode): string {
    return this.source.text.slice(node.start, node.end);
  }
}

/** What a node is, for messages: "a map", "the number 3", "nothing (null)". */
export function kindOf(node: TreeNode): string {
  if (node.kind === "map") return "a map";
  if (node.kind === "list") return "a list";
  if (node.value === null) return "nothing (null)";
  if (typeof node.value === "string") return "a text";
  return typeof node.value === "number" ? `the number ${node.value}` : `${node.value}`;
}

/** A map or list is pointed at where it begins: its whole extent would underline half of the file. */
function headOf(node: TreeNode): { start: number; end: number } {
  return node.kind === "scalar" ? node : { start: node.start, end: Math.min(node.start + 1, node.end) };
}

function shown(names: readonly string[]): string {
  const head = names.slice(0, MOST_NAMES).join(", ");
  return names.length > MOST_NAMES ? `${head}, ...` : head;
}

/** Names from a text stand in messages up to 60 characters. */
export function clip(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
  return line.length <= 60 ? line : `${line.slice(0, 57).toWellFormed()}...`;
}

/** A key at the head of a sentence stays as it is written. */
function upper(text: string): string {
  if (/^[a-z]+[._]/.test(text)) return text;
  return text.charAt(0).toUpperCase() + text.slice(1);
}
