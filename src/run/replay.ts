/**
 * Replay (DU-20): the plan is evaluated again with the recorded history only. Nothing is contacted: there are
 * no connectors, no models, no clock that runs.
 */
import type { AdmittedPlan } from "../admit/admitted-plan.ts";
import type { Clock } from "../base/clock.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { jsonEqual } from "../base/json.ts";
import type { EndedBody } from "../journal/bodies.ts";
import type { RunRecord } from "../journal/event.ts";
import { type Position, positionName } from "../plan/position.ts";
import { checkedHistory } from "./checked-history.ts";
import { Execution, type Roots } from "./execution.ts";
import { type History, HistoryEnd, HistoryMismatch } from "./history.ts";
import { Recorder } from "./recorder.ts";
import type { Scheduler } from "./scheduler.ts";
import { nothingSealed, type OpenBody } from "./sealed-parts.ts";
import type { StepRunners } from "./steps/step-runner.ts";

export type ReplayReport =
  | { is: "equal"; digest: string; status: string; events: number }
  /** Another plan was evaluated with this history: how it comes out (DU-21). */
  | { is: "reevaluated"; digest: string; status: string; outputs: Json; error: Json; events: number }
  /** The records end before the run does; as far as they go, they agree. */
  | { is: "unfinished"; events: number; status: string }
  | { is: "diverged"; position: Position; message: string; expected: Json; recorded: Json; seq: number | null };

/** A clock that stands still: a replay that looked at it would find nothing. */
const NO_CLOCK: Clock = {
  now: () => 0,
  after: () => ({ cancel: () => {} }),
};

/** `records` gives what follows `run.started`, in order of `seq`. */
export async function replayRun(
  admitted: AdmittedPlan,
  roots: Roots,
  runners: StepRunners,
  records: History,
  /** The plan is another than the recorded one: agents and tools come from the history, the end is not compared. */
  changed = false,
  /** Opens what lies sealed beside the records. */
  open: OpenBody = nothingSealed,
): Promise<ReplayReport> {
  const seen: { ended: RunRecord | null; events: number; last: RunRecord | null } = {
    ended: null,
    events: 2,
    last: null,
  };
  const checked = checkedHistory(records);
  const history: History = {
    next: async () => {
      const record = await checked.next();
      if (record === null) return null;
      seen.events++;
      seen.last = record;
      if (record.kind === "run.ended") seen.ended = record;
      return record;
    },
  };
  const recorder = new Recorder({
    run: roots.run,
    def: admitted.def,
    journal: null,
    lease: null,
    clock: NO_CLOCK,
    listener: () => {},
    sealer: null,
  });
  const execution = new Execution(admitted, roots, new Map(), runners, recorder, NO_CLOCK, {
    mode: "replay",
    history,
    open,
  });
  try {
    const computed = await execution.run();
    if (changed) return reevaluated(computed, seen.events);
    if (seen.ended !== null) {
      execution.scheduler.notes.checkAll();
      recorder.checkTrail();
    }
    return compare(computed, seen.ended, seen.events);
  } catch (error) {
    if (error instanceof HistoryEnd) {
      return changed ? lacking(execution.scheduler) : unfinished(seen.ended, seen.events, seen.last);
    }
    if (!(error instanceof HistoryMismatch)) throw error;
    const { fault } = error;
    return {
      is: "diverged",
      position: fault.at,
      message: fault.message,
      expected: fault.details["expected"] ?? fault.details["waiting"] ?? null,
      recorded: fault.details["recorded"] ?? null,
      seq: typeof fault.details["seq"] === "number" ? fault.details["seq"] : null,
    };
  }
}

function reevaluated(computed: EndedBody, events: number): ReplayReport {
  const { digest, status, outputs } = computed;
  return { is: "reevaluated", digest, status, outputs, error: computed.error as unknown as Json, events };
}

/** The changed plan asks for what the history does not have; nothing is called in its place. */
function lacking(scheduler: Scheduler): ReplayReport {
  const [position = "", kind = ""] = scheduler.waiting[0] ?? [];
  return {
    is: "diverged",
    position,
    message: `the plan needs ${kind} at ${positionName(position)}, which the history does not have`,
    expected: kind,
    recorded: null,
    seq: null,
  };
}

function unfinished(ended: RunRecord | null, events: number, last: RunRecord | null): ReplayReport {
  if (ended === null)
    return { is: "unfinished", events, status: last?.kind === "run.suspended" ? "suspended" : "running" };
  return {
    is: "diverged",
    position: "",
    message: "the run is recorded as ended, but the plan still waits: a record is missing",
    expected: null,
    recorded: ended.body["status"] ?? null,
    seq: ended.seq,
  };
}

/** The records end before the run's end: as far as they go, they agree, unless evaluating them broke something. */
function cutOff({ status, error }: EndedBody, events: number): ReplayReport {
  if (error?.code !== "internal.invariant") return { is: "unfinished", events, status };
  const { position, message } = error;
  return { is: "diverged", position, message, expected: null, recorded: null, seq: null };
}

function compare(computed: EndedBody, ended: RunRecord | null, events: number): ReplayReport {
  if (ended === null) return cutOff(computed, events);
  const recorded = ended.body as JsonObject;
  const diverged = (what: string, expected: Json, found: Json): ReplayReport => ({
    is: "diverged",
    position: "",
    message: `the ${what} of the run is recorded otherwise than it comes out`,
    expected,
    recorded: found,
    seq: ended.seq,
  });
  const counts: Json = { ...computed.counts, events: ended.seq };
  if (!jsonEqual(counts, recorded["counts"] ?? null)) return diverged("counts", counts, recorded["counts"] ?? null);
  const parts: (keyof EndedBody)[] = [
    "status",
    "error",
    "outputs",
    "forgiven",
    "skipped",
    "truncated",
    "unknown",
    "cleanup",
    "suppressed",
    "undetermined",
  ];
  for (const part of parts) {
    const expected = (computed[part] ?? null) as unknown as Json;
    const found = recorded[part] ?? null;
    if (!jsonEqual(expected, found)) return diverged(part, expected, found);
  }
  if (computed.digest !== recorded["digest"]) return diverged("digest", computed.digest, recorded["digest"] ?? null);
  return { is: "equal", digest: computed.digest, status: computed.status, events };
}
