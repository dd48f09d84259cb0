/** A place in a text: lines and columns start at 1 and count Unicode characters; the end is exclusive. */
export interface Span {
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
}

export const START_OF_TEXT: Span = { line: 1, column: 1, endLine: 1, endColumn: 1 };
