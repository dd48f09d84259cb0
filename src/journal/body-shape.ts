/**
 * The shape of each body, for records that somebody else may have written: what the interpreter, the agent loop and
 * the views take for granted is checked here once, when a file is read.
 *
 * I1: what this version writes always passes, and keys that it does not know are left alone.
 * I2: a body that passes makes nobody fail: members are there where they are needed, and of their kind.
 * I3: positions and names of actions hold no character that a terminal would act on. Codes may: connectors and
 *     authors choose them, so whoever prints one makes it safe.
 */
import { isObject } from "../base/json.ts";
import type { StepKind } from "../plan/step.ts";
import { AGENT_ENDS, STOP_CAUSES } from "./bodies.ts";
import type { EventKind } from "./event.ts";
import { OUTCOMES } from "./outcome.ts";

/** Where something does not fit, as `calls[0].tool`, and what belongs there; null for nothing. */
export interface ShapeProblem {
  path: string;
  expected: string;
}

type Shape = (value: unknown, path: string) => ShapeProblem | null;

/** What is wrong with the body of a record of this kind; null for nothing. */
export function bodyProblem(kind: EventKind, body: { readonly [key: string]: unknown }): ShapeProblem | null {
  // A store that somebody else has written may hold any text there.
  if (!Object.hasOwn(BODIES, kind)) return { path: "kind", expected: "a kind of record" };
  return BODIES[kind](body, "");
}

/** What is wrong, in words. */
export function sayShape({ path, expected }: ShapeProblem): string {
  return `${path === "" ? "the body" : path} must be ${expected}`;
}

const any: Shape = (value, path) => (value === undefined ? { path, expected: "a value" } : null);
const text = test("a text", (value) => typeof value === "string");
const flag = test("true or false", (value) => typeof value === "boolean");
const amount = test("a number from 0", (value) => typeof value === "number" && Number.isFinite(value) && value >= 0);
const number = test("a number", (value) => typeof value === "number" && Number.isFinite(value));
const count = test("a whole number from 0", (value) => Number.isSafeInteger(value) && (value as number) >= 0);
const map = test("a map", isObject);
const list = test("a list", Array.isArray);
const time = test("a time", (value) => typeof value === "string" && Number.isFinite(Date.parse(value)));
/** A text that is shown as a name. */
const name = test("a name without control characters", (value) => typeof value === "string" && isPlainName(value));

/** Whether a text can stand on a terminal as it is. */
export function isPlainName(value: string): boolean {
  // Nearly every name is of these, and the other test takes ten times as long.
  if (/^[ -~]*$/.test(value)) return true;
  return !/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u.test(value);
}

function test(expected: string, fits: (value: unknown) => boolean): Shape {
  return (value, path) => (fits(value) ? null : { path, expected });
}

function oneOf(known: readonly string[]): Shape {
  return test(`one of ${known.join(", ")}`, (value) => typeof value === "string" && known.includes(value));
}

function orNull(shape: Shape): Shape {
  return (value, path) => (value === null ? null : shape(value, path));
}

/** Absent, or of this shape. */
function maybe(shape: Shape): Shape {
  return (value, path) => (value === undefined ? null : shape(value, path));
}

function listOf(shape: Shape): Shape {
  return (value, path) => {
    if (!Array.isArray(value)) return { path, expected: "a list" };
    for (const [i, item] of value.entries()) {
      const problem = shape(item, `${path}[${i}]`);
      if (problem) return problem;
    }
    return null;
  };
}

function below(path: string, key: string, rest: string): string {
  const at = path === "" ? key : `${path}.${key}`;
  return rest === "" || rest.startsWith("[") ? `${at}${rest}` : `${at}.${rest}`;
}

function mapOf(members: { readonly [key: string]: Shape }): Shape {
  const keys = Object.keys(members);
  const shapes = Object.values(members);
  return (value, path) => {
    if (!isObject(value)) return { path, expected: "a map" };
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as string;
      const problem = (shapes[i] as Shape)(Object.hasOwn(value, key) ? value[key] : undefined, "");
      // Every record is looked at: a place is put into words only where something does not fit.
      if (problem !== null) return { ...problem, path: below(path, key, problem.path) };
    }
    return null;
  };
}

/** A map with values of one shape under any keys. */
function everyOf(shape: Shape): Shape {
  return (value, path) => {
    if (!isObject(value)) return { path, expected: "a map" };
    for (const [key, item] of Object.entries(value)) {
      const problem = shape(item, `${path}.${key}`);
      if (problem) return problem;
    }
    return null;
  };
}

/** Of several shapes of one map, the one that its member names. */
function byMember(key: string, shapes: { readonly [is: string]: Shape }): Shape {
  const named = mapOf({ [key]: oneOf(Object.keys(shapes)) });
  return (value, path) => {
    const problem = named(value, path);
    if (problem || !isObject(value)) return problem;
    return shapes[String(value[key])]?.(value, path) ?? null;
  };
}

/** Causes nest; a chain that is longer was not made by a run. */
const DEEPEST_CAUSE = 64;

function faultAt(depth: number): Shape {
  return (value, path) => {
    if (depth > DEEPEST_CAUSE) return { path, expected: `at most ${DEEPEST_CAUSE} causes` };
    return mapOf({
      code: text,
      position: name,
      message: text,
      details: map,
      cause: maybe(orNull((cause, at) => faultAt(depth + 1)(cause, at))),
    })(value, path);
  };
}

const fault = faultAt(1);
const noFault = maybe(orNull(fault));

const call: Shape = mapOf({
  tool: text,
  args: any,
  args_text: maybe(text),
  id: maybe(text),
  verdict: oneOf(["accepted", "refused"]),
  code: orNull(text),
  n: orNull(count),
  key: orNull(text),
  message: maybe(text),
});

const acceptedCall: Shape = mapOf({ args: map, n: count });

const proposal: Shape = mapOf({ id: text, tool: text, args: maybe(map), argsText: maybe(text) });

const answer: Shape = (value, path) =>
  mapOf({ id: text, tool: text, ok: flag })(value, path) ??
  (isObject(value) && value["ok"] === true
    ? mapOf({ value: any })(value, path)
    : mapOf({ error: mapOf({ code: text, message: text }) })(value, path));

const message: Shape = byMember("role", {
  task: mapOf({ goal: text, context: any, bounds: map }),
  agent: mapOf({ text, calls: listOf(proposal), results: list, giveUp: maybe(text) }),
  results: mapOf({ results: listOf(answer) }),
  engine: mapOf({ text }),
});

const because: Shape = mapOf({ position: name, code: text });

const callHead = { action: name, connection: name, key: maybe(orNull(text)) };

const callEnd: Shape = byMember("outcome", {
  ok: mapOf({ value: any }),
  failed: mapOf({ fault }),
  cancelled: mapOf({ fault }),
  suppressed: mapOf({ because: oneOf(["dry_run", "reads_suppressed", "needs_approval"]) }),
  unknown: mapOf({ ambiguity: mapOf({ code: text, message: maybe(text), details: any }) }),
});

const steps: Shape = listOf((value, path) => step(value, path));
const handlers: Shape = listOf(mapOf({ codes: listOf(text), steps }));
const cleanups: Shape = listOf(mapOf({ on: oneOf(["always", "failure"]), steps }));

/** The lists of steps in a step: what walks a plan walks these. */
const STEPS: { readonly [K in StepKind]: Shape } = {
  action: mapOf({ action: name }),
  agent: mapOf({ agent: name, returns: listOf(map), budget: map, onExhausted: maybe(steps) }),
  code: mapOf({ language: text, code: text }),
  assign: mapOf({ values: map }),
  branch: mapOf({ arms: listOf(mapOf({ steps })), else: steps }),
  each: mapOf({ item: text, concurrency: count, steps }),
  repeat: mapOf({ max: count, steps }),
  parallel: mapOf({ branches: listOf(mapOf({ name: maybe(name), steps })), concurrency: count }),
  call: mapOf({ callee: text }),
  wait: map,
  ask: mapOf({ returns: listOf(map), asked: maybe(steps), onExpired: maybe(steps) }),
  notify: mapOf({ text: any }),
  exit: mapOf({ how: text }),
};

function step(value: unknown, path: string): ShapeProblem | null {
  return (
    mapOf({ id: maybe(name), reads: listOf(text), catch: handlers, cleanup: cleanups })(value, path) ??
    byMember("kind", STEPS)(value, path)
  );
}

const plan: Shape = (value, path) =>
  mapOf({ name: text, inputs: listOf(map), steps, cleanup: cleanups, callees: everyOf(plan), limits: map })(
    value,
    path,
  );

const effects = ["none", "read", "write", "destructive"];
const manifest: Shape = mapOf({
  name,
  input: map,
  output: map,
  effects: oneOf(effects),
  idempotency: byMember("kind", { none: map, natural: map, keyed: mapOf({ field: text }) }),
  retry: mapOf({ attempts: amount, backoff: amount, on: listOf(text) }),
  timeout: amount,
  ambiguous: listOf(text),
});

/** What a run pins: what admission promises to the interpreter, as far as it walks it without looking. */
const definition: Shape = mapOf({
  plan,
  files: everyOf(text),
  manifests: everyOf(mapOf({ manifest, connector: name, connection: name })),
  agents: everyOf(mapOf({ name: text, provider: text, model: text, settings: map })),
  policy: mapOf({ deny: listOf(text), agents: everyOf(everyOf(map)) }),
  limits: mapOf({ deadline: amount, steps: amount, depth: amount, concurrency: amount, drainGrace: amount }),
  notify: maybe(orNull(mapOf({ action: name, with: map }))),
});

const counts: Shape = mapOf({ tool_attempts: amount, tokens: amount, agent_turns: amount, events: amount });

/** The first problem that any of the shapes finds. */
function all(...shapes: Shape[]): Shape {
  return (value, path) => {
    for (const shape of shapes) {
      const problem = shape(value, path);
      if (problem) return problem;
    }
    return null;
  };
}

const BODIES: { readonly [K in EventKind]: Shape } = {
  "run.accepted": mapOf({
    name: text,
    notation: oneOf(["workfile", "awl", "request"]),
    definition,
    inputs: map,
    trigger: any,
    identity: text,
    seed: text,
    deadline_at: orNull(time),
    dry_run: flag,
  }),
  "run.started": map,
  "run.resumed": mapOf({ by: text, redispatched: listOf(name) }),
  "run.suspended": mapOf({ reason: text, positions: listOf(name) }),
  "run.ended": mapOf({
    status: oneOf(OUTCOMES),
    error: orNull(fault),
    outputs: any,
    counts,
    forgiven: listOf(mapOf({ at: name, code: text, reason: text })),
    skipped: listOf(mapOf({ at: name, cause: text, step: orNull(name), reason: text })),
    truncated: listOf(mapOf({ at: name, cause: text, done: number, left: orNull(number) })),
    unknown: listOf(mapOf({ position: name, action: name, code: text, key: maybe(text) })),
    cleanup: listOf(mapOf({ position: name, status: text, code: orNull(text) })),
    suppressed: maybe(listOf(mapOf({ position: name, what: text, because: text, action: maybe(name) }))),
    undetermined: maybe(
      listOf(
        mapOf({
          position: name,
          could: listOf(mapOf({ branch: text, steps: listOf(name), actions: listOf(name), agents: listOf(text) })),
        }),
      ),
    ),
    digest: text,
  }),
  "stop.decided": mapOf({
    cause: oneOf(STOP_CAUSES),
    because: maybe(orNull(because)),
    limit: maybe(orNull(number)),
    by: maybe(orNull(text)),
  }),
  "agent.started": mapOf({
    agent: mapOf({ name: text, provider: text, model: text }),
    goal: any,
    context: any,
    tools: listOf(mapOf({ action: name })),
    returns: any,
    budget: any,
  }),
  "agent.turn": mapOf({
    messages: listOf(message),
    calls: listOf((value, path) => {
      const problem = call(value, path);
      if (problem || !isObject(value) || value["verdict"] !== "accepted") return problem;
      return acceptedCall(value, path);
    }),
    usage: orNull(mapOf({ input: amount, output: amount })),
    finish: text,
    fault: noFault,
    give_up: maybe(orNull(text)),
  }),
  "agent.ended": mapOf({
    reason: oneOf(AGENT_ENDS),
    fault: noFault,
    observed: mapOf({ steps: amount, tokens: amount, duration_ms: amount }),
    overshoot: any,
  }),
  "call.intent": mapOf(callHead),
  "call.ended": all(
    mapOf({
      ...callHead,
      effect: oneOf(["none", "done", "unknown", "suppressed"]),
      dispatched: maybe(flag),
      retry: flag,
      late: flag,
      queued_ms: amount,
      duration_ms: amount,
    }),
    callEnd,
  ),
  "call.settled": mapOf({ by: text, how: oneOf(["succeeded", "failed", "retry", "left"]), code: maybe(text) }),
  "code.ended": mapOf({ language: text, code: text, fault: noFault, queued_ms: amount, duration_ms: amount }),
  "code.fetch": mapOf({ method: text, host: text, path: text, status: orNull(number), duration_ms: amount }),
  "wait.set": mapOf({ due: time }),
  "wait.ended": mapOf({ how: oneOf(["fired", "cancelled"]) }),
  "ask.opened": mapOf({ for: oneOf(["ask", "approval"]), id: text, text: any, expires_at: orNull(time) }),
  "ask.vote": mapOf({ by: text, value: any }),
  "ask.ended": mapOf({
    how: oneOf(["answered", "approved", "rejected", "expired", "cancelled"]),
    by: listOf(text),
  }),
  "notice.sent": mapOf({ text: any }),
  "goal.evaluated": mapOf({ cycle: count, met: flag, reason: text }),
};
