import type { Json, JsonObject } from "../base/json.ts";
import type { Position } from "../plan/position.ts";

export const RECORD_VERSION = 1;

/** Deliveries wake a branch; the order of their `seq` settles races. */
export const DELIVERY_KINDS = [
  "agent.turn",
  "call.ended",
  "call.settled",
  "code.ended",
  "wait.ended",
  "ask.ended",
  "notice.sent",
  "goal.evaluated",
  "stop.decided",
] as const;

/** Notes are appended with the next delivery, or by the effect that must not start before them. */
export const NOTE_KINDS = [
  "run.accepted",
  "run.started",
  "run.resumed",
  "run.suspended",
  "run.ended",
  "agent.started",
  "agent.ended",
  "call.intent",
  "code.fetch",
  "wait.set",
  "ask.opened",
  "ask.vote",
] as const;

export type DeliveryKind = (typeof DELIVERY_KINDS)[number];
export type NoteKind = (typeof NOTE_KINDS)[number];
export type EventKind = DeliveryKind | NoteKind;

export const TRAIL_WHATS = [
  "skipped",
  "handled",
  "forgiven",
  "then",
  "else",
  "item_skipped",
  "loop_ended",
  "truncated",
  "exit",
  "suppressed",
  "undetermined",
] as const;

/** What deterministic steps did since the record before (DU-04, DU-50). */
export interface TrailEntry {
  position: Position;
  what: (typeof TRAIL_WHATS)[number];
  detail: Json;
}

/**
 * One record (DU-50). Its identity is `position`, `kind` and `attempt`; `seq` is the order of arrival. `in`
 * is the hash of what the interpreter handed over, `out` of what came back, null where there is none.
 */
export interface RunRecord {
  v: typeof RECORD_VERSION;
  run: string;
  seq: number;
  /** RFC 3339 with milliseconds, UTC. */
  at: string;
  /** The definition hash (DU-53). */
  def: string;
  kind: EventKind;
  position: Position;
  attempt: number;
  in: string | null;
  out: string | null;
  trail: TrailEntry[];
  body: JsonObject;
}

export function isDelivery(kind: EventKind): kind is DeliveryKind {
  return DELIVERIES.has(kind);
}

const DELIVERIES: ReadonlySet<EventKind> = new Set(DELIVERY_KINDS);

/** The identity of a record within its run. */
export function recordKey(record: Pick<RunRecord, "position" | "kind" | "attempt">): string {
  return `${record.position} ${record.kind} ${record.attempt}`;
}
