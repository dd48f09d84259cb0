import type { Clock } from "../../base/clock.ts";
import { isObject, type Json, type JsonObject, parseJson } from "../../base/json.ts";
import type { CallResult } from "../../catalog/connector.ts";
import type { HttpAnswer } from "./http-send.ts";
import type { Scrubber } from "./scrubber.ts";

type Answer = Extract<HttpAnswer, { is: "answer" }>;

/** As large as a result may be. */
export const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
/** Of a refusal's text, that it may say which field is wrong. */
const MAX_SAID = 2_048;
const MAX_LOOKED_AT = 64 * 1024;
const MAX_MESSAGE = 500;
const MAX_RETRY_AFTER_MS = 3_600_000;

/** What a body says: JSON parsed, other texts as they are, null where there is none. */
export function bodyOf(answer: Answer): { ok: true; value: Json } | { ok: false; why: string } {
  if (answer.body.length === 0) return { ok: true, value: null };
  const type = (answer.headers["content-type"] ?? "").toLowerCase();
  let text: string;
  try {
    text = new TextDecoder(/charset\s*=\s*"?(?:iso-8859-1|latin1)\b/.test(type) ? "latin1" : "utf-8", {
      fatal: true,
    }).decode(answer.body);
  } catch {
    return { ok: false, why: "The answer is no text." };
  }
  if (!isJsonType(type)) return { ok: true, value: text };
  const parsed = parseJson(text);
  return parsed.ok ? parsed : { ok: false, why: "The answer says that it is JSON, and is none." };
}

export function isJsonType(type: string): boolean {
  return /^\s*(?:application|text)\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type);
}

/**
 * What a refusal says of itself, short: a person or a model may correct the call by it. Secrets go before anything is
 * cut, since half of one is recognised by nobody.
 */
function saidBy(answer: Answer, scrubber: Scrubber): JsonObject {
  const { status, body } = answer;
  if (body.length === 0) return { status };
  const text = scrubber.text(new TextDecoder().decode(body.subarray(0, MAX_LOOKED_AT)));
  const parsed = text.length <= MAX_SAID ? parseJson(text) : null;
  return { status, body: parsed?.ok ? parsed.value : text.slice(0, MAX_SAID).toWellFormed() };
}

/** The sentence that a refusal has for people, where it is found in one of the usual places. */
function messageIn(body: Json | undefined): string | null {
  if (!isObject(body)) return null;
  const { error, message, detail, title } = body;
  const inner = isObject(error) ? error["message"] : error;
  const found = [inner, message, detail, title].find((text) => typeof text === "string" && text.trim() !== "");
  return typeof found === "string" ? found.slice(0, MAX_MESSAGE).toWellFormed() : null;
}

/** The pause that a service asks for, in milliseconds; null where it asks for none. */
export function retryAfterOf(answer: Answer, clock: Clock): number | null {
  const text = answer.headers["retry-after"]?.trim() ?? "";
  if (text === "") return null;
  const wait = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - clock.now();
  return Number.isFinite(wait) && wait > 0 ? Math.min(wait, MAX_RETRY_AFTER_MS) : null;
}

/** A failure of a call whose request found no whole answer, or one that cannot be read. */
export function withoutAnswer(answer: Exclude<HttpAnswer, { is: "answer" }>): CallResult {
  switch (answer.is) {
    case "never_sent":
      return {
        is: "failed",
        code: "action.unavailable",
        message: `The service was not reached: ${answer.why}.`,
      };
    case "lost":
      return { is: "ambiguous", code: "connection_lost", message: `No whole answer came: ${answer.why}.` };
    case "unreadable":
      return {
        is: "unreadable",
        message: `The service answered ${answer.status}, and ${answer.why}.`,
      };
  }
}

/** A result that is larger than may be kept. What was read is done with; what was written is done, and unread. */
export function tooLarge(answer: Answer, isRead: boolean): CallResult {
  const message = `The service answered ${answer.status} with more than ${MAX_ANSWER_BYTES / 1024 / 1024} MiB.`;
  return isRead ? { is: "failed", code: "action.result_too_large", message } : { is: "unreadable", message };
}

/**
 * What a status from 400 on means; `other` is the code where nothing better is known. A gateway that gave up says
 * nothing about what the server behind it did.
 */
export function refusal(
  answer: Answer,
  codes: { auth: string; other: string },
  clock: Clock,
  scrubber: Scrubber,
): CallResult {
  const { status } = answer;
  const details = saidBy(answer, scrubber);
  const message = messageIn(details["body"]) ?? `The service answered ${status}.`;
  const wait = retryAfterOf(answer, clock);
  const retry = wait === null ? {} : { retryAfter: wait };
  if (status === 502 || status === 504) return { is: "ambiguous", code: "connection_lost", message, details };
  const failed = (code: string): CallResult => ({ is: "failed", code, message, details, ...retry });
  if (status === 429) return failed("action.rate_limited");
  if (status === 503) return failed("action.unavailable");
  return failed(status === 401 || status === 403 ? codes.auth : codes.other);
}
