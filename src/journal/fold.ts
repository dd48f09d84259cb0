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
import { indexedPosition, type Position } from "../plan/position.ts";
import { type EndedBody, typed } from "./bodies.ts";
import type { RunRecord, TrailEntry } from "./event.ts";
import { faultIn, listIn, mapIn, memberOf, numberIn, textIn, timeOf } from "./members.ts";
import {
  type CleanupEntry,
  type Counts,
  type Forgiven,
  isOutcome,
  type RunStatus,
  type Skipped,
  type Truncated,
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

/** The state after one more record. */
export function applyRecord(state: RunState, record: RunRecord): RunState {
  const counted: RunState = {
    ...applyTrail(state, record.trail),
    lastAt: record.at,
    counts: { ...state.counts, events: state.counts.events + 1 },
  };
  return applyBody(counted, record);
}

/** The state after what deterministic steps did: the trail of a record that is yet to be written. */
export function applyTrail(state: RunState, trail: readonly TrailEntry[]): RunState {
  let next = state;
  for (const { position: at, what, detail } of trail) {
    switch (what) {
      case "handled":
      case "forgiven": {
        const entry = { at, code: textIn(detail, "code") ?? "", reason: textIn(detail, "reason") ?? "" };
        next = { ...next, forgiven: [...next.forgiven, entry] };
        break;
      }
      case "item_skipped": {
        const entry = {
          at,
          cause: textIn(detail, "cause") ?? "failure",
          step: textIn(detail, "step"),
          reason: textIn(detail, "reason") ?? "",
        };
        next = { ...next, skipped: [...next.skipped, entry] };
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
        next = { ...next, truncated: [...next.truncated, entry] };
        break;
      }
      default:
        break;
    }
  }
  return next;
}

function applyBody(state: RunState, source: RunRecord): RunState {
  const record = typed(source);
  const { position } = record;
  switch (record.kind) {
    case "run.accepted":
      return {
        ...state,
        run: record.run,
        def: record.def,
        acceptedAt: record.at,
        name: textIn(record.body, "name") ?? "",
        notation: textIn(record.body, "notation") ?? "",
        identity: textIn(record.body, "identity") ?? "",
        dryRun: memberOf(record.body, "dry_run") === true,
      };
    case "run.started":
      return { ...state, status: "running", startedAt: state.startedAt ?? record.at };
    case "run.resumed":
      return { ...state, status: "running", waiting: [] };
    case "run.suspended":
      return { ...state, status: "suspended", waiting: waitingOf(state, source) };
    case "run.ended":
      return ended(state, source);
    case "agent.turn": {
      const usage = mapIn(record.body, "usage");
      const counts = {
        ...state.counts,
        agent_turns: state.counts.agent_turns + 1,
        tokens: state.counts.tokens + numberIn(usage, "input") + numberIn(usage, "output"),
      };
      return { ...state, counts, openCalls: proposed(state.openCalls, source) };
    }
    case "call.intent": {
      if (state.openCalls.has(position) && memberOf(record.body, "key") === undefined) return state;
      const call = { action: textIn(record.body, "action") ?? "", key: textIn(record.body, "key") };
      return { ...state, openCalls: withEntry(state.openCalls, position, call) };
    }
    case "call.ended":
      return callEnded(state, source);
    case "call.settled":
      return { ...state, unknown: withoutPosition(state.unknown, position) };
    case "wait.set":
      return stand(state, { position, reason: "timer", due: textIn(record.body, "due") });
    case "ask.opened": {
      const reason = textIn(record.body, "for") === "approval" ? "approval" : "ask";
      return stand(state, { position, reason, due: textIn(record.body, "expires_at") });
    }
    case "wait.ended":
    case "ask.ended":
      return { ...state, standing: withoutEntry(state.standing, position) };
    default:
      return state;
  }
}

function ended(state: RunState, record: RunRecord): RunState {
  const { body } = record;
  const status = memberOf(body, "status");
  const counts = mapIn(body, "counts");
  const counted = (key: "tool_attempts" | "tokens" | "agent_turns"): number =>
    typeof memberOf(counts, key) === "number" ? numberIn(counts, key) : state.counts[key];
  const entries = <T>(key: string, known: readonly T[]): readonly T[] =>
    (listIn(body, key)?.filter(isObject) as T[] | undefined) ?? known;
  return {
    ...state,
    status: isOutcome(status) ? status : "failed",
    endedAt: record.at,
    error: faultIn(body, "error"),
    outputs: memberOf(body, "outputs") ?? null,
    digest: textIn(body, "digest"),
    counts: {
      tool_attempts: counted("tool_attempts"),
      tokens: counted("tokens"),
      agent_turns: counted("agent_turns"),
      events: state.counts.events,
    },
    forgiven: entries("forgiven", state.forgiven),
    skipped: entries("skipped", state.skipped),
    truncated: entries("truncated", state.truncated),
    unknown: entries("unknown", state.unknown),
    cleanup: entries("cleanup", state.cleanup),
    waiting: [],
    standing: new Map(),
    openCalls: new Map(),
  };
}

function callEnded(state: RunState, record: RunRecord): RunState {
  const { position, body } = record;
  const outcome = textIn(body, "outcome");
  const again = memberOf(body, "retry") === true;
  const open = state.openCalls.get(position);
  const sent = outcome !== "suppressed" && memberOf(body, "dispatched") !== false;
  let unknown = withoutPosition(state.unknown, position);
  if (outcome === "unknown" && !again) {
    const key = textIn(body, "key") ?? open?.key ?? null;
    unknown = [
      ...unknown,
      {
        position,
        action: textIn(body, "action") ?? open?.action ?? "",
        code: textIn(mapIn(body, "ambiguity"), "code") ?? "",
        ...(key === null ? {} : { key }),
      },
    ];
  }
  return {
    ...state,
    unknown,
    counts: sent ? { ...state.counts, tool_attempts: state.counts.tool_attempts + 1 } : state.counts,
    openCalls: again || outcome === "unknown" ? state.openCalls : withoutEntry(state.openCalls, position),
  };
}

/** The calls of a turn that took a position. `agent.(turns)[3]` and `agent.(tools)[n]` stand side by side. */
function proposed(open: RunState["openCalls"], record: RunRecord): RunState["openCalls"] {
  const tools = record.position.replace(/\(turns\)\[\d+\]$/, "(tools)");
  let next: Map<Position, OpenCall> | null = null;
  for (const call of listIn(record.body, "calls") ?? []) {
    const n = memberOf(call, "n");
    if (typeof n !== "number" || textIn(call, "verdict") !== "accepted") continue;
    next ??= new Map(open);
    next.set(indexedPosition(tools, n), { action: textIn(call, "tool") ?? "", key: textIn(call, "key") });
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

function stand(state: RunState, waiting: Waiting): RunState {
  return { ...state, standing: withEntry(state.standing, waiting.position, waiting) };
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
  };
}

/** The body of `run.ended` for a state whose last trail has been applied; `events` counts this record too. */
export function endedBody(
  state: RunState,
  end: Pick<EndedBody, "status" | "error" | "outputs" | "digest"> & { cleanup?: CleanupEntry[] },
): EndedBody {
  return {
    status: end.status,
    error: end.error,
    outputs: end.outputs,
    counts: { ...state.counts, events: state.counts.events + 1 },
    forgiven: [...state.forgiven],
    skipped: [...state.skipped],
    truncated: [...state.truncated],
    unknown: [...state.unknown],
    cleanup: end.cleanup ?? [...state.cleanup],
    digest: end.digest,
  };
}
