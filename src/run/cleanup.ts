/**
 * What is due once a step has started (workfile.md 2).
 *
 * I1: `always` runs at the end of the list that its step stands in, whatever the outcome.
 * I2: `failure` runs at the end of the first list that a failure, a timeout or a cancel leaves; where a list ends
 *     well it passes to the list around it, out to the end of its file, where it is dropped.
 * I3: the last declared runs first; of iterations and branches the last first, whichever ended first.
 * I4: a cleanup stands outside of what was stopped, the deadline included; each list has the grace and no more.
 * I5: a failing one is reported and replaces nothing.
 */
import { Fault } from "../errors/fault.ts";
import type { Plan } from "../plan/plan.ts";
import { auxPosition, type Position } from "../plan/position.ts";
import type { Cleanup } from "../plan/step.ts";
import { type End, type Stop, timeoutFault } from "./end.ts";
import type { Interpreter } from "./interpreter.ts";
import type { Scope } from "./scope.ts";

/** One list of cleanup steps that is due, with the frame that its step stands in. */
export interface DueCleanup {
  entry: Cleanup;
  /** Its place in the `cleanup` it belongs to, from 1: entries share a position. */
  number: number;
  position: Position;
  scope: Scope;
  plan: Plan;
}

/** The entries of a `cleanup` at the position of its step, or of its file. */
export function dueCleanups(entries: readonly Cleanup[], at: Position, scope: Scope, plan: Plan): DueCleanup[] {
  const position = auxPosition(at, "cleanup");
  return entries.map((entry, index) => ({ entry, number: index + 1, position, scope, plan }));
}

/** At the end of a list: runs what is due now, and hands on to `outer` what may still become due (I1, I2). */
export async function leaveList(
  interpreter: Interpreter,
  due: readonly DueCleanup[],
  end: End,
  outer: DueCleanup[],
): Promise<void> {
  const error = errorOf(end);
  for (const cleanup of due.toReversed()) {
    if (error !== null || cleanup.entry.on === "always") await runCleanup(interpreter, cleanup, error);
  }
  if (error === null) outer.push(...due.filter(({ entry }) => entry.on === "failure"));
}

async function runCleanup(interpreter: Interpreter, due: DueCleanup, error: Fault | null): Promise<void> {
  const { entry, number, position, scope, plan } = due;
  const { scheduler, limits } = interpreter;
  const stop = scheduler.openCleanup(position, number);
  const limit = limits.cleanupGrace;
  scheduler.stopAt(stop, scheduler.now + limit, { cause: "timeout", because: null, limit, by: null });
  const names = scope.enter({ error: error === null ? null : interpreter.errorValue(error) });
  const end = await interpreter.list(entry.steps, {
    scope: names,
    position,
    stop,
    plan,
    steps: interpreter.cleanupSteps,
    cleanups: [],
  });
  scheduler.closeScope(stop);
  const failure = errorOf(end);
  interpreter.ends.cleanedUp(position, failure === null ? "completed" : statusOf(end), failure?.code ?? null);
}

function statusOf(end: End): "failed" | "timed_out" | "cancelled" {
  if (end.is !== "stopped") return "failed";
  return end.stop.cause === "timeout" ? "timed_out" : "cancelled";
}

/** What ended a list, as `error` reads it; null where it ended well, or by the author's own `wf.stop`. */
function errorOf(end: End): Fault | null {
  switch (end.is) {
    case "value":
    case "skipped":
      return null;
    case "failed":
      return end.fault;
    case "exit":
      return end.exit.how === "fail" ? end.exit.fault : null;
    case "stopped":
      return stopFault(end.stop);
  }
}

function stopFault({ cause, because, limit }: Stop): Fault {
  const at = because?.position ?? "";
  switch (cause) {
    case "timeout":
    case "deadline":
      return timeoutFault(at, limit);
    case "sibling_failed":
    case "abort":
      return new Fault(because?.code ?? "run.cancelled", at, "Stopped because of a failure beside it.");
    default:
      return new Fault("run.cancelled", at, "Stopped while it was under way.");
  }
}
