import { recorded } from "../../plan/marked.ts";
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
  return stop === null ? { is: "value", value: null } : { is: "stopped", stop };
};
