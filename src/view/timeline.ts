import type { Json, JsonObject } from "../base/json.ts";
import { typed } from "../journal/bodies.ts";
import type { EventKind, RunRecord } from "../journal/event.ts";
import { faultIn, listIn, mapIn, memberOf, numberIn, textIn } from "../journal/members.ts";
import { type Position, toolPosition } from "../plan/position.ts";
import { faultText, lasted, modelName } from "./words.ts";

/** One line of `runs show`: what happened where, in order. Words, not layout. */
export interface TimelineLine {
  seq: number;
  at: string;
  position: Position;
  kind: EventKind | "trail";
  /** Short text without the position: "crm.search failed: action.unavailable". */
  text: string;
  tone: "plain" | "good" | "bad" | "doubt" | "wait";
  attempt: number;
  /** Of a call: the key it went with, and what is known of its effect. */
  key: string | null;
  effect: string | null;
  /** Of a call: what it was given; null of anything else. */
  args: Json;
  /** Arguments, value or text, for an inspector; null where there is none. */
  detail: Json;
}

const MAX_SAID = 200;

/** Lines for the records of a run, in their order. The keys of an agent's calls are taken from their turns. */
export class Timeline {
  readonly #calls = new Map<Position, { key: string | null; args: Json }>();

  add(record: RunRecord): TimelineLine[] {
    const lines = record.trail.map(
      (entry): TimelineLine => ({
        ...blank(record),
        position: entry.position,
        kind: "trail",
        text: trailText(entry.what, entry.detail),
        tone:
          entry.what === "forgiven" || entry.what === "handled" || entry.what === "item_skipped" ? "doubt" : "plain",
        detail: entry.detail,
      }),
    );
    lines.push({ ...blank(record), ...this.#line(record) });
    return lines;
  }

  #line(source: RunRecord): Partial<TimelineLine> & { text: string } {
    const record = typed(source);
    const { body } = record;
    switch (record.kind) {
      case "run.accepted":
        return { text: `accepted: ${textIn(body, "name") ?? ""}`, detail: memberOf(body, "inputs") ?? null };
      case "run.started":
        return { text: "started" };
      case "run.resumed":
        return { text: `resumed by ${textIn(body, "by") ?? "somebody"}` };
      case "run.suspended":
        return { text: `suspended: ${textIn(body, "reason") ?? ""}`, tone: "wait" };
      case "run.ended": {
        const status = textIn(body, "status") ?? "";
        const fault = faultIn(body, "error");
        return {
          text: fault ? `ended ${status}: ${fault.code}` : `ended ${status}`,
          tone: status === "completed" || status === "stopped" ? "good" : "bad",
          detail: memberOf(body, "outputs") ?? null,
        };
      }
      case "stop.decided": {
        const because = mapIn(body, "because");
        const why = because
          ? ` because of ${textIn(because, "code")} in ${textIn(because, "position") || "the run"}`
          : "";
        return { text: `stopped: ${textIn(body, "cause") ?? ""}${why}`, tone: "bad" };
      }
      case "agent.started": {
        const agent = mapIn(body, "agent");
        const model = modelName(textIn(agent, "provider") ?? "", textIn(agent, "model") ?? "").trim();
        return {
          text: `agent ${textIn(agent, "name") ?? ""} (${model}) started`,
          detail: memberOf(body, "goal") ?? null,
        };
      }
      case "agent.turn":
        return this.#turn(source);
      case "agent.ended": {
        const reason = textIn(body, "reason") ?? "";
        const fault = faultIn(body, "fault");
        return {
          text: `agent ended: ${reason}${fault ? ` (${fault.code})` : ""}`,
          tone: reason === "result" ? "good" : "bad",
          detail: memberOf(body, "result") ?? null,
        };
      }
      case "call.intent":
        return { text: `${textIn(body, "action") ?? ""} is about to be sent`, ...this.#call(source) };
      case "call.ended":
        return this.#callEnded(source);
      case "call.settled":
        return { text: `settled as ${textIn(body, "how") ?? ""} by ${textIn(body, "by") ?? ""}`, tone: "plain" };
      case "code.ended": {
        const fault = faultIn(body, "fault");
        return {
          text: `${textIn(body, "language") ?? "code"} ${fault ? `failed: ${fault.code}` : "ended"}`,
          tone: fault ? "bad" : "good",
          detail: memberOf(body, "value") ?? null,
        };
      }
      case "code.fetch":
        return { text: `${textIn(body, "method") ?? ""} ${textIn(body, "host") ?? ""}: ${fetchEnd(source)}` };
      case "wait.set":
        return { text: `waits until ${textIn(body, "due") ?? ""}`, tone: "wait" };
      case "wait.ended":
        return { text: textIn(body, "how") === "cancelled" ? "the wait was cancelled" : "the wait is over" };
      case "ask.opened":
        return {
          text: textIn(body, "for") === "approval" ? "asks for approval" : "asks a person",
          tone: "wait",
          detail: memberOf(body, "text") ?? null,
        };
      case "ask.vote":
        return { text: `${textIn(body, "by") ?? "somebody"} voted`, detail: memberOf(body, "value") ?? null };
      case "ask.ended": {
        const by = (listIn(body, "by") ?? []).filter((name) => typeof name === "string").join(", ");
        return {
          text: `${textIn(body, "how") ?? "ended"}${by === "" ? "" : ` by ${by}`}`,
          detail: memberOf(body, "value") ?? null,
        };
      }
      case "notice.sent":
        return { text: "notice", detail: memberOf(body, "text") ?? null };
      case "goal.evaluated":
        return { text: memberOf(body, "met") === true ? "the goal is met" : "the goal is not met yet" };
    }
  }

  #turn(record: RunRecord): Partial<TimelineLine> & { text: string } {
    const calls = listIn(record.body, "calls") ?? [];
    const parts: string[] = [];
    const refused: Json[] = [];
    const said = saidIn(record);
    if (said !== null) parts.push(said);
    for (const call of calls) {
      const tool = textIn(call, "tool") ?? "?";
      const n = memberOf(call, "n");
      const code = textIn(call, "code");
      parts.push(code === null ? tool : `${tool} (refused: ${refusalText(call, code)})`);
      if (code !== null) refused.push({ tool, args: memberOf(call, "args") ?? memberOf(call, "args_text") ?? null });
      if (typeof n !== "number") continue;
      this.#calls.set(toolPosition(record.position, n), {
        key: textIn(call, "key"),
        args: memberOf(call, "args") ?? null,
      });
    }
    const fault = faultIn(record.body, "fault");
    if (fault) return { text: `the model failed: ${failureText(record.body)}`, tone: "bad" };
    const result = memberOf(record.body, "result");
    if (result !== undefined) parts.push("a result");
    return {
      text: parts.length === 0 ? "turn without call or result" : `turn: ${parts.join(", ")}`,
      detail: result ?? (refused.length === 0 ? null : refused),
    };
  }

  #call(record: RunRecord): { key: string | null; args: Json; detail: Json } {
    const known = this.#calls.get(record.position);
    const args = memberOf(record.body, "args") ?? known?.args ?? null;
    return { key: textIn(record.body, "key") ?? known?.key ?? null, args, detail: args };
  }

  #callEnded(record: RunRecord): Partial<TimelineLine> & { text: string } {
    const { body } = record;
    const action = textIn(body, "action") ?? "";
    const { key, args, detail } = this.#call(record);
    const again = memberOf(body, "retry") === true;
    if (!again) this.#calls.delete(record.position);
    const effect = textIn(body, "effect");
    const tail = `${again ? ", tried again" : ""}${memberOf(body, "late") === true ? " (late)" : ""}`;
    const line = { key, effect, args, detail: memberOf(body, "value") ?? detail };
    switch (textIn(body, "outcome")) {
      case "ok":
        return {
          ...line,
          text: `${action} ok in ${lasted(numberIn(body, "duration_ms"))}${tail}`,
          tone: "good",
        };
      case "failed":
        return { ...line, text: `${action} failed: ${failureText(body)}${tail}`, tone: "bad" };
      case "unknown": {
        const code = textIn(mapIn(body, "ambiguity"), "code") ?? "?";
        return { ...line, text: `${action}: outcome unknown (${code})${tail}`, tone: "doubt" };
      }
      case "suppressed":
        return { ...line, text: `${action} was not done (dry run)`, tone: "plain" };
      default:
        return { ...line, text: `${action} was cancelled${tail}`, tone: "bad" };
    }
  }
}

/** What the agent said in a turn, cut to a length that stays a line; null where it said nothing. */
function saidIn(record: RunRecord): string | null {
  const messages = listIn(record.body, "messages") ?? [];
  const text = textIn(
    messages.findLast((message) => textIn(message, "role") === "agent"),
    "text",
  );
  if (text === null || text.trim() === "") return null;
  const chars = [...text.trim()];
  return JSON.stringify(chars.length > MAX_SAID ? `${chars.slice(0, MAX_SAID - 1).join("")}…` : chars.join(""));
}

/** Why a proposal was refused: its code, and the sentence that names the field where the record has one. */
export function refusalText(call: unknown, code: string): string {
  const message = textIn(call, "message");
  return message === null || message === "" ? code : `${code}: ${message}`;
}

function failureText(body: JsonObject): string {
  const fault = faultIn(body, "fault");
  if (!fault) return "?";
  return fault.message ? `${fault.code}: ${faultText(fault)}` : fault.code;
}

function blank(record: RunRecord): TimelineLine {
  const { seq, at, position, kind, attempt } = record;
  return {
    seq,
    at,
    position,
    kind,
    text: "",
    tone: "plain",
    attempt,
    key: null,
    effect: null,
    args: null,
    detail: null,
  };
}

function trailText(what: string, detail: Json): string {
  const code = textIn(detail, "code") ?? textIn(detail, "reason");
  switch (what) {
    case "then":
      return typeof detail === "string" ? `took the case ${JSON.stringify(detail)}` : "took then";
    case "else":
      return "took else";
    case "skipped":
      return "skipped";
    case "loop_ended":
      return "the loop ended";
    case "truncated": {
      const left = memberOf(detail, "left");
      const rest = typeof left === "number" ? `, ${left} left` : "";
      return `cut short after ${numberIn(detail, "done")} (${textIn(detail, "cause") ?? ""}${rest})`;
    }
    case "item_skipped":
      return `the iteration was skipped${code ? `: ${code}` : ""}`;
    case "handled":
    case "forgiven":
      return `${what}${code ? `: ${code}` : ""}`;
    case "suppressed":
      return `not done in a dry run (${textIn(detail, "what") ?? "step"})`;
    case "undetermined": {
      const ways = Array.isArray(detail) ? detail.map((way) => textIn(way, "branch") ?? "?") : [];
      return `cannot be told in a dry run: ${ways.join(" or ")}`;
    }
    default:
      return what;
  }
}

function fetchEnd(record: RunRecord): string {
  const status = memberOf(record.body, "status");
  return typeof status === "number" ? String(status) : (textIn(record.body, "reason") ?? "no answer");
}
