import type { Json, JsonObject } from "../base/json.ts";
import { checkFields, fieldsToSchema } from "../catalog/field-value.ts";
import { problemsAsJson, sayProblems, type ValueProblem } from "../catalog/value-problem.ts";
import { Fault } from "../errors/fault.ts";
import type { Field } from "../plan/field.ts";
import type { Val } from "../plan/marked.ts";
import type { Position } from "../plan/position.ts";

/** How an agent's work is finished by a typed result (seed 000): one offer, valid or the step fails. */
export interface Finish {
  schema: JsonObject;
  accept(offer: Json, at: Position): { ok: true; value: Val } | { ok: false; fault: Fault };
}

export function typedResult(returns: readonly Field[]): Finish {
  return {
    schema: fieldsToSchema(returns),
    accept(offer, at) {
      const checked = checkFields(returns, offer);
      if (checked.ok) return { ok: true, value: checked.value };
      return { ok: false, fault: invalidResult(checked.problems, at) };
    },
  };
}

function invalidResult(problems: readonly ValueProblem[], at: Position): Fault {
  return new Fault("agent.invalid_result", at, `The agent's result does not fit: ${sayProblems(problems)}`, {
    problems: problemsAsJson(problems),
  });
}
