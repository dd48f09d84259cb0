import { Fault } from "../errors/fault.ts";
import type { Value } from "../plan/expression.ts";
import { peel, type Val } from "../plan/marked.ts";
import type { Position } from "../plan/position.ts";
import { kindOf } from "../run/evaluator.ts";

/**
 * Why this is no goal: an expression of type `any` may have given anything (WX-12). Null where it is a text, or
 * one that the history does not hold, which was a text when the run went this way.
 */
export function noGoal(goal: Value, given: Val, at: Position): Fault | null {
  const { value, marks } = peel(given);
  if (typeof value === "string" || marks.redacted) return null;
  const message = `The goal of an agent must be a text, not ${kindOf(value)}.`;
  if (!("expr" in goal)) return new Fault("expression.failed", at, message);
  const { source, span } = goal.expr;
  return new Fault("expression.failed", at, message, { source, line: span.line, column: span.column });
}
