import { MAX_BACKOFF_MS } from "../../base/duration.ts";
import { invariant } from "../../base/invariant.ts";
import { markSensitive } from "../../catalog/sensitive.ts";
import { Fault } from "../../errors/fault.ts";
import type { Val } from "../../plan/marked.ts";
import type { Position } from "../../plan/position.ts";
import type { ActionStep, Reconcile } from "../../plan/step.ts";
import { type Approval, approval } from "../approval.ts";
import { type CallEnd, checkArguments, dispatch } from "../dispatch.ts";
import { suppressedCall, suppressionOf } from "../dry-run.ts";
import type { End } from "../end.ts";
import type { Interpreter } from "../interpreter.ts";
import { stepKey } from "../keys.ts";
import type { StopScope } from "../stop-scope.ts";
import { type Reconciling, settleUnknown } from "../unknown.ts";
import type { StepContext, StepRunner } from "./step-runner.ts";

export const runAction: StepRunner<"action"> = async (interpreter, step, context) => {
  const args = interpreter.evaluator.value(step.args, context.scope, context.position);
  return args.ok ? callAction(interpreter, step, context, args.value) : { is: "failed", fault: args.fault };
};

/** Dispatches one action at the position of its step, under the Connector Execution Contract. */
export async function callAction(
  interpreter: Interpreter,
  step: Pick<ActionStep, "action" | "attempts" | "backoff" | "onUnknown" | "reconcile">,
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
  const suppression = suppressionOf(interpreter, action, args);
  const asked: Approval =
    suppression === null
      ? await approval(interpreter, step.action, action.connection, args, position, context.stop)
      : { is: "approved", args };
  if (asked.is === "rejected") return { is: "failed", fault: asked.fault };
  if (asked.is === "stopped") return asked;
  const edited = asked.args === args ? null : checkArguments(manifest, asked.args, key, position);
  if (edited) return { is: "failed", fault: edited };
  for (let first = 1; ; ) {
    const end = await dispatch(interpreter.scheduler, interpreter.connectors, {
      run: interpreter.run,
      action,
      args: asked.args,
      key,
      position,
      scope: context.stop,
      attempts: Math.min(step.attempts ?? manifest.retry.attempts, manifest.retry.attempts),
      backoff: Math.max(backoff.value, manifest.retry.backoff),
      first,
      ofAgent: false,
      suppression,
    });
    if (suppression !== null && end.is === "ok") suppressedCall(interpreter, position, action, args, suppression);
    const lost = lostIn(end, manifest.name, position);
    if (lost === null) return plainEnd(end as Exclude<CallEnd, { is: "unknown" }>);
    interpreter.ends.unknownEffect(position, manifest.name, lost.code, key);
    // Whoever cancels has decided already; a time that was up over an effect is an ambiguity like any other.
    if (end.is === "stopped" && end.stop.cause !== "timeout") return { is: "stopped", stop: end.stop };
    const scope = outsideOf(context.stop);
    const { attempt, fault } = lost;
    const settled = await settleUnknown(
      interpreter,
      step.onUnknown,
      { action: step.action, position, attempt, fault, scope },
      step.reconcile === undefined ? undefined : reconciling(interpreter, step.reconcile, { ...context, stop: scope }),
    );
    if (settled.is !== "retry") return settled;
    first = attempt + 1;
  }
}

function reconciling(interpreter: Interpreter, how: Reconcile, context: StepContext): Reconciling {
  const look: Reconciling["look"] = (action, at, args) =>
    callAction(interpreter, { action, onUnknown: "fail" }, at, args);
  return { how, context, look };
}

/** The scope that a step's own timeout has not stopped. */
function outsideOf(scope: StopScope): StopScope {
  return scope.stop !== null && scope.parent !== null && scope.parent.current === null ? scope.parent : scope;
}

function plainEnd(end: Exclude<CallEnd, { is: "unknown" }>): End {
  switch (end.is) {
    case "ok":
      return { is: "value", value: end.value };
    case "failed":
    case "exhausted":
      return { is: "failed", fault: end.fault };
    case "stopped":
      return { is: "stopped", stop: end.stop };
  }
}

/** The effect whose outcome is not known, where there is one. */
function lostIn(end: CallEnd, action: string, at: Position): { code: string; attempt: number; fault: Fault } | null {
  if (end.is === "unknown") return end;
  if (end.is !== "stopped" || end.cutOff === null) return null;
  return { ...end.cutOff, fault: cutOffFault(action, end.cutOff.code, at) };
}

function cutOffFault(action: string, code: string, at: Position): Fault {
  const text = `The time was up before ${action} gave a result.`;
  return new Fault("flow.action_ambiguous", at, text, { ambiguity: code, action });
}
