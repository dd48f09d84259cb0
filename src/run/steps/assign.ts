import type { Val } from "../../plan/marked.ts";
import type { StepRunner } from "./step-runner.ts";

export const runAssign: StepRunner<"assign"> = async (interpreter, step, context) => {
  const result = interpreter.evaluator.value({ map: step.values }, context.scope, context.position);
  return result.ok ? { is: "value", value: result.value as Val } : { is: "failed", fault: result.fault };
};
