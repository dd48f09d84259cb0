import { MAX_SIZE } from "../frame.ts";
import { lengthOf, offsetAt } from "../values.ts";
import type { Work } from "../work.ts";
import type { Implementations } from "./call.ts";
import { whole } from "./number.ts";

type TextName =
  | "lowerAscii"
  | "upperAscii"
  | "trim"
  | "contains"
  | "startsWith"
  | "endsWith"
  | "indexOf"
  | "lastIndexOf"
  | "substring"
  | "split"
  | "replace"
  | "matches";

/** From this length on a search takes the linear way: the built-in one may look at each sign many times. */
const LONG_NEEDLE = 16;

/** Where `needle` begins in `text` at or behind `from`, in UTF-16 units; -1 if nowhere. Linear. */
export function search(text: string, needle: string, from: number): number {
  if (needle.length < LONG_NEEDLE || needle.length > text.length - from) return text.indexOf(needle, from);
  for (const at of occurrences(text, needle, from)) return at;
  return -1;
}

/** All places, overlapping ones included, by Knuth, Morris and Pratt. */
function* occurrences(text: string, needle: string, from: number): Generator<number> {
  const fallback = new Int32Array(needle.length);
  for (let i = 1, length = 0; i < needle.length; i++) {
    while (length > 0 && needle.charCodeAt(i) !== needle.charCodeAt(length)) length = fallback[length - 1] ?? 0;
    if (needle.charCodeAt(i) === needle.charCodeAt(length)) length++;
    fallback[i] = length;
  }
  for (let i = from, length = 0; i < text.length; i++) {
    while (length > 0 && text.charCodeAt(i) !== needle.charCodeAt(length)) length = fallback[length - 1] ?? 0;
    if (text.charCodeAt(i) === needle.charCodeAt(length)) length++;
    if (length === needle.length) {
      yield i - length + 1;
      length = fallback[length - 1] ?? 0;
    }
  }
}

/** The last place that begins at or before `upTo`. */
function searchLast(text: string, needle: string, upTo: number): number {
  if (needle.length < LONG_NEEDLE) return text.lastIndexOf(needle, upTo);
  let last = -1;
  for (const at of occurrences(text, needle, 0)) {
    if (at > upTo) break;
    last = at;
  }
  return last;
}

/** White_Space of Unicode: not quite the set of `String.prototype.trim`. */
const BLANK = "[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const BLANK_START = new RegExp(`^${BLANK}+`);
const BLANK_SIGN = new RegExp(BLANK);

function trim(text: string): string {
  const rest = text.replace(BLANK_START, "");
  let end = rest.length;
  // By hand: a pattern that is anchored at the end only is tried at every sign.
  while (end > 0 && BLANK_SIGN.test(rest[end - 1] ?? "")) end--;
  return rest.slice(0, end);
}

/** A text that comes out as it went in is handed on, not made. */
function changed(before: string, after: string, work: Work): string {
  return after === before ? before : work.text(after);
}

function place(value: unknown, name: string, length: number, work: Work): number {
  const at = whole(value, name, work);
  if (at < 0 || at > length)
    work.fail(`\`${name}\` is given a place outside of the text.`, "`slice(s, from, to)` cuts to what is there");
  return at;
}

function split(text: string, separator: string, most: number, work: Work): string[] {
  if (most === 0) return [];
  const parts: string[] = [];
  const push = (part: string): void => {
    work.spend(1);
    work.frame.checkElements(parts.length + 1, work.where);
    parts.push(part);
  };
  if (separator === "") {
    if (text === "") return [];
    let at = 0;
    while (at < text.length && (most < 0 || parts.length < most - 1)) {
      const end = offsetAt(text, 1, at);
      push(text.slice(at, end));
      at = end;
    }
    if (at < text.length) push(text.slice(at));
    return parts;
  }
  let at = 0;
  while (most < 0 || parts.length < most - 1) {
    const found = search(text, separator, at);
    if (found < 0) break;
    push(text.slice(at, found));
    at = found + separator.length;
  }
  push(text.slice(at));
  return parts;
}

function replace(text: string, from: string, to: string, work: Work): string {
  if (from === "") work.fail("`replace` is given an empty text to replace.");
  const parts: string[] = [];
  let length = 0;
  let count = 0;
  let at = 0;
  for (;;) {
    const found = search(text, from, at);
    if (found < 0) break;
    length += found - at + to.length;
    if (++count % 8 === 0) work.spend(1);
    // Pairs make units outnumber characters by two at most; the exact bound is checked on the whole.
    if (length > 2 * MAX_SIZE) work.frame.checkLength(length, work.where);
    parts.push(text.slice(at, found), to);
    at = found + from.length;
  }
  if (parts.length === 0) return text;
  parts.push(text.slice(at));
  const out = parts.join("");
  work.spendText(out.length);
  return work.text(out);
}

export const textCalls: Implementations<TextName> = {
  lowerAscii: ([s], work) => {
    work.spendText((s as string).length);
    return changed(
      s as string,
      (s as string).replace(/[A-Z]+/g, (run) => run.toLowerCase()),
      work,
    );
  },
  upperAscii: ([s], work) => {
    work.spendText((s as string).length);
    return changed(
      s as string,
      (s as string).replace(/[a-z]+/g, (run) => run.toUpperCase()),
      work,
    );
  },
  trim: ([s], work) => {
    work.spendText((s as string).length);
    return changed(s as string, trim(s as string), work);
  },
  contains: ([s, part], work) => {
    work.spendText((s as string).length + (part as string).length);
    return search(s as string, part as string, 0) >= 0;
  },
  startsWith: ([s, part], work) => {
    work.spendText((part as string).length);
    return (s as string).startsWith(part as string);
  },
  endsWith: ([s, part], work) => {
    work.spendText((part as string).length);
    return (s as string).endsWith(part as string);
  },
  indexOf: ([s, part, from], work) => {
    const text = s as string;
    work.spendText(2 * text.length + (part as string).length);
    const start = from === undefined ? 0 : offsetAt(text, place(from, "indexOf", lengthOf(text), work));
    const found = search(text, part as string, start);
    return found < 0 ? -1 : lengthOf(text.slice(0, found));
  },
  lastIndexOf: ([s, part, from], work) => {
    const text = s as string;
    work.spendText(2 * text.length + (part as string).length);
    const upTo = from === undefined ? text.length : offsetAt(text, place(from, "lastIndexOf", lengthOf(text), work));
    const found = searchLast(text, part as string, upTo);
    return found < 0 ? -1 : lengthOf(text.slice(0, found));
  },
  substring: ([s, from, to], work) => {
    const text = s as string;
    work.spendText(2 * text.length);
    const length = lengthOf(text);
    const start = place(from, "substring", length, work);
    const end = to === undefined ? length : place(to, "substring", length, work);
    if (end < start) work.fail("`substring` is given an end before its start.");
    const cut = offsetAt(text, start);
    return work.text(text.slice(cut, offsetAt(text, end - start, cut)));
  },
  split: ([s, separator, most], work) => {
    work.spendText((s as string).length + (separator as string).length);
    const limit = most === undefined ? -1 : whole(most, "split", work);
    return work.frame.made(split(s as string, separator as string, limit, work), work.where);
  },
  replace: ([s, from, to], work) => {
    work.spendText((s as string).length + (from as string).length);
    return replace(s as string, from as string, to as string, work);
  },
  matches: ([s], work, node) => {
    const { pattern } = node;
    if (pattern === null)
      return work.fail(
        "The pattern of `matches` is no literal.",
        "write the pattern into the expression, as in `s.matches(r'^a+$')`",
      );
    if ("error" in pattern) return work.fail("The pattern of `matches` cannot be used.", pattern.error);
    // At worst every instruction is looked at for every character; a little is due for the empty text too.
    work.spend(Math.ceil((((s as string).length + 8) * pattern.size) / 8));
    return pattern.test(s as string);
  },
};
