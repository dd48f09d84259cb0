// JSON that somebody has written or hands over, and that must mean what stands there.
//
// I1: of a key that stands twice JSON.parse would keep the last: it is refused.
// I2: a whole number that would come out as another is refused: of what people write every one beyond 2^53 - 1, as in
//     YAML; of what we have written ourselves (an export) those that would be written otherwise.
// I3: one pass over the text, whatever it holds.
import { type Json, MAX_JSON_DEPTH, parseJson } from "./json.ts";

export interface GivenRules {
  maxDepth?: number;
  /** Written by this engine: numbers in the spelling of JSON.stringify are as they were. */
  isOwn?: boolean;
}

/** As `parseJson`; the message of a refusal says the place in the text. `isJson`: it is JSON, and loses something. */
export function parseGivenJson(
  text: string,
  { maxDepth = MAX_JSON_DEPTH, isOwn = false }: GivenRules = {},
): { ok: true; value: Json } | { ok: false; isJson: boolean; message: string } {
  const parsed = parseJson(text, maxDepth);
  if (!parsed.ok) return { ...parsed, isJson: false };
  const problem = lossIn(text, isOwn);
  if (problem === null) return parsed;
  return { ok: false, isJson: true, message: `${problem.what} (${placeOf(text, problem.at)})` };
}

const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** The first place of a valid text where parsing would lose something. */
function lossIn(text: string, isOwn: boolean): { what: string; at: number } | null {
  /** Of each open map its keys so far, null of a list. */
  const open: (Set<string> | null)[] = [];
  let keys: Set<string> | null = null;
  let isKeyDue = false;
  for (let at = 0; at < text.length; ) {
    const char = text[at];
    if (char === '"') {
      const end = endOfText(text, at);
      if (isKeyDue && keys !== null) {
        const key = JSON.parse(text.slice(at, end)) as string;
        if (keys.has(key)) return { what: `the key ${shortly(JSON.stringify(key))} stands twice in one map`, at };
        keys.add(key);
      }
      at = end;
      continue;
    }
    if (char === "-" || (char !== undefined && char >= "0" && char <= "9")) {
      NUMBER.lastIndex = at;
      const written = NUMBER.exec(text)?.[0] ?? char;
      if (isLost(written, isOwn)) {
        return {
          what: `the number ${shortly(written)} is beyond 2^53 - 1 and would be changed: hand it over as a text`,
          at,
        };
      }
      at += written.length;
      continue;
    }
    if (char === "{" || char === "[") {
      keys = char === "{" ? new Set() : null;
      open.push(keys);
      isKeyDue = keys !== null;
    } else if (char === "}" || char === "]") {
      open.pop();
      keys = open.at(-1) ?? null;
    } else if (char === ",") isKeyDue = keys !== null;
    else if (char === ":") isKeyDue = false;
    at++;
  }
  return null;
}

function endOfText(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

function isLost(written: string, isOwn: boolean): boolean {
  const value = Number(written);
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return false;
  return !isOwn || String(value) !== written;
}

function placeOf(text: string, at: number): string {
  const before = text.slice(0, at);
  const line = before.split("\n").length;
  return `line ${line}, column ${[...before.slice(before.lastIndexOf("\n") + 1)].length + 1}`;
}

function shortly(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}...`.toWellFormed() : text;
}
