import type { Comment } from "./comments.ts";

interface Line {
  text: string;
  /** How far in the entry stands that it belongs to. */
  indent: number;
  /** The source offset of the first thing on it; infinite for a blank line. */
  from: number;
  comment: string | null;
  /** What it is of a scalar on several lines, if it is. */
  part: Part;
}

/**
 * `open`: the text goes on in the next line, so that no comment can stand behind it. `kept`: of a block scalar that
 * keeps the blank lines below it, so that none may be added.
 */
export type Part = "whole" | "open" | "kept";

/** Comments on lines in a row, equally far in, stand below each other up to this column. */
const ALIGN_TO = 80;

/** The lines printed so far. */
export class Sheet {
  readonly #lines: Line[] = [];

  get length(): number {
    return this.#lines.length;
  }

  add(text: string, from: number, part: Part = "whole", indent = indentOf(text)): void {
    this.#lines.push({ text, indent, from, comment: null, part });
  }

  /** At most one in a row, none at the start. */
  blank(): void {
    const last = this.#lines.at(-1);
    // Blanks that are content of a block scalar count as a blank line, too: nobody sees the difference.
    if (last === undefined || last.part === "kept" || last.text.trim() === "") return;
    this.add("", Number.POSITIVE_INFINITY);
  }

  /** Puts the dash of a list's item into the first line of what was printed for it, `indent` blanks in. */
  dash(index: number, indent: number, from: number): void {
    const line = this.#lines[index];
    if (line === undefined) return;
    line.text = `${line.text.slice(0, indent)}- ${line.text.slice(indent + 2)}`;
    line.indent = indent;
    line.from = Math.min(line.from, from);
  }

  /** The whole text, with each comment at the end of the line that holds what stood before it. */
  text(trailing: readonly Comment[]): string {
    const own = this.#attach(trailing);
    const lines = this.#lines.flatMap((line, i) => [...(own.above.get(i) ?? []), line, ...(own.below.get(i) ?? [])]);
    align(lines);
    return `${lines.map(({ text }) => text).join("\n")}\n`;
  }

  /** Gives each comment its line; those that find none free become lines above or below one. */
  #attach(trailing: readonly Comment[]): { above: Map<number, Line[]>; below: Map<number, Line[]> } {
    const above = new Map<number, Line[]>();
    const below = new Map<number, Line[]>();
    // first[i]: the least offset on line i and below; it never falls, so that a line is found by halving.
    const first: number[] = new Array(this.#lines.length);
    for (let i = this.#lines.length - 1; i >= 0; i--) {
      first[i] = Math.min(this.#lines[i]?.from ?? 0, first[i + 1] ?? Number.POSITIVE_INFINITY);
    }
    for (const { text, start } of trailing) {
      const index = lastUpTo(first, start);
      const line = this.#lines[index];
      const indent = line?.indent ?? 0;
      if (line?.part === "open") {
        push(above, index, commentLine(text, indent, start));
      } else if (line !== undefined && line.comment === null && !line.text.trimStart().startsWith("#")) {
        line.comment = text;
      } else {
        // A second one for the same line stands where what follows stands.
        push(below, index, commentLine(text, Math.max(indent, this.#lines[index + 1]?.indent ?? 0), start));
      }
    }
    return { above, below };
  }
}

function commentLine(text: string, indent: number, from: number): Line {
  return { text: " ".repeat(indent) + text, indent, from, comment: null, part: "whole" };
}

function push(lines: Map<number, Line[]>, index: number, line: Line): void {
  lines.set(index, [...(lines.get(index) ?? []), line]);
}

function indentOf(text: string): number {
  return text.length - text.trimStart().length;
}

function lastUpTo(sorted: readonly number[], most: number): number {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((sorted[middle] ?? 0) <= most) low = middle;
    else high = middle - 1;
  }
  return low;
}

function align(lines: Line[]): void {
  for (let start = 0; start < lines.length; ) {
    let end = start;
    while (end < lines.length && lines[end]?.comment !== null && lines[end]?.indent === lines[start]?.indent) end++;
    const run = lines.slice(start, end);
    const width = Math.max(0, ...run.map(({ text }) => text.length).filter((length) => length < ALIGN_TO));
    for (const line of run) line.text = `${line.text.padEnd(width)} ${line.comment}`;
    start = Math.max(end, start + 1);
  }
}
