/**
 * The steps of a run as `runs show --json` lists them (interfaces.md 1): records tell what was done, the pinned
 * plan what was not. One header for a long file: gathering (StepsFold) and laying out (Layout) know the same
 * traces and change together.
 *
 * I1: Rows stand in the order of the plan, iterations in the order of their index; a step that ran several
 *     times has a row for each position.
 * I2: Deterministic steps leave no record (DU-04): that one was done is told by what came after it.
 * I3: Lists that were never entered (arms not taken, handlers, cleanups that were not due) have no rows.
 */
import { isoTime } from "../base/clock.ts";
import type { Plan } from "../plan/plan.ts";
import { auxPosition, childPosition, indexedPosition, type Position } from "../plan/position.ts";
import type { Step, StepKind } from "../plan/step.ts";
import { typed } from "./bodies.ts";
import type { RunRecord } from "./event.ts";
import { faultIn, mapIn, memberOf, numberIn, textIn, timeOf } from "./members.ts";
import type { RunStatus } from "./outcome.ts";

export const STEP_STATUSES = [
  "completed",
  "failed",
  "handled",
  "skipped",
  "cancelled",
  "timed_out",
  "suspended",
  "running",
  "not_started",
  "suppressed",
  "undetermined",
] as const;
export type StepStatus = (typeof STEP_STATUSES)[number];

export interface StepRow {
  position: Position;
  kind: StepKind;
  status: StepStatus;
  attempts: number;
  /** RFC 3339, null where it has not started or leaves no record of its own. */
  started_at: string | null;
  duration_ms: number | null;
  /** Milliseconds that its calls waited for a place. */
  queued_ms: number;
  code: string | null;
  /** What ended it from outside. */
  because: { position: Position; code: string } | null;
  late: boolean;
}

interface Trace {
  first: number;
  last: number;
  status: StepStatus | null;
  attempts: number;
  queued: number;
  code: string | null;
  because: StepRow["because"];
  late: boolean;
  /** Of a branch: the text of the arm that was taken, `true`, or null for its else. */
  arm: { taken: string | true | null } | null;
  /** Of a loop: the indexes seen. */
  iterations: Set<number> | null;
}

/** Positions below these parts tell of the step above them. */
const ENGINE_PART = /\.?\((?:turns|tools|fetch|extract|evaluate)\)(?:\[\d+\])?$/;

/** Gathers what is known of each position, record by record. */
export class StepsFold {
  readonly #traces = new Map<Position, Trace>();

  add(record: RunRecord): void {
    for (const { position, what, detail } of record.trail) {
      const at = timeOf(record.at);
      const trace = this.#touch(position, at, at);
      switch (what) {
        case "skipped":
          trace.status = "skipped";
          break;
        case "handled":
        case "forgiven":
          trace.status = "handled";
          trace.code = textIn(detail, "code");
          break;
        case "then":
          trace.arm = { taken: typeof detail === "string" ? detail : true };
          break;
        case "else":
          trace.arm = { taken: null };
          break;
        case "loop_ended":
        case "truncated":
          trace.status ??= "completed";
          break;
        case "exit":
          trace.status = textIn(detail, "how") === "fail" ? "failed" : "completed";
          break;
        case "suppressed":
        case "undetermined":
          trace.status ??= what;
          break;
        case "item_skipped":
          break;
      }
    }
    this.#addBody(record);
  }

  /** All rows, for the plan that the run has pinned. */
  rows(plan: Plan, status: RunStatus): StepRow[] {
    return new Layout(this.#traces, status).rows(plan);
  }

  #addBody(source: RunRecord): void {
    const record = typed(source);
    if (record.kind.startsWith("run.")) return;
    const end = timeOf(record.at);
    const start = end - numberIn(record.body, "duration_ms") - numberIn(record.body, "queued_ms");
    const own = record.position.replace(ENGINE_PART, "");
    const trace = this.#touch(own, start, end);
    if (record.kind === "stop.decided") {
      stopped(trace, source);
      return;
    }
    if (own !== record.position) return;
    switch (record.kind) {
      case "call.intent":
        trace.attempts = Math.max(trace.attempts, record.attempt);
        trace.status = null;
        break;
      case "call.ended":
        trace.attempts = Math.max(trace.attempts, record.attempt);
        trace.queued += numberIn(record.body, "queued_ms");
        trace.late ||= memberOf(record.body, "late") === true;
        trace.status = memberOf(record.body, "retry") === true ? null : callStatus(trace, source);
        break;
      case "call.settled":
        settled(trace, source);
        break;
      case "code.ended":
        trace.attempts = Math.max(trace.attempts, record.attempt);
        trace.queued += numberIn(record.body, "queued_ms");
        endedWith(trace, faultIn(record.body, "fault")?.code ?? null);
        break;
      case "agent.started":
        trace.attempts = Math.max(trace.attempts, 1);
        break;
      case "agent.ended":
        agentEnded(trace, source);
        break;
      case "wait.set":
        trace.status = "suspended";
        break;
      case "wait.ended":
        trace.status = textIn(record.body, "how") === "cancelled" ? "cancelled" : "completed";
        break;
      case "ask.opened":
        trace.status = "suspended";
        break;
      case "ask.ended":
        askEnded(trace, source);
        break;
      case "notice.sent":
        trace.status = "completed";
        break;
      default:
        break;
    }
  }

  /** The trace of a position; those around it are touched too. */
  #touch(position: Position, start: number, end: number): Trace {
    const trace = this.#trace(position, start, end);
    let inner = position;
    while (inner !== "") {
      const index = ITEM.exec(inner);
      const outer = outerOf(inner);
      const around = this.#trace(outer, start, end);
      if (index) {
        around.iterations ??= new Set();
        around.iterations.add(Number(index[1]));
      }
      inner = outer;
    }
    return trace;
  }

  #trace(position: Position, start: number, end: number): Trace {
    const known = this.#traces.get(position);
    if (known) {
      known.first = Math.min(known.first, start);
      known.last = Math.max(known.last, end);
      return known;
    }
    const trace: Trace = {
      first: start,
      last: end,
      status: null,
      attempts: 0,
      queued: 0,
      code: null,
      because: null,
      late: false,
      arm: null,
      iterations: null,
    };
    this.#traces.set(position, trace);
    return trace;
  }
}

const ITEM = /\[(\d{1,9})\]$/;

/** The position around another: of an item its loop, else one part less. */
function outerOf(position: Position): Position {
  const index = ITEM.exec(position);
  if (index) return position.slice(0, index.index);
  const dot = position.lastIndexOf(".");
  return dot < 0 ? "" : position.slice(0, dot);
}

function stopped(trace: Trace, record: RunRecord): void {
  const cause = textIn(record.body, "cause");
  const because = mapIn(record.body, "because");
  const code = textIn(because, "code");
  if (code !== null) trace.because = { position: textIn(because, "position") ?? "", code };
  if (cause === "timeout" || cause === "deadline") {
    trace.status = "timed_out";
    trace.code = "flow.timeout";
  } else if (cause === "halt") {
    trace.status = "suspended";
  } else if (cause !== "budget") {
    trace.status = "cancelled";
  }
}

function endedWith(trace: Trace, code: string | null): void {
  trace.code = code;
  trace.status = code === null ? "completed" : code === "flow.timeout" ? "timed_out" : "failed";
}

function callStatus(trace: Trace, record: RunRecord): StepStatus {
  const outcome = textIn(record.body, "outcome");
  const stoppedBefore = trace.status === "timed_out" || trace.status === "cancelled" ? trace.status : null;
  trace.code = faultIn(record.body, "fault")?.code ?? textIn(mapIn(record.body, "ambiguity"), "code") ?? trace.code;
  // What comes after the stop changes nothing for the step.
  if (trace.late && stoppedBefore) return stoppedBefore;
  if (outcome === "suppressed") return "suppressed";
  if (outcome === "cancelled") return stoppedBefore ?? "cancelled";
  if (outcome === "failed") return trace.code === "flow.timeout" ? "timed_out" : "failed";
  if (outcome === "unknown") return stoppedBefore ?? "failed";
  trace.code = null;
  return "completed";
}

function settled(trace: Trace, record: RunRecord): void {
  const how = textIn(record.body, "how");
  if (how === "retry") trace.status = null;
  else endedWith(trace, how === "failed" ? (textIn(record.body, "code") ?? "") : null);
}

function agentEnded(trace: Trace, record: RunRecord): void {
  const reason = textIn(record.body, "reason");
  const fault = faultIn(record.body, "fault")?.code ?? null;
  if (reason === "cancelled" || reason === "aborted") {
    trace.status = "cancelled";
    trace.code = fault;
  } else if (reason === "timeout") {
    trace.status = "timed_out";
    trace.code = fault ?? "flow.timeout";
  } else {
    endedWith(trace, reason === "result" ? null : (fault ?? ""));
  }
}

function askEnded(trace: Trace, record: RunRecord): void {
  switch (textIn(record.body, "how")) {
    case "expired":
      endedWith(trace, "ask.expired");
      break;
    case "cancelled":
      trace.status = "cancelled";
      break;
    case "answered":
      endedWith(trace, null);
      break;
    default:
      // An approval: the call that it let go on, or refused, has its own end.
      trace.status = null;
      break;
  }
}

/** A list of steps that is laid out: whether it was left well, and whether anything in it was done. */
interface Laid {
  rows: StepRow[];
  touched: boolean;
}

function isBroken(trace: Trace | undefined): boolean {
  const status = trace?.status;
  return status === "failed" || status === "timed_out" || status === "cancelled";
}

class Layout {
  readonly #traces: ReadonlyMap<Position, Trace>;
  readonly #run: RunStatus;
  #root: Plan | null = null;

  constructor(traces: ReadonlyMap<Position, Trace>, run: RunStatus) {
    this.#traces = traces;
    this.#run = run;
  }

  rows(plan: Plan): StepRow[] {
    this.#root = plan;
    const endedWell = this.#run === "completed";
    const { rows } = this.#list(plan.steps, "", plan, endedWell);
    for (const entry of plan.cleanup) this.#aux(rows, entry.steps, "", "cleanup", plan);
    return rows;
  }

  /** Steps one after the other. `leftWell`: the list came to its end. */
  #list(steps: readonly Step[], parent: Position, plan: Plan, leftWell: boolean): Laid {
    const laid: Laid[] = [];
    let after = leftWell && !this.#brokeOff(steps, parent);
    for (let index = steps.length - 1; index >= 0; index--) {
      const step = steps[index];
      if (!step) continue;
      const one = this.#step(step, parent, plan, after);
      // What comes later was begun, so this one had ended.
      after ||= one.touched;
      laid.unshift(one);
    }
    return { rows: laid.flatMap((one) => one.rows), touched: laid.some((one) => one.touched) };
  }

  /** The list was stopped as a whole, or the last of its steps that was reached ended it: what follows never ran. */
  #brokeOff(steps: readonly Step[], parent: Position): boolean {
    if (isBroken(this.#traces.get(parent))) return true;
    const reached = steps.findLast(({ id }) => id !== undefined && this.#traces.has(childPosition(parent, id)));
    return reached !== undefined && isBroken(this.#traces.get(childPosition(parent, reached.id)));
  }

  #step(step: Step, parent: Position, plan: Plan, after: boolean): Laid {
    const position = childPosition(parent, step.id);
    const named = step.id !== undefined;
    const trace = named ? this.#traces.get(position) : undefined;
    const skipped = trace?.status === "skipped";
    const inner: StepRow[] = skipped ? [] : this.#inside(step, position, plan, trace, after);
    for (const entry of step.catch) this.#aux(inner, entry.steps, position, "catch", plan);
    for (const entry of step.cleanup) this.#aux(inner, entry.steps, position, "cleanup", plan);
    const touched = trace !== undefined || inner.some((row) => row.status !== "not_started");
    if (!named) return { rows: inner, touched };
    const status = this.#status(step, trace, inner, after);
    const begun = trace !== undefined && status !== "not_started" && status !== "skipped";
    const row: StepRow = {
      position,
      kind: step.kind,
      status,
      attempts: status === "not_started" || status === "skipped" ? 0 : Math.max(1, trace?.attempts ?? 1),
      started_at: begun ? isoTime(trace.first) : null,
      duration_ms: begun ? trace.last - trace.first : null,
      queued_ms: trace?.queued ?? 0,
      code: trace?.code ?? null,
      because: trace?.because ?? (status === "cancelled" || trace?.late ? this.#becauseAround(position) : null),
      late: trace?.late ?? false,
    };
    return { rows: [row, ...inner], touched };
  }

  /** A branch or an item is stopped as a whole: what it was stopped because of stands at its own position. */
  #becauseAround(position: Position): StepRow["because"] {
    for (let around = outerOf(position); around !== ""; around = outerOf(around)) {
      const because = this.#traces.get(around)?.because ?? null;
      if (because !== null) return because;
    }
    return null;
  }

  #inside(step: Step, position: Position, plan: Plan, trace: Trace | undefined, after: boolean): StepRow[] {
    const rows: StepRow[] = [];
    switch (step.kind) {
      case "branch": {
        const taken = trace?.arm?.taken;
        if (taken === undefined) break;
        const steps = taken === null ? step.else : step.arms.find((arm) => arm.is === taken)?.steps;
        if (steps) rows.push(...this.#list(steps, position, plan, after).rows);
        break;
      }
      case "each":
      case "repeat": {
        const indexes = [...(trace?.iterations ?? [])].sort((a, b) => a - b);
        const done = after || trace?.status === "completed";
        for (const [place, index] of indexes.entries()) {
          const begunLater = step.kind === "repeat" && place < indexes.length - 1;
          const at = indexedPosition(position, index);
          rows.push(...this.#list(step.steps, at, plan, done || begunLater).rows);
        }
        break;
      }
      case "parallel": {
        if (step.id !== undefined && trace === undefined) break;
        for (const branch of step.branches) {
          const at = childPosition(position, branch.name);
          rows.push(...this.#list(branch.steps, at, plan, after).rows);
        }
        break;
      }
      case "call": {
        const callee = trace && (plan.callees[step.callee] ?? this.#root?.callees[step.callee]);
        if (!callee) break;
        rows.push(...this.#list(callee.steps, position, callee, after).rows);
        for (const entry of callee.cleanup) this.#aux(rows, entry.steps, position, "cleanup", callee);
        break;
      }
      case "agent":
        if (step.onExhausted) this.#aux(rows, step.onExhausted, position, "on_exhausted", plan);
        break;
      case "ask":
        if (step.asked) this.#aux(rows, step.asked, position, "asked", plan);
        if (step.onExpired) this.#aux(rows, step.onExpired, position, "on_expired", plan);
        break;
      default:
        break;
    }
    return rows;
  }

  /** A list that the engine enters only when it is due: its rows, if it was (I3). */
  #aux(
    rows: StepRow[],
    steps: readonly Step[],
    position: Position,
    part: "catch" | "cleanup" | "on_exhausted" | "asked" | "on_expired",
    plan: Plan,
  ): void {
    const at = auxPosition(position, part);
    if (!this.#traces.has(at)) return;
    const laid = this.#list(steps, at, plan, false);
    if (laid.touched) rows.push(...laid.rows);
  }

  #status(step: Step, trace: Trace | undefined, inner: readonly StepRow[], after: boolean): StepStatus {
    if (trace?.status) return this.#settledStatus(trace.status);
    const begun = trace !== undefined || inner.some((row) => row.status !== "not_started");
    if (!begun) return after ? "completed" : "not_started";
    if (after) return "completed";
    const has = (status: StepStatus): boolean => inner.some((row) => row.status === status);
    if (this.#run === "running" || this.#run === "suspended") {
      return this.#run === "suspended" && (has("suspended") || inner.length === 0) ? "suspended" : "running";
    }
    const holds = step.kind !== "action" && step.kind !== "agent" && step.kind !== "code";
    if (holds && has("failed")) return "failed";
    if (holds && has("timed_out")) return "timed_out";
    if (this.#run === "stopped" && holds) return "completed";
    return "cancelled";
  }

  /** A wait that stands is waited for only while the run is not over. */
  #settledStatus(status: StepStatus): StepStatus {
    if (status !== "suspended") return status;
    if (this.#run === "running") return "running";
    return this.#run === "suspended" ? "suspended" : "cancelled";
  }
}
