import { isObject, type Json, type JsonObject } from "../base/json.ts";
import { checkFields, fieldsToSchema } from "../catalog/field-value.ts";
import { problemsAsJson, sayProblems, type ValueProblem } from "../catalog/value-problem.ts";
import { Fault } from "../errors/fault.ts";
import type { Field } from "../plan/field.ts";
import { marksIn, recorded, type Val } from "../plan/marked.ts";
import type { Position } from "../plan/position.ts";
import { markFields } from "../run/hide.ts";

/**
 * How an agent's work is finished by a typed result (seed 000): one offer, valid or the step fails. It is judged
 * where it is offered, since a record of it holds nothing sensitive, and the verdict is recorded with it.
 */
export interface Finish {
  schema: JsonObject;
  /** Sensitive parts are marked in all that comes out. */
  judge(offer: Val): JudgedResult;
  /** Whether a recorded result still fits; one that the history holds masked is taken to. */
  fits(result: Val): boolean;
}

export interface JudgedResult {
  /** As it was offered. */
  offer: Val;
  /** What is to be bound, defaults applied; the offer itself where it does not fit. */
  result: Val;
  /** Null: it fits. */
  problems: Json | null;
}

export function typedResult(returns: readonly Field[]): Finish {
  return {
    schema: fieldsToSchema(returns),
    judge(offer) {
      const checked = checkFields(returns, offer);
      const marked = markFields(returns, offer);
      return checked.ok
        ? { offer: marked, result: checked.value, problems: null }
        : { offer: marked, result: marked, problems: problemsAsJson(checked.problems) };
    },
    fits: (result) => marksIn(result).redacted !== undefined || checkFields(returns, result).ok,
  };
}

/** The failure of a step whose result has these problems, as a turn's record holds them. */
export function invalidResult(problems: Val, at: Position): Fault {
  const list = recorded(problems);
  const said = Array.isArray(list) ? (list.filter(isObject) as unknown as ValueProblem[]) : [];
  return new Fault("agent.invalid_result", at, `The agent's result does not fit: ${sayProblems(said)}`, {
    problems: list,
  });
}
