/** A place in a text: lines and columns start at 1 and count Unicode characters; the end is exclusive. */
export interface Span {
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
}

export const START_OF_TEXT: Span = { line: 1, column: 1, endLine: 1, endColumn: 1 };

/** Turns UTF-16 offsets of one text into spans. */
export class LineIndex {
  readonly #text: string;
  readonly #starts: number[] = [0];

  constructor(text: string) {
    this.#text = text;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit === 10 || (unit === 13 && text.charCodeAt(i + 1) !== 10)) this.#starts.push(i + 1);
    }
  }

  at(offset: number): { line: number; column: number } {
    const wanted = Math.max(0, Math.min(offset, this.#text.length));
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= wanted) low = middle;
      else high = middle - 1;
    }
    const start = this.#starts[low] ?? 0;
    let column = 1;
    for (let i = start; i < wanted; i++) {
      const unit = this.#text.charCodeAt(i);
      // The second half of a surrogate pair is the same character.
      if (unit < 0xdc00 || unit > 0xdfff) column++;
    }
    return { line: low + 1, column };
  }

  span(start: number, end: number): Span {
    const from = this.at(start);
    const to = this.at(Math.max(start, end));
    return { line: from.line, column: from.column, endLine: to.line, endColumn: to.column };
  }
}
