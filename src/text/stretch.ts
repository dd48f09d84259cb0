/** No expression is longer (workfile.md 3): what is not closed within it is not closed. */
const LONGEST = 16_384;

/**
 * The offset behind the `}}` that closes the `{{` at `start`: braces and quotes inside are taken as wholes. Null
 * if it is not closed.
 */
export function braceEnd(text: string, start: number): number | null {
  const limit = Math.min(text.length, start + LONGEST);
  let depth = 0;
  for (let i = start + 2; i < limit; i++) {
    const char = text[i];
    if (char === '"' || char === "'") {
      const end = quoteEnd(text, i, limit);
      if (end === null) return null;
      i = end - 1;
    } else if (char === "{") {
      depth++;
    } else if (char === "}") {
      if (depth > 0) depth--;
      else if (text[i + 1] === "}") return i + 2;
      else return null;
    }
  }
  return null;
}

/** The offset behind the bracket that closes the one at `start`, quotes taken as wholes; null if it is not closed. */
export function bracketEnd(text: string, start: number, end: number): number | null {
  const limit = Math.min(end, start + LONGEST);
  let depth = 0;
  for (let i = start; i < limit; i++) {
    const char = text[i] ?? "";
    if (char === '"' || char === "'" || char === "`") {
      const close = quoteEnd(text, i, limit);
      if (close === null) return null;
      i = close - 1;
    } else if ("{[(".includes(char)) {
      depth++;
    } else if ("}])".includes(char)) {
      depth--;
      if (depth === 0) return i + 1;
    }
  }
  return null;
}

function quoteEnd(text: string, start: number, limit: number): number | null {
  const quote = text[start];
  for (let i = start + 1; i < limit; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === quote) return i + 1;
  }
  return null;
}
