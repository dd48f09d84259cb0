import { hasEffect } from "../catalog/manifest.ts";
import type { AgentStep } from "../plan/step.ts";
import { type CallEnd, dispatch } from "../run/dispatch.ts";
import type { Interpreter } from "../run/interpreter.ts";
import type { Meter } from "../run/meter.ts";
import type { StopScope } from "../run/stop-scope.ts";
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
}

/**
 * Dispatches a turn's accepted calls: neighbouring reads side by side, all others alone and in order. Gives the
 * answers by the calls' places in the turn, or the end of the loop where one of them is it.
 */
export async function dispatchAll(
  given: CallsOf,
  calls: readonly AcceptedCall[],
): Promise<LoopEnd | { answers: Map<number, ToolAnswer> }> {
  const { interpreter, step } = given;
  const answers = new Map<number, ToolAnswer>();
  for (const group of sideBySide(calls)) {
    const ends = await interpreter.scheduler.fork(
      group.map((call) => () => dispatchOne(given, call)),
      interpreter.limits.concurrency,
      () => given.stop.current === null,
    );
    for (const [i, end] of ends.entries()) {
      const call = group[i];
      if (!call || end === null) continue;
      const lost = end.is === "unknown" ? end.code : end.is === "stopped" ? end.cutOff : null;
      if (lost !== null) interpreter.ends.unknownEffect(call.position, call.name, lost, call.key);
      if (end.is !== "stopped") answers.set(call.index, toolAnswer(call, end));
    }
    const stop = given.stop.current;
    if (stop !== null) return { reason: "stopped", stop };
    const unknown = ends.find((end) => end?.is === "unknown");
    if (unknown?.is === "unknown" && step.onUnknown !== "fail") {
      const end = await interpreter.unknown(step.onUnknown, unknown.fault, unknown.fault.at);
      return { reason: "aborted-run", end };
    }
    if (ends.some((end) => end?.is === "exhausted")) return { reason: "exhausted", by: "steps" };
  }
  return { answers };
}

function dispatchOne({ interpreter, stop, meter }: CallsOf, call: AcceptedCall): Promise<CallEnd> {
  const { manifest } = call.tool.action;
  return dispatch(interpreter.scheduler, interpreter.connectors, {
    run: interpreter.run,
    action: call.tool.action,
    args: call.args,
    key: call.key,
    position: call.position,
    scope: stop,
    attempts: manifest.retry.attempts,
    backoff: manifest.retry.backoff,
    ofAgent: true,
    mayRetry: () => meter.free >= 1,
    takeAttempt: () => meter.take(),
    onDispatched: () => meter.countDispatch(),
  });
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
