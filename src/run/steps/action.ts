import { MAX_BACKOFF_MS } from "../../base/duration.ts";
import { invariant } from "../../base/invariant.ts";
import { markSensitive } from "../../catalog/sensitive.ts";
import { Fault } from "../../errors/fault.ts";
import type { Val } from "../../plan/marked.ts";
import type { Position } from "../../plan/position.ts";
import type { ActionStep } from "../../plan/step.ts";
import { checkArguments, dispatch } from "../dispatch.ts";
import type { End } from "../end.ts";
import type { Interpreter } from "../interpreter.ts";
import { stepKey } from "../keys.ts";
import type { StepContext, StepRunner } from "./step-runner.ts";

export const runAction: StepRunner<"action"> = async (interpreter, step, context) => {
  const args = interpreter.evaluator.value(step.args, context.scope, context.position);
  return args.ok ? callAction(interpreter, step, context, args.value) : { is: "failed", fault: args.fault };
};

/** Dispatches one action at the position of its step, under the Connector Execution Contract. */
export async function callAction(
  interpreter: Interpreter,
  step: Pick<ActionStep, "action" | "attempts" | "backoff" | "onUnknown">,
  context: StepContext,
  given: Val,
): Promise<End> {
  const { position } = context;
  const action = interpreter.admitted.definition.manifests[step.action];
  invariant(action !== undefined, `the action ${step.action} was not admitted`);
  const { manifest } = action;
  if (interpreter.isDenied(step.action)) {
    return {
      is: "failed",
      fault: new Fault("tool_not_authorized", position, `The deployment's policy denies ${step.action}.`),
    };
  }
  const args = markSensitive(given, manifest.input);
  const key = manifest.idempotency.kind === "keyed" ? stepKey(interpreter.run, position) : null;
  const bad = checkArguments(manifest, args, key, position);
  if (bad) return { is: "failed", fault: bad };
  const backoff =
    step.backoff === undefined
      ? { ok: true as const, value: manifest.retry.backoff }
      : interpreter.evaluator.duration(step.backoff, context.scope, position, MAX_BACKOFF_MS);
  if (!backoff.ok) return { is: "failed", fault: backoff.fault };
  const end = await dispatch(interpreter.scheduler, interpreter.connectors, {
    run: interpreter.run,
    action,
    args,
    key,
    position,
    scope: context.stop,
    attempts: Math.min(step.attempts ?? manifest.retry.attempts, manifest.retry.attempts),
    backoff: Math.max(backoff.value, manifest.retry.backoff),
    ofAgent: false,
  });
  switch (end.is) {
    case "ok":
      return { is: "value", value: end.value };
    case "unknown":
      interpreter.ends.unknownEffect(position, manifest.name, end.code, key);
      return interpreter.unknown(step.onUnknown, end.fault, position);
    case "failed":
    case "exhausted":
      return { is: "failed", fault: end.fault };
    case "stopped":
      if (end.cutOff === null) return { is: "stopped", stop: end.stop };
      interpreter.ends.unknownEffect(position, manifest.name, end.cutOff, key);
      // A time that was up over an effect is an ambiguity like any other; whoever cancels has decided already.
      if (end.stop.cause !== "timeout") return { is: "stopped", stop: end.stop };
      return interpreter.unknown(step.onUnknown, cutOffFault(manifest.name, end.cutOff, position), position);
  }
}

function cutOffFault(action: string, code: string, at: Position): Fault {
  const text = `The time was up before ${action} gave a result.`;
  return new Fault("flow.action_ambiguous", at, text, { ambiguity: code, action });
}
