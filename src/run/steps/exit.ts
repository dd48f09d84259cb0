import { invariant } from "../../base/invariant.ts";
import { Fault } from "../../errors/fault.ts";
import { peel, type Val } from "../../plan/marked.ts";
import type { End } from "../end.ts";
import type { StepRunner } from "./step-runner.ts";

export const runExit: StepRunner<"exit"> = async (interpreter, step, context): Promise<End> => {
  const { position, scope } = context;
  const evaluated = (value: typeof step.value): { ok: true; value: Val } | { ok: false; fault: Fault } =>
    value === undefined ? { ok: true, value: null } : interpreter.evaluator.value(value, scope, position);
  interpreter.recorder.trail(position, "exit", { how: step.how });
  switch (step.how) {
    case "stop": {
      const outputs = evaluated(step.value);
      if (!outputs.ok) return { is: "failed", fault: outputs.fault };
      return { is: "exit", exit: { how: "stop", outputs: outputs.value } };
    }
    case "fail": {
      const code = evaluated(step.code);
      if (!code.ok) return { is: "failed", fault: code.fault };
      const text = evaluated(step.text);
      if (!text.ok) return { is: "failed", fault: text.fault };
      const message = peel(text.value);
      const shown = message.marks.suppressed
        ? "[suppressed]"
        : message.marks.sensitive
          ? "[sensitive]"
          : String(message.value ?? "");
      return { is: "exit", exit: { how: "fail", fault: new Fault(String(peel(code.value).value), position, shown) } };
    }
    case "return":
    case "continue":
    case "break":
      invariant(false, `${step.how} belongs to a flat scope`);
  }
};
