/**
 * The one fold: records to the state of a run (DU-01). List, page, JSON and exit code come from it.
 *
 * I1: Pure: a state is never changed, a record is only read.
 * I2: Incremental: fold(a ++ b) = fold b onto fold(a), for any cut.
 * I3: Total: any records give a state; members that do not fit are as good as absent.
 * I4: The lists and counts of `run.ended` stand for what the records before told, so that a result and its
 *     record say the same; a settlement after the end still counts.
 */
import { isObject, type Json } from "../base/json.ts";
import type { FaultJson } from "../errors/fault.ts";
import { type Position, toolPosition } from "../plan/position.ts";
import { typed } from "./bodies.ts";
import type { RunRecord, TrailEntry } from "./event.ts";
import { faultIn, listIn, mapIn, memberOf, numberIn, textIn, timeOf } from "./members.ts";
import {
  type CleanupEntry,
  type Counts,
  type Forgiven,
  isOutcome,
  type RunStatus,
  type Skipped,
  type Suppressed,
  type Truncated,
  type Undetermined,
  type UnknownEffect,
  type Waiting,
} from "./outcome.ts";
import type { RunResult } from "./result.ts";

/** A call whose end is not recorded yet: the key it goes with. */
export interface OpenCall {
  action: string;
  key: string | null;
}

export interface RunState {
  readonly run: string;
  readonly name: string;
  readonly notation: string;
  readonly def: string;
  readonly identity: string;
  readonly dryRun: boolean;
  readonly status: RunStatus;
  readonly error: FaultJson | null;
  readonly outputs: Json;
  readonly digest: string | null;
  /** RFC 3339, "" before the first record. */
  readonly acceptedAt: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  readonly lastAt: string;
  readonly counts: Counts;
  readonly forgiven: readonly Forgiven[];
  readonly skipped: readonly Skipped[];
  readonly truncated: readonly Truncated[];
  readonly unknown: readonly UnknownEffect[];
  readonly cleanup: readonly CleanupEntry[];
  /** What a dry run did not do, and could not tell; told at its end, and until then as far as the records have it. */
  readonly suppressed: readonly Suppressed[];
  readonly undetermined: readonly Undetermined[];
  /** What a suspended run waits for; empty while it runs. */
  readonly waiting: readonly Waiting[];
  /** Questions, approvals and timers that stand, by position. */
  readonly standing: ReadonlyMap<Position, Waiting>;
  /** Calls that were proposed or begun and have no end yet. */
  readonly openCalls: ReadonlyMap<Position, OpenCall>;
}

export function initialState(): RunState {
  return {
    run: "",
    name: "",
    notation: "",
    def: "",
    identity: "",
    dryRun: false,
    status: "running",
    error: null,
    outputs: null,
    digest: null,
    acceptedAt: "",
    startedAt: null,
    endedAt: null,
    lastAt: "",
    counts: { tool_attempts: 0, tokens: 0, agent_turns: 0, events: 0 },
    forgiven: [],
    skipped: [],
    truncated: [],
    unknown: [],
    cleanup: [],
    suppressed: [],
    undetermined: [],
    waiting: [],
    standing: new Map(),
    openCalls: new Map(),
  };
}

export function foldRecords(records: Iterable<RunRecord>, from: RunState = initialState()): RunState {
  let state = from;
  for (const record of records) state = applyRecord(state, record);
  return state;
}

/** A state that nobody else has seen yet: one copy is made for each record, and filled. */
type Fresh = { -readonly [Key in keyof RunState]: RunState[Key] };

/** The state after one more record. */
export function applyRecord(state: RunState, record: RunRecord): RunState {
  const next: Fresh = {
    ...state,
    lastAt: record.at,
    counts: { ...state.counts, events: state.counts.events + 1 },
  };
  for (const entry of record.trail) applyTrail(next, entry);
  applyBody(next, record);
  return next;
}

/** What deterministic steps did. */
function applyTrail(next: Fresh, { position: at, what, detail }: TrailEntry): void {
  switch (what) {
    case "handled":
    case "forgiven": {
      const entry = { at, code: textIn(detail, "code") ?? "", reason: textIn(detail, "reason") ?? "" };
      next.forgiven = [...next.forgiven, entry];
      break;
    }
    case "item_skipped": {
      const entry = {
        at,
        cause: textIn(detail, "cause") ?? "failure",
        step: textIn(detail, "step"),
        reason: textIn(detail, "reason") ?? "",
      };
      next.skipped = [...next.skipped, entry];
      break;
    }
    case "truncated": {
      const cause = textIn(detail, "cause");
      const left = memberOf(detail, "left");
      const entry: Truncated = {
        at,
        cause: cause === "limit" || cause === "max_iterations" ? cause : "max",
        done: numberIn(detail, "done"),
        left: typeof left === "number" ? left : null,
      };
      next.truncated = [...next.truncated, entry];
      break;
    }
    case "suppressed": {
      next.suppressed = [...next.suppressed, { position: at, ...(isObject(detail) ? detail : {}) } as Suppressed];
      break;
    }
    case "undetermined": {
      const could = Array.isArray(detail) ? (detail.filter(isObject) as unknown as Undetermined["could"]) : [];
      next.undetermined = [...next.undetermined, { position: at, could }];
      break;
    }
    default:
      break;
  }
}

function applyBody(next: Fresh, source: RunRecord): void {
  const record = typed(source);
  const { position } = record;
  switch (record.kind) {
    case "run.accepted":
      next.run = record.run;
      next.def = record.def;
      next.acceptedAt = record.at;
      next.name = textIn(record.body, "name") ?? "";
      next.notation = textIn(record.body, "notation") ?? "";
      next.identity = textIn(record.body, "identity") ?? "";
      next.dryRun = memberOf(record.body, "dry_run") === true;
      break;
    case "run.started":
      next.status = "running";
      next.startedAt ??= record.at;
      break;
    case "run.resumed":
      next.status = "running";
      next.waiting = [];
      break;
    case "run.suspended":
      next.status = "suspended";
      next.waiting = waitingOf(next, source);
      break;
    case "run.ended":
      applyEnd(next, source);
      break;
    case "agent.turn": {
      const usage = mapIn(record.body, "usage");
      next.counts.agent_turns++;
      next.counts.tokens += numberIn(usage, "input") + numberIn(usage, "output");
      next.openCalls = proposed(next.openCalls, source);
      break;
    }
    case "call.intent": {
      if (next.openCalls.has(position) && memberOf(record.body, "key") === undefined) break;
      const call = { action: textIn(record.body, "action") ?? "", key: textIn(record.body, "key") };
      next.openCalls = withEntry(next.openCalls, position, call);
      break;
    }
    case "call.ended":
      applyCall(next, source);
      break;
    case "call.settled":
      if (textIn(record.body, "how") !== "left") next.unknown = withoutPosition(next.unknown, position);
      break;
    case "wait.set":
      stand(next, { position, reason: "timer", due: textIn(record.body, "due") });
      break;
    case "ask.opened": {
      const reason = textIn(record.body, "for") === "approval" ? "approval" : "ask";
      stand(next, { position, reason, due: textIn(record.body, "expires_at") });
      break;
    }
    case "wait.ended":
    case "ask.ended":
      next.standing = withoutEntry(next.standing, position);
      break;
    default:
      break;
  }
}

function applyEnd(next: Fresh, record: RunRecord): void {
  const { body } = record;
  const status = memberOf(body, "status");
  const counts = mapIn(body, "counts");
  const counted = (key: "tool_attempts" | "tokens" | "agent_turns"): number =>
    typeof memberOf(counts, key) === "number" ? numberIn(counts, key) : next.counts[key];
  const entries = <T>(key: string, known: readonly T[]): readonly T[] =>
    (listIn(body, key)?.filter(isObject) as T[] | undefined) ?? known;
  next.status = isOutcome(status) ? status : "failed";
  next.endedAt = record.at;
  next.error = faultIn(body, "error");
  next.outputs = memberOf(body, "outputs") ?? null;
  next.digest = textIn(body, "digest");
  next.counts = {
    tool_attempts: counted("tool_attempts"),
    tokens: counted("tokens"),
    agent_turns: counted("agent_turns"),
    events: next.counts.events,
  };
  next.forgiven = entries("forgiven", next.forgiven);
  next.skipped = entries("skipped", next.skipped);
  next.truncated = entries("truncated", next.truncated);
  next.unknown = entries("unknown", next.unknown);
  next.cleanup = entries("cleanup", next.cleanup);
  next.suppressed = entries("suppressed", next.suppressed);
  next.undetermined = entries("undetermined", next.undetermined);
  next.waiting = [];
  next.standing = new Map();
  next.openCalls = new Map();
}

function applyCall(next: Fresh, record: RunRecord): void {
  const { position, body } = record;
  const outcome = textIn(body, "outcome");
  const again = memberOf(body, "retry") === true;
  const open = next.openCalls.get(position);
  next.unknown = withoutPosition(next.unknown, position);
  if (outcome === "unknown" && !again) {
    const key = textIn(body, "key") ?? open?.key ?? null;
    next.unknown = [
      ...next.unknown,
      {
        position,
        action: textIn(body, "action") ?? open?.action ?? "",
        code: textIn(mapIn(body, "ambiguity"), "code") ?? "",
        ...(key === null ? {} : { key }),
      },
    ];
  }
  if (outcome === "suppressed") {
    const action = textIn(body, "action") ?? open?.action ?? "";
    const args = memberOf(body, "args");
    const because = (textIn(body, "because") ?? "dry_run") as Suppressed["because"];
    const entry: Suppressed = { position, what: "call", because, action };
    next.suppressed = [...next.suppressed, args === undefined ? entry : { ...entry, args }];
  }
  if (outcome !== "suppressed" && memberOf(body, "dispatched") !== false) next.counts.tool_attempts++;
  if (!again && outcome !== "unknown") next.openCalls = withoutEntry(next.openCalls, position);
}

/** The calls of a turn that took a position. */
function proposed(open: RunState["openCalls"], record: RunRecord): RunState["openCalls"] {
  let next: Map<Position, OpenCall> | null = null;
  for (const call of listIn(record.body, "calls") ?? []) {
    const n = memberOf(call, "n");
    if (typeof n !== "number" || textIn(call, "verdict") !== "accepted") continue;
    next ??= new Map(open);
    next.set(toolPosition(record.position, n), { action: textIn(call, "tool") ?? "", key: textIn(call, "key") });
  }
  return next ?? open;
}

function waitingOf(state: RunState, record: RunRecord): Waiting[] {
  const reason = textIn(record.body, "reason") ?? "halt";
  const positions = listIn(record.body, "positions")?.filter((entry) => typeof entry === "string") ?? [];
  if (positions.length === 0) {
    return state.standing.size > 0 ? [...state.standing.values()] : [{ position: "", reason, due: null }];
  }
  return positions.map((position) => state.standing.get(position) ?? { position, reason, due: null });
}

function stand(next: Fresh, waiting: Waiting): void {
  next.standing = withEntry(next.standing, waiting.position, waiting);
}

function withEntry<T>(map: ReadonlyMap<Position, T>, position: Position, value: T): ReadonlyMap<Position, T> {
  return new Map(map).set(position, value);
}

function withoutEntry<T>(map: ReadonlyMap<Position, T>, position: Position): ReadonlyMap<Position, T> {
  if (!map.has(position)) return map;
  const next = new Map(map);
  next.delete(position);
  return next;
}

function withoutPosition(list: readonly UnknownEffect[], position: Position): readonly UnknownEffect[] {
  return list.some((entry) => entry.position === position) ? list.filter((entry) => entry.position !== position) : list;
}

/** Milliseconds from the start to the end, or to the last record of a run that goes on. */
export function durationOf(state: RunState): number {
  return Math.max(0, timeOf(state.endedAt ?? state.lastAt) - timeOf(state.startedAt ?? state.acceptedAt));
}

export function toResult(state: RunState): RunResult {
  return {
    type: "result",
    run: state.run,
    status: state.status,
    outputs: state.outputs,
    error: state.error,
    digest: state.digest,
    duration_ms: durationOf(state),
    counts: { ...state.counts },
    forgiven: [...state.forgiven],
    skipped: [...state.skipped],
    truncated: [...state.truncated],
    unknown: [...state.unknown],
    cleanup: [...state.cleanup],
    waiting: [...state.waiting],
    dry_run: state.dryRun,
    ...(state.dryRun ? { suppressed: [...state.suppressed], undetermined: [...state.undetermined] } : {}),
  };
}
