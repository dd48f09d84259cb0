/** A command that the deployment declares. */
export type DeclaredCommand =
  /** A whole line, run by the shell exactly as the operator wrote it. */
  | { line: string }
  /** Started without a shell; `*` takes one argument. */
  | { argv: readonly string[] };

export type Started = { file: string; args: string[] };

export type Match = { is: "match"; start: Started } | { is: "none" } | { is: "refused"; why: string };

const MAX_WORDS = 256;
const MAX_ARGUMENT_BYTES = 64 * 1024;

/** A line with runs of blanks outside quotes made one, as two lines are compared. */
export function normalLine(line: string): string {
  const parts = line.trim().match(/"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\]+|\s+|./gsu) ?? [];
  return parts.map((part) => (/^\s+$/.test(part) ? " " : part)).join("");
}

/**
 * The words of a line; quotes keep blanks together and mean nothing else, since no shell reads them: `$`, `;` and
 * the like are signs as any other. Null where a quote is left open.
 */
export function wordsOf(line: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  let quote: string | null = null;
  for (const sign of line) {
    if (quote !== null) {
      if (sign === quote) quote = null;
      else word += sign;
    } else if (sign === '"' || sign === "'") {
      quote = sign;
      word ??= "";
    } else if (/\s/.test(sign)) {
      if (word !== null) words.push(word);
      word = null;
      if (words.length > MAX_WORDS) return null;
    } else word = (word ?? "") + sign;
  }
  if (quote !== null) return null;
  if (word !== null) words.push(word);
  return words.length > MAX_WORDS ? null : words;
}

/** What a line starts by the declared commands; whole lines first. */
export function matchCommand(commands: readonly DeclaredCommand[], line: string): Match {
  if (line.includes("\0")) return { is: "refused", why: "A command holds no zero byte." };
  const normal = normalLine(line);
  for (const command of commands) {
    if ("line" in command && normalLine(command.line) === normal) {
      return { is: "match", start: { file: "/bin/sh", args: ["-c", command.line] } };
    }
  }
  const words = wordsOf(line);
  if (words === null) return { is: "refused", why: "The command has an open quote, or too many words." };
  let refused: string | null = null;
  for (const command of commands) {
    if (!("argv" in command) || command.argv.length !== words.length) continue;
    if (!command.argv.every((part, i) => part === "*" || part === words[i])) continue;
    refused = problemOf(command.argv, words);
    const [file, ...args] = words;
    if (refused === null && file !== undefined) return { is: "match", start: { file, args } };
  }
  return refused === null ? { is: "none" } : { is: "refused", why: refused };
}

/** Why arguments may not stand for the stars of a template. */
function problemOf(argv: readonly string[], words: readonly string[]): string | null {
  for (const [i, part] of argv.entries()) {
    if (part !== "*") continue;
    const word = words[i] ?? "";
    // It would be taken for an option, and options can do anything.
    if (word.startsWith("-")) return `The argument ${i} begins with -, and a star takes no options.`;
    if (word === "") return `The argument ${i} is empty.`;
    if (/\p{Cc}/u.test(word)) return `The argument ${i} holds a control character.`;
    if (Buffer.byteLength(word) > MAX_ARGUMENT_BYTES) return `The argument ${i} is longer than 64 KiB.`;
  }
  return null;
}
