import { START_OF_TEXT } from "../../base/span.ts";
import type { Step } from "../../plan/step.ts";
import { type Admission, find, stepName } from "../admission.ts";
import type { ProvedBounds } from "../bounds.ts";

/** Refuses a plan whose proved bound is over the operator's ceiling, or cannot be proved where there is one. */
export function checkCeiling(admission: Admission, proved: ProvedBounds): void {
  const { ceiling } = admission.input.policy;
  const { bounds, unproved } = proved;
  const { heaviest } = proved;
  const limits: [string, number | undefined, number | null, Step | null][] = [
    ["tool_attempts", ceiling.toolAttempts, bounds.toolAttempts, heaviest.toolAttempts],
    ["tokens", ceiling.tokens, bounds.tokens, heaviest.tokens],
    ["duration", ceiling.duration, bounds.duration, null],
    ["depth", ceiling.depth, bounds.depth, null],
    ["width", ceiling.width, bounds.width, heaviest.width],
  ];
  const first = admission.input.plan.steps[0]?.span ?? START_OF_TEXT;
  for (const [name, limit, bound, step] of limits) {
    if (limit === undefined || bound === null || bound <= limit) continue;
    find(admission, {
      code: "plan.ceiling_exceeded",
      message: `The plan's worst case of ${name} is ${bound}, over the ceiling of ${limit}.`,
      at: step === null ? first : [step, { is: "key", name: "budget" }],
      help: "Lower the budgets, attempts or loop bounds in the file, or raise policy.ceiling in ambit.yaml.",
    });
  }
  for (const { step, bound } of unproved) {
    const limited = bound === "tokens" ? ceiling.tokens !== undefined : ceiling.toolAttempts !== undefined;
    find(admission, {
      code: "plan.unbounded",
      message: `The worst case of ${bound} cannot be proved: ${stepName(step)} has no budget of ${bound === "tokens" ? "tokens" : "steps"}.`,
      at: [step, { is: "key", name: "budget" }],
      help: `Give its budget ${bound === "tokens" ? "tokens: N" : "steps: N"}.`,
      severity: limited ? "error" : "hint",
    });
  }
}
