import { readToken } from "./lexer.ts";
import type { ExprProblem } from "./problem.ts";

/** A stretch of plain text, or an expression: `start` and `end` say where `source` stands in the template. */
export type TemplatePart = string | { source: string; start: number; end: number };

/**
 * Splits a text at its `{{ expr }}`; `source` comes without the blanks around it. A text that is one
 * expression, line breaks around it aside, gives exactly one part, which is no string: its value keeps its
 * type. Problems are `expression.syntax`; what stands behind an unclosed `{{` is left out of the parts.
 */
export function splitTemplate(text: string): { parts: TemplatePart[]; problems: ExprProblem[] } {
  const parts: TemplatePart[] = [];
  const problems: ExprProblem[] = [];
  let at = 0;
  while (at < text.length) {
    const open = text.indexOf("{{", at);
    if (open < 0) break;
    if (open > at) parts.push(text.slice(at, open));
    const close = findEnd(text, open);
    if (typeof close !== "number") {
      problems.push(close);
      return { parts, problems };
    }
    const inside = text.slice(open + 2, close);
    const source = inside.trim();
    const start = open + 2 + (source === "" ? 0 : inside.indexOf(source));
    if (source === "") {
      problems.push(
        syntax(open, close + 2, "There is no expression between the braces.", 'write `{{ "{{" }}` for two braces'),
      );
    } else {
      parts.push({ source, start, end: start + source.length });
    }
    at = close + 2;
  }
  if (at < text.length) parts.push(text.slice(at));
  const expressions = parts.filter((part) => typeof part !== "string");
  if (expressions.length === 1 && parts.every((part) => typeof part !== "string" || /^[\r\n]*$/.test(part))) {
    return { parts: expressions, problems };
  }
  return { parts: parts.length === 0 ? [""] : parts, problems };
}

function syntax(start: number, end: number, message: string, help: string): ExprProblem {
  return { code: "expression.syntax", severity: "error", message, help, start, end };
}

/** Where the `}}` that closes the `{{` at `open` stands. Each character is read once. */
function findEnd(text: string, open: number): number | ExprProblem {
  let depth = 0;
  let at = open + 2;
  for (;;) {
    const token = readToken(text, at);
    if (token.kind === "end") {
      const help =
        depth > 0
          ? "a `{` inside is not closed either"
          : "put `}}` behind it; a `//` comment runs to the end of its line";
      return syntax(open, open + 2, "This `{{` is never closed.", help);
    }
    if (token.kind === "bad" && token.unclosed) return syntax(token.start, token.end, token.message, token.help);
    if (token.kind === "op") {
      if (token.op === "{") depth++;
      else if (token.op === "}") {
        if (depth > 0) depth--;
        else if (text[token.start + 1] === "}") return token.start;
      }
    }
    at = token.end;
  }
}
