/**
 * `in` and `out` of records (DU-50, DU-51): what was handed over and what came back.
 *
 * I1: One thing is hashed as itself (`value`, `code`, a text); several as a map of their names.
 * I2: Keys, run id, times and counts are in no hash.
 * I3: What a body does not hold (an agent's arguments stand in its turn, a question's text in its opening,
 *     the `ctx` of code nowhere) is handed over beside it; without it `in` cannot be told (undefined).
 */
import { hashJson } from "../base/hash.ts";
import { isObject, type Json, type JsonObject } from "../base/json.ts";
import { toolPosition } from "../plan/position.ts";
import type { EventBody, TurnCall } from "./bodies.ts";
import type { EventKind, RunRecord } from "./event.ts";

/** What was handed over and does not stand in the body of the record itself. */
export interface Beside {
  /** Arguments of an agent's call, without the key. */
  args?: Json;
  /** Of code. */
  ctx?: Json;
  network?: Json;
  /** Of a wait: the duration in milliseconds, or the instant as RFC 3339 text. */
  wait?: Json;
  /** Of a question's votes and end. */
  text?: Json;
  returns?: Json;
}

/** `in` of a record that is about to be written: null where its kind has none, undefined by I3. */
export function inOf<K extends EventKind>(kind: K, body: EventBody[K], beside: Beside = {}): string | null | undefined {
  return inOfJson(kind, body as unknown as JsonObject, beside);
}

/** `out` of a record that is about to be written: null where nothing came back. */
export function outOf<K extends EventKind>(kind: K, body: EventBody[K]): string | null {
  return outOfJson(kind, body as unknown as JsonObject);
}

/** {@link inOf} of a body as it was read. */
export function inOfJson(kind: EventKind, body: JsonObject, beside: Beside = {}): string | null | undefined {
  const has = (key: string): boolean => Object.hasOwn(body, key);
  const at = (key: string): Json => (has(key) ? (body[key] ?? null) : null);
  switch (kind) {
    case "run.accepted":
      return hashJson({ inputs: at("inputs"), trigger: at("trigger") });
    case "agent.started":
      return hashJson({
        goal: at("goal"),
        context: at("context"),
        tools: at("tools"),
        returns: at("returns"),
        budget: at("budget"),
      });
    case "call.intent":
    case "call.ended": {
      const args = has("args") ? at("args") : beside.args;
      return args === undefined ? undefined : callIn(at("action"), args);
    }
    case "code.ended":
      if (beside.ctx === undefined || beside.network === undefined) return undefined;
      return hashJson({
        language: at("language"),
        code: at("code"),
        ctx: beside.ctx,
        network: beside.network,
      });
    case "wait.set":
    case "wait.ended":
      return beside.wait === undefined ? undefined : hashJson(beside.wait);
    case "ask.opened":
      return hashJson({ text: at("text"), returns: at("returns") });
    case "ask.vote":
    case "ask.ended":
      if (beside.text === undefined || beside.returns === undefined) return undefined;
      return hashJson({ text: beside.text, returns: beside.returns });
    case "notice.sent":
      return hashJson(at("text"));
    case "run.started":
    case "run.resumed":
    case "run.suspended":
    case "run.ended":
    case "stop.decided":
    case "agent.turn":
    case "agent.ended":
    case "call.settled":
    case "code.fetch":
    case "goal.evaluated":
      return null;
  }
}

/** `in` of a call: the action and its arguments without the key. */
export function callIn(action: Json, args: Json): string {
  return hashJson({ action, args });
}

/** {@link outOf} of a body as it was read. */
export function outOfJson(kind: EventKind, body: JsonObject): string | null {
  switch (kind) {
    case "call.ended":
    case "call.settled":
    case "code.ended":
    case "ask.vote":
    case "ask.ended":
      return valueOrCode(body, "value");
    case "agent.ended":
      return valueOrCode(body, "result");
    case "agent.turn":
      return turnOut(body);
    case "goal.evaluated":
      return hashJson({ met: body["met"] ?? null, reason: body["reason"] ?? null });
    case "run.accepted":
    case "run.started":
    case "run.resumed":
    case "run.suspended":
    case "run.ended":
    case "stop.decided":
    case "agent.started":
    case "call.intent":
    case "code.fetch":
    case "wait.set":
    case "wait.ended":
    case "ask.opened":
    case "notice.sent":
      return null;
  }
}

function valueOrCode(body: JsonObject, key: "value" | "result"): string | null {
  if (Object.hasOwn(body, key)) return hashJson(body[key] ?? null);
  for (const place of [body["fault"], body["ambiguity"], body]) {
    if (isObject(place) && typeof place["code"] === "string") return hashJson(place["code"]);
  }
  return null;
}

function turnOut(body: JsonObject): string {
  const calls = Array.isArray(body["calls"]) ? body["calls"] : [];
  const shown: JsonObject = {
    calls: calls.map((call) => {
      if (!isObject(call)) return call;
      const rest: JsonObject = { ...(call as JsonObject) };
      delete rest["key"];
      return rest;
    }),
  };
  if (Object.hasOwn(body, "result")) shown["result"] = body["result"] ?? null;
  if (isObject(body["fault"])) shown["code"] = (body["fault"] as JsonObject)["code"] ?? null;
  return hashJson(shown);
}

/** What is wrong with a record's hashes. */
export interface HashFault {
  which: "in" | "out";
  expected: string | null;
  recorded: string | null;
}

/**
 * Checks the hashes of a history, record by record in order. What stands in one record and belongs to a later
 * one (I3) is kept as its hash, until the later one has come.
 */
export class HashCheck {
  readonly #ins = new Map<string, string>();

  /** The first hash that does not fit, or null. */
  check(record: RunRecord): HashFault | null {
    const out = outOfJson(record.kind, record.body);
    if (out !== record.out) return { which: "out", expected: out, recorded: record.out };
    let expected = inOfJson(record.kind, record.body);
    if (expected === undefined) expected = this.#ins.get(slot(record));
    this.#remember(record);
    if (expected === undefined || expected === record.in) return null;
    return { which: "in", expected, recorded: record.in };
  }

  #remember(record: RunRecord): void {
    const { body, position } = record;
    switch (record.kind) {
      case "agent.turn": {
        const calls = Array.isArray(body["calls"]) ? (body["calls"] as TurnCall[]) : [];
        for (const call of calls) {
          if (isObject(call) && typeof call.n === "number") {
            this.#ins.set(`call ${toolPosition(position, call.n)}`, callIn(call.tool, call.args ?? null));
          }
        }
        break;
      }
      case "ask.opened":
        if (record.in !== null) this.#ins.set(slot(record), record.in);
        break;
      case "wait.set":
        if (record.in !== null) this.#ins.set(slot(record), record.in);
        break;
      case "call.ended":
        if (body["retry"] !== true && body["outcome"] !== "unknown") this.#ins.delete(slot(record));
        break;
      case "ask.ended":
      case "wait.ended":
        this.#ins.delete(slot(record));
        break;
      default:
        break;
    }
  }
}

function slot(record: RunRecord): string {
  return `${record.kind.slice(0, record.kind.indexOf("."))} ${record.position}`;
}
