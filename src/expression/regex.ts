/**
 * Regular expressions in linear time (RE2 syntax and meaning). The engine is loaded, synchronously, by the
 * first pattern that is compiled: an evaluation may not await, and a command that meets no pattern must not
 * pay for it.
 */
import { createRequire } from "node:module";

export interface Pattern {
  /** Whether the pattern is found anywhere in the text. */
  test(text: string): boolean;
  /** Instructions of its program: what one character of text costs at worst. */
  readonly size: number;
}

type Engine = typeof import("re2js")["RE2JS"];

/** Beyond it compiling alone takes tens of milliseconds. */
export const MAX_PROGRAM = 10_000;

let engine: Engine | null = null;

function load(): Engine {
  engine ??= (createRequire(import.meta.url)("re2js") as typeof import("re2js")).RE2JS;
  return engine;
}

/**
 * A pattern ready for use, or why it is none (one sentence, without a full stop). `most` bounds its program,
 * for callers that compile several.
 */
export function compilePattern(pattern: string, most = MAX_PROGRAM): Pattern | { error: string } {
  const tooLarge = { error: "the pattern is too large once its repetitions are written out" };
  if (estimateProgram(pattern) > most) return tooLarge;
  try {
    const compiled = load().compile(pattern);
    const size = compiled.programSize();
    return size > most ? tooLarge : { size, test: (text) => compiled.test(text) };
  } catch (error) {
    const reason = error instanceof Error ? error.message : "it cannot be read";
    return { error: reason.replace(/^error parsing regexp: /, "") };
  }
}

/**
 * An upper bound of the program's size, found before anything is expanded: `(?:x{1000}){1000}` is seven
 * signs of text and a million instructions.
 */
function estimateProgram(pattern: string): number {
  const groups: number[] = [];
  let sum = 0;
  let last = 0;
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i];
    if (char === "\\") {
      sum += last;
      last = 1;
      i++;
    } else if (char === "[") {
      // A class is one instruction, whatever is in it; a `]` that stands first is a member.
      let end = i + 1;
      if (pattern[end] === "^") end++;
      if (pattern[end] === "]") end++;
      while (end < pattern.length && pattern[end] !== "]") end += pattern[end] === "\\" ? 2 : 1;
      sum += last;
      last = 1;
      i = end;
    } else if (char === "(") {
      groups.push(sum + last);
      sum = 2;
      last = 0;
    } else if (char === ")") {
      last += sum;
      sum = groups.pop() ?? 0;
    } else if (char === "{") {
      const repeat = /^\{(\d{1,6})(?:,(\d{0,6}))?\}/.exec(pattern.slice(i, i + 16));
      if (repeat === null) {
        sum += last;
        last = 1;
      } else {
        last = (last + 1) * Math.max(1, Number(repeat[1]), Number(repeat[2] ?? 0));
        i += repeat[0].length - 1;
      }
    } else {
      sum += last;
      last = 1;
    }
    if (sum + last > MAX_PROGRAM) return sum + last;
  }
  return sum + last;
}
