import type { ValueTemplate } from "./script-template.ts";

/** A scripted agent file as it is played (`*.scripted.yaml`). Plain data; what is played is in `scripted.ts`. */
export interface Script {
  /** By agent name; `*` stands for any agent that has no entry of its own. */
  readonly agents: ReadonlyMap<string, readonly ScriptPart[]>;
  /** SHA-256 of the text it was read from: another script is another agent. */
  readonly digest: string;
}

/** The turns for some steps. The first part of an agent whose `step` matches is played. */
export interface ScriptPart {
  /** Position, glob over positions, or AWL task id; null matches every step. */
  readonly step: string | null;
  readonly turns: readonly ScriptTurn[];
}

export interface ScriptTurn {
  readonly say: ValueTemplate | null;
  readonly calls: readonly ScriptCall[];
  /** Typed results, in the order in which they are offered. */
  readonly finish: readonly ValueTemplate[];
  readonly giveUp: ValueTemplate | null;
  readonly error: ScriptError | null;
  /** Milliseconds before the answer. */
  readonly wait: number;
  /** Milliseconds in which the stream is open and silent. */
  readonly stall: number;
  /** What the meter reads for this turn; null: no usage is reported. */
  readonly tokens: { readonly input: number; readonly output: number } | null;
  readonly when: ScriptCondition | null;
  /** How often the turn is played; Infinity for `forever`. */
  readonly times: number;
}

/** A proposal. `tool` is sent as it is written, declared or not. */
export type ScriptCall =
  | { readonly tool: string; readonly with: ValueTemplate }
  | { readonly tool: string; readonly argsText: string };

/** The model call fails. */
export interface ScriptError {
  readonly code: string;
  readonly message: ValueTemplate | null;
  /** Milliseconds. */
  readonly retryAfter: number | null;
}

/** What the last result has to be for the turn to be played; every given part must fit. */
export interface ScriptCondition {
  readonly tool: string | null;
  readonly ok: boolean | null;
  /** The code of an error, or a piece of its text. */
  readonly error: ValueTemplate | null;
  readonly contains: ValueTemplate | null;
}

/** Whether a glob fits a text: `*` stands for any run of characters, `\*` for a star, all else for itself. */
export function globMatches(glob: string, text: string): boolean {
  const pieces: string[] = [];
  let piece = "";
  for (let i = 0; i < glob.length; i++) {
    if (glob[i] === "*") {
      pieces.push(piece);
      piece = "";
    } else if (glob[i] === "\\" && glob[i + 1] === "*") {
      piece += "*";
      i++;
    } else piece += glob[i];
  }
  pieces.push(piece);
  const first = pieces[0] ?? "";
  if (pieces.length === 1) return first === text;
  const last = pieces.at(-1) ?? "";
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  // Leftmost fits between the two ends: taking each piece as early as possible is never wrong, and linear.
  let from = first.length;
  const end = text.length - last.length;
  for (const piece of pieces.slice(1, -1)) {
    const at = text.indexOf(piece, from);
    if (at < 0 || at + piece.length > end) return false;
    from = at + piece.length;
  }
  return true;
}
