/**
 * The one scheduler (DU-34). Branches are plain async functions; what they wait for comes from here only.
 *
 * I1: a branch waits on the scheduler only. When no microtask is left and a branch waits for anything else,
 *     the run stops as `internal.invariant`.
 * I2: one delivery at a time. All branches have come to rest before the next delivery is taken.
 * I3: deliveries come in the order of `seq`, which settles races; a replay delivers in that order.
 * I4: an effect starts only when the recorded history is used up: what is recorded is never done again.
 * I5: a delivery is on disk before its branch wakes.
 * I6: what a branch is told is computed from the record's body alone, so live, resumed and replayed agree.
 * I7: what comes after the end of a run, or after a failure of it, is written no more.
 * I8: logical time is the time of the last delivery, so that deadlines count the same after a recovery.
 *
 * One long file: rest, deliveries, stops and parking change the same counts, and an order among them is what each
 * invariant says. What an effect sees of it stands in `live-effect.ts`, notes in `notes.ts`.
 */
import type { Clock } from "../base/clock.ts";
import { invariant } from "../base/invariant.ts";
import { type Json, type JsonObject, jsonEqual } from "../base/json.ts";
import { type DeliveryKind, type EventKind, isDelivery, type RunRecord, recordKey } from "../journal/event.ts";
import { outOfJson } from "../journal/hashes.ts";
import type { SuspendReason } from "../journal/outcome.ts";
import { recorded, type Val } from "../plan/marked.ts";
import { type Position, positionName } from "../plan/position.ts";
import type { Stop } from "./end.ts";
import { type History, HistoryEnd, HistoryMismatch } from "./history.ts";
import { Hurry } from "./hurry.ts";
import { Inbox } from "./inbox.ts";
import { LiveEffect } from "./live-effect.ts";
import { Notes } from "./notes.ts";
import { Parked } from "./past.ts";
import { type Draft, inHash, type Recorder } from "./recorder.ts";
import { needClear } from "./redacted.ts";
import { nothingSealed, type OpenBody } from "./sealed-parts.ts";
import { type ScopeTimer, StopScope } from "./stop-scope.ts";
import { rememberHash } from "./value-hash.ts";

export type LiveBody = { [key: string]: Val };

export interface Delivery {
  body: LiveBody;
  /** Milliseconds since 1970, from the record. */
  at: number;
}

export interface EffectContext {
  effect: LiveEffect;
  clock: Clock;
  /** Nothing is waited for any more (a forced cancel). */
  hurry: Hurry;
  /** What people ask of the run. */
  inbox: Inbox;
  /** Notes of an effect at this position that an earlier process has written. */
  noted(kind: EventKind): RunRecord[];
  /** From now on it only waits, for a time or a person: the run may be left meanwhile. */
  park(): void;
  /** An earlier process may have begun this effect: it was awaited when the recorded history ended. */
  recovered: boolean;
  /** That process had written the intent. */
  hasIntent: boolean;
  /** Writes records that must be on disk before the effect goes on. */
  write(drafts: Draft[]): Promise<void>;
}

export interface EffectRequest {
  kind: DeliveryKind;
  position: Position;
  attempt: number;
  /** What is handed over, sensitive parts masked; undefined where there is nothing. */
  in: Json | undefined;
  scope: StopScope | null;
  onBudget: "abort" | "grace";
  /** Notes made so far have to be on disk before this effect starts. */
  flush?: true;
  /** What the effect needs in clear: a resume that does not have it is refused before anything is written. */
  needs?: Val;
  /** It writes a `call.intent` before it goes out: a recorded result without one does not fit. */
  intent?: true;
  /** It waits for a time or a person: such time is none of the run's deadline (DU-12). */
  parks?: SuspendReason;
  /** Never throws for a failure of the outside: what went wrong is in the body it returns. */
  start(context: EffectContext): Promise<LiveBody>;
}

interface Wait {
  request: EffectRequest;
  key: string;
  recovered: boolean;
  /** It has begun to wait for nothing but a time or a person. */
  isParked: boolean;
  /** Notes that had been made when the branch began to wait. */
  notesBefore: number;
  /** Further branches that wait for the same stop. */
  joined: (() => void)[];
  resolve(delivery: Delivery): void;
}

interface Ready {
  record: RunRecord;
  body: LiveBody;
  scope: StopScope | null;
}

/** A record that counts, its hashes recomputed where it was read back. */
export interface Witnessed {
  position: Position;
  kind: EventKind;
  attempt: number;
  in: string | null;
  out: string | null;
  body: JsonObject;
}

export interface Witness {
  record(entry: Witnessed): void;
}

export type SchedulerMode = "run" | "replay";

/** A position at which a run waits for a time or a person. */
export interface ParkedAt {
  position: Position;
  reason: SuspendReason;
}

/** Ticks of the microtask queue that are tried before a look from `setImmediate`. */
const QUICK_TICKS = 64;

export class Scheduler {
  readonly clock: Clock;
  readonly drainGrace: number;
  readonly #recorder: Recorder;
  readonly #witness: Witness;
  readonly #mode: SchedulerMode;
  readonly #onLive: ((redispatched: Position[]) => Promise<void>) | null;
  readonly #onParked: ((waiting: ParkedAt[]) => Draft | null) | null;
  readonly #inbox: Inbox;
  readonly #waits = new Map<string, Wait>();
  readonly #scopes = new Map<Position, StopScope[]>();
  readonly notes = new Notes();
  readonly #ready: Ready[] = [];
  readonly root: StopScope;
  /** Above the scopes of cleanups: what stops the run does not stop them. */
  readonly #cleanups = new StopScope("", null);
  #history: History | null;
  readonly #open: OpenBody;
  #running = 0;
  #now: number;
  #live = false;
  #fatal: unknown = null;
  #wake: (() => void) | null = null;
  #toStart: Wait[] = [];
  /** Stops asked for before the recorded history was used up: decided first thing after it. */
  readonly #early: { scope: StopScope; stop: Stop }[] = [];
  /** The run is over here: what still comes from effects is written no more. */
  #closed = false;
  /** Stops from outside that are on their way to the journal. */
  #stopsUnderWay = 0;
  #lastAppend: Promise<unknown> = Promise.resolve();
  readonly #hurry = new Hurry();

  constructor(options: {
    clock: Clock;
    drainGrace: number;
    recorder: Recorder;
    witness: Witness;
    mode: SchedulerMode;
    history: History | null;
    /** Opens what lies sealed beside the records; by default nothing does. */
    open?: OpenBody;
    startedAt: number;
    /** What people ask of the run; nobody does in a replay. */
    inbox?: Inbox;
    /** Called once when the recorded history is used up and effects are about to start. */
    onLive?: (redispatched: Position[]) => Promise<void>;
    /** Asked when all that is waited for is a time or a person: the last record before the run is left, or null to stay. */
    onParked?: (waiting: ParkedAt[]) => Draft | null;
  }) {
    this.clock = options.clock;
    this.drainGrace = options.drainGrace;
    this.#recorder = options.recorder;
    this.#witness = options.witness;
    this.#mode = options.mode;
    this.#history = options.history;
    this.#open = options.open ?? nothingSealed;
    this.#live = options.history === null;
    this.#now = options.startedAt;
    this.#onLive = options.onLive ?? null;
    this.#onParked = options.onParked ?? null;
    this.#inbox = options.inbox ?? new Inbox();
    this.root = new StopScope("", null);
    this.#register(this.root);
  }

  /** Logical time in milliseconds since 1970 (I8). */
  get now(): number {
    return this.#now;
  }

  /** What branches wait for, by position and kind. */
  get waiting(): [Position, EventKind][] {
    return [...this.#waits.values()].map(({ request }) => [request.position, request.kind]);
  }

  /** Runs the main branch to its end. Rejects for a bug, a history that does not fit, a store that refuses. */
  async drive<T>(main: () => Promise<T>): Promise<T> {
    const outcome: { done: boolean; value?: T } = { done: false };
    this.#running = 1;
    main().then(
      (value) => {
        outcome.value = value;
        outcome.done = true;
        this.#running--;
        this.#wake?.();
      },
      (error: unknown) => this.#fail(error),
    );
    try {
      for (;;) {
        await this.#rest();
        if (outcome.done) return outcome.value as T;
        this.#startEffects();
        const ready = this.#live ? await this.#nextLive() : await this.#nextRecorded();
        if (ready !== null) this.#deliver(ready);
      }
    } catch (error) {
      this.#closed = true;
      this.abandon({ cause: "shutdown", because: null, limit: null, by: null });
      throw error;
    } finally {
      this.#closed = true;
    }
  }

  /** Waits for one delivery. The caller has looked at its scope's stop first. */
  wait(request: EffectRequest): Promise<Delivery> {
    return new Promise((resolve) => {
      const key = recordKey(request);
      invariant(!this.#waits.has(key), `two branches wait for ${key}`);
      const wait: Wait = {
        request,
        key,
        recovered: !this.#live,
        isParked: false,
        notesBefore: this.notes.made,
        joined: [],
        resolve,
      };
      this.#waits.set(key, wait);
      this.#toStart.push(wait);
      this.#running--;
    });
  }

  /**
   * Runs tasks as branches, at most `concurrency` at once, in order; the caller waits for all of them.
   * `goOn` is asked before each further task: false leaves the rest undone (their result is null).
   */
  async fork<T>(tasks: (() => Promise<T>)[], concurrency: number, goOn: () => boolean): Promise<(T | null)[]> {
    const results: (T | null)[] = tasks.map(() => null);
    if (tasks.length === 0) return results;
    const lanes = Math.min(Math.max(1, concurrency), tasks.length);
    let next = 0;
    const lane = async (): Promise<void> => {
      while (next < tasks.length && goOn()) {
        const i = next++;
        const task = tasks[i];
        if (task) results[i] = await task();
      }
      open--;
      // The last one to end hands its place to the waiting parent.
      if (open > 0) this.#running--;
    };
    let open = lanes;
    this.#running += lanes - 1;
    await Promise.all(Array.from({ length: lanes }, lane));
    return results;
  }

  /** A note (DU-51): goes to disk with the next delivery. Written once, however often the run is resumed. */
  note(draft: Draft): void {
    this.#witness.record({
      position: draft.position,
      kind: draft.kind,
      attempt: draft.attempt,
      in: inHash(draft),
      out: outOfJson(draft.kind, draft.body),
      body: draft.body,
    });
    this.notes.make(draft);
  }

  openScope(position: Position, parent: StopScope): StopScope {
    const scope = new StopScope(position, parent);
    this.#register(scope);
    return scope;
  }

  /** A scope outside of whatever is stopped already. A run in a hurry leaves cleanups out. */
  openCleanup(position: Position, number: number): StopScope {
    const scope = new StopScope(position, this.#cleanups, number);
    this.#register(scope);
    if (this.#hurry.isOn) this.#hurryCleanup(scope);
    return scope;
  }

  #hurryCleanup(scope: StopScope): void {
    this.requestStop(scope, { cause: "cancel", because: null, limit: null, by: null });
  }

  closeScope(scope: StopScope): void {
    scope.close();
    const open = this.#scopes.get(scope.position);
    if (open === undefined) return;
    const left = open.filter((entry) => entry !== scope);
    if (left.length === 0) this.#scopes.delete(scope.position);
    else this.#scopes.set(scope.position, left);
  }

  /** Stops a scope at a moment of logical time. */
  stopAt(scope: StopScope, due: number, stop: Stop): void {
    const timer = { due, stop, armed: null };
    scope.timers.push(timer);
    if (this.#live) this.#arm(scope, timer);
  }

  /** A branch's own decision to stop another scope: recorded, then done. */
  async decide(scope: StopScope, stop: Stop): Promise<void> {
    if (scope.stop !== null || scope.closed) return;
    const { position, number: attempt } = scope;
    const same = this.#waits.get(recordKey({ position, kind: "stop.decided", attempt }));
    if (same !== undefined) {
      // Two branches decide the same stop in one rest: it is recorded once, and both wait for it.
      await new Promise<void>((resolve) => {
        same.joined.push(resolve);
        this.#running--;
      });
      return;
    }
    const asked = scope.requested;
    scope.requested = true;
    await this.wait({
      kind: "stop.decided",
      position,
      attempt,
      in: undefined,
      scope: null,
      onBudget: "abort",
      // Somebody else's decision is on its way to the journal: that one is waited for.
      start: asked ? () => new Promise(() => {}) : async () => stopBody(stop),
    });
  }

  /** A stop from outside the branches: a timer, a cancel. Nothing if one is under way. */
  requestStop(scope: StopScope, stop: Stop): void {
    if (scope.requested || scope.closed || this.#closed || this.#fatal !== null || this.#mode === "replay") return;
    if (!this.#live) {
      this.#early.push({ scope, stop });
      return;
    }
    scope.requested = true;
    this.#stopsUnderWay++;
    this.#commit(
      { kind: "stop.decided", position: scope.position, attempt: scope.number, in: undefined },
      stopBody(stop),
      scope,
    );
  }

  /** Ends all effects without waiting for them: a forced cancel, or a run that cannot go on. */
  abandon(stop: Stop): void {
    for (const top of [this.root, this.#cleanups]) for (const effect of top.effects()) effect.abort(stop);
    for (const open of this.#scopes.values()) for (const scope of open) scope.close();
  }

  /** From now on a stopped effect is given up at once: nothing is waited for. */
  hurry(): void {
    this.#hurry.begin();
    for (const open of this.#scopes.values()) {
      for (const scope of open) if (scope.parent === this.#cleanups) this.#hurryCleanup(scope);
    }
  }

  /** Makes the run fail from outside: a lost lease, a store that is gone. */
  #fail(error: unknown): void {
    this.#fatal ??= error ?? new Error("failed");
    this.#wake?.();
  }

  #register(scope: StopScope): void {
    const open = this.#scopes.get(scope.position);
    if (open) open.push(scope);
    else this.#scopes.set(scope.position, [scope]);
  }

  #arm(scope: StopScope, timer: ScopeTimer): void {
    timer.armed?.cancel();
    timer.armed = this.clock.after(Math.max(0, timer.due - this.clock.now()), () =>
      this.requestStop(scope, timer.stop),
    );
  }

  async #rest(): Promise<void> {
    for (let i = 0; i < QUICK_TICKS && this.#running > 0; i++) await null;
    if (this.#running > 0) await new Promise<void>((resolve) => setImmediate(resolve));
    if (this.#fatal !== null) throw this.#fatal;
    invariant(this.#running === 0, "a branch waits for something that is not the scheduler's (I1)");
  }

  #startEffects(): void {
    if (!this.#live || this.#toStart.length === 0) return;
    const held: Wait[] = [];
    for (const wait of this.#toStart.splice(0)) {
      if (stopUnderWay(wait.request.scope)) held.push(wait);
      else this.#start(wait);
    }
    this.#toStart.push(...held);
  }

  #start(wait: Wait): void {
    const { request } = wait;
    const effect = new LiveEffect(request.onBudget, this.clock, this.drainGrace);
    request.scope?.enter(effect);
    const context: EffectContext = {
      effect,
      hurry: this.#hurry,
      inbox: this.#inbox,
      clock: this.clock,
      noted: (kind) => this.notes.of(kind, request.position),
      park: () => {
        wait.isParked = true;
        this.#wake?.();
      },
      recovered: wait.recovered,
      hasIntent: this.notes.has(intentKey(request)),
      write: async (drafts) => {
        const fresh = drafts.filter((draft) => !this.notes.has(recordKey(draft)));
        if (fresh.length > 0) await this.#append(fresh);
      },
    };
    const begin = async (): Promise<LiveBody> => {
      // What was noted may be on its way with another branch's record: that is waited for as well.
      if (request.flush) await (this.notes.isEmpty ? this.#lastAppend : this.#append([]));
      return request.start(context);
    };
    begin().then(
      (body) => {
        wait.isParked = false;
        effect.settled();
        request.scope?.leave(effect);
        const { kind, position, attempt } = request;
        this.#commit({ kind, position, attempt, in: request.in }, body, null);
      },
      (error: unknown) => {
        effect.settled();
        this.#fail(error);
      },
    );
  }

  /** Appends with the notes made so far. Behind the end of the run nothing is written any more. */
  #append(drafts: Draft[]): Promise<RunRecord[]> {
    if (this.#closed) return Promise.reject(new Error("the run is over"));
    const appended = this.#recorder.append([...this.notes.take(), ...drafts]);
    this.#lastAppend = appended;
    return appended;
  }

  #commit(draft: Omit<Draft, "body">, body: LiveBody, scope: StopScope | null): void {
    if (this.#closed) return;
    this.#append([{ ...draft, body: recordedBody(body), clear: body }]).then(
      (records) => {
        const record = records[records.length - 1];
        invariant(record !== undefined, "an append without a record");
        this.#ready.push({ record, body, scope });
        this.#wake?.();
      },
      (error: unknown) => this.#fail(error),
    );
  }

  async #nextLive(): Promise<Ready | null> {
    if (this.#isIdle()) for (const timer of this.root.timers) if (isDeadline(timer)) timer.armed?.cancel();
    while (this.#ready.length === 0) {
      if (this.#fatal !== null) throw this.#fatal;
      const last = this.#lastRecord();
      if (last !== null) {
        await this.#append([last]);
        throw new Parked("the run waits for a time or a person");
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        if (this.#ready.length > 0 || this.#fatal !== null) resolve();
      });
      this.#wake = null;
    }
    return this.#ready.shift() ?? null;
  }

  /** All that is waited for is a time or a person (DU-12). */
  #isIdle(): boolean {
    if (this.#waits.size === 0) return false;
    for (const { request } of this.#waits.values()) if (request.parks === undefined) return false;
    return true;
  }

  /** Nothing is under way but what can be waited for elsewhere: what is written before this process leaves, if it is to. */
  #lastRecord(): Draft | null {
    if (this.#onParked === null || this.#stopsUnderWay > 0 || !this.#isIdle()) return null;
    const waiting: ParkedAt[] = [];
    for (const { request, isParked } of this.#waits.values()) {
      if (!isParked) return null;
      waiting.push({ position: request.position, reason: request.parks ?? "halt" });
    }
    return this.#onParked(waiting);
  }

  async #nextRecorded(): Promise<Ready | null> {
    const record = (await this.#history?.next()) ?? null;
    if (record === null) {
      if (this.#mode === "replay") throw new HistoryEnd("the recorded history ends here");
      // Before anything is written: a resume that is refused leaves the run as it was.
      for (const { request } of this.#waits.values()) {
        // What will be stopped before it starts, or is never dispatched again, needs nothing.
        if (this.#early.some(({ scope }) => isBelow(request.scope, scope))) continue;
        if (request.intent && this.notes.has(intentKey(request))) continue;
        if (request.needs !== undefined) needClear(request.needs, request.position, request.kind);
      }
      // What only waits for a time or a person crashes nobody.
      const again = [...this.#waits.values()].filter(({ request }) => request.parks === undefined);
      await this.#onLive?.(again.map(({ request }) => request.position));
      this.#goLive();
      return null;
    }
    this.#recorder.observe(record);
    if (!isDelivery(record.kind)) {
      const wait = this.#waits.get(recordKey({ ...record, kind: "call.ended" }));
      // What was noted before a call was handed over is on disk before its intent.
      if (record.kind === "call.intent" && wait !== undefined) this.notes.checkBefore(wait.notesBefore, record);
      this.notes.read(record);
      return null;
    }
    return { record, body: await this.#open(record), scope: null };
  }

  /**
   * Reads what is recorded behind the plan's end: notes, and stops that a timer or a cancel wrote in the moment
   * of the end and that stopped nothing; behind the run's own end also what settles an effect that it left unknown.
   * Anything else does not fit, unless a bug ended the run: then what was under way may stand there.
   */
  async drain(afterBug = false): Promise<void> {
    if (this.#history === null) return;
    let isOver = false;
    for (let record = await this.#history.next(); record !== null; record = await this.#history.next()) {
      this.#recorder.observe(record);
      isOver ||= record.kind === "run.ended";
      if (!isDelivery(record.kind)) this.notes.read(record);
      if (afterBug || !isDelivery(record.kind) || record.kind === "stop.decided") continue;
      if (isOver && record.kind === "call.settled") continue;
      const message = `the history goes on with ${record.kind} at ${positionName(record.position)} after the plan's end`;
      throw new HistoryMismatch(record.position, message, { seq: record.seq, recorded: record.kind });
    }
    this.#history = null;
    if (this.#mode === "run") await this.#onLive?.([]);
  }

  #goLive(): void {
    this.#history = null;
    this.#live = true;
    const isIdle = this.#isIdle();
    for (const { scope, stop } of this.#early.splice(0)) this.requestStop(scope, stop);
    for (const open of this.#scopes.values()) {
      for (const scope of open) {
        for (const timer of scope.timers) {
          if (isIdle && scope === this.root && isDeadline(timer)) continue;
          // What fell due while nobody ran it fires now, before anything new starts.
          if (timer.due <= this.clock.now()) this.requestStop(scope, timer.stop);
          else this.#arm(scope, timer);
        }
      }
    }
  }

  #deliver({ record, body, scope }: Ready): void {
    const wait = this.#waits.get(recordKey(record));
    const before = this.#now;
    const wasIdle = this.#isIdle();
    if (record.kind === "stop.decided") {
      if (scope !== null) this.#stopsUnderWay--;
      this.#applyStop(record, body, scope);
    }
    this.#now = Date.parse(record.at);
    if (wasIdle) this.#extendDeadline(this.#now - before);
    if (wait === undefined) {
      if (record.kind === "stop.decided") {
        this.#witnessStop(record);
        return;
      }
      throw new HistoryMismatch(
        record.position,
        `the history has ${record.kind} at ${positionName(record.position)}, where the plan waits for nothing of the kind`,
        { kind: record.kind, seq: record.seq, attempt: record.attempt, waiting: [...this.#waits.keys()].slice(0, 8) },
      );
    }
    // A record that was just written has the hash of this very request.
    const expected = this.#live ? record.in : inHash(wait.request);
    if (expected !== record.in) {
      throw new HistoryMismatch(
        record.position,
        `what is handed over at ${positionName(record.position)} differs from what is recorded`,
        { kind: record.kind, seq: record.seq, expected, recorded: record.in },
      );
    }
    if (!this.#live) this.notes.checkBefore(wait.notesBefore, record);
    this.#waits.delete(wait.key);
    const start = this.#toStart.indexOf(wait);
    if (start !== -1) this.#toStart.splice(start, 1);
    const intended = record.kind === "call.ended" && this.notes.hasOpen ? this.notes.settle(intentKey(record)) : null;
    if (!this.#live && intended !== null) checkIntent(intended, record, expected);
    if (
      !this.#live &&
      wait.request.intent &&
      intended === null &&
      ["ok", "failed"].includes(String(record.body["outcome"]))
    ) {
      throw new HistoryMismatch(
        record.position,
        `the call at ${positionName(record.position)} has a result and no intent before it`,
        { kind: record.kind, seq: record.seq, expected: "call.intent", recorded: null },
      );
    }
    this.#witness.record({
      position: record.position,
      kind: record.kind,
      attempt: record.attempt,
      in: expected,
      // Just computed where it was written, checked against the body where it was read back.
      out: record.out,
      body: record.body,
    });
    rememberHash(body["value"], record.out);
    this.#running += 1 + wait.joined.length;
    wait.resolve({ body, at: this.#now });
    for (const wake of wait.joined) wake();
  }

  /** What was parked is none of the run's time. */
  #extendDeadline(parked: number): void {
    for (const timer of this.root.timers) {
      if (!isDeadline(timer)) continue;
      timer.due += Math.max(0, parked);
      if (this.#live) this.#arm(this.root, timer);
    }
  }

  #applyStop(record: RunRecord, body: LiveBody, scope: StopScope | null): void {
    const stop: Stop = {
      cause: body["cause"] as Stop["cause"],
      because: (body["because"] as Stop["because"] | undefined) ?? null,
      limit: (body["limit"] as number | undefined) ?? null,
      by: (body["by"] as string | undefined) ?? null,
    };
    // None: a timer that fired in the moment its scope ended. It stopped nothing then and stops nothing now.
    const target =
      scope ??
      this.#scopes.get(record.position)?.find((entry) => entry.stop === null && entry.number === record.attempt);
    target?.apply(stop);
  }

  #witnessStop(record: RunRecord): void {
    this.#witness.record({
      position: record.position,
      kind: record.kind,
      attempt: record.attempt,
      in: null,
      out: record.out,
      body: record.body,
    });
  }
}

function isDeadline(timer: ScopeTimer): boolean {
  return timer.stop.cause === "deadline";
}

function isBelow(scope: StopScope | null, top: StopScope): boolean {
  for (let at = scope; at !== null; at = at.parent) if (at === top) return true;
  return false;
}

/** A stop that is decided but not yet delivered: nothing new starts below it. */
function stopUnderWay(scope: StopScope | null): boolean {
  for (let at = scope; at !== null; at = at.parent) if (at.requested && at.stop === null) return true;
  return false;
}

function stopBody(stop: Stop): LiveBody {
  return {
    cause: stop.cause,
    ...(stop.because === null ? {} : { because: stop.because }),
    ...(stop.limit === null ? {} : { limit: stop.limit }),
    ...(stop.by === null ? {} : { by: stop.by }),
  };
}

/** What was intended is what was done: no hash of the result covers the record before it. */
function checkIntent(intent: RunRecord, ended: RunRecord, expected: string | null): void {
  const differs = ["action", "connection", "key"].find(
    (name) => !jsonEqual(intent.body[name] ?? null, ended.body[name] ?? null),
  );
  if (intent.in === expected && differs === undefined) return;
  throw new HistoryMismatch(
    ended.position,
    `the intent of the call at ${positionName(ended.position)} is not of what is recorded as done`,
    { kind: intent.kind, seq: intent.seq, expected, recorded: intent.in },
  );
}

function intentKey({ position, attempt }: { position: Position; attempt: number }): string {
  return recordKey({ position, kind: "call.intent", attempt });
}

function recordedBody(body: LiveBody): JsonObject {
  return recorded(body) as JsonObject;
}
