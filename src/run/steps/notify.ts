import { recorded, type Val } from "../../plan/marked.ts";
import { NULL_END } from "../end.ts";
import { callAction } from "./action.ts";
import type { StepRunner } from "./step-runner.ts";

export const runNotify: StepRunner<"notify"> = async (interpreter, step, context) => {
  const { position } = context;
  const text = interpreter.evaluator.value(step.text, context.scope, position);
  if (!text.ok) return { is: "failed", fault: text.fault };
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
  const { notify } = interpreter.admitted.definition;
  if (notify === null) return NULL_END;
  const args: Val = { ...notify.with, text: text.value };
  const end = await callAction(interpreter, { ...step, action: notify.action }, context, args);
  return end.is === "value" ? NULL_END : end;
};
