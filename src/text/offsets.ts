/**
 * Where each character of a decoded scalar stands in its source.
 *
 * The source of the scalar is decoded a second time, this time with offsets; the map counts only if the text that
 * comes out is the parser's own, so that an offset is either exact or not given.
 */
import type { ScalarNode } from "./tree.ts";

/** The source offset of each UTF-16 unit of `value`, or null where the scalar cannot be mapped back. */
export function mapScalar(
  text: string,
  start: number,
  end: number,
  style: ScalarNode["style"],
  value: string,
  blockIndent: number,
): number[] | null {
  const decoder = new Decoder(text, start, end);
  switch (style) {
    case "plain":
      decoder.flow(start, end, "plain");
      break;
    case "single":
      decoder.flow(start + 1, end - 1, "single");
      break;
    case "double":
    case "json":
      decoder.flow(start + 1, end - 1, "double");
      break;
    case "literal":
    case "folded":
      decoder.block(style === "folded", blockIndent);
      break;
  }
  return decoder.result(value);
}

const ESCAPES: { readonly [char: string]: string } = {
  "0": "\0",
  a: "\x07",
  b: "\b",
  e: "\x1b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  N: "\u0085",
  _: "\u00a0",
  L: "\u2028",
  P: "\u2029",
};
const HEX: { readonly [char: string]: number } = { x: 2, u: 4, U: 8 };

class Decoder {
  readonly #text: string;
  readonly #start: number;
  readonly #end: number;
  #out = "";
  readonly #offsets: number[] = [];

  constructor(text: string, start: number, end: number) {
    this.#text = text;
    this.#start = start;
    this.#end = end;
  }

  result(value: string): number[] | null {
    // The parser may keep one line break more or less at the end of a block: the map is good up to there.
    if (this.#out.length > value.length && this.#out.startsWith(value) && /^\n*$/.test(this.#out.slice(value.length))) {
      return this.#offsets.slice(0, value.length);
    }
    return this.#out === value ? this.#offsets : null;
  }

  #push(char: string, offset: number): void {
    this.#out += char;
    for (let i = 0; i < char.length; i++) this.#offsets.push(offset + (char.length > 1 ? i : 0));
  }

  /** Takes back blanks in front of a folded line break, but none that an escape wrote. */
  #trim(from: number): void {
    let length = this.#out.length;
    while (length > from && /[ \t]/.test(this.#out[length - 1] ?? "")) length--;
    this.#out = this.#out.slice(0, length);
    this.#offsets.length = length;
  }

  flow(from: number, to: number, style: "plain" | "single" | "double"): void {
    const text = this.#text;
    let kept = 0;
    let i = from;
    while (i < to) {
      const char = text[i] ?? "";
      if (char === "\n" || (char === "\r" && text[i + 1] === "\n")) {
        this.#trim(kept);
        i = this.#fold(i, to);
        kept = this.#out.length;
      } else if (char === "'" && style === "single") {
        this.#push("'", i);
        i += 2;
      } else if (char === "\\" && style === "double") {
        i = this.#escape(i);
        kept = this.#out.length;
      } else {
        this.#push(char, i);
        i++;
      }
    }
  }

  /** One or more line breaks and the blanks around them: a blank, or one break less than there are. */
  #fold(at: number, to: number): number {
    const text = this.#text;
    let i = at;
    let breaks = 0;
    while (i < to && /[ \t\r\n]/.test(text[i] ?? "")) {
      if (text[i] === "\n") {
        breaks++;
        if (breaks > 1) this.#push("\n", i);
      }
      i++;
    }
    if (breaks === 1) this.#push(" ", at);
    return i;
  }

  #escape(at: number): number {
    const text = this.#text;
    const char = text[at + 1] ?? "";
    const digits = HEX[char];
    if (digits !== undefined) {
      const code = Number.parseInt(text.slice(at + 2, at + 2 + digits), 16);
      if (code >= 0 && code <= 0x10ffff) {
        const decoded = String.fromCodePoint(code);
        this.#out += decoded;
        for (let i = 0; i < decoded.length; i++) this.#offsets.push(at);
      }
      return at + 2 + digits;
    }
    if (char === "\n" || char === "\r") {
      let i = at + (char === "\r" ? 3 : 2);
      while (text[i] === " " || text[i] === "\t") i++;
      return i;
    }
    this.#out += ESCAPES[char] ?? char;
    this.#offsets.push(at);
    return at + 2;
  }

  block(folded: boolean, indent: number): void {
    const lines = this.#blockLines(indent);
    let pending: number[] = [];
    let afterText = false;
    let afterMore = false;
    for (const line of lines) {
      if (line.start === line.end) {
        pending.push(line.break);
        continue;
      }
      const more = /[ \t]/.test(this.#text[line.start] ?? "");
      if (folded && afterText && !more && !afterMore) {
        // A single break between two lines is a blank, of several one is lost.
        if (pending.length === 1) this.#push(" ", pending[0] ?? 0);
        else for (const offset of pending.slice(1)) this.#push("\n", offset);
      } else {
        for (const offset of pending) this.#push("\n", offset);
      }
      for (let i = line.start; i < line.end; i++) {
        this.#out += this.#text[i] ?? "";
        this.#offsets.push(i);
      }
      pending = [line.break];
      afterText = true;
      afterMore = more;
    }
    for (const offset of pending) this.#push("\n", offset);
  }

  /** The lines below the header, each without its indent. */
  #blockLines(indent: number): { start: number; end: number; break: number }[] {
    const text = this.#text;
    const lines: { start: number; end: number; break: number }[] = [];
    let at = text.indexOf("\n", this.#start);
    if (at === -1) return lines;
    at++;
    while (at < this.#end) {
      const found = text.indexOf("\n", at);
      const lineBreak = found === -1 || found >= this.#end ? this.#end : found;
      let end = lineBreak;
      if (end > at && text[end - 1] === "\r") end--;
      let start = at;
      while (start < end && start - at < indent && text[start] === " ") start++;
      lines.push({ start, end, break: lineBreak });
      at = lineBreak + 1;
    }
    return lines;
  }
}

/** The indent of a block scalar's text: what its header says, else the first line that is not blank. */
export function blockIndentOf(text: string, start: number, end: number, parentIndent: number): number {
  const explicit = /^[|>][+-]?([1-9])/.exec(text.slice(start, start + 3));
  if (explicit) return Math.max(parentIndent, 0) + Number(explicit[1]);
  let at = text.indexOf("\n", start) + 1;
  if (at === 0) return 0;
  while (at < end) {
    let i = at;
    while (i < end && text[i] === " ") i++;
    if (text[i] !== "\n" && !(text[i] === "\r" && text[i + 1] === "\n")) return i - at;
    at = text.indexOf("\n", i) + 1;
    if (at === 0) return 0;
  }
  return 0;
}
