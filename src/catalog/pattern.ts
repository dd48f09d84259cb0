import { createRequire } from "node:module";
import { compilePattern, type Pattern } from "../expression/regex.ts";

const MAX_PATTERN_LENGTH = 4_096;
const MAX_CACHED = 500;

const cache = new Map<string, Pattern | { error: string }>();

/**
 * A `pattern` of a JSON Schema or a field declaration: JavaScript spelling, matched in linear time, found
 * anywhere in the text unless it is anchored. What needs backtracking (back references, look-around) is
 * refused, as is a pattern of more than 4,096 characters.
 */
export function compileSchemaPattern(pattern: string): Pattern | { error: string } {
  const known = cache.get(pattern);
  if (known) return known;
  const made = compile(pattern);
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(pattern, made);
  return made;
}

function compile(pattern: string): Pattern | { error: string } {
  if (pattern.length > MAX_PATTERN_LENGTH) return { error: `longer than ${MAX_PATTERN_LENGTH} characters` };
  return compilePattern(inRe2Spelling(pattern));
}

/** `(?<name>`, `\u0041`, `[^]` and the like are spelt otherwise in RE2; loaded when the first pattern comes. */
function inRe2Spelling(pattern: string): string {
  const { RE2JS } = createRequire(import.meta.url)("re2js") as typeof import("re2js");
  return RE2JS.translateRegExp(pattern);
}
