import type { Proposal, TurnOutcome } from "../../agent/model.ts";
import type { Json } from "../../base/json.ts";
import { isObject, parseJson } from "../../base/json.ts";
import type { SdkPart, SdkStream } from "./provider-sdk.ts";
import { GIVE_UP, RETURN_RESULT, type WireNames } from "./tool-names.ts";

/** More characters in one turn are no answer any more. */
const LONGEST_TURN = 4 * 1024 * 1024;
/** More calls in one turn are dropped; the engine refuses far fewer. */
const MOST_CALLS = 1_000;

interface WireCall {
  id: string;
  name: string;
  input: string;
}

/** What a stream held when it came to its end. */
export interface Collected {
  text: string;
  calls: WireCall[];
  /** Null: the stream ended without saying why. */
  finish: { unified: string; raw: string | undefined } | null;
  usage: { input: number; output: number } | null;
  /** The stream's own error, undefined without one. */
  error: unknown;
  tooLong: boolean;
}

/** Reads a stream to its end, or until `stop` fires; `alive` is called at every sign of life. */
export async function collect(stream: SdkStream, stop: AbortSignal, alive: () => void): Promise<Collected> {
  const found: Collected = { text: "", calls: [], finish: null, usage: null, error: undefined, tooLong: false };
  const reader = stream.getReader();
  // Cancelling settles a read that waits, also where the package below does not look at its signal.
  const cancel = (): void => void reader.cancel().catch(() => {});
  if (stop.aborted) cancel();
  stop.addEventListener("abort", cancel, { once: true });
  let size = 0;
  try {
    while (true) {
      const { done, value } = await reader.read();
      if (done) break;
      alive();
      size += take(found, value);
      if (size > LONGEST_TURN) {
        found.tooLong = true;
        cancel();
        break;
      }
    }
  } catch (error) {
    found.error ??= error ?? "the stream broke";
  } finally {
    stop.removeEventListener("abort", cancel);
  }
  return found;
}

/** Gives the characters that the part adds. */
function take(found: Collected, part: SdkPart): number {
  switch (part.type) {
    case "text-delta":
      found.text += part.delta;
      return part.delta.length;
    case "tool-input-delta":
    case "reasoning-delta":
      return part.delta.length;
    case "tool-call":
      if (part.providerExecuted !== true && found.calls.length < MOST_CALLS) {
        found.calls.push({ id: part.toolCallId, name: part.toolName, input: part.input });
      }
      return part.input.length;
    case "error":
      found.error ??= part.error ?? "the stream reported an error";
      return 0;
    case "finish":
      found.finish = { unified: part.finishReason.unified, raw: part.finishReason.raw };
      found.usage = usageOf(part.usage.inputTokens.total, part.usage.outputTokens.total);
      return 0;
    default:
      return 0;
  }
}

/** A count that is not there, or a turn that is said to have cost nothing at all, is no report. */
function usageOf(input: number | undefined, output: number | undefined): Collected["usage"] {
  if (input === undefined || output === undefined || !(input + output > 0)) return null;
  return { input, output };
}

/** The turn that a stream amounts to. `turn` makes up ids where the model gave none, or gave one twice. */
export function readTurn(found: Collected, turn: number, names: WireNames): Extract<TurnOutcome, { is: "turn" }> {
  const calls: Proposal[] = [];
  const results: Json[] = [];
  let giveUp: string | null = null;
  const seen = new Set<string>();
  found.calls.forEach((call, n) => {
    const read = readArgs(call.input);
    if (call.name === RETURN_RESULT) results.push(read.ok ? read.value : call.input);
    else if (call.name === GIVE_UP) giveUp ??= reasonIn(read.ok ? read.value : call.input);
    else {
      const id = call.id === "" || seen.has(call.id) ? `call_${turn}_${n}` : call.id;
      seen.add(id);
      const tool = names.fromWire(call.name);
      calls.push(read.ok && isObject(read.value) ? { id, tool, args: read.value } : { id, tool, argsText: call.input });
    }
  });
  return {
    is: "turn",
    text: found.text,
    calls,
    results,
    giveUp,
    usage: found.usage,
    finish: found.finish?.unified ?? "other",
  };
}

/** The turn of a model that calls no tools: its result is the text. */
export function readPlainTurn(found: Collected): Extract<TurnOutcome, { is: "turn" }> {
  const base = { is: "turn" as const, calls: [], usage: found.usage, finish: found.finish?.unified ?? "other" };
  const bare = found.text.trim().replace(/^```(?:json)?\s*\n([\s\S]*?)\n?```$/, "$1");
  const read = parseJson(bare);
  if (!read.ok || !isObject(read.value)) return { ...base, text: found.text, results: [], giveUp: null };
  const keys = Object.keys(read.value);
  if (keys.length === 1 && keys[0] === GIVE_UP) {
    return { ...base, text: "", results: [], giveUp: reasonIn({ reason: read.value[GIVE_UP] ?? "" }) };
  }
  return { ...base, text: "", results: [read.value], giveUp: null };
}

/** A call without any argument text is a call without arguments. */
function readArgs(text: string): ReturnType<typeof parseJson> {
  return text.trim() === "" ? { ok: true, value: {} } : parseJson(text);
}

function reasonIn(value: Json): string {
  const reason = isObject(value) ? value["reason"] : value;
  return typeof reason === "string" ? reason : reason === undefined ? "" : JSON.stringify(reason);
}
