/**
 * Looks over a YAML or JSON text before any parser sees it, in one pass without recursion.
 *
 * I1: The scan reads scalars exactly as the parser behind it does (quotes, comments, block and plain scalars over
 *     several lines), so nothing in a text can hide brackets from it, and no text in a code block counts.
 * I2: Work is linear: every character is visited a bounded number of times.
 * I3: A text that passes nests at most MAX_NESTING deep, block and flow together.
 *
 * The same pass finds three slips of the pen which would turn a text into a map (`text: {{ x }}`). Each is one
 * stretch of the text; the parser gets it masked as a plain text of equal length, so that the other faults of
 * the file are still found in their places.
 *
 * One file of more than 400 lines: the rules of lines, scalars and brackets share the state of one scan.
 */
import { byteLength } from "../base/json.ts";
import { braceEnd, bracketEnd } from "./stretch.ts";

/** Bytes of UTF-8. */
export const MAX_TEXT_BYTES = 1_048_576;
export const MAX_NESTING = 64;
/** More slips than this are not looked for: the list of findings is cut long before. */
const MAX_SLIPS = 200;
/** How often the end of a pair of brackets is looked for: each look may cost a whole expression's length. */
const MAX_LOOKS = 1000;

export interface Slip {
  code: "yaml.unquoted_expression" | "yaml.colon_in_text" | "yaml.code_line";
  /** UTF-16 offsets of the stretch that was meant as one text, the end exclusive. */
  start: number;
  end: number;
  key: string | null;
  flow: boolean;
}

export type Prescan = { ok: true; slips: Slip[] } | { ok: false; code: "yaml.too_large" | "yaml.too_deep"; at: number };

/** `most` is the nesting allowed. */
export function prescan(text: string, most = MAX_NESTING): Prescan {
  if (text.length > MAX_TEXT_BYTES || byteLength(text) > MAX_TEXT_BYTES) {
    return { ok: false, code: "yaml.too_large", at: 0 };
  }
  return new Scan(text, most).run();
}

interface Block {
  column: number;
  seq: boolean;
}

interface Flow {
  /** Behind a `:` since the last comma. */
  value: boolean;
  key: string | null;
}

class TooDeep {
  readonly at: number;
  constructor(at: number) {
    this.at = at;
  }
}

class Scan {
  readonly #text: string;
  readonly #most: number;
  readonly #slips: Slip[] = [];
  readonly #blocks: Block[] = [];
  readonly #flows: Flow[] = [];
  #pos = 0;
  #lineStart = 0;
  /** Least indent of a line that continues the scalar or flow collection at hand. */
  #indentNext = 0;
  /** Indent of the innermost block structure on this line, indicators counted. */
  #indentValue = 0;
  /** Whether a `:` directly behind the last flow node makes it a key. */
  #flowKey = false;
  /** The key whose value may still begin on this line, and the last scalar, which a `:` makes a key. */
  #key: string | null = null;
  #keyLine = -1;
  #last: { start: number; end: number; line: number } | null = null;
  #looks = 0;
  #lineBreak = -1;
  #lineBreakFrom = 0;

  constructor(text: string, most: number) {
    this.#text = text;
    this.#most = most;
  }

  run(): Prescan {
    try {
      if (this.#text.charCodeAt(0) === 0xfeff) this.#pos = this.#lineStart = 1;
      let directives = true;
      while (this.#pos < this.#text.length) {
        directives = this.#line(directives);
      }
      return { ok: true, slips: this.#slips };
    } catch (error) {
      if (error instanceof TooDeep) return { ok: false, code: "yaml.too_deep", at: error.at };
      throw error;
    }
  }

  /** One line in block context and whatever scalar or flow collection runs on behind it. */
  #line(directives: boolean): boolean {
    const text = this.#text;
    // Behind a flow collection that was cut off the scan goes on in the middle of a line.
    if (this.#pos > 0 && text[this.#pos - 1] === "\n") this.#lineStart = this.#pos;
    this.#last = null;
    this.#keyLine = -1;
    if (directives && (text[this.#pos] === "%" || this.#blankLine())) {
      this.#skipLine();
      return true;
    }
    const marker = documentMarker(text, this.#pos);
    if (marker !== null) {
      this.#pos += 3;
      this.#indentValue = this.#indentNext = 0;
      this.#blocks.length = 0;
      if (marker === "...") {
        this.#skipLine();
        return true;
      }
    } else {
      const spaces = this.#spaces(false);
      this.#indentValue = spaces;
      if (this.#indentNext > spaces && !empty(text[this.#pos + 1])) this.#indentNext = spaces;
      while ("-?:".includes(text[this.#pos] ?? " ") && empty(text[this.#pos + 1])) {
        this.#indicator();
        const from = this.#pos++;
        this.#spaces(true);
        this.#indentNext = this.#indentValue + 1;
        this.#indentValue += this.#pos - from;
      }
    }
    this.#document();
    return false;
  }

  /** The rest of a line behind its indent and leading indicators. */
  #document(): void {
    const text = this.#text;
    for (;;) {
      this.#spaces(true);
      this.#properties(false);
      const char = text[this.#pos];
      switch (char) {
        case undefined:
          return;
        case "\n":
          this.#pos++;
          return;
        case "\r":
          if (text[this.#pos + 1] === "\n") {
            this.#pos += 2;
            return;
          }
          this.#plain();
          break;
        case "#":
          this.#skipLine();
          return;
        case "{":
        case "[":
          if (char === "{" && text[this.#pos + 1] === "{") {
            this.#slipBlock("yaml.unquoted_expression", this.#pos);
            break;
          }
          this.#open();
          if (!this.#flow()) return;
          break;
        case "}":
        case "]":
          this.#pos++;
          break;
        case "*":
          this.#name();
          break;
        case '"':
        case "'":
          this.#quoted(char);
          break;
        case "|":
        case ">":
          this.#blockScalar();
          return;
        default:
          this.#plain();
      }
    }
  }

  /** A flow collection to its end. False if it was cut off by a line that is indented too little. */
  #flow(): boolean {
    const text = this.#text;
    while (this.#flows.length > 0) {
      let indent = -1;
      for (;;) {
        const from = this.#pos;
        if (this.#newline()) {
          indent = this.#spaces(false);
          this.#indentValue = indent;
        }
        this.#spaces(true);
        if (this.#pos === from) break;
      }
      const first = text[this.#pos];
      if (first === undefined) return false;
      const short = indent !== -1 && indent < this.#indentNext && first !== "#";
      if (short || (indent === 0 && documentMarker(text, this.#pos) !== null)) {
        const closes = indent === this.#indentNext - 1 && this.#flows.length === 1 && (first === "]" || first === "}");
        if (!closes) {
          this.#flows.length = 0;
          return false;
        }
      }
      while (text[this.#pos] === ",") {
        this.#pos++;
        this.#spaces(true);
        this.#flowKey = false;
        this.#setFlow(false, null);
      }
      this.#properties(true);
      const char = text[this.#pos];
      switch (char) {
        case undefined:
          return false;
        case "\n":
        case ",":
          break;
        case "\r":
          if (text[this.#pos + 1] !== "\n") this.#plain();
          break;
        case "#":
          this.#pos = this.#lineEnd(this.#pos);
          break;
        case "{":
        case "[":
          if (char === "{" && text[this.#pos + 1] === "{") this.#slipFlow("yaml.unquoted_expression", this.#pos);
          else this.#open();
          break;
        case "}":
        case "]":
          this.#pos++;
          this.#flowKey = true;
          this.#flows.pop();
          break;
        case "*":
          this.#name();
          break;
        case '"':
        case "'":
          this.#flowKey = true;
          this.#quoted(char);
          break;
        default: {
          const next = text[this.#pos + 1];
          if (char === ":" && (this.#flowKey || empty(next) || next === ",")) {
            this.#flowKey = false;
            this.#pos++;
            this.#setFlow(true, this.#lastText());
          } else {
            this.#flowKey = false;
            this.#plain();
          }
        }
      }
    }
    return true;
  }

  #open(): void {
    this.#flowKey = false;
    this.#flows.push({ value: false, key: null });
    this.#pos++;
    this.#check();
  }

  #setFlow(value: boolean, key: string | null): void {
    const top = this.#flows[this.#flows.length - 1];
    if (top) {
      top.value = value;
      top.key = key;
    }
  }

  #check(): void {
    if (this.#blocks.length + this.#flows.length > this.#most) throw new TooDeep(this.#pos - 1);
  }

  /** Tags, anchors and stray indicators in front of a node; the `:` behind a key among them. */
  #properties(flow: boolean): void {
    const text = this.#text;
    for (;;) {
      const char = text[this.#pos];
      if (char === "!") {
        this.#tag();
      } else if (char === "&") {
        this.#name();
      } else if (char === "-" || char === "?" || char === ":") {
        const next = text[this.#pos + 1];
        if (!empty(next) && !(flow && isFlowSign(next))) return;
        if (flow) {
          this.#flowKey = false;
          if (char === ":") this.#setFlow(true, this.#lastText());
        } else {
          this.#indicator();
          this.#indentNext = this.#indentValue + 1;
        }
        this.#pos++;
      } else {
        return;
      }
      this.#spaces(true);
    }
  }

  /** Notes what block structure an indicator opens or goes on with. */
  #indicator(): void {
    const char = this.#text[this.#pos];
    let column = this.#pos - this.#lineStart;
    if (char === ":" && this.#last !== null && this.#last.line === this.#lineStart) {
      column = this.#last.start - this.#lineStart;
      this.#key = this.#lastText();
      this.#keyLine = this.#lineStart;
    }
    const blocks = this.#blocks;
    const seq = char === "-";
    for (let top = blocks[blocks.length - 1]; top; top = blocks[blocks.length - 1]) {
      if (top.column > column || (top.column === column && top.seq && !seq)) blocks.pop();
      else break;
    }
    const top = blocks[blocks.length - 1];
    if (!top || top.column < column || top.seq !== seq) blocks.push({ column, seq });
    this.#last = null;
    this.#check();
  }

  #quoted(quote: string): void {
    const text = this.#text;
    const start = this.#pos;
    let cut = -1;
    let i = start + 1;
    let line = this.#lineStart;
    for (; i < text.length; i++) {
      const char = text[i];
      if (char === "\n" && cut === -1) {
        const on = this.#continued(i + 1);
        if (on === -1) cut = i;
        else line = i + 1;
      } else if (char === "\\" && quote === '"') {
        if (text[i + 1] !== "\n") i++;
      } else if (char === quote) {
        if (quote === "'" && text[i + 1] === "'") i++;
        else break;
      }
    }
    // Without a closing quote everything behind belongs to the text; with one, a line too far left ends it.
    if (i < text.length && cut !== -1) {
      this.#pos = cut;
      this.#last = null;
      this.#lineStart = line;
      return;
    }
    this.#pos = Math.min(i + 1, text.length);
    const sameLine = line === this.#lineStart;
    this.#lineStart = line;
    this.#last = { start, end: this.#pos, line: sameLine ? line : -1 };
  }

  #plain(): void {
    const text = this.#text;
    const flow = this.#flows.length > 0;
    const start = this.#pos;
    const firstLine = this.#lineStart;
    let end = start;
    let i = start;
    let stop = "";
    for (; i < text.length; i++) {
      const char = text[i] ?? "";
      if (char === ":") {
        const next = text[i + 1];
        if (empty(next) || (flow && isFlowSign(next))) {
          stop = char;
          break;
        }
        end = i + 1;
      } else if (empty(char)) {
        if (char === "\r" && text[i + 1] !== "\n") end = i + 1;
        const next = text[i + 1];
        if (char === "\n") {
          // A `#` or a bracket at the very start of the next line ends the scalar, too.
          if (next === "#" || (flow && isFlowSign(next))) break;
          const on = this.#continued(i + 1);
          if (on === -1) break;
          this.#lineStart = i + 1;
          i = Math.max(i, on - 2);
        } else if (next === "#") {
          break;
        } else if (flow && isFlowSign(next)) {
          stop = next ?? "";
          i++;
          break;
        }
      } else if (flow && isFlowSign(char)) {
        stop = char;
        break;
      } else {
        end = i + 1;
      }
    }
    const sameLine = this.#lineStart === firstLine;
    if (sameLine && this.#slipAt(start, i, stop)) return;
    // A scalar always takes one character: the parser reports it, and the scan goes on.
    this.#pos = Math.max(end, start + 1);
    if (!sameLine) this.#lineStart = lineStartAt(text, this.#pos, firstLine, this.#lineStart);
    this.#last = { start, end: this.#pos, line: sameLine ? this.#lineStart : -1 };
  }

  /** Whether the plain scalar from `start`, stopped at `at` by the sign `stop`, is one of the slips. */
  #slipAt(start: number, at: number, stop: string): boolean {
    const top = this.#flows[this.#flows.length - 1];
    if (top) {
      if (stop === "{" && this.#text[at + 1] === "{") {
        this.#slipFlow("yaml.unquoted_expression", start);
        return true;
      }
      const code = top.value && top.key === "code";
      if (code && (stop === "{" || stop === "[" || stop === ":")) {
        this.#slipFlow("yaml.code_line", start);
        return true;
      }
      if (top.value && stop === ":") {
        this.#slipFlow("yaml.colon_in_text", start);
        return true;
      }
      return false;
    }
    if (stop !== ":" || this.#keyLine !== this.#lineStart) return false;
    this.#slipBlock(this.#key === "code" ? "yaml.code_line" : "yaml.colon_in_text", start);
    return true;
  }

  #slipBlock(code: Slip["code"], start: number): void {
    const text = this.#text;
    let from = start;
    if (code === "yaml.unquoted_expression") from = this.#braceEnd(start) ?? start;
    let end = this.#lineEnd(from);
    for (let i = Math.max(from, start + 1); i < end; i++) {
      const char = text[i];
      if (char === "{" && text[i + 1] === "{") {
        const close = this.#braceEnd(i);
        if (close !== null && close <= end) i = close - 1;
      } else if (char === "#" && code !== "yaml.code_line" && empty(text[i - 1])) {
        end = i;
      }
    }
    this.#slip(code, start, trimmed(text, start, end), false);
  }

  #slipFlow(code: Slip["code"], start: number): void {
    const text = this.#text;
    let i = start;
    const last = this.#lineEnd(i);
    while (i < text.length) {
      const char = text[i] ?? "";
      if (char === "{" && text[i + 1] === "{") {
        i = this.#braceEnd(i) ?? last;
        continue;
      }
      if (code === "yaml.code_line" && "{[(".includes(char)) {
        i = (this.#looks++ < MAX_LOOKS ? bracketEnd(text, i, last) : null) ?? last;
        continue;
      }
      if (char === "\n" || char === "," || char === "}" || char === "]") break;
      if (char === "#" && empty(text[i - 1])) break;
      i++;
    }
    this.#slip(code, start, trimmed(text, start, i), true);
  }

  #slip(code: Slip["code"], start: number, end: number, flow: boolean): void {
    const key = flow ? (this.#flows[this.#flows.length - 1]?.key ?? null) : this.#key;
    if (this.#slips.length < MAX_SLIPS) this.#slips.push({ code, start, end, key, flow });
    this.#pos = end;
    const newline = this.#text.slice(start, end).lastIndexOf("\n");
    if (newline !== -1) this.#lineStart = start + newline + 1;
    this.#last = null;
    this.#flowKey = false;
  }

  #braceEnd(start: number): number | null {
    return this.#looks++ < MAX_LOOKS ? braceEnd(this.#text, start) : null;
  }

  /** The offset of the line break that ends the line, a carriage return in front of it included. */
  #lineEnd(from: number): number {
    if (from > this.#lineBreak || from < this.#lineBreakFrom) {
      const found = this.#text.indexOf("\n", from);
      this.#lineBreak = found === -1 ? this.#text.length : found;
      this.#lineBreakFrom = from;
    }
    const end = this.#lineBreak;
    return end > from && this.#text[end] === "\n" && this.#text[end - 1] === "\r" ? end - 1 : end;
  }

  #blockScalar(): void {
    const text = this.#text;
    let explicit = -1;
    let i = this.#pos + 1;
    for (; ; i++) {
      const char = text[i] ?? "";
      if (char >= "1" && char <= "9") explicit = Number(char) - 1;
      else if (char !== "+" && char !== "-") break;
    }
    this.#pos = i;
    this.#skipLine();
    let newline = this.#pos - 1;
    let indent = 0;
    for (i = this.#pos; i < text.length; i++) {
      const char = text[i];
      if (char === " ") {
        indent++;
      } else if (char === "\n") {
        newline = i;
        indent = 0;
      } else if (char !== "\r" || text[i + 1] !== "\n") {
        break;
      }
    }
    if (indent >= this.#indentNext) {
      this.#indentNext = explicit === -1 ? indent : explicit + (this.#indentNext === 0 ? 1 : this.#indentNext);
      for (;;) {
        const on = this.#continued(newline + 1);
        if (on === -1) break;
        newline = text.indexOf("\n", on);
        if (newline === -1) {
          newline = text.length;
          break;
        }
      }
    }
    // Tabs in front of the next line belong to the scalar for the parser, which then refuses them.
    i = newline + 1;
    while (text[i] === " ") i++;
    if (text[i] === "\t") {
      while (i < text.length && empty(text[i])) i++;
      newline = i - 1;
    }
    this.#pos = Math.min(newline + 1, text.length);
  }

  /** Where the text of a continuation line begins, or -1 if the line does not go on with the scalar. */
  #continued(offset: number): number {
    const text = this.#text;
    if (this.#indentNext > 0) {
      let i = offset;
      while (text[i] === " ") i++;
      if (text[i] === "\r" && text[i + 1] === "\n") return i + 1;
      return text[i] === "\n" || i - offset >= this.#indentNext ? i : -1;
    }
    return documentMarker(text, offset) === null ? offset : -1;
  }

  #lastText(): string | null {
    if (this.#last === null || this.#last.end - this.#last.start > 200) return null;
    return this.#text.slice(this.#last.start, this.#last.end).replace(/^(["'])(.*)\1$/s, "$2");
  }

  #tag(): void {
    const text = this.#text;
    let i = this.#pos + 1;
    if (text[i] === "<") {
      while (!empty(text[i]) && text[i] !== ">") i++;
      this.#pos = text[i] === ">" ? i + 1 : i;
      return;
    }
    while (i < text.length) {
      if (/[0-9A-Za-z\-#;/?:@&=+$_.!~*'()]/.test(text[i] ?? "")) i++;
      else if (text[i] === "%" && /^[0-9A-Fa-f]{2}$/.test(text.slice(i + 1, i + 3))) i += 3;
      else break;
    }
    this.#pos = i;
  }

  /** An anchor or alias. */
  #name(): void {
    let i = this.#pos;
    while (i < this.#text.length && !" ,[]{}\n\r\t".includes(this.#text[i] ?? " ")) i++;
    this.#pos = Math.max(i, this.#pos + 1);
  }

  #newline(): boolean {
    const text = this.#text;
    if (text[this.#pos] === "\n") this.#pos += 1;
    else if (text[this.#pos] === "\r" && text[this.#pos + 1] === "\n") this.#pos += 2;
    else return false;
    this.#lineStart = this.#pos;
    return true;
  }

  #spaces(tabs: boolean): number {
    const from = this.#pos;
    while (this.#text[this.#pos] === " " || (tabs && this.#text[this.#pos] === "\t")) this.#pos++;
    return this.#pos - from;
  }

  #blankLine(): boolean {
    let i = this.#pos;
    while (this.#text[i] === " " || this.#text[i] === "\t") i++;
    const char = this.#text[i];
    return char === undefined || char === "#" || char === "\n" || (char === "\r" && this.#text[i + 1] === "\n");
  }

  #skipLine(): void {
    const end = this.#text.indexOf("\n", this.#pos);
    this.#pos = end === -1 ? this.#text.length : end + 1;
  }
}

function empty(char: string | undefined): boolean {
  return char === undefined || char === " " || char === "\n" || char === "\r" || char === "\t";
}

function isFlowSign(char: string | undefined): boolean {
  return char === "," || char === "[" || char === "]" || char === "{" || char === "}";
}

function documentMarker(text: string, at: number): "---" | "..." | null {
  const char = text[at];
  if ((char !== "-" && char !== ".") || !empty(text[at + 3])) return null;
  if (text.startsWith("---", at)) return "---";
  return text.startsWith("...", at) ? "..." : null;
}

function trimmed(text: string, start: number, end: number): number {
  let i = end;
  while (i > start + 1 && empty(text[i - 1])) i--;
  return i;
}

/** A scalar over several lines may end before the line at which the scan stopped. */
function lineStartAt(text: string, pos: number, first: number, last: number): number {
  if (pos > last) return last;
  return Math.max(first, text.lastIndexOf("\n", pos - 1) + 1);
}
