/**
 * One expression from its source to its value. Only the engine's `run` evaluates a plan's expressions;
 * notations compile them to check them.
 */
import type { Marks, Val } from "../plan/marked.ts";
import { checkTree } from "./check.ts";
import { build, settle } from "./evaluate.ts";
import { Failure, Frame } from "./frame.ts";
import { parse } from "./parser.ts";
import { pathsIn } from "./paths.ts";
import type { ExprProblem } from "./problem.ts";
import type { NameScope, Shape } from "./shape.ts";

/** One expression, read and compiled once. */
export interface Compiled {
  readonly source: string;
  /** Root names read (free variables), sorted, each once. */
  readonly reads: readonly string[];
  /** Static field paths read from a root, longest static prefix: `["settings", "channel"]`. Sorted, each once. */
  readonly paths: readonly (readonly string[])[];
  /**
   * Unknown names and functions, fields that a closed shape has not, obvious faults of kinds, constants that
   * fail; and what is known of the result, its marks included. Problems are `expression.unknown_name`,
   * `expression.failed` and `expression.syntax`.
   */
  check(scope: NameScope): { problems: ExprProblem[]; shape: Shape };
  /** Never throws for any source, names or values. */
  evaluate(env: Env): EvalResult;
}

/** The root names of one evaluation; undefined where a name has no value (its fields are then not there). */
export interface Env {
  read(name: string): Val | undefined;
}

export type EvalResult = { ok: true; value: Val } | { ok: false; problem: EvalProblem };

/** Why an evaluation failed: `expression.failed`. Names kinds and places, never values. */
export interface EvalProblem {
  message: string;
  help: string;
  /** `details.reason` of the fault. */
  reason: "too_large" | null;
  /** Of the values that led to it. */
  marks: Marks;
  start: number;
  end: number;
}

/** Parses and compiles; a source that is no expression gives `expression.syntax`. */
export function compile(source: string): { ok: true; expr: Compiled } | { ok: false; problems: ExprProblem[] } {
  const parsed = parse(source);
  if (!parsed.ok) return parsed;
  const { root, slots } = parsed;
  const run = build(root, source);
  const expr: Compiled = {
    source,
    reads: Object.freeze([...parsed.roots].sort()),
    paths: pathsIn(root),
    check: (scope) => checkTree(root, source, scope, slots),
    evaluate: (env) => {
      const frame = new Frame(env, slots);
      try {
        const cell = run(frame);
        return { ok: true, value: frame.madeTime ? settle(cell) : (cell as Val) };
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        const { message, help, reason, marks, where } = error;
        return { ok: false, problem: { message, help, reason, marks, start: where.start, end: where.end } };
      }
    },
  };
  return { ok: true, expr };
}
