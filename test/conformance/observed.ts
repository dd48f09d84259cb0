/** What a run has done, as expectations name it: calls, notices and questions. */
import { isObject, type Json, type JsonObject } from "../../src/base/json.ts";
import type { StubLine } from "../../src/host/connectors/stub-log.ts";
import type { RunRecord } from "../../src/journal/event.ts";

/**
 * One entry per dispatch, arguments without the key. The stubs' own log tells it; where built-in connectors took
 * part, the records do, in the order in which calls ended.
 */
export function callsOf(
  records: readonly RunRecord[],
  dispatches: readonly StubLine[],
  stubs: ReadonlySet<string>,
): JsonObject[] {
  const ended = records.filter((record) => record.kind === "call.ended" && record.body["dispatched"] !== false);
  const foreign = ended.some(({ body }) => !stubs.has(connectorOf(String(body["action"]))));
  if (!foreign) return dispatches.map(({ phase: _, ...line }) => line as unknown as JsonObject);
  return ended.filter(({ body }) => body["outcome"] !== "suppressed").map((record) => recordedCall(record, records));
}

function connectorOf(action: string): string {
  return action.slice(0, action.indexOf("."));
}

const AGENT_CALL = /^(.*)\.\(tools\)\[(\d+)\]$/;

/** Arguments and key of an agent's call stand in the turn that proposed it. */
function recordedCall(record: RunRecord, records: readonly RunRecord[]): JsonObject {
  const { position, attempt, body, at } = record;
  const own = AGENT_CALL.exec(position);
  const proposal = own === null ? null : proposalOf(own[1] ?? "", Number(own[2]), records);
  return {
    at,
    action: body["action"] ?? null,
    connection: body["connection"] ?? null,
    position,
    attempt,
    args: (proposal === null ? body["args"] : proposal["args"]) ?? null,
    key: (proposal === null ? body["key"] : proposal["key"]) ?? null,
  };
}

function proposalOf(agent: string, n: number, records: readonly RunRecord[]): JsonObject | null {
  for (const { kind, position, body } of records) {
    if (kind !== "agent.turn" || !position.startsWith(`${agent}.(turns)[`)) continue;
    const calls = Array.isArray(body["calls"]) ? body["calls"] : [];
    const found = calls.find((call) => isObject(call) && call["n"] === n);
    if (found !== undefined) return found as JsonObject;
  }
  return null;
}

/** Each `notice.sent` with its position. */
export function noticesOf(records: readonly RunRecord[]): JsonObject[] {
  return records
    .filter((record) => record.kind === "notice.sent")
    .map(({ position, body }): JsonObject => ({ position, ...body }));
}

/** Each question, with what became of it: `how` and `by` are absent while it stands. */
export function asksOf(records: readonly RunRecord[]): JsonObject[] {
  const asks: { [key: string]: Json }[] = [];
  for (const { kind, position, body } of records) {
    if (kind === "ask.opened") asks.push({ position, ...body });
    if (kind !== "ask.ended") continue;
    const open = asks.findLast((ask) => ask["position"] === position && ask["how"] === undefined);
    if (open) Object.assign(open, body);
  }
  return asks;
}

/** An expected notice or question; a text stands for `{ text }`. */
export function asTextEntry(expected: Json): Json {
  return typeof expected === "string" ? { text: expected } : expected;
}
