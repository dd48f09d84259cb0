/**
 * Tokens of the expression language. One function, no state: the finder of `}}` and the parser read the same
 * tokens, so braces and quotes inside an expression mean the same to both.
 */

export type Token =
  | { kind: "name"; start: number; end: number; name: string }
  | { kind: "quoted"; start: number; end: number; name: string }
  | { kind: "number"; start: number; end: number; value: number; fault: string | null }
  | { kind: "text"; start: number; end: number; value: string }
  | { kind: "op"; start: number; end: number; op: string }
  | { kind: "end"; start: number; end: number }
  | BadToken;

export interface BadToken {
  kind: "bad";
  start: number;
  end: number;
  message: string;
  help: string;
  /** A quoted text that never ends: nothing behind it can be told apart. */
  unclosed: boolean;
}

export const BEYOND_WHOLE = "is beyond 9007199254740991, the largest whole number that is exact";

const NAME = /[_a-zA-Z][_a-zA-Z0-9]*/y;
const QUOTED = /`[a-zA-Z0-9_./ -]+`/y;
const NUMBER = /0[xX][0-9a-fA-F]+|(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?/y;
const BLANK = /(?:[\t\n\f\r ]|\/\/[^\n\r]*)+/y;
const TWO = new Set(["==", "!=", "<=", ">=", "&&", "||"]);
/** Operators that no longer one begins with. */
const ALONE = new Set([..."+-/%:.,()[]{}"]);
const ONE = new Set([..."*!<>?"]);

/** What people write from other languages, longest first, and what to write here. */
const FOREIGN: readonly (readonly [string, string])[] = [
  ["**", "there is no power operator; multiply"],
  ["=>", "a loop names its variable first: `list.map(x, x.name)`"],
  ["??", "write `default(a, b)`"],
  ["?.", "write `has(a.b)` or `default(a.b, other)`"],
  ["=", "compare with `==`"],
  ["&", "write `&&`"],
  ["|", "write `||`; there are no filters, functions are called: `x.trim()`"],
  [";", "an expression is one value, without `;`"],
  ["#", "a comment starts with `//`"],
  ["$", "names stand without `$`"],
  ["@", "names stand without `@`"],
];

const SIMPLE_ESCAPES: ReadonlyMap<string, string> = new Map([
  ["a", "\u0007"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["v", "\v"],
  ["\\", "\\"],
  ["?", "?"],
  ['"', '"'],
  ["'", "'"],
  ["`", "`"],
]);

function match(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
}

function bad(start: number, end: number, message: string, help: string, unclosed = false): BadToken {
  return { kind: "bad", start, end, message, help, unclosed };
}

/** The token at or behind `at`, blanks and `//` comments skipped. */
export function readToken(text: string, at: number): Token {
  const start = at + (match(BLANK, text, at)?.length ?? 0);
  const char = text[start];
  if (char === undefined) return { kind: "end", start, end: start };
  if (char === '"' || char === "'") return readText(text, start, start, false);
  const name = match(NAME, text, start);
  if (name !== null) {
    const quote = text[start + name.length];
    if ((quote === '"' || quote === "'") && /^(?:[rR]|[bB]|[rR][bB]|[bB][rR])$/.test(name)) {
      const token = readText(text, start, start + name.length, /r/i.test(name));
      if (!/b/i.test(name) || token.kind === "bad") return token;
      return bad(start, token.end, "There are no bytes in this language.", "write the text without `b`");
    }
    return { kind: "name", start, end: start + name.length, name };
  }
  if (/[0-9]/.test(char) || (char === "." && /[0-9]/.test(text[start + 1] ?? ""))) return readNumber(text, start);
  if (char === "`") {
    const quoted = match(QUOTED, text, start);
    if (quoted !== null) return { kind: "quoted", start, end: start + quoted.length, name: quoted.slice(1, -1) };
    return bad(
      start,
      start + 1,
      "A back quote stands around a field name only.",
      "texts stand in ' or \"; a field is read as a.`odd-name`",
    );
  }
  if (ALONE.has(char)) return { kind: "op", start, end: start + 1, op: char };
  const two = text.slice(start, start + 2);
  for (const [sign, help] of FOREIGN) {
    // `a == b` is no `=`, and `x ?.5 : y` is no `?.`.
    if (!text.startsWith(sign, start) || TWO.has(two)) continue;
    if (sign === "?." && /[0-9]/.test(text[start + 2] ?? "")) continue;
    return bad(start, start + sign.length, `\`${sign}\` is no operator here.`, help);
  }
  if (text.startsWith("===", start) || text.startsWith("!==", start)) {
    return bad(start, start + 3, `\`${text.slice(start, start + 3)}\` is no operator here.`, `write \`${two}\``);
  }
  if (TWO.has(two)) return { kind: "op", start, end: start + 2, op: two };
  if (ONE.has(char)) return { kind: "op", start, end: start + 1, op: char };
  const whole = String.fromCodePoint(text.codePointAt(start) ?? 0);
  if (/[\u2018\u2019\u201c\u201d\u00ab\u00bb]/.test(whole)) {
    return bad(start, start + 1, "A curly quote begins no text.", "use straight quotes: ' or \"");
  }
  return bad(
    start,
    start + whole.length,
    `The character U+${(whole.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")} has no meaning here.`,
    "outside of quoted texts an expression is plain ASCII",
  );
}

function readNumber(text: string, start: number): Token {
  const written = match(NUMBER, text, start) ?? "0";
  const end = start + written.length;
  const next = text[end] ?? "";
  if (/[uU]/.test(next) && !/[_a-zA-Z0-9]/.test(text[end + 1] ?? "")) {
    return bad(start, end + 1, "There are no unsigned numbers: all numbers are of one kind.", "leave the `u` out");
  }
  if (/[_a-zA-Z0-9]/.test(next)) {
    return bad(start, end + 1, "A number ends in a letter.", "put a blank or an operator between them");
  }
  const value = Number(written);
  let fault: string | null = null;
  if (!Number.isFinite(value)) fault = "is too large for a number";
  else if (Number.isInteger(value) && Math.abs(value) > Number.MAX_SAFE_INTEGER) fault = BEYOND_WHOLE;
  return { kind: "number", start, end, value, fault };
}

/** `start` is where the token begins (a prefix included), `at` where its quote stands. */
function readText(text: string, start: number, at: number, raw: boolean): Token {
  const quote = text[at] ?? "";
  const long = text.startsWith(quote.repeat(3), at);
  const close = long ? quote.repeat(3) : quote;
  let out = "";
  let i = at + close.length;
  let fault: BadToken | null = null;
  for (;;) {
    const char = text[i];
    if (char === undefined || (!long && (char === "\n" || char === "\r"))) {
      return bad(
        start,
        i,
        `The text that begins with ${close} is never closed.`,
        `put ${close} behind it${long ? "" : "; a text over several lines stands in three quotes"}`,
        true,
      );
    }
    if (text.startsWith(close, i)) break;
    if (raw || char !== "\\") {
      out += char;
      i++;
      continue;
    }
    const escaped = readEscape(text, i);
    if (typeof escaped.value === "string") out += escaped.value;
    else
      fault ??= bad(
        i,
        escaped.end,
        "This escape is not known.",
        "known are \\n \\t \\\\ \\' \\\" \\u0041 \\U0001F600 and the like; a pattern is best written as r'...'",
      );
    i = escaped.end;
  }
  return fault ?? { kind: "text", start, end: i + close.length, value: out };
}

function readEscape(text: string, at: number): { value: string | null; end: number } {
  const sign = text[at + 1] ?? "";
  const simple = SIMPLE_ESCAPES.get(sign);
  if (simple !== undefined) return { value: simple, end: at + 2 };
  const digits = sign === "x" || sign === "X" ? 2 : sign === "u" ? 4 : sign === "U" ? 8 : 0;
  if (digits > 0) {
    const hex = text.slice(at + 2, at + 2 + digits);
    const point = /^[0-9a-fA-F]+$/.test(hex) && hex.length === digits ? Number.parseInt(hex, 16) : -1;
    const legal = point >= 0 && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
    return legal ? { value: String.fromCodePoint(point), end: at + 2 + digits } : { value: null, end: at + 2 };
  }
  const octal = text.slice(at + 1, at + 4);
  if (/^[0-3][0-7]{2}$/.test(octal)) return { value: String.fromCharCode(Number.parseInt(octal, 8)), end: at + 4 };
  return { value: null, end: at + 1 + Math.min(1, sign.length) };
}
