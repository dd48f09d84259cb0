import { CST, Lexer } from "yaml";

export interface Comment {
  /** With its `#`, without blanks behind it. */
  text: string;
  /** UTF-16 offset of the `#`. */
  start: number;
  /** UTF-16 units between the start of its line and the `#`. */
  column: number;
  /** Nothing but blanks and indicators (`- # ...`) stands before it on its line. */
  alone: boolean;
}

/** What may stand on a line before a comment that belongs to what follows. */
const LEAD = /^\ufeff?\s*(?:[-?:]\s+)*$/;

/** The comments of a YAML text that parses, in the order of the text. */
export function commentsOf(text: string): Comment[] {
  const comments: Comment[] = [];
  let offset = 0;
  // Behind its mark stands a plain or block scalar, whatever sign that begins with.
  let content = false;
  for (const lexeme of new Lexer().lex(text)) {
    const type: CST.TokenType | null = content ? null : CST.tokenType(lexeme);
    content = type === "scalar";
    // Marks that the lexer puts between the stretches of the text have no place in it.
    if (content || type === "doc-mode" || type === "flow-error-end") continue;
    if (type === "comment") {
      const lineStart = text.lastIndexOf("\n", offset - 1) + 1;
      const column = offset - lineStart;
      // Looking back over a long line each time would be quadratic; such a line has more than indicators on it.
      const alone = column <= 200 && LEAD.test(text.slice(lineStart, offset));
      comments.push({ text: lexeme.trimEnd(), start: offset, column, alone });
    }
    offset += lexeme.length;
  }
  return comments;
}
