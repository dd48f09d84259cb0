/**
 * Effects of which nobody knows whether they happened, over all runs, and what people say about them.
 *
 * I1: an effect is listed until it is settled, however long its run is over.
 * I2: a run that goes on takes a settlement through its owner; to one that is over the record is added here.
 * I3: of two that settle one effect the second is refused.
 */
import { type Clock, sleep } from "../base/clock.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { didYouMean } from "../base/nearest.ts";
import type { JsonSchema } from "../catalog/manifest.ts";
import { markSensitive } from "../catalog/sensitive.ts";
import { sayProblems } from "../catalog/value-problem.ts";
import { checkValue } from "../catalog/value-schema.ts";
import { Refusal } from "../errors/fault.ts";
import { Cursor, pagesOfRun } from "../journal/cursor.ts";
import { type RunRecord, recordKey } from "../journal/event.ts";
import { applyRecord, initialState, type RunState } from "../journal/fold.ts";
import type { Journal, Owner, RunHead } from "../journal/journal.ts";
import { memberOf, textIn } from "../journal/members.ts";
import type { UnknownEffect } from "../journal/outcome.ts";
import { marksIn, recorded, type Val } from "../plan/marked.ts";
import { type Position, positionName } from "../plan/position.ts";
import { hiddenComment } from "../run/asks.ts";
import { Recorder } from "../run/recorder.ts";
import { sealRequest } from "../run/sealed-parts.ts";
import {
  MOST_RUNS,
  openHeads,
  pinnedManifest,
  type Receipt,
  receiptOf,
  requestsOf,
  type SealerOf,
} from "./open-runs.ts";

/** An effect of unknown outcome, with its run. */
export interface UnknownOutcome {
  run: string;
  name: string;
  /** Of the run. */
  status: string;
  position: Position;
  action: string;
  code: string;
  /** Of keyed actions. */
  key: string | null;
  /** Somebody has settled it, and the run has not taken that yet. */
  settled: { by: string; how: string; at: string } | null;
}

/** What a person says of an effect: it happened, with this value; it failed, with this code; do it again. */
export type Settlement = { by: string; comment?: string | null } & (
  | { how: "succeeded"; value: Json }
  | { how: "failed"; code: string }
  | { how: "retry" }
);

const OVER = ["completed", "failed", "cancelled", "timed_out", "stopped"];

/** Every effect of unknown outcome in the store, those of open runs first. */
export async function unknownOutcomes(journal: Journal): Promise<UnknownOutcome[]> {
  const found: UnknownOutcome[] = [];
  for (const head of await openHeads(journal, { unknown: true })) {
    const { state, attempts } = await readRun(journal, head.run);
    const requests = await requestsOf(journal, head.run, "settle");
    for (const effect of state.unknown) {
      const asked = requests.find(
        ({ body }) => body["position"] === effect.position && body["attempt"] === attempts.get(effect.position),
      );
      const settled = asked === undefined ? null : { by: asked.by, how: textIn(asked.body, "how") ?? "", at: asked.at };
      found.push(outcome(head, state.status, effect, settled));
    }
  }
  for (const status of OVER) {
    for (const head of await journal.list({ status, unknown: true, limit: MOST_RUNS })) {
      const effects = await unknownAtEnd(journal, head);
      found.push(...effects.map((effect) => outcome(head, status, effect, null)));
    }
  }
  return found;
}

function outcome(
  { run, name }: RunHead,
  status: string,
  { position, action, code, key }: UnknownEffect,
  settled: UnknownOutcome["settled"],
): UnknownOutcome {
  return { run, name, status, position, action, code, key: key ?? null, settled };
}

const TAIL = 16;

/** The end of a run lists them, so that its last records are enough: a run may have very many. */
async function unknownAtEnd(journal: Journal, head: RunHead): Promise<readonly UnknownEffect[]> {
  for (let length = TAIL; ; length *= 4) {
    const from = Math.max(1, head.records - length + 1);
    let state = initialState();
    let isEnded = false;
    for await (const record of new Cursor(pagesOfRun(journal, head.run), from)) {
      isEnded ||= record.kind === "run.ended";
      if (isEnded || from === 1) state = applyRecord(state, record);
    }
    if (isEnded || from === 1) return state.unknown;
  }
}

interface ReadRun {
  state: RunState;
  definition: unknown;
  origin: Json | undefined;
  /** By position the attempt whose outcome is not known. */
  attempts: Map<Position, number>;
  /** Identities of settlements that are recorded. */
  settled: Set<string>;
  last: RunRecord | null;
}

async function readRun(journal: Journal, run: string): Promise<ReadRun> {
  let state = initialState();
  let definition: unknown = null;
  let origin: Json | undefined;
  let last: RunRecord | null = null;
  const attempts = new Map<Position, number>();
  const settled = new Set<string>();
  for await (const record of new Cursor(pagesOfRun(journal, run))) {
    state = applyRecord(state, record);
    if (record.kind === "run.accepted") ({ definition, origin } = record.body);
    if (record.kind === "call.ended") attempts.set(record.position, record.attempt);
    if (record.kind === "call.settled") settled.add(recordKey(record));
    last = record;
  }
  return { state, definition, origin, attempts, settled, last };
}

/**
 * Settles an effect of unknown outcome. Refuses as `run.unknown`, `flow.not_unknown`, `input.invalid` (a value that
 * does not fit, a retry of what is over), `run.already_decided`, `run.owned`.
 */
export async function settleEffect(
  journal: Journal,
  clock: Clock,
  owner: Owner,
  sealerOf: SealerOf,
  runOrPrefix: string,
  position: Position,
  settlement: Settlement,
): Promise<Receipt> {
  const head = await journal.find(runOrPrefix);
  const read = await readRun(journal, head.run);
  checkSettlement(head.run, read, position, settlement);
  if (OVER.includes(read.state.status)) return addSettlement(journal, clock, owner, head.run, position, settlement);
  const { state, attempts, last } = read;
  const attempt = attempts.get(position) ?? 1;
  const waits = state.waiting.some((entry) => entry.position === position || entry.reason === "stuck");
  if (state.status === "suspended" && !waits) {
    const why = "the run goes on without it, and it can be settled once the run is over";
    throw invalid(`${positionName(position)} does not wait for it: ${why}`);
  }
  const { by, how } = settlement;
  const value = settledValue(read, position, settlement);
  const comment = hiddenComment(settlement.comment ?? null, value);
  const body: JsonObject = { position, attempt, ...said(settlement), how, comment, once: `${position} ${attempt}` };
  const isSensitive = marksIn(value).sensitive === true;
  await journal.post({
    run: head.run,
    verb: "settle",
    by,
    body: isSensitive ? sealRequest(await sealerOf(read.origin), head.run, "settle", by, body) : body,
  });
  return receiptOf(journal, head.run, position, last?.seq ?? 0);
}

/** The value of a settlement, what its action calls sensitive marked; null where there is none. */
function settledValue({ state, definition }: ReadRun, position: Position, settlement: Settlement): Val {
  if (settlement.how !== "succeeded") return null;
  const action = state.unknown.find((entry) => entry.position === position)?.action ?? "";
  const schema = memberOf(pinnedManifest(definition, action), "output") ?? true;
  return markSensitive(settlement.value as Val, schema as JsonSchema | boolean);
}

function said(settlement: Settlement): JsonObject {
  if (settlement.how === "succeeded") return { value: settlement.value };
  return settlement.how === "failed" ? { code: settlement.code } : {};
}

const CODE = /^[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*$/;
const LONGEST_CODE = 128;

function checkSettlement(run: string, read: ReadRun, position: Position, settlement: Settlement): void {
  const { state, definition } = read;
  const effect = state.unknown.find((entry) => entry.position === position);
  if (effect === undefined) throw notUnknown(run, state, position);
  if (settlement.how === "retry" && OVER.includes(state.status)) {
    throw invalid("the run is over and does nothing again: say whether the effect happened");
  }
  if (settlement.how === "failed" && (settlement.code.length > LONGEST_CODE || !CODE.test(settlement.code))) {
    throw invalid("a code is written family.name, of letters, digits, _ and -");
  }
  if (settlement.how !== "succeeded") return;
  const schema = memberOf(pinnedManifest(definition, effect.action), "output");
  if (schema === undefined) return;
  const problems = checkValue(schema as JsonSchema, settlement.value);
  if (problems.length > 0) throw invalid(`${effect.action}: ${sayProblems(problems)}`);
}

function notUnknown(run: string, state: RunState, position: Position): Refusal {
  const positions = state.unknown.map((entry) => entry.position);
  const near = didYouMean(position, positions);
  const has =
    positions.length === 0
      ? `Run ${run} has none at all.`
      : `Run ${run} has them at: ${positions.slice(0, 5).join(", ")}${positions.length > 5 ? ", ..." : ""}.`;
  const text = `No effect of unknown outcome stands at ${positionName(position)}. ${near === "" ? "" : `${near} `}${has}`;
  return new Refusal("flow.not_unknown", text, { run, position });
}

function invalid(why: string): Refusal {
  return new Refusal("input.invalid", `The settlement does not fit: ${why}.`, {});
}

const TRIES = 20;
const TRY_AGAIN_MS = 50;

/** Adds the record to a run that is over: whoever does takes its lease for that moment. */
async function addSettlement(
  journal: Journal,
  clock: Clock,
  owner: Owner,
  run: string,
  position: Position,
  settlement: Settlement,
): Promise<Receipt> {
  const lease = await acquire(journal, clock, owner, run);
  try {
    // Read again under the lease: somebody else may have been here a moment ago.
    const read = await readRun(journal, run);
    checkSettlement(run, read, position, settlement);
    const { last } = read;
    if (last === null) throw notUnknown(run, read.state, position);
    const recorder = new Recorder({ run, def: last.def, journal, lease, clock, listener: () => {}, sealer: null });
    recorder.observe({ ...last, trail: [] });
    const { by, how } = settlement;
    const value = settledValue(read, position, settlement);
    const comment = hiddenComment(settlement.comment ?? null, value);
    // Nobody computes with it any more, so nothing is sealed beside it.
    const shown = how === "succeeded" ? { value: recorded(value) } : said(settlement);
    await recorder.append([
      {
        kind: "call.settled",
        position,
        attempt: freeAttempt(read, position),
        in: undefined,
        body: { by, how, ...shown, comment },
      },
    ]);
    return { run, position, waits: false, seq: last.seq };
  } catch (error) {
    const isLate = error instanceof Refusal && error.code === "journal.conflict";
    if (!isLate) throw error;
    throw new Refusal("run.already_decided", `Somebody has settled ${positionName(position)} already.`, { run });
  } finally {
    await journal.release(lease).catch(() => {});
  }
}

/** A run that was cancelled while it waited has a record that nobody settled it: this one stands beside that. */
function freeAttempt({ attempts, settled }: ReadRun, position: Position): number {
  for (let attempt = attempts.get(position) ?? 1; ; attempt++) {
    if (!settled.has(recordKey({ position, kind: "call.settled", attempt }))) return attempt;
  }
}

async function acquire(journal: Journal, clock: Clock, owner: Owner, run: string) {
  for (let tries = 1; ; tries++) {
    try {
      return (await journal.acquire(run, owner)).lease;
    } catch (error) {
      // Two settle at once, or the run is just being given up: it is free in a moment.
      const isTaken = error instanceof Refusal && error.code === "run.owned";
      if (!isTaken || tries >= TRIES) throw error;
      await sleep(clock, TRY_AGAIN_MS);
    }
  }
}
