/**
 * The Connector Execution Contract, for ordinary steps and for agent tools alike (workfile.md 5).
 *
 * I1: nothing is dispatched whose arguments, key included, do not fit the manifest.
 * I2: an effect that cannot be repeated has its intent on disk before its dispatch; an intent without a
 *     result is never dispatched again.
 * I3: every attempt of one invocation carries the same key.
 * I4: a call whose signal has fired is judged by the signal first; a readable success that comes all the
 *     same is kept, as late.
 * I5: only effects can be unknown: a read that times out or loses its connection has simply failed.
 * I6: a call is over at most the drain grace after its signal.
 * I7: nothing is dispatched after its step was asked to stop, the wait for a retry included.
 * I8: of a call that a dry run suppresses nothing reaches a connector, and its record says so: live and replayed.
 */
import type { AdmittedAction } from "../admit/admitted-plan.ts";
import { sleep } from "../base/clock.ts";
import { formatDuration, MAX_BACKOFF_MS } from "../base/duration.ts";
import { byteLength, canonical, findNotJson, isObject, type Json, type JsonObject, jsonEqual } from "../base/json.ts";
import type { CallRequest, CallResult, Connector } from "../catalog/connector.ts";
import { type ActionManifest, hasEffect, isRepeatable } from "../catalog/manifest.ts";
import { markSensitive } from "../catalog/sensitive.ts";
import { problemsAsJson, sayProblems, type ValueProblem } from "../catalog/value-problem.ts";
import { checkValue } from "../catalog/value-schema.ts";
import type { Code } from "../errors/codes.ts";
import { Fault, type FaultJson } from "../errors/fault.ts";
import { marksIn, peel, recorded, reveal, SUPPRESSED, setOwn, type Val } from "../plan/marked.ts";
import type { Position } from "../plan/position.ts";
import type { Suppression } from "./dry-run.ts";
import type { Stop } from "./end.ts";
import { hide, hideMessage, markTexts, sensitiveTexts } from "./hide.ts";
import { HistoryMismatch } from "./history.ts";
import { needClear } from "./redacted.ts";
import type { EffectContext, LiveBody, Scheduler } from "./scheduler.ts";
import { messageOf, settle } from "./settle.ts";
import type { StopScope } from "./stop-scope.ts";

/** Bytes of canonical JSON that a result may have. */
export const MAX_RESULT_BYTES = 16 * 1024 * 1024;
const MAX_MESSAGE = 4_096;

export interface CallSpec {
  run: string;
  action: AdmittedAction;
  /** A map, the key not in it. */
  args: Val;
  key: string | null;
  position: Position;
  scope: StopScope;
  attempts: number;
  backoff: number;
  /** The number of the first attempt here: above 1 where somebody has settled the last one as to be tried again. */
  first: number;
  /** Arguments and key stand in the agent's turn and not in the call's own records. */
  ofAgent: boolean;
  /** Whether a budget has an attempt free for a retry; without it one is. */
  mayRetry?: () => boolean;
  /** Takes a further attempt of a budget; false if none is free. The first one is held already. */
  takeAttempt?: () => boolean;
  /** A dry run makes no call of it. */
  suppression: Suppression | null;
  /** Told of each attempt that was dispatched, once its record is there. */
  onDispatched?: () => void;
}

export type CallEnd =
  | { is: "ok"; value: Val }
  | { is: "failed"; fault: Fault }
  | { is: "unknown"; code: string; details: Json; fault: Fault; attempt: number }
  /** The budget has no attempt for the retry that the manifest asks for. */
  | { is: "exhausted"; fault: Fault }
  /** `cutOff`: an effect that the stop has left unknown, by its ambiguity code. */
  | { is: "stopped"; stop: Stop; cutOff: { code: string; attempt: number } | null };

/** What one attempt came to. */
type ReadEnd = Extract<CallEnd, { is: "ok" | "failed" | "unknown" }>;

/** Why the arguments of a call do not fit, as one fault; null if they do (I1). */
export function checkArguments(action: ActionManifest, args: Val, key: string | null, at: Position): Fault | null {
  // A value that the history does not hold fitted when the run went this way; a dispatch with it is refused.
  const marks = marksIn(args);
  if (marks.redacted || marks.suppressed) return null;
  const clear = withKey(action, args, key);
  const problems: ValueProblem[] =
    clear === null
      ? [{ path: "", message: "the arguments must be a map", expected: "object" }]
      : checkValue(action.input, clear);
  if (problems.length === 0) return null;
  return new Fault("action.invalid_input", at, `${action.name}: ${sayProblems(problems)}`, {
    problems: problemsAsJson(problems),
  });
}

/** The arguments in clear as the connector gets them, the key in its field. */
function withKey(action: ActionManifest, args: Val, key: string | null): JsonObject | null {
  const clear = reveal(args);
  if (!isObject(clear)) return null;
  if (action.idempotency.kind !== "keyed" || key === null) return clear;
  const full: JsonObject = {};
  for (const name of Object.keys(clear)) setOwn(full, name, clear[name] as Json);
  setOwn(full, action.idempotency.field, key);
  return full;
}

/** Dispatches one invocation with its retries. The arguments have been checked. */
export async function dispatch(
  scheduler: Scheduler,
  connectors: ReadonlyMap<string, Connector>,
  spec: CallSpec,
): Promise<CallEnd> {
  const { action, position } = spec;
  const { manifest } = action;
  let retryAfter: number | null = null;
  let key = spec.key;
  for (let attempt = spec.first; ; attempt++) {
    const stop = spec.scope.current;
    if (stop !== null) return { is: "stopped", stop, cutOff: null };
    const pause = attempt === spec.first ? 0 : (retryAfter ?? spec.backoff * 2 ** (attempt - spec.first - 1));
    const { body } = await scheduler.wait({
      kind: "call.ended",
      position,
      attempt,
      in: { action: manifest.name, args: recorded(spec.args) },
      scope: spec.scope,
      onBudget: "grace",
      needs: spec.args,
      ...(isRepeatable(manifest) || spec.suppression !== null ? {} : { intent: true }),
      start: (context) =>
        perform(context, scheduler, connectors, { ...spec, key }, attempt, Math.min(pause, MAX_BACKOFF_MS)),
    });
    // I3: the key of the first attempt stands in its record, and that one is gone on with (WX-55).
    const written = peel(body["key"] ?? null).value;
    if (typeof written === "string") key = written;
    const outcome = peel(body["outcome"] ?? null).value;
    if (body["dispatched"] !== false && outcome !== "suppressed") spec.onDispatched?.();
    const end = readBody(body, position, attempt);
    const stopped = spec.scope.current;
    checkRecorded(spec, body, stopped !== null, end.is !== "ok" && wantsRetry(spec, end, attempt));
    if (stopped !== null) return { is: "stopped", stop: stopped, cutOff: end.is === "unknown" ? end : null };
    if (end.is === "ok" || !wantsRetry(spec, end, attempt)) return end;
    // An unknown outcome stays unknown; only a plain failure can be told as exhaustion.
    if (spec.takeAttempt && !spec.takeAttempt())
      return end.is === "unknown" ? end : { is: "exhausted", fault: end.fault };
    const after = end.is === "failed" ? end.fault.details["retry_after_ms"] : undefined;
    retryAfter = typeof after === "number" ? after : null;
  }
}

/**
 * Members of a result that no hash covers have to be what this call could have left: a history that was edited there
 * is refused.
 */
function checkRecorded(
  { action: { manifest, connection }, key, position, ofAgent, suppression }: CallSpec,
  body: LiveBody,
  stopped: boolean,
  mayRetry: boolean,
): void {
  const member = (name: string): Json => recorded(body[name] ?? null);
  const wrong = (name: string, expected: Json): HistoryMismatch =>
    new HistoryMismatch(position, `\`${name}\` of the call of ${manifest.name} is none that it could have`, {
      expected,
      recorded: member(name),
    });
  if (member("action") !== manifest.name) throw wrong("action", manifest.name);
  if (member("connection") !== connection) throw wrong("connection", connection);
  const outcome = member("outcome");
  const fits = suppression === null ? outcome !== "suppressed" : outcome === "suppressed" || outcome === "cancelled";
  if (!fits) throw wrong("outcome", suppression === null ? "one of a call" : "suppressed");
  if (outcome === "suppressed") {
    const { because, simulated } = suppression ?? {};
    if (member("because") !== because) throw wrong("because", because ?? null);
    if (!jsonEqual(member("value"), simulated ?? null)) throw wrong("value", simulated ?? null);
  }
  const effects = effectsOf(String(member("outcome")), hasEffect(manifest));
  if (!effects.includes(String(member("effect")))) throw wrong("effect", effects);
  if (member("late") === true && !stopped) throw wrong("late", false);
  if (member("retry") === true && !mayRetry) throw wrong("retry", false);
  if (!ofAgent && key === null && member("key") !== null) throw wrong("key", null);
}

function effectsOf(outcome: string, hasEffect: boolean): string[] {
  if (outcome === "unknown") return ["unknown"];
  if (outcome === "suppressed") return ["suppressed"];
  if (outcome === "cancelled" || !hasEffect) return ["none"];
  return outcome === "ok" ? ["done"] : ["none", "done"];
}

/** Whether the manifest wants a further attempt: asked when an attempt is recorded, and again when it is read. */
function wantsRetry(spec: CallSpec, end: { is: string; fault?: Fault }, attempt: number): boolean {
  const { manifest } = spec.action;
  if (attempt - spec.first + 1 >= spec.attempts) return false;
  if (end.is === "unknown") return isRepeatable(manifest);
  return end.is === "failed" && end.fault !== undefined && manifest.retry.on.includes(end.fault.code);
}

/** What the branch is told, from the record's body alone. */
function readBody(body: LiveBody, position: Position, attempt: number): ReadEnd {
  switch (peel(body["outcome"] ?? null).value) {
    case "ok":
      return { is: "ok", value: body["value"] ?? null };
    case "suppressed":
      return { is: "ok", value: Object.hasOwn(body, "value") ? (body["value"] ?? null) : SUPPRESSED };
    case "unknown": {
      const ambiguity = body["ambiguity"] as unknown as { code: string; message?: string; details: Json };
      const fault = new Fault("flow.action_ambiguous", position, ambiguity.message ?? "The outcome is not known.", {
        ambiguity: ambiguity.code,
        action: String(body["action"]),
        ...(ambiguity.details === null ? {} : { details: ambiguity.details }),
      });
      return { is: "unknown", code: ambiguity.code, details: ambiguity.details, fault, attempt };
    }
    default:
      return { is: "failed", fault: Fault.from(recorded(body["fault"] ?? null) as unknown as FaultJson) };
  }
}

type Judged =
  | { outcome: "ok"; value: Val }
  | { outcome: "failed"; fault: Fault; effect: "none" | "done" }
  | { outcome: "unknown"; code: string; message: string; details: Json }
  | { outcome: "cancelled"; fault: Fault }
  | ({ outcome: "suppressed" } & Suppression);

async function perform(
  context: EffectContext,
  scheduler: Scheduler,
  connectors: ReadonlyMap<string, Connector>,
  spec: CallSpec,
  attempt: number,
  pause: number,
): Promise<LiveBody> {
  const { manifest, connector } = spec.action;
  const { effect } = context;
  let began = context.clock.now();
  let queued = 0;
  const write = (judged: Judged, stopped = false): LiveBody =>
    // A clock may run backwards, and the waiting was measured by another hand.
    callBody(spec, judged, attempt, stopped, {
      queued,
      duration: Math.max(0, context.clock.now() - began - queued),
    });
  const cancelled = (): LiveBody => {
    // An earlier process may have dispatched what is not dispatched any more.
    const maybe = isRepeatable(manifest) || context.hasIntent;
    if (context.recovered && maybe && hasEffect(manifest)) return write(lost(manifest));
    const fault = new Fault("run.cancelled", spec.position, "Stopped before it was dispatched.");
    return { ...write({ outcome: "cancelled", fault }), dispatched: false };
  };
  if (spec.suppression !== null) {
    return effect.stop === null ? write({ outcome: "suppressed", ...spec.suppression }) : cancelled();
  }
  if (!isRepeatable(manifest) && context.hasIntent) return write(lost(manifest));
  // The grace of a spent budget is for what is under way, not for what has not begun.
  if (effect.stop !== null) return cancelled();
  needClear(spec.args, spec.position, manifest.name);
  if (pause > 0) await sleep(context.clock, pause, effect.asked);
  if (effect.stop !== null) return cancelled();
  began = context.clock.now();
  const undispatched = async (code: Code, message: string): Promise<LiveBody> => {
    await intend(context, spec, attempt);
    const fault = new Fault(code, spec.position, message);
    return { ...write({ outcome: "failed", fault, effect: "none" }), dispatched: false };
  };
  const port = connectors.get(connector);
  if (!port) return undispatched("action.unavailable", `The connector ${connector} is not there.`);
  // Before the intent and the action's timeout: who waits for its turn has not begun.
  const place = await port.enter?.(effect.asked);
  if (place === "full") {
    return undispatched("action.rate_limited", `Too many calls wait for ${connector}, whose limits let no more begin.`);
  }
  if (place === "stopped") return cancelled();
  queued = place?.queuedMs ?? 0;
  try {
    if (effect.stop !== null) return cancelled();
    await intend(context, spec, attempt);
    return await send(context, scheduler, port, spec, attempt, write);
  } finally {
    place?.leave();
  }
}

/** I2: the intent of an effect that cannot be repeated; a result without one before it does not replay. */
async function intend(context: EffectContext, spec: CallSpec, attempt: number): Promise<void> {
  const { manifest, connection } = spec.action;
  if (isRepeatable(manifest)) return;
  await context.write([
    {
      kind: "call.intent",
      position: spec.position,
      attempt,
      in: { action: manifest.name, args: recorded(spec.args) },
      body: { action: manifest.name, connection, ...argumentsOf(spec) },
    },
  ]);
}

async function send(
  context: EffectContext,
  scheduler: Scheduler,
  port: Connector,
  spec: CallSpec,
  attempt: number,
  write: (judged: Judged, stopped?: boolean) => LiveBody,
): Promise<LiveBody> {
  const { manifest, connection } = spec.action;
  const { effect } = context;
  const timeout = manifest.timeout;
  let timedOut = false;
  const timer = context.clock.after(timeout, () => {
    timedOut = true;
    effect.timeUp();
  });
  const request: CallRequest = {
    action: manifest,
    connection,
    args: withKey(manifest, spec.args, spec.key) ?? {},
    key: spec.key,
    run: spec.run,
    position: spec.position,
    attempt,
    timeout,
    ...(marksIn(spec.args).sensitive ? { sensitive: true } : {}),
  };
  const result = await settle<CallResult>(
    context,
    scheduler.drainGrace,
    () => port.call(request, effect.signal),
    (error) =>
      effect.signal.aborted
        ? { is: "ambiguous", code: "connection_lost", message: messageOf(error) }
        : { is: "failed", code: "action.failed", message: messageOf(error) },
  );
  timer.cancel();
  const { isStopped, stop } = effect;
  return isStopped || timedOut
    ? write(judgeStopped(spec, result, timedOut, stop), isStopped)
    : write(judge(spec, result));
}

function lost(manifest: ActionManifest): Judged {
  return {
    outcome: "unknown",
    code: "executor_lost",
    message: `The process that dispatched ${manifest.name} was lost before a result was recorded.`,
    details: null,
  };
}

function judge(spec: CallSpec, result: CallResult | null): Judged {
  const { manifest } = spec.action;
  if (result === null) return ambiguous(spec, "connection_lost", "No result came.", null);
  switch (result.is) {
    case "ok":
      return judgeValue(spec, result.value);
    case "failed": {
      if (manifest.ambiguous.includes(result.code)) {
        return ambiguous(spec, result.code, result.message, result.details ?? null);
      }
      const details: JsonObject = { ...result.details };
      if (result.retryAfter !== undefined) details["retry_after_ms"] = result.retryAfter;
      const fault = new Fault(result.code, spec.position, result.message, details);
      return { outcome: "failed", fault, effect: "none" };
    }
    case "ambiguous":
      return ambiguous(spec, result.code, result.message, result.details ?? null);
    case "unreadable":
      return ambiguous(spec, "unreadable_result", result.message, null);
  }
}

function judgeStopped(spec: CallSpec, result: CallResult | null, timedOut: boolean, stop: Stop | null): Judged {
  if (result?.is === "ok") return judgeValue(spec, result.value);
  const byTime = timedOut || stop?.cause === "timeout" || stop?.cause === "deadline";
  const definite = result?.is === "failed" && !spec.action.manifest.ambiguous.includes(result.code);
  if (hasEffect(spec.action.manifest) && !definite) {
    return ambiguous(
      spec,
      byTime ? "timeout_after_dispatch" : "connection_lost",
      byTime ? "The time was up before a result came." : "Stopped before a result came.",
      null,
    );
  }
  if (timedOut) return { outcome: "failed", fault: timeoutFault(spec), effect: "none" };
  return {
    outcome: "cancelled",
    fault: new Fault("run.cancelled", spec.position, "Stopped while it was under way."),
  };
}

function timeoutFault(spec: CallSpec): Fault {
  const { name, timeout } = spec.action.manifest;
  return new Fault("flow.timeout", spec.position, `${name} gave no result within ${formatDuration(timeout)}.`, {
    timeout_ms: timeout,
  });
}

/** An outcome that is not known; for a read the plain failure that it is (I5). */
function ambiguous(spec: CallSpec, code: string, message: string, details: Json): Judged {
  if (hasEffect(spec.action.manifest)) return { outcome: "unknown", code, message, details };
  const plain =
    code === "timeout_after_dispatch"
      ? timeoutFault(spec)
      : new Fault(
          code === "unreadable_result" ? "action.invalid_output" : "action.unavailable",
          spec.position,
          message,
          {
            ambiguity: code,
          },
        );
  return { outcome: "failed", fault: plain, effect: "none" };
}

function judgeValue(spec: CallSpec, value: Json): Judged {
  const { manifest } = spec.action;
  const effect = hasEffect(manifest) ? "done" : "none";
  const failed = (code: string, message: string, details: JsonObject = {}): Judged => ({
    outcome: "failed",
    fault: new Fault(code, spec.position, message, details),
    effect,
  });
  const bad = findNotJson(value);
  if (bad) return failed("action.invalid_output", `${manifest.name} gave no JSON: ${bad.path} is ${bad.reason}.`);
  const bytes = byteLength(canonical(value));
  if (bytes > MAX_RESULT_BYTES) {
    return failed("action.result_too_large", `${manifest.name} gave ${bytes} bytes.`, {
      bytes,
      limit: MAX_RESULT_BYTES,
    });
  }
  const problems = checkValue(manifest.output, value);
  if (problems.length > 0) {
    return failed("action.invalid_output", `${manifest.name}: ${sayProblems(problems)}`, {
      problems: problemsAsJson(problems),
    });
  }
  return { outcome: "ok", value: markSensitive(value, manifest.output) };
}

function argumentsOf(spec: CallSpec): JsonObject {
  return spec.ofAgent ? {} : { args: recorded(spec.args), key: spec.key };
}

function callBody(
  spec: CallSpec,
  judged: Judged,
  attempt: number,
  stopped: boolean,
  times: { queued: number; duration: number },
): LiveBody {
  const { manifest, connection } = spec.action;
  const fault = judged.outcome === "failed" ? { fault: judged.fault } : {};
  const retry = !stopped && (spec.mayRetry?.() ?? true) && wantsRetry(spec, { is: judged.outcome, ...fault }, attempt);
  const body: LiveBody = { action: manifest.name, connection };
  if (!spec.ofAgent) {
    body["args"] = spec.args;
    body["key"] = spec.key;
  }
  body["outcome"] = judged.outcome;
  // What an action sends back of its sensitive arguments is no less sensitive.
  const texts = sensitiveTexts([spec.args]);
  switch (judged.outcome) {
    case "ok":
      body["value"] = markTexts(judged.value, texts);
      break;
    case "unknown": {
      const message = hideMessage(judged.message, texts, MAX_MESSAGE);
      body["ambiguity"] = { code: judged.code, message, details: hide(judged.details, texts) };
      break;
    }
    case "suppressed":
      body["because"] = judged.because;
      if (judged.simulated !== undefined) body["value"] = markSensitive(judged.simulated, manifest.output);
      break;
    default: {
      const fault = judged.fault.toJSON();
      const said = { message: hideMessage(fault.message, texts, MAX_MESSAGE), details: hide(fault.details, texts) };
      body["fault"] = { ...fault, ...said } as unknown as Val;
    }
  }
  body["effect"] = effectOf(judged, manifest);
  body["retry"] = retry;
  body["late"] = stopped && judged.outcome === "ok";
  body["queued_ms"] = times.queued;
  body["duration_ms"] = times.duration;
  return body;
}

function effectOf(judged: Judged, manifest: ActionManifest): string {
  if (judged.outcome === "unknown" || judged.outcome === "suppressed") return judged.outcome;
  if (judged.outcome === "failed") return judged.effect;
  return judged.outcome === "ok" && hasEffect(manifest) ? "done" : "none";
}
