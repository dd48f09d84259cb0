/**
 * I1: one model call per turn; tools are described, never executed here.
 * I2: every wait has an end: silence by `stall`, a pause by LONGEST_PAUSE_MS, everything by the signal.
 * I3: only rate limits and overload are tried again, at most `retries` times, never earlier than asked for.
 * I4: the API key is read when a call is made and stands in no outcome.
 */

import type { ModelPort, TurnOutcome, TurnRequest } from "../../agent/model.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import { formatDuration } from "../../base/duration.ts";
import type { JsonObject } from "../../base/json.ts";
import { providerOptions } from "./effort.ts";
import { clean, type Failure, failedTurn, readFailure } from "./provider-failure.ts";
import { writePrompt, writeTools } from "./provider-prompt.ts";
import { baseUrlOf, loadModel, PROTOCOLS, type ProviderName, type SdkCall } from "./provider-sdk.ts";
import { collect, readPlainTurn, readTurn } from "./provider-stream.ts";
import { wireNames } from "./tool-names.ts";

/** What decides how a model behaves; the same words as in `ambit.yaml`. */
export interface ProviderSettings {
  provider: ProviderName;
  model: string;
  /** Required for openai-compatible. */
  baseUrl?: string;
  /** low, medium, high, xhigh, max or no. */
  effort?: string;
  /** Not sent where absent. */
  temperature?: number;
  /** Per turn. */
  maxOutputTokens: number;
  /** False: the model calls no tools, and its result is read from its text. */
  tools?: boolean;
  /** Milliseconds without a sign of life after which a stream is cut. */
  stall: number;
  /** Further attempts of a model call after rate limits and overload. */
  retries: number;
}

export interface ProviderOptions extends ProviderSettings {
  /** Asked once per model call; "" for a server that wants none. */
  apiKey: () => Promise<string>;
  clock: Clock;
}

/** A service that asks for a longer pause is not waited for. */
export const LONGEST_PAUSE_MS = 60_000;
const FIRST_PAUSE_MS = 1_000;
/** The least that the services take; a budget with less left is overshot by at most this much. */
const LEAST_OUTPUT_TOKENS = 16;

/**
 * A model of a provider. Its failures are outcomes: `agent.unavailable` (network, key, limits, faults of the
 * service), `agent.rejected` (goal or context not accepted), `agent.stalled`. The provider's package is loaded
 * with the first turn.
 */
export function createProviderModel(options: ProviderOptions): ModelPort {
  return {
    async turn(request, signal) {
      for (let attempt = 0; ; attempt++) {
        const tried = await attemptTurn(options, request, signal);
        if (!("retry" in tried)) return tried;
        if (!tried.retry || attempt >= options.retries || signal.aborted) return tried.outcome;
        const pause = tried.after ?? Math.min(FIRST_PAUSE_MS * 2 ** attempt, LONGEST_PAUSE_MS);
        if (pause > LONGEST_PAUSE_MS) return tried.outcome;
        await sleep(options.clock, pause, signal);
        if (signal.aborted) return stopped();
      }
    },
  };
}

/** What an identity record says of a provider's model: everything that can change its answers. */
export function providerIdentity(settings: ProviderSettings): { protocol: string; settings: JsonObject } {
  return {
    protocol: PROTOCOLS[settings.provider],
    settings: {
      base_url: baseUrlOf(settings.provider, settings.baseUrl),
      effort: settings.effort ?? "no",
      temperature: settings.temperature ?? null,
      max_output_tokens: settings.maxOutputTokens,
      tools: settings.tools ?? true,
      stall: settings.stall,
      retries: settings.retries,
    },
  };
}

async function attemptTurn(
  options: ProviderOptions,
  request: TurnRequest,
  signal: AbortSignal,
): Promise<TurnOutcome | Failure> {
  const cut = new AbortController();
  let stalled = false;
  const stop = (): void => cut.abort();
  if (signal.aborted) return stopped();
  signal.addEventListener("abort", stop, { once: true });
  const watch = (): { cancel(): void } =>
    options.clock.after(options.stall, () => {
      stalled = true;
      cut.abort();
    });
  let timer = watch();
  let secret = "";
  try {
    secret = await unless(cut.signal, options.apiKey());
    const model = await unless(cut.signal, loadModel(options.provider, options.model, secret, options.baseUrl));
    const names = wireNames(request.tools);
    const { stream } = await unless(cut.signal, model.doStream(writeCall(options, request, names, cut.signal)));
    const found = await collect(stream, cut.signal, () => {
      timer.cancel();
      timer = watch();
    });
    if (cut.signal.aborted) return cutOff(stalled, options.stall);
    if (found.error !== undefined) return readFailure(found.error, secret, options.clock.now());
    if (found.tooLong) return failedTurn("agent.unavailable", "The model sent more than a turn may hold.");
    return readEnd(options, found, request, names);
  } catch (error) {
    if (cut.signal.aborted) return cutOff(stalled, options.stall);
    return readFailure(error, secret, options.clock.now());
  } finally {
    timer.cancel();
    signal.removeEventListener("abort", stop);
    // Whatever is still open of a call that is over.
    cut.abort();
  }
}

function readEnd(
  options: ProviderOptions,
  found: Awaited<ReturnType<typeof collect>>,
  request: TurnRequest,
  names: ReturnType<typeof wireNames>,
): TurnOutcome {
  const { finish } = found;
  if (finish === null || (finish.unified === "other" && finish.raw === undefined)) {
    return failedTurn("agent.unavailable", "The stream of the model ended before its answer did.");
  }
  if (finish.unified === "content-filter") {
    return failedTurn("agent.rejected", "The model or its service declined to answer.", {
      reason: clean(finish.raw ?? "content-filter", ""),
    });
  }
  if (finish.unified === "error")
    return failedTurn("agent.unavailable", "The model service ended its answer with an error.");
  return options.tools === false ? readPlainTurn(found) : readTurn(found, request.turn, names);
}

function writeCall(
  options: ProviderOptions,
  request: TurnRequest,
  names: ReturnType<typeof wireNames>,
  abortSignal: AbortSignal,
): SdkCall {
  const tools = options.tools !== false;
  const left = request.maxOutputTokens ?? Number.POSITIVE_INFINITY;
  return {
    prompt: writePrompt(request, names, tools),
    maxOutputTokens: Math.max(LEAST_OUTPUT_TOKENS, Math.min(options.maxOutputTokens, left)),
    ...(options.temperature === undefined ? {} : { temperature: options.temperature }),
    ...(tools
      ? { tools: writeTools(request.tools, request.result, names), toolChoice: { type: "auto" as const } }
      : {}),
    providerOptions: providerOptions(options.provider, options.model, options.effort),
    // A model that thinks without showing it sends pings only: they are signs of life too.
    includeRawChunks: true,
    abortSignal,
  };
}

/** The value of a promise, or a rejection as soon as the signal fires; what comes later is dropped. */
function unless<T>(signal: AbortSignal, promise: PromiseLike<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(new Error("stopped"));
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).then(
      () => signal.removeEventListener("abort", stop),
      () => {},
    );
  });
}

function cutOff(stalled: boolean, stall: number): TurnOutcome {
  return stalled
    ? failedTurn("agent.stalled", `The model sent nothing for ${formatDuration(stall)}.`, { stall })
    : stopped();
}

function stopped(): TurnOutcome {
  return failedTurn("agent.unavailable", "The turn was stopped before the model answered.");
}
