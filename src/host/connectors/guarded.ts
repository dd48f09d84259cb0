import { findNotJson, type Json, type JsonObject } from "../../base/json.ts";
import type { CallRequest, CallResult } from "../../catalog/connector.ts";
import type { Scrubber } from "./scrubber.ts";

const MAX_MESSAGE_BYTES = 4_096;

/**
 * Runs one call of a connector and makes its end presentable: whatever is thrown is read by {@link thrownResult},
 * a value that is no JSON cannot be read, and no secret of the connection is in what comes out.
 */
export async function guardedCall(
  request: CallRequest,
  signal: AbortSignal,
  scrubber: Scrubber,
  perform: () => Promise<CallResult>,
): Promise<CallResult> {
  let result: CallResult;
  try {
    result = await perform();
  } catch (error) {
    result = thrownResult(signal, messageOf(error, `${request.action.name} failed.`));
  }
  return scrubResult(readableResult(result), scrubber);
}

/**
 * What something thrown says of its call. Once our signal has fired it is mostly the signal itself that comes back
 * (an aborted fetch, a closed socket), and nothing is known of what was sent before: only a result that the
 * connector gives as `failed` is definite then.
 */
export function thrownResult(signal: AbortSignal, message: string): CallResult {
  return signal.aborted
    ? { is: "ambiguous", code: "connection_lost", message }
    : { is: "failed", code: "action.failed", message };
}

function scrubResult(result: CallResult, scrubber: Scrubber): CallResult {
  if (result.is === "ok") return { is: "ok", value: scrubber.value(result.value) };
  const message = cutMessage(scrubber.message(result.message));
  if (result.is === "unreadable") return { is: "unreadable", message };
  const { details } = result;
  if (details === undefined) return { ...result, message };
  return { ...result, message, details: scrubber.value(details) as JsonObject };
}

function readableResult(result: CallResult): CallResult {
  if (result.is === "ok") {
    const value: Json = result.value === undefined ? null : result.value;
    const bad = findNotJson(value);
    if (bad === null) return { is: "ok", value };
    return {
      is: "unreadable",
      message: `The result is no JSON: ${bad.path === "" ? "it" : bad.path} is ${bad.reason}.`,
    };
  }
  if (result.is === "unreadable" || result.details === undefined || findNotJson(result.details) === null) return result;
  const { details: _dropped, ...rest } = result;
  return rest;
}

/** The text of something thrown, never its stack. */
export function messageOf(error: unknown, otherwise: string): string {
  if (error instanceof Error && error.message !== "") return error.message;
  return typeof error === "string" && error !== "" ? error : otherwise;
}

/** At most 4 KiB, cut between characters. */
export function cutMessage(message: string): string {
  const whole = message.toWellFormed();
  const bytes = Buffer.from(whole, "utf8");
  if (bytes.length <= MAX_MESSAGE_BYTES) return whole;
  return `${new TextDecoder().decode(bytes.subarray(0, MAX_MESSAGE_BYTES - 8)).replace(/\ufffd+$/, "")}...`;
}
