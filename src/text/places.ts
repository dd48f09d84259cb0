import type { Span } from "../base/span.ts";

/** Units between two counts of surrogate pairs: a lookup walks at most so many. */
const STRIDE = 1024;

/** Turns UTF-16 offsets into lines and columns; a lookup costs the same in a line of a million characters. */
export class Places {
  readonly #text: string;
  readonly #starts: number[] = [0];
  /** How many second halves of surrogate pairs stand before each multiple of STRIDE; null if there are none at all. */
  readonly #halves: number[] | null;

  constructor(text: string) {
    this.#text = text;
    const halves: number[] = [];
    let seen = 0;
    for (let i = 0; i < text.length; i++) {
      if (i % STRIDE === 0) halves.push(seen);
      const unit = text.charCodeAt(i);
      if (unit === 10 || (unit === 13 && text.charCodeAt(i + 1) !== 10)) this.#starts.push(i + 1);
      else if (unit >= 0xdc00 && unit <= 0xdfff) seen++;
    }
    this.#halves = seen === 0 ? null : halves;
  }

  /** The end exclusive; offsets beyond the text mean its end. */
  span(start: number, end: number): Span {
    const from = this.#at(start);
    const to = this.#at(Math.max(start, end));
    return { line: from.line, column: from.column, endLine: to.line, endColumn: to.column };
  }

  #at(offset: number): { line: number; column: number } {
    const wanted = Math.max(0, Math.min(offset, this.#text.length));
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= wanted) low = middle;
      else high = middle - 1;
    }
    const start = this.#starts[low] ?? 0;
    return { line: low + 1, column: wanted - start - (this.#before(wanted) - this.#before(start)) + 1 };
  }

  #before(offset: number): number {
    if (this.#halves === null) return 0;
    const block = Math.min(Math.floor(offset / STRIDE), this.#halves.length - 1);
    let count = this.#halves[block] ?? 0;
    for (let i = block * STRIDE; i < offset; i++) {
      const unit = this.#text.charCodeAt(i);
      if (unit >= 0xdc00 && unit <= 0xdfff) count++;
    }
    return count;
  }
}
