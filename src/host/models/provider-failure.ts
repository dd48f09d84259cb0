import type { TurnOutcome } from "../../agent/model.ts";
import { isObject, type JsonObject } from "../../base/json.ts";

export type Failed = Extract<TurnOutcome, { is: "failed" }>;

/** A model call that failed, and whether trying it again can help. */
export interface Failure {
  outcome: Failed;
  /** Rate limits and overload only. */
  retry: boolean;
  /** Milliseconds that the service asks for, null if it does not say. */
  after: number | null;
}

/** So much of a service's own words is kept. */
export const LONGEST_MESSAGE = 500;

export function failedTurn(code: Failed["code"], message: string, details?: JsonObject): Failed {
  return { is: "failed", code, message, ...(details === undefined ? {} : { details }) };
}

/**
 * Reads whatever a provider package threw or put into a stream. `secret` is cut out of every text; of a request
 * nothing is ever kept. `now` is for a `retry-after` that is a date.
 */
export function readFailure(error: unknown, secret: string, now: number): Failure {
  const status = numberIn(error, "statusCode");
  const headers = isObject(error) && isObject(error["responseHeaders"]) ? error["responseHeaders"] : {};
  const words = clean(textOf(error), secret);
  const kind = kindOf(error);
  const after = retryAfter(headers, now);
  const details: JsonObject = {};
  if (status !== null) details["status"] = status;
  if (after !== null) details["retry_after"] = after;
  const made = (code: string, message: string, retry = false): Failure => {
    return { outcome: failedTurn(code, message, details), retry, after };
  };
  if (status === 401 || status === 403) {
    return made("agent.unavailable", `The model service refused the API key or its rights (HTTP ${status}).`);
  }
  if (kind === "quota") return made("agent.unavailable", `The model service's quota is used up: ${words}`);
  if (status === 429 || kind === "rate_limit") {
    return made("agent.unavailable", `The model service limits the rate of calls: ${words}`, true);
  }
  if (status === 503 || status === 529 || kind === "overloaded") {
    return made("agent.unavailable", `The model service is overloaded: ${words}`, true);
  }
  if (status === 404) return made("agent.unavailable", `The model service does not know this model or path: ${words}`);
  if ((status !== null && REFUSALS.includes(status)) || kind === "invalid_request") {
    return made("agent.rejected", `The model service did not accept the request: ${words}`);
  }
  if (status !== null && status >= 300)
    return made("agent.unavailable", `The model service answered HTTP ${status}: ${words}`);
  return made("agent.unavailable", `The model call failed: ${words}`);
}

/** Statuses that say: this goal or context is not accepted. */
const REFUSALS = [400, 413, 415, 422];

type Kind = "rate_limit" | "overloaded" | "quota" | "invalid_request" | "other";

/** Errors inside a stream have no status but a type or code of the service. */
function kindOf(error: unknown): Kind {
  const words = [
    error,
    isObject(error) ? error["error"] : null,
    isObject(error) ? error["data"] : null,
    isObject(error) && isObject(error["data"]) ? error["data"]["error"] : null,
  ].flatMap((place) => (isObject(place) ? [place["type"], place["code"], place["status"]] : []));
  const has = (...wanted: string[]): boolean => words.some((word) => typeof word === "string" && wanted.includes(word));
  if (has("insufficient_quota", "billing_error", "billing_hard_limit_reached")) return "quota";
  if (has("rate_limit_error", "rate_limit_exceeded", "RESOURCE_EXHAUSTED", "too_many_requests")) return "rate_limit";
  if (has("overloaded_error", "overloaded", "server_overloaded", "UNAVAILABLE", "slow_down")) return "overloaded";
  if (has("invalid_request_error", "invalid_prompt", "context_length_exceeded", "content_filter"))
    return "invalid_request";
  return "other";
}

function numberIn(value: unknown, key: string): number | null {
  const found = isObject(value) ? value[key] : undefined;
  return typeof found === "number" && Number.isFinite(found) ? found : null;
}

/** The innermost words within reach: services wrap their errors a few times, and hostile ones without end. */
function textOf(error: unknown): string {
  let place = error;
  for (let depth = 0; depth < 4; depth++) {
    if (typeof place === "string") return place;
    if (!isObject(place)) break;
    if (typeof place["message"] === "string" && place["message"].trim() !== "") return place["message"];
    place = place["error"];
  }
  return "no reason was given";
}

/** One line, short, without the secret. */
export function clean(text: string, secret: string): string {
  const safe = secret.length >= 4 ? text.replaceAll(secret, "***") : text;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal.
  const line = safe.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ").trim();
  return line.length <= LONGEST_MESSAGE ? line : `${line.slice(0, LONGEST_MESSAGE - 3).toWellFormed()}...`;
}

/** `retry-after-ms`, or `retry-after` in seconds or as a date; milliseconds. */
export function retryAfter(headers: { [name: string]: unknown }, now: number): number | null {
  const ms = headers["retry-after-ms"];
  if (typeof ms === "string" && /^\d+(\.\d+)?$/.test(ms)) return Math.ceil(Number(ms));
  const given = headers["retry-after"];
  if (typeof given !== "string") return null;
  if (/^\d+(\.\d+)?$/.test(given.trim())) return Math.ceil(Number(given) * 1_000);
  // Left to itself, Date.parse takes nearly anything for a date.
  const date = /^[A-Za-z]{3},? /.test(given) ? Date.parse(given) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}
