// The scripted connector of demos, tests and conformance cases.
//
// I1: the line `dispatched` is written before anything else happens, the line `done` when the effect is there
//     and before the answer.
// I2: which entry answers follows from the script and the log alone, so a process that was killed and one that
//     was not go on alike.
// I3: a key whose effect is done does nothing again and answers as the first time; a `kill` still applies.
import { type Clock, isoTime, sleep } from "../../base/clock.ts";
import { isObject, type Json, type JsonObject, parseJson } from "../../base/json.ts";
import type { CallRequest, CallResult, Connector, Offer } from "../../catalog/connector.ts";
import { isRegistered } from "../../errors/codes.ts";
import { type ConnectionSettings, openConnection, type ResolveSecret, unavailable } from "./connection.ts";
import { guardedCall } from "./guarded.ts";
import { isPartOf, type StubAnswer, type StubEntry, type StubOffer, type StubScript } from "./read-stub.ts";
import { Scrubber } from "./scrubber.ts";
import { type StubLine, StubLog, type StubPhase } from "./stub-log.ts";
import type { Rendered } from "./template.ts";

export interface StubOptions {
  /** Of the connector in the deployment. */
  name: string;
  /** Short names of the manifest's actions. */
  actions: readonly string[];
  script: StubScript;
  /** What they hold is scrubbed from scripted answers, as far as it resolves: a stub itself needs no secret. */
  connections?: readonly ConnectionSettings[];
  resolveSecret?: ResolveSecret;
  clock: Clock;
  /** Ends the engine process at once (`kill`); SIGKILL to ourselves where it is not given. */
  kill?: () => void;
}

/** Uses of each entry of an action, and what keys have done. */
interface Uses {
  counts: number[];
  done: Map<string, { entry: StubEntry; args: JsonObject }>;
}

const STANDARD_AMBIGUITY = ["connection_lost", "timeout_after_dispatch", "executor_lost", "unreadable_result"];

export class StubConnector implements Connector {
  readonly name: string;
  readonly #options: StubOptions;
  readonly #log: StubLog;
  readonly #uses = new Map<string, Uses>();
  readonly #scrubber = new Scrubber();
  #dispatches = 0;
  #loaded = false;

  constructor(options: StubOptions) {
    this.name = options.name;
    this.#options = options;
    this.#log = new StubLog(options.script.log);
  }

  async connect(_signal: AbortSignal): Promise<Offer> {
    this.#load();
    await this.#learnSecrets();
    const offer = this.#offer();
    if (offer?.is === "unreachable") {
      throw unavailable(this.name, "it cannot be reached");
    }
    const offered = offer?.is === "listed" ? offer.actions : this.#options.actions;
    return { actions: Object.fromEntries(offered.map((action) => [`${this.name}.${action}`, { pin: null }])) };
  }

  async call(request: CallRequest, signal: AbortSignal): Promise<CallResult> {
    return guardedCall(request, signal, this.#scrubber, () => this.#call(request, signal));
  }

  async #learnSecrets(): Promise<void> {
    const { connections = [], resolveSecret } = this.#options;
    if (!resolveSecret) return;
    const lenient: ResolveSecret = (ref) => resolveSecret(ref).catch(() => "");
    for (const settings of connections) {
      const { secrets, fields } = await openConnection(settings, lenient);
      this.#scrubber.addSecrets(secrets);
      this.#scrubber.addFields(fields);
    }
  }

  async #call(request: CallRequest, signal: AbortSignal): Promise<CallResult> {
    this.#load();
    this.#write(request, "dispatched");
    const gone = this.#isGone(request.action.name);
    this.#dispatches++;
    if (gone) {
      const message = `The connector ${this.name} no longer offers ${request.action.name}.`;
      return { is: "failed", code: "action.unavailable", message };
    }
    const uses = this.#usesOf(request.action.name);
    const chosen = choose(this.#entries(request.action.name), uses.counts, withoutKey(request));
    const earlier = request.key === null ? undefined : uses.done.get(request.key);
    if (chosen === null && !earlier) {
      const message = `The stub has no answer left for ${request.action.name} with these arguments.`;
      return { is: "failed", code: "stub.unmatched", message };
    }
    if (chosen) uses.counts[chosen.index] = (uses.counts[chosen.index] ?? 0) + 1;
    if (chosen?.kills && chosen.entry.kill === "before") await this.#kill();
    const result = await this.#perform(request, chosen?.entry ?? null, uses, signal);
    if (chosen?.kills && chosen.entry.kill === "after") await this.#kill();
    return result;
  }

  processes(): { pid: number; startTime: string }[] {
    return [];
  }

  async close(): Promise<void> {}

  async #perform(request: CallRequest, entry: StubEntry | null, uses: Uses, signal: AbortSignal): Promise<CallResult> {
    const earlier = (): CallResult | null => {
      const first = request.key === null ? undefined : uses.done.get(request.key);
      if (!first) return null;
      this.#write(request, "deduplicated");
      return answerOf(first.entry.answer, withKey(first.args, request), this.name);
    };
    if (entry === null) return earlier() ?? LOST;
    if (entry.delay > 0) await sleep(this.#options.clock, entry.delay, signal);
    if (signal.aborted && entry.answer.is !== "hang") return this.#aborted(request);
    if (entry.answer.is === "hang") {
      await fired(signal);
      if (entry.answer.late === null) return this.#aborted(request);
      await sleep(this.#options.clock, entry.answer.late.ignoreSignal);
    }
    const again = earlier();
    if (again) return again;
    if (hasEffect(entry.answer)) {
      if (request.key !== null) uses.done.set(request.key, { entry, args: withoutKey(request) });
      this.#write(request, "done");
    }
    return answerOf(entry.answer, request.args, this.name);
  }

  #aborted(request: CallRequest): CallResult {
    this.#write(request, "aborted");
    return LOST;
  }

  async #kill(): Promise<never> {
    if (this.#options.kill) this.#options.kill();
    else process.kill(process.pid, "SIGKILL");
    return await new Promise<never>(() => {});
  }

  #offer(): StubOffer | undefined {
    return this.#options.script.offers.get(this.name);
  }

  #isGone(action: string): boolean {
    const offer = this.#offer();
    const short = action.slice(this.name.length + 1);
    if (offer?.is === "listed") return !offer.actions.includes(short);
    return offer?.is === "dropping" && this.#dispatches >= offer.after && offer.drop.includes(short);
  }

  #entries(action: string): readonly StubEntry[] {
    return this.#options.script.actions.get(action) ?? [];
  }

  #usesOf(action: string): Uses {
    let uses = this.#uses.get(action);
    if (!uses) {
      uses = { counts: [], done: new Map() };
      this.#uses.set(action, uses);
    }
    return uses;
  }

  /** I2: plays the log of earlier processes through the same choices. */
  #load(): void {
    if (this.#loaded) return;
    this.#loaded = true;
    const open = new Map<string, { entry: StubEntry; args: JsonObject }>();
    for (const line of this.#log.read()) {
      if (!line.action.startsWith(`${this.name}.`)) continue;
      const uses = this.#usesOf(line.action);
      const dispatch = `${line.action} ${line.position} ${line.attempt} ${line.key ?? ""}`;
      if (line.phase === "dispatched") {
        this.#dispatches++;
        const chosen = choose(this.#entries(line.action), uses.counts, line.args);
        if (!chosen) continue;
        uses.counts[chosen.index] = (uses.counts[chosen.index] ?? 0) + 1;
        open.set(dispatch, { entry: chosen.entry, args: line.args });
      } else if (line.phase === "done" && line.key !== null) {
        const first = open.get(dispatch);
        if (first) uses.done.set(line.key, first);
      }
    }
  }

  #write(request: CallRequest, phase: StubPhase): void {
    const line: StubLine = {
      at: isoTime(this.#options.clock.now()),
      action: request.action.name,
      connection: request.connection,
      args: withoutKey(request),
      key: request.key,
      position: request.position,
      attempt: request.attempt,
      phase,
    };
    this.#log.write(line);
  }
}

const LOST: CallResult = { is: "ambiguous", code: "connection_lost", message: "The scripted call was cut off." };

/**
 * The first entry that fits and is not used up. One whose `times` counted kills goes on to answer without
 * them, but only where nothing else fits.
 */
function choose(
  entries: readonly StubEntry[],
  counts: readonly number[],
  args: JsonObject,
): { index: number; entry: StubEntry; kills: boolean } | null {
  let spent: { index: number; entry: StubEntry; kills: boolean } | null = null;
  for (const [index, entry] of entries.entries()) {
    if (entry.when !== null && !isPartOf(entry.when, args)) continue;
    if (entry.times === null || (counts[index] ?? 0) < entry.times) {
      return { index, entry, kills: entry.kill !== null };
    }
    if (entry.kill !== null) spent ??= { index, entry, kills: false };
  }
  return spent;
}

function hasEffect(answer: StubAnswer): boolean {
  switch (answer.is) {
    case "return":
    case "raw":
      return true;
    case "fail":
      return false;
    case "ambiguous":
      return answer.done;
    case "hang":
      return answer.late !== null;
  }
}

function answerOf(answer: StubAnswer, args: JsonObject, connector: string): CallResult {
  switch (answer.is) {
    case "return":
      return rendered(answer.value.render({ args }));
    case "fail": {
      const message = answer.message.render({ args });
      const details = answer.details?.render({ args });
      return {
        is: "failed",
        code: answer.code,
        message: message.ok && typeof message.value === "string" ? message.value : "a scripted failure",
        ...(details?.ok && isObject(details.value) ? { details: details.value as JsonObject } : {}),
        ...(answer.retryAfter === null ? {} : { retryAfter: answer.retryAfter }),
      };
    }
    case "ambiguous":
      return { is: "ambiguous", code: ambiguityCode(answer.code, connector), message: "A scripted unknown outcome." };
    case "raw": {
      const parsed = parseJson(answer.text);
      return parsed.ok ? { is: "ok", value: parsed.value } : { is: "unreadable", message: "The answer is no JSON." };
    }
    case "hang":
      return answer.late === null ? LOST : rendered(answer.late.value.render({ args }));
  }
}

function rendered(result: Rendered): CallResult {
  if (result.ok) return { is: "ok", value: result.value };
  return { is: "failed", code: "stub.unmatched", message: `A template of the stub failed: ${result.message}` };
}

function ambiguityCode(code: string, connector: string): string {
  if (code.includes(".") || STANDARD_AMBIGUITY.includes(code)) return code;
  return isRegistered(`action.${code}`) ? `action.${code}` : `${connector}.${code}`;
}

function withoutKey(request: CallRequest): JsonObject {
  const { idempotency } = request.action;
  if (idempotency.kind !== "keyed") return request.args;
  const args: { [key: string]: Json } = { ...request.args };
  delete args[idempotency.field];
  return args;
}

/** The log leaves the key's field out; templates may read it all the same. */
function withKey(args: JsonObject, request: CallRequest): JsonObject {
  const { idempotency } = request.action;
  return idempotency.kind === "keyed" ? { ...args, [idempotency.field]: request.key } : args;
}

function fired(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
