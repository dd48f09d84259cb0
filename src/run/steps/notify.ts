import { recorded, type Val } from "../../plan/marked.ts";
import { isSuppressed, suppressedStep } from "../dry-run.ts";
import { type End, NULL_END } from "../end.ts";
import type { Interpreter } from "../interpreter.ts";
import { callAction } from "./action.ts";
import type { StepContext, StepOf, StepRunner } from "./step-runner.ts";

export const runNotify: StepRunner<"notify"> = async (interpreter, step, context) => {
  const { position } = context;
  const text = interpreter.evaluator.value(step.text, context.scope, position);
  if (!text.ok) return { is: "failed", fault: text.fault };
  if (interpreter.dryRun) {
    const because = isSuppressed(text.value) ? "reads_suppressed" : "dry_run";
    suppressedStep(interpreter, position, "notice", because, { text: recorded(text.value) });
    return also(interpreter, step, context, text.value);
  }
  await interpreter.scheduler.wait({
    kind: "notice.sent",
    position,
    attempt: 1,
    in: recorded(text.value),
    scope: context.stop,
    onBudget: "abort",
    start: async () => ({ text: text.value }),
  });
  const stop = context.stop.current;
  if (stop !== null) return { is: "stopped", stop };
  return also(interpreter, step, context, text.value);
};

/** What the deployment has done with every notice. */
async function also(interpreter: Interpreter, step: StepOf<"notify">, context: StepContext, text: Val): Promise<End> {
  const { notify } = interpreter.admitted.definition;
  if (notify === null) return NULL_END;
  const args: Val = { ...notify.with, text };
  const end = await callAction(interpreter, { ...step, action: notify.action }, context, args);
  return end.is === "value" ? NULL_END : end;
}
