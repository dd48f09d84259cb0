import { canonical } from "../../base/json.ts";
import { peel, reveal, type Val } from "../../plan/marked.ts";
import { isSuppressed, undetermined } from "../dry-run.ts";
import type { End } from "../end.ts";
import type { Interpreter } from "../interpreter.ts";
import { needClear } from "../redacted.ts";
import type { StepContext, StepOf, StepRunner } from "./step-runner.ts";

export const runBranch: StepRunner<"branch"> = async (interpreter, step, context) => {
  const { position, scope } = context;
  const isIf = step.arms.length === 1 && step.arms[0]?.is === true;
  let steps = step.else;
  let detail: string | null = null;
  let taken = false;
  if (isIf) {
    const met = interpreter.evaluator.condition(step.subject, scope, position);
    if (!met.ok) return { is: "failed", fault: met.fault };
    if (met.value === "untold") return untold(interpreter, step, context);
    taken = met.value === "yes";
    if (taken) steps = step.arms[0]?.steps ?? [];
  } else {
    const value =
      typeof step.subject === "boolean"
        ? { ok: true as const, value: step.subject }
        : interpreter.evaluator.expression(step.subject, scope, position);
    if (!value.ok) return { is: "failed", fault: value.fault };
    if (isSuppressed(value.value)) return untold(interpreter, step, context);
    needClear(value.value, position, "A switch");
    const text = caseText(value.value);
    const arm = step.arms.find((entry) => entry.is === text);
    if (arm) {
      taken = true;
      detail = text;
      steps = arm.steps;
    }
  }
  interpreter.recorder.trail(position, taken ? "then" : "else", detail);
  return interpreter.list(steps, context);
};

/** A dry run cannot tell which of its lists it would run. */
function untold(interpreter: Interpreter, step: StepOf<"branch">, { plan, position }: StepContext): End {
  const arms = step.arms.map(({ is, steps }) => ({ branch: is === true ? "then" : is, steps, below: position }));
  return undetermined(interpreter, plan, position, [...arms, { branch: "else", steps: step.else, below: position }]);
}

/** Case texts are compared with `==`, numbers and booleans by their JSON text. */
function caseText(value: Val): string | null {
  const { value: inner } = peel(value);
  if (typeof inner === "string") return inner;
  return typeof inner === "number" || typeof inner === "boolean" ? canonical(reveal(inner)) : null;
}
