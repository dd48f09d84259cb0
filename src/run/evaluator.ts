import { MAX_DURATION_MS, parseDuration } from "../base/duration.ts";
import { invariant } from "../base/invariant.ts";
import { isObject } from "../base/json.ts";
import { Fault } from "../errors/fault.ts";
import { type Compiled, compile } from "../expression/cel.ts";
import { insertText } from "../expression/text.ts";
import type { Duration, Expr, Value } from "../plan/expression.ts";
import {
  joinMarks,
  Marked,
  type Marks,
  mark,
  marksIn,
  NO_MARKS,
  peel,
  SUPPRESSED,
  setOwn,
  type Val,
} from "../plan/marked.ts";
import type { Position } from "../plan/position.ts";
import { needClear } from "./redacted.ts";
import type { Scope } from "./scope.ts";

/** What a condition says; `untold` in a dry run, where it rests on something that was not done. */
export type Answer = "yes" | "no" | "untold";

export type Evaluated<T> = { ok: true; value: T } | { ok: false; fault: Fault };

/** Evaluates a plan's values. Each expression is compiled once; a failure is a Fault, never a throw. */
export class Evaluator {
  readonly #compiled = new Map<string, Compiled>();

  #compile(expr: Expr): Compiled {
    const known = this.#compiled.get(expr.source);
    if (known) return known;
    const result = compile(expr.source);
    invariant(result.ok, `an expression of an admitted plan does not compile: ${expr.source}`);
    this.#compiled.set(expr.source, result.expr);
    return result.expr;
  }

  expression(expr: Expr, scope: Scope, at: Position): Evaluated<Val> {
    const compiled = this.#compile(expr);
    const result = compiled.evaluate(scope);
    if (result.ok) return result;
    const { problem } = result;
    // It has failed for want of something that a dry run did not do.
    if (problem.marks.suppressed) return { ok: true, value: SUPPRESSED };
    // It may have failed only for want of a value that was there when the run went this way.
    for (const path of compiled.paths) needClear(valueAt(scope, path), at, "An expression");
    return {
      ok: false,
      fault: new Fault("expression.failed", at, problem.message, {
        source: expr.source,
        line: expr.span.line,
        column: expr.span.column,
        ...(problem.help === "" ? {} : { help: problem.help }),
        ...(problem.reason === null ? {} : { reason: problem.reason }),
      }),
    };
  }

  value(value: Value, scope: Scope, at: Position): Evaluated<Val> {
    if ("lit" in value) return { ok: true, value: value.lit };
    if ("expr" in value) return this.expression(value.expr, scope, at);
    if ("text" in value) return this.#text(value.text, scope, at);
    if ("list" in value) {
      const items: Val[] = [];
      for (const item of value.list) {
        const result = this.value(item, scope, at);
        if (!result.ok) return result;
        items.push(result.value);
      }
      return { ok: true, value: items };
    }
    const out: { [key: string]: Val } = {};
    for (const key of Object.keys(value.map)) {
      const part = value.map[key];
      if (part === undefined) continue;
      const result = this.value(part, scope, at);
      if (!result.ok) return result;
      setOwn(out, key, result.value);
    }
    return { ok: true, value: out };
  }

  #text(parts: (string | Expr)[], scope: Scope, at: Position): Evaluated<Val> {
    let text = "";
    let marks: Marks = NO_MARKS;
    for (const part of parts) {
      if (typeof part === "string") {
        text += part;
        continue;
      }
      const result = this.expression(part, scope, at);
      if (!result.ok) return result;
      const { marks: own } = peel(result.value);
      if (own.suppressed) {
        marks = joinMarks(marks, own);
        continue;
      }
      if (own.redacted) {
        // The text as a whole is masked where it is recorded: it can be handed on without being known.
        marks = joinMarks(marks, own);
        continue;
      }
      const inserted = insertText(result.value);
      if (!inserted.ok) {
        return {
          ok: false,
          fault: new Fault("expression.failed", at, inserted.message, {
            source: part.source,
            line: part.span.line,
            column: part.span.column,
            help: inserted.help,
          }),
        };
      }
      const peeled = peel(inserted.text);
      text += String(peeled.value);
      marks = joinMarks(marks, peeled.marks);
    }
    return { ok: true, value: mark(marks.redacted || marks.suppressed ? null : text, marks) };
  }

  /** A condition has to give a boolean; null is none. */
  condition(expr: Expr | boolean, scope: Scope, at: Position): Evaluated<Answer> {
    if (typeof expr === "boolean") return { ok: true, value: expr ? "yes" : "no" };
    const result = this.expression(expr, scope, at);
    if (!result.ok) return result;
    if (marksIn(result.value).suppressed) return { ok: true, value: "untold" };
    needClear(result.value, at, "A condition");
    const { value } = peel(result.value);
    if (typeof value === "boolean") return { ok: true, value: value ? "yes" : "no" };
    return {
      ok: false,
      fault: new Fault("expression.failed", at, `A condition must give true or false, not ${kindOf(value)}.`, {
        source: expr.source,
        line: expr.span.line,
        column: expr.span.column,
      }),
    };
  }

  /** Milliseconds; a computed one is checked against its bounds here, and a suppressed one is as long as it may be. */
  duration(duration: Duration, scope: Scope, at: Position, max = MAX_DURATION_MS): Evaluated<number> {
    if (typeof duration === "number") return { ok: true, value: duration };
    const result = this.expression(duration, scope, at);
    if (!result.ok) return result;
    if (marksIn(result.value).suppressed) return { ok: true, value: max };
    needClear(result.value, at, "A duration");
    const { value } = peel(result.value);
    const parsed =
      typeof value === "string"
        ? parseDuration(value)
        : { ok: false as const, message: `a duration is needed, not ${kindOf(value)}` };
    if (parsed.ok && parsed.ms >= 1 && parsed.ms <= max) return { ok: true, value: parsed.ms };
    const message = parsed.ok ? "The duration is outside its bounds." : `No duration: ${parsed.message}.`;
    return { ok: false, fault: new Fault("expression.failed", at, message, { source: duration.source }) };
  }
}

/** What stands at a static path, as far as it goes. */
function valueAt(scope: Scope, path: readonly string[]): Val {
  const [root = "", ...keys] = path;
  let at: Val = scope.read(root) ?? null;
  for (const key of keys) {
    if (at instanceof Marked) return at;
    if (!isObject(at) || !Object.hasOwn(at, key)) return null;
    at = at[key] as Val;
  }
  return at;
}

export function kindOf(value: Val): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  switch (typeof value) {
    case "object":
      return "a map";
    case "string":
      return "a text";
    case "number":
      return "a number";
    default:
      return "a boolean";
  }
}
