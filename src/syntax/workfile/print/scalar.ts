import type { ScalarNode } from "../../../text/tree.ts";

/** Escapes that mean nothing but the sign itself: a text without others may change its quotes. */
const ONLY_SIMPLE_ESCAPES = /^(?:[^\\]|\\["\\/])*$/;

/** A scalar on one line as its source has it, in the quotes that need the fewest escapes. */
export function inlineScalar(source: string, value: ScalarNode["value"], style: ScalarNode["style"]): string {
  if (typeof value !== "string" || (style !== "single" && style !== "double")) return source;
  // What was written as an escape (\n, \u00a0) stays one.
  if (style === "double" && !ONLY_SIMPLE_ESCAPES.test(source)) return source;
  return requoted(value);
}

/** A text of one line in quotes. */
export function requoted(value: string): string {
  const double = (value.match(/["\\]/g) ?? []).length;
  const single = (value.match(/'/g) ?? []).length;
  if (double <= single) return `"${value.replaceAll(/["\\]/g, "\\$&")}"`;
  return `'${value.replaceAll("'", "''")}'`;
}

/**
 * The lines of a plain or quoted scalar that runs over several: the first as it stands, the others without their
 * indentation. Blank lines count, blanks around line breaks do not, except one that an escape writes.
 */
export function foldedLines(source: string): string[] {
  return source.split(/\r?\n/).map((line, i) => {
    const end = line.replace(/(?<!\\)[ \t]+$/, "");
    return i === 0 ? end : end.replace(/^[ \t]+/, "");
  });
}

/** A block scalar (`|`, `>`) taken apart. */
export interface BlockScalar {
  /** The indicators without one of indentation: `|-`. */
  style: string;
  chomp: string;
  /** The content without its indentation, "" for a blank line. */
  lines: string[];
}

const HEADER = /^([|>])(?:([+-])[1-9]?|[1-9]([+-])?)?/;

/** `source` begins with the indicator; `column` is that of the content's first sign, null if there is none. */
export function blockScalar(source: string, value: string, column: number | null): BlockScalar {
  const header = HEADER.exec(source);
  const style = header?.[1] ?? "|";
  const chomp = header?.[2] ?? header?.[3] ?? "";
  const [, ...raw] = source.split(/\r?\n/);
  const indent = column ?? 0;
  const lines =
    column === null ? [] : raw.map((line) => (/^ *$/.test(line.slice(0, indent)) ? line.slice(indent) : line));
  while (lines.at(-1) === "") lines.pop();
  if (chomp === "+") {
    const breaks = /\n*$/.exec(value)?.[0].length ?? 0;
    for (let i = column === null ? 0 : 1; i < breaks; i++) lines.push("");
  }
  return { style, chomp, lines };
}

/** Whether the content has to say how far it is indented, since its first line begins with a blank. */
export function needsIndicator(lines: readonly string[]): boolean {
  return lines.find((line) => line !== "")?.startsWith(" ") === true;
}
