import { type Alias, Composer, type CST, isAlias, isMap, isScalar, isSeq, Lexer, type ParsedNode, Parser } from "yaml";
import type { Code } from "../errors/codes.ts";
import { type Diagnostic, diagnostic } from "../errors/diagnostic.ts";
import { capDiagnostics } from "./cap.ts";
import { blockIndentOf, mapScalar } from "./offsets.ts";
import { MAX_NESTING, MAX_TEXT_BYTES, prescan, type Slip } from "./prescan.ts";
import { clip } from "./reader.ts";
import { describeSlip, fixOfSlip } from "./slips.ts";
import { explainSyntax } from "./syntax-errors.ts";
import type { ListNode, MapEntry, MapNode, ScalarNode, SourceText, TreeNode } from "./tree.ts";

export interface ParsedText {
  /** Null where the text has no structure to go on with; other errors leave a tree, so that all faults show at once. */
  root: TreeNode | null;
  diagnostics: Diagnostic[];
}

/** The parser's own stack grows by a few entries per level. The pre-scan is the guard; this one never lies. */
const MAX_PARSER_STACK = MAX_NESTING * 3 + 8;
const JSON_NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const COMPOSER_OPTIONS = {
  version: "1.2",
  schema: "core",
  merge: false,
  resolveKnownTags: false,
  stringKeys: true,
  // Compared pair by pair by the library, which is quadratic: checked here with a set instead.
  uniqueKeys: false,
  prettyErrors: false,
  keepSourceTokens: true,
  logLevel: "silent",
} as const;

/**
 * Parses one YAML 1.2 document (core schema) or JSON text. Never throws on a text, however hostile. Errors:
 * the `yaml.*` codes, in the order of the text, at most as many as {@link capDiagnostics} lets through.
 */
export function parseYaml(source: SourceText): ParsedText {
  return new YamlText(source).parse();
}

class YamlText {
  readonly #source: SourceText;
  readonly #diagnostics: Diagnostic[] = [];
  readonly #slips = new Map<number, Slip>();
  #text = "";
  #broken = false;

  constructor(source: SourceText) {
    this.#source = source;
  }

  parse(): ParsedText {
    // The library makes an Error for each finding; tracing its stack would cost more than all the rest.
    const traced = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    let root: TreeNode | null;
    try {
      root = this.#parse();
    } finally {
      Error.stackTraceLimit = traced;
    }
    return { root: this.#broken ? null : root, diagnostics: capDiagnostics(this.#diagnostics) };
  }

  #parse(): TreeNode | null {
    const { text } = this.#source;
    const scan = prescan(text);
    if (!scan.ok) {
      if (scan.code === "yaml.too_large") {
        this.#fatal(scan.code, 0, 0, `The text is larger than ${MAX_TEXT_BYTES} bytes.`, "Split the file.");
      } else {
        const message = `The text nests deeper than ${MAX_NESTING} levels.`;
        this.#fatal(scan.code, scan.at, scan.at + 1, message, "Flatten it, or move a part into a file of its own.");
      }
      return null;
    }
    const odd = oddCharacter(text);
    if (odd !== -1) {
      const name = `U+${text.charCodeAt(odd).toString(16).toUpperCase().padStart(4, "0")}`;
      const help = 'Remove it, or write it as an escape in double quotes ("\\u0007").';
      this.#fatal("yaml.character", odd, odd + 1, `The character ${name} cannot stand in a text file.`, help);
      return null;
    }
    for (const slip of scan.slips) {
      const { message, help } = describeSlip(text, slip, scan.slips);
      this.#report(slip.code, slip.start, slip.end, message, help, fixOfSlip(text, slip));
      this.#slips.set(slip.start, slip);
    }
    this.#text = masked(text, scan.slips);
    const tokens = this.#tokens();
    return tokens === null ? null : this.#compose(tokens);
  }

  #tokens(): CST.Token[] | null {
    const parser = new Parser();
    const tokens: CST.Token[] = [];
    for (const lexeme of new Lexer().lex(this.#text)) {
      for (const token of parser.next(lexeme)) tokens.push(token);
      if (parser.stack.length > MAX_PARSER_STACK) {
        const at = parser.offset;
        this.#fatal("yaml.too_deep", at, at + 1, `The text nests deeper than ${MAX_NESTING} levels.`);
        return null;
      }
    }
    for (const token of parser.end()) tokens.push(token);
    return tokens;
  }

  #compose(tokens: CST.Token[]): TreeNode | null {
    const composer = new Composer(COMPOSER_OPTIONS);
    let root: TreeNode | null = null;
    let documents = 0;
    let length = 0;
    for (const token of tokens) {
      // `%YAML 1.1` would change what words and numbers mean.
      if (token.type === "directive") {
        const end = token.offset + token.source.length;
        this.#fatal("yaml.syntax", token.offset, end, "Directives are not part of the format.", "Remove the line.");
      }
      // Of a second document only the place matters: what follows is not looked at.
      if (token.type === "document" && ++documents > 1) {
        const message = "A file holds one document, and a second one begins here.";
        this.#report(
          "yaml.several_documents",
          token.offset,
          token.offset + 3,
          message,
          "Remove the line `---`, or split the file.",
        );
        break;
      }
      length++;
    }
    const documentsComposed = composer.compose(tokens.slice(0, length), true, this.#text.length);
    for (const document of documentsComposed) {
      for (const error of document.errors) this.#syntax(error.code, error.pos, error.message);
      for (const token of tokens.slice(0, length)) if (token.type === "document") this.#properties(token);
      if (this.#broken) return null;
      const contents = document.contents as ParsedNode | null;
      root = contents === null ? emptyScalar(0) : this.#node(contents);
    }
    return root;
  }

  #syntax(code: string, pos: readonly [number, number], original: string): void {
    if (code === "TAG_RESOLVE_FAILED" || code === "BAD_COLLECTION_TYPE") return;
    const { message, help } = explainSyntax(code, original, this.#source.text, pos[0]);
    this.#fatal("yaml.syntax", pos[0], Math.max(pos[1], pos[0] + 1), message, help);
  }

  /** Tags, anchors and aliases, wherever they stand: found on the tokens, since the tree forgets some of them. */
  #properties(root: CST.Token): void {
    const stack: unknown[] = [root];
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      if (Array.isArray(next)) {
        for (const item of next) stack.push(item);
        continue;
      }
      if (typeof next !== "object" || next === null) continue;
      const token = next as { type?: string; offset?: number; source?: string };
      const { offset, source } = token;
      if (typeof offset === "number" && typeof source === "string") {
        if (token.type === "tag") this.#tag(offset, source);
        else if (token.type === "anchor" || token.type === "alias") this.#alias(offset, source);
      }
      for (const part of ["start", "items", "key", "sep", "value", "end", "props"]) {
        const child = (next as { [part: string]: unknown })[part];
        if (child !== undefined) stack.push(child);
      }
    }
  }

  #tag(offset: number, source: string): void {
    const message = `Tags are not part of the format: "${clip(source)}".`;
    this.#report("yaml.tag", offset, offset + source.length, message, "If it is a text, put it in quotes.");
  }

  #alias(offset: number, source: string): void {
    const message = `Anchors and aliases are not part of the format: "${clip(source)}".`;
    const help = "Write the value out, or put it in quotes if it is a text.";
    this.#report("yaml.alias", offset, offset + source.length, message, help);
  }

  #node(node: ParsedNode | Alias): TreeNode {
    if (isMap(node)) return this.#map(node as ParsedNode & { items: { key: ParsedNode; value: ParsedNode | null }[] });
    if (isSeq(node)) {
      const [start, end] = rangeOf(node);
      const items = node.items.map((item) => this.#node(item as ParsedNode));
      return { kind: "list", start, end, items } satisfies ListNode;
    }
    if (isScalar(node)) return this.#scalar(node);
    const [start, end] = rangeOf(node);
    const source = isAlias(node) ? this.#text.slice(start, end) : "";
    return { kind: "scalar", start, end, value: source, style: "plain", offsetOf: () => null };
  }

  #map(node: ParsedNode & { items: { key: ParsedNode; value: ParsedNode | null }[] }): MapNode {
    const [start, end] = rangeOf(node);
    const entries: MapEntry[] = [];
    const first = new Map<string, number>();
    for (const { key, value } of node.items) {
      const [keyStart, keyEnd] = rangeOf(key);
      const slip = this.#slips.get(keyStart);
      const name = slip ? this.#source.text.slice(slip.start, slip.end) : isScalar(key) ? String(key.value ?? "") : "";
      if (isScalar(key) && keyStart === keyEnd) {
        const at = Math.max(0, this.#text.indexOf(":", keyEnd));
        this.#fatal(
          "yaml.syntax",
          at,
          at + 1,
          "A key is missing in front of this colon.",
          "Write `key: value`, or quotes around a text.",
        );
      }
      const before = first.get(name);
      if (before !== undefined) {
        const line = this.#source.span(before, before).line;
        const message = `The key "${clip(name)}" stands twice in this map.`;
        this.#report(
          "yaml.duplicate_key",
          keyStart,
          keyEnd,
          message,
          `The first one is in line ${line}. Keep one of them.`,
        );
        continue;
      }
      first.set(name, keyStart);
      if (name === "<<" && isScalar(key) && key.type === "PLAIN") {
        const help = "Write the keys out.";
        this.#report("yaml.merge_key", keyStart, keyEnd, "Merge keys are not part of the format.", help);
        continue;
      }
      if (!name.isWellFormed()) this.#loneSurrogate(keyStart, keyEnd);
      entries.push({ key: name, keyStart, keyEnd, value: value === null ? emptyScalar(keyEnd) : this.#node(value) });
    }
    return { kind: "map", start, end, entries };
  }

  #scalar(node: ParsedNode & { value: unknown; source?: string; type?: string; tag?: string }): ScalarNode {
    const [start, end] = rangeOf(node);
    const slip = this.#slips.get(start);
    if (slip) return this.#slipScalar(start, end, slip);
    const style = STYLES[node.type ?? "PLAIN"] ?? "plain";
    let value = node.tag === undefined ? node.value : (node.source ?? "");
    if (typeof value === "number") value = this.#number(value, node.source ?? "", start, end);
    if (typeof value !== "string") {
      const plain = typeof value === "boolean" || typeof value === "number" ? value : null;
      return { kind: "scalar", start, end, value: plain, style, offsetOf: () => null };
    }
    if (!value.isWellFormed()) this.#loneSurrogate(start, end);
    const token = (node as { srcToken?: { indent?: number } }).srcToken;
    return textScalar(this.#source.text, start, end, value, style, token?.indent ?? 0);
  }

  #number(value: number, source: string, start: number, end: number): number {
    if (!JSON_NUMBER.test(source)) {
      const message = `${clip(source)} is no number as JSON writes them.`;
      this.#report("yaml.number", start, end, message, `If it is a text, quote it: "${clip(source)}".`);
    } else if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
      const message = `${clip(source)} is too large to be held exactly.`;
      this.#report("yaml.number", start, end, message, `Quote it, if it is a text: "${clip(source)}".`);
    }
    return Number.isFinite(value) && value !== 0 ? value : 0;
  }

  /** A slip is read as what was meant, so that the checks behind find the other faults only. */
  #slipScalar(start: number, end: number, slip: Slip): ScalarNode {
    const { text } = this.#source;
    const value = text.slice(start, Math.max(end, slip.end)).replaceAll(/\s*\n\s*/g, " ");
    const exact = !value.includes("\n") && value.length === Math.max(end, slip.end) - start;
    const offsetOf = (index: number): number | null => (exact ? start + index : null);
    return { kind: "scalar", start, end: slip.end, value, style: "plain", offsetOf };
  }

  #loneSurrogate(start: number, end: number): void {
    const help = "Write a character beyond U+FFFF as it is, or as both halves.";
    this.#report("yaml.character", start, end, "The text holds one half of a character.", help);
  }

  #report(code: Code, start: number, end: number, message: string, help = "", fix: string | null = null): void {
    const span = this.#source.span(start, end);
    const place = { file: this.#source.file, span, help };
    this.#diagnostics.push(diagnostic(code, message, fix === null ? place : { ...place, fix: { ...span, text: fix } }));
  }

  #fatal(code: Code, start: number, end: number, message: string, help = ""): void {
    this.#broken = true;
    this.#report(code, start, end, message, help);
  }
}

const STYLES: { readonly [type: string]: ScalarNode["style"] } = {
  PLAIN: "plain",
  QUOTE_SINGLE: "single",
  QUOTE_DOUBLE: "double",
  BLOCK_LITERAL: "literal",
  BLOCK_FOLDED: "folded",
};

function textScalar(
  text: string,
  start: number,
  end: number,
  value: string,
  style: ScalarNode["style"],
  indent: number,
): ScalarNode {
  let map: number[] | null | undefined;
  const offsetOf = (index: number): number | null => {
    if (map === undefined) {
      const block = style === "literal" || style === "folded" ? blockIndentOf(text, start, end, indent) : 0;
      map = mapScalar(text, start, end, style, value, block);
    }
    if (map === null || index < 0 || index > value.length) return null;
    const exact = map[index];
    if (exact !== undefined) return exact;
    // The end of the value: behind its last character.
    const last = map[map.length - 1];
    return last === undefined ? start : last + 1;
  };
  return { kind: "scalar", start, end, value, style, offsetOf };
}

function emptyScalar(at: number): ScalarNode {
  return { kind: "scalar", start: at, end: at, value: null, style: "plain", offsetOf: () => null };
}

function rangeOf(node: { range?: readonly [number, number, number] | null }): [number, number] {
  return node.range ? [node.range[0], node.range[1]] : [0, 0];
}

/** Each slip becomes a plain word of the same length: the places of all else stay as they are. */
function masked(text: string, slips: readonly Slip[]): string {
  if (slips.length === 0) return text;
  let out = "";
  let at = 0;
  for (const { start, end } of slips) {
    if (start < at) continue;
    out += text.slice(at, start) + "x".repeat(end - start);
    at = end;
  }
  return out + text.slice(at);
}

/** The offset of the first character that no text file may hold, or -1. */
function oddCharacter(text: string): number {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x20 ? unit !== 9 && unit !== 10 && unit !== 13 : unit === 0x7f || unit >= 0xfffe) return i;
    if (unit >= 0xd800 && unit <= 0xdfff) {
      const next = text.charCodeAt(i + 1);
      if (unit >= 0xdc00 || !(next >= 0xdc00 && next <= 0xdfff)) return i;
      i++;
    }
  }
  return -1;
}
