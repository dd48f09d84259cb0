import { hasEffect } from "../catalog/manifest.ts";
import type { AgentStep } from "../plan/step.ts";
import { type Approval, approval } from "../run/approval.ts";
import { type CallEnd, checkArguments, dispatch } from "../run/dispatch.ts";
import { isSuppressed, suppressedCall, suppressionOf } from "../run/dry-run.ts";
import type { Interpreter } from "../run/interpreter.ts";
import type { Meter } from "../run/meter.ts";
import type { StopScope } from "../run/stop-scope.ts";
import { settleUnknown } from "../run/unknown.ts";
import { toolAnswer } from "./answers.ts";
import type { LoopEnd } from "./loop-end.ts";
import type { ToolAnswer } from "./model.ts";
import type { AcceptedCall } from "./turn.ts";

/** What the calls of one step are dispatched with. */
export interface CallsOf {
  interpreter: Interpreter;
  step: AgentStep;
  stop: StopScope;
  meter: Meter;
  /** Told where a dry run shows the agent a suppressed result. */
  onSuppressed: () => void;
}

/**
 * Dispatches a turn's accepted calls: neighbouring reads side by side, all others alone and in order. Gives the
 * answers by the calls' places in the turn, or the end of the loop where one of them is it.
 */
export async function dispatchAll(
  given: CallsOf,
  calls: readonly AcceptedCall[],
): Promise<LoopEnd | { answers: Map<number, ToolAnswer> }> {
  const { interpreter } = given;
  const answers = new Map<number, ToolAnswer>();
  for (const group of sideBySide(calls)) {
    const ends = await interpreter.scheduler.fork(
      group.map((call) => () => dispatchOne(given, call)),
      interpreter.limits.concurrency,
      () => given.stop.current === null,
    );
    for (const [i, ended] of ends.entries()) {
      const call = group[i];
      if (!call || ended === null) continue;
      const end = await settled(given, call, ended);
      if (end.is === "left") return end.end;
      if (end.is === "ok" && isSuppressed(end.value)) given.onSuppressed();
      if (end.is !== "stopped") answers.set(call.index, toolAnswer(call, end));
    }
    const stop = given.stop.current;
    if (stop !== null) return { reason: "stopped", stop };
    if (ends.some((end) => end?.is === "exhausted")) return { reason: "exhausted", by: "steps" };
  }
  return { answers };
}

/**
 * Lists an effect whose outcome is not known and applies the step's policy: under `abort` and `halt` the agent is
 * told nothing of it until it is settled.
 */
async function settled(
  given: CallsOf,
  call: AcceptedCall,
  end: CallEnd,
): Promise<CallEnd | { is: "left"; end: LoopEnd }> {
  const { interpreter, step, stop, meter } = given;
  const lost = end.is === "unknown" ? end.code : end.is === "stopped" ? (end.cutOff?.code ?? null) : null;
  if (lost !== null) interpreter.ends.unknownEffect(call.position, call.name, lost, call.key);
  if (end.is !== "unknown" || step.onUnknown === "fail" || stop.current !== null) return end;
  const { attempt, fault } = end;
  const how = await settleUnknown(interpreter, step.onUnknown, {
    action: call.name,
    position: call.position,
    attempt,
    fault,
    scope: stop,
  });
  switch (how.is) {
    case "value":
      return { is: "ok", value: how.value };
    case "failed":
      return { is: "failed", fault: how.fault };
    case "stopped":
      return {
        is: "left",
        end: step.onUnknown === "abort" ? { reason: "aborted-run", end: how } : { reason: "stopped", stop: how.stop },
      };
    case "retry":
      if (!meter.take()) return { is: "exhausted", fault };
      return settled(given, call, await dispatchOne(given, call, attempt + 1));
  }
}

async function dispatchOne({ interpreter, stop, meter }: CallsOf, call: AcceptedCall, first = 1): Promise<CallEnd> {
  const { manifest } = call.tool.action;
  const { connection } = call.tool.action;
  const suppression = suppressionOf(interpreter, call.tool.action, call.args);
  const asked: Approval =
    suppression === null
      ? await approval(interpreter, call.name, connection, call.args, call.position, stop)
      : { is: "approved", args: call.args };
  if (asked.is === "rejected") return { is: "failed", fault: asked.fault };
  if (asked.is === "stopped") return { is: "stopped", stop: asked.stop, cutOff: null };
  const edited = asked.args === call.args ? null : checkArguments(manifest, asked.args, call.key, call.position);
  if (edited) return { is: "failed", fault: edited };
  const end = await dispatch(interpreter.scheduler, interpreter.connectors, {
    run: interpreter.run,
    action: call.tool.action,
    args: asked.args,
    key: call.key,
    position: call.position,
    scope: stop,
    attempts: manifest.retry.attempts,
    backoff: manifest.retry.backoff,
    first,
    ofAgent: true,
    suppression,
    mayRetry: () => meter.free >= 1,
    takeAttempt: () => meter.take(),
    onDispatched: () => meter.countDispatch(),
  });
  if (suppression !== null && end.is === "ok") {
    suppressedCall(interpreter, call.position, call.tool.action, call.args, suppression);
  }
  return end;
}

function sideBySide(calls: readonly AcceptedCall[]): AcceptedCall[][] {
  const groups: AcceptedCall[][] = [];
  let reads: AcceptedCall[] | null = null;
  for (const call of calls) {
    if (hasEffect(call.tool.action.manifest)) {
      groups.push([call]);
      reads = null;
    } else if (reads === null) {
      reads = [call];
      groups.push(reads);
    } else {
      reads.push(call);
    }
  }
  return groups;
}
