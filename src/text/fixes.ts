import type { Fix } from "../errors/diagnostic.ts";

/**
 * A text with fixes applied, from the front. Of two that overlap or meet the first counts: what it changes the other
 * did not know. Lines end where spans say so (`\n`, `\r\n`, `\r`).
 */
export function applyFixes(text: string, fixes: readonly Fix[]): { text: string; applied: Fix[] } {
  const starts = lineStarts(text);
  const placed = fixes
    .map((fix) => ({
      fix,
      start: offsetOf(text, starts, fix.line, fix.column),
      end: offsetOf(text, starts, fix.endLine, fix.endColumn),
    }))
    .sort((a, b) => a.start - b.start || a.end - b.end);
  const applied: Fix[] = [];
  let out = "";
  let at = 0;
  for (const { fix, start, end } of placed) {
    if (applied.length > 0 && start <= at) continue;
    out += text.slice(at, start) + fix.text;
    at = Math.max(start, end);
    applied.push(fix);
  }
  return { text: out + text.slice(at), applied };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (const found of text.matchAll(/\r\n|\n|\r/g)) starts.push(found.index + found[0].length);
  return starts;
}

/** The UTF-16 offset of a place; places behind the end are the end. */
function offsetOf(text: string, starts: readonly number[], line: number, column: number): number {
  let at = starts[line - 1] ?? text.length;
  for (let i = 1; i < column && at < text.length; i++) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return at;
}
