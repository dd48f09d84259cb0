/** Short ways to ask about one expression in a test. */
import type { Json } from "../../base/json.ts";
import { reveal, type Val } from "../../plan/marked.ts";
import { type Compiled, compile, type EvalProblem } from "../cel.ts";
import type { ExprProblem } from "../problem.ts";
import type { NameScope, Shape } from "../shape.ts";

export type Names = { readonly [name: string]: Val };

export function compiled(source: string): Compiled {
  const result = compile(source);
  if (!result.ok) throw new Error(`${source.slice(0, 100)}: ${result.problems[0]?.message}`);
  return result.expr;
}

/** The value with its marks. */
export function run(source: string, names: Names = {}): Val {
  const result = compiled(source).evaluate({ read: (name) => (Object.hasOwn(names, name) ? names[name] : undefined) });
  if (!result.ok) throw new Error(`${source.slice(0, 100)}: ${result.problem.message}`);
  return result.value;
}

/** The value in clear. */
export function value(source: string, names: Names = {}): Json {
  return reveal(run(source, names));
}

/** Why it fails; null if it does not. */
export function failure(source: string, names: Names = {}): EvalProblem | null {
  const result = compiled(source).evaluate({ read: (name) => (Object.hasOwn(names, name) ? names[name] : undefined) });
  return result.ok ? null : result.problem;
}

/** The first problem of a source that is no expression; null if it is one. */
export function fault(source: string): ExprProblem | null {
  const result = compile(source);
  return result.ok ? null : (result.problems[0] ?? null);
}

export function scopeOf(shapes: { readonly [name: string]: Shape }): NameScope {
  return new Map(Object.entries(shapes));
}

export function check(
  source: string,
  shapes: { readonly [name: string]: Shape } = {},
): { problems: ExprProblem[]; shape: Shape } {
  return compiled(source).check(scopeOf(shapes));
}

/** What `check` points at: the stretch of source and the help. */
export function pointed(source: string, shapes: { readonly [name: string]: Shape } = {}): string[] {
  return check(source, shapes).problems.map((p) => `${p.code.slice(11)} [${source.slice(p.start, p.end)}] ${p.help}`);
}
