/**
 * One execution of an admitted plan: start, resume, cancel. Its state is a fold over its records; nothing
 * here keeps a second copy.
 */
import type { AdmittedPlan } from "../admit/admitted-plan.ts";
import { type Clock, isoTime } from "../base/clock.ts";
import { InvariantError, invariant } from "../base/invariant.ts";
import { isObject, type Json, type JsonObject } from "../base/json.ts";
import type { Connector } from "../catalog/connector.ts";
import { Fault, isFault, Refusal } from "../errors/fault.ts";
import type { EndedBody } from "../journal/bodies.ts";
import { DigestBuilder } from "../journal/digest.ts";
import type { RunRecord } from "../journal/event.ts";
import type { Journal, Lease, Owner, RunRequest } from "../journal/journal.ts";
import type { Counts, Outcome } from "../journal/outcome.ts";
import { recorded, type Val } from "../plan/marked.ts";
import type { Position } from "../plan/position.ts";
import type { End, Stop } from "./end.ts";
import { Interpreter } from "./interpreter.ts";
import { type Draft, Recorder } from "./recorder.ts";
import { type History, HistoryMismatch, Scheduler, type Witness, type Witnessed } from "./scheduler.ts";
import { LexicalScope } from "./scope.ts";
import type { StepRunners } from "./steps/step-runner.ts";

/** What a run needs of its surroundings; the composition root makes it. */
export interface RunEnvironment {
  clock: Clock;
  journal: Journal;
  owner: Owner;
  connectors: ReadonlyMap<string, Connector>;
  /** For every kind of step that the plan has. */
  runners: StepRunners;
  /** Told of each record once it is on disk. */
  onRecord(record: RunRecord): void;
}

export interface StartOptions {
  run: string;
  /** By name, sensitive ones marked. */
  inputs: { [name: string]: Val };
  trigger: Json;
  identity: string;
  seed: string;
  durability: string;
  /** Where it was started, for a later `resume`. */
  origin: JsonObject;
}

/** A run that this process owns. */
export interface ActiveRun {
  readonly run: string;
  /** Settles when the run has ended or is parked; rejects with a Refusal when it cannot go on here. */
  readonly ended: Promise<void>;
  /** Cooperative: asking again, or after the end, changes nothing. */
  cancel(by: string): void;
  /** Waits for nothing: what is under way is lost or unknown. */
  abandon(by: string): void;
}

/** A position that was under way in so many crashes parks the run (DU-13). */
const CRASHES_UNTIL_STUCK = 3;

/** The run has been parked: its end is not for now. */
class Parked extends Error {
  override readonly name = "Parked";
}

/** What the records say of earlier processes: resumes, parkings, and how often each position was under way in a crash. */
export class Past {
  resumes = 0;
  parked = 0;
  readonly #again = new Map<Position, number>();

  read(record: RunRecord): void {
    if (record.kind === "run.suspended") {
      this.parked++;
      // Who resumes a parked run has looked at it: it starts afresh.
      this.#again.clear();
    }
    if (record.kind !== "run.resumed") return;
    this.resumes++;
    const { redispatched } = record.body;
    if (!Array.isArray(redispatched)) return;
    for (const position of redispatched) {
      if (typeof position === "string") this.#again.set(position, (this.#again.get(position) ?? 0) + 1);
    }
  }

  /** Crashes with this position under way, the one before this resume included. */
  crashesAt(position: Position): number {
    return this.parked > 0 && !this.#again.has(position) ? 0 : (this.#again.get(position) ?? 0) + 1;
  }
}

/** The roots that expressions read beside the steps. */
export interface Roots {
  inputs: { [name: string]: Val };
  trigger: Json;
  run: string;
  startedAt: string;
}

/** Writes the first records of a new run and runs it. */
export async function startRun(admitted: AdmittedPlan, options: StartOptions, env: RunEnvironment): Promise<ActiveRun> {
  const recorder = new Recorder({
    run: options.run,
    def: admitted.def,
    journal: env.journal,
    lease: null,
    clock: env.clock,
    listener: env.onRecord,
  });
  const inputs = recorded(options.inputs);
  const { plan, limits } = admitted.definition;
  const first = recorder.make([
    {
      kind: "run.accepted",
      position: "",
      attempt: 1,
      in: { inputs, trigger: options.trigger },
      body: {
        name: plan.name,
        notation: plan.notation,
        definition: { ...admitted.definition, report: admitted.report } as unknown as JsonObject,
        inputs,
        trigger: options.trigger,
        identity: options.identity,
        single: null,
        seed: options.seed,
        deadline_at: isoTime(env.clock.now() + limits.deadline),
        profile: "standard",
        durability: options.durability,
        dry_run: false,
        lineage: null,
        builtins: null,
        origin: options.origin,
      },
    },
    { kind: "run.started", position: "", attempt: 1, in: undefined, body: { attempt: 1 } },
  ]);
  const lease = await env.journal.create(first, env.owner);
  recorder.setLease(lease);
  for (const record of first) env.onRecord(record);
  const started = first[1];
  invariant(started !== undefined, "a run without a start");
  const roots: Roots = { inputs: options.inputs, trigger: options.trigger, run: options.run, startedAt: started.at };
  return own(admitted, roots, env, recorder, lease, null, new Past());
}

/**
 * Goes on with a run whose lease this process has taken. `first` are its acceptance and start, `history` gives the
 * records after these.
 */
export function resumeRun(
  admitted: AdmittedPlan,
  roots: Roots,
  first: readonly RunRecord[],
  env: RunEnvironment,
  lease: Lease,
  history: History,
  past: Past,
): ActiveRun {
  const recorder = new Recorder({
    run: roots.run,
    def: admitted.def,
    journal: env.journal,
    lease,
    clock: env.clock,
    listener: env.onRecord,
  });
  // There may be no further one: what is written next has to come after these.
  for (const record of first) recorder.observe(record);
  return own(admitted, roots, env, recorder, lease, history, past);
}

function own(
  admitted: AdmittedPlan,
  roots: Roots,
  env: RunEnvironment,
  recorder: Recorder,
  lease: Lease,
  history: History | null,
  past: Past,
): ActiveRun {
  const list = processList(env, lease);
  list();
  recorder.also(list);
  const execution = new Execution(admitted, roots, env.connectors, env.runners, recorder, env.clock, {
    mode: "run",
    history,
    onLive: async (redispatched) => {
      const stuck = redispatched.filter((position) => past.crashesAt(position) >= CRASHES_UNTIL_STUCK);
      if (stuck.length > 0) {
        const body = { reason: "stuck", positions: stuck };
        await recorder.append([{ kind: "run.suspended", position: "", attempt: past.parked + 1, in: undefined, body }]);
        throw new Parked("the run is stuck");
      }
      const attempt = past.resumes + 1;
      await recorder.append([
        {
          kind: "run.resumed",
          position: "",
          attempt,
          in: undefined,
          body: { attempt, by: env.owner.label, redispatched },
        },
      ]);
    },
  });
  const mailbox = new Mailbox(env.journal, roots.run, (request) => {
    if (request.verb === "cancel") execution.cancel(request.by);
    if (request.verb === "cancel" && request.body["force"] === true) execution.abandon(request.by);
  });
  const ended = execution.run().then(
    async () => {
      mailbox.stop();
      await env.journal.release(lease);
    },
    async (error: unknown) => {
      mailbox.stop();
      if (!(error instanceof Parked)) throw asRefusal(error);
      await env.journal.release(lease);
    },
  );
  return {
    run: roots.run,
    ended,
    cancel: (by) => execution.cancel(by),
    abandon: (by) => execution.abandon(by),
  };
}

function asRefusal(error: unknown): unknown {
  if (error instanceof Refusal || error instanceof InvariantError) return error;
  if (error instanceof HistoryMismatch) {
    const { fault } = error;
    return new Refusal(fault.code, fault.message, { ...fault.details, position: fault.at });
  }
  return error;
}

/**
 * Keeps the list of stdio servers in the lease, so that a later owner can end them first (DU-11). A server that
 * was started again is listed with the next record.
 */
function processList(env: RunEnvironment, lease: Lease): () => void {
  let listed = "[]";
  return () => {
    const all = [...env.connectors.values()].flatMap((connector) => connector.processes());
    const text = JSON.stringify(all);
    if (text === listed) return;
    listed = text;
    // A store that refuses here refuses the next append as well, and that one ends the run.
    void env.journal.setProcesses(lease, all).catch(() => {});
  };
}

/** Reads what other processes ask of a run through the store (DU-08). */
class Mailbox {
  readonly #watch: { stop(): void };
  #last = 0;
  #busy = false;

  constructor(journal: Journal, run: string, handle: (request: RunRequest) => void) {
    const look = async (): Promise<void> => {
      if (this.#busy) return;
      this.#busy = true;
      try {
        for (const request of await journal.requests(run, this.#last)) {
          this.#last = Math.max(this.#last, request.id);
          handle(request);
        }
      } catch {
        // A store that does not answer fails the run at its next append; a look that failed is tried again.
      } finally {
        this.#busy = false;
      }
    };
    this.#watch = journal.watch(() => void look());
    void look();
  }

  stop(): void {
    this.#watch.stop();
  }
}

export interface ExecutionSource {
  mode: "run" | "replay";
  history: History | null;
  onLive?: (redispatched: Position[]) => Promise<void>;
}

/** The interpreter with its scheduler, from the first step to the `run.ended` body; live and in a replay. */
export class Execution {
  readonly #admitted: AdmittedPlan;
  readonly #roots: Roots;
  readonly #recorder: Recorder;
  readonly #scheduler: Scheduler;
  readonly #interpreter: Interpreter;
  readonly #digest = new DigestBuilder();
  readonly #counts: Counts = { tool_attempts: 0, tokens: 0, agent_turns: 0, events: 0 };
  readonly #mode: "run" | "replay";

  constructor(
    admitted: AdmittedPlan,
    roots: Roots,
    connectors: ReadonlyMap<string, Connector>,
    runners: StepRunners,
    recorder: Recorder,
    clock: Clock,
    source: ExecutionSource,
  ) {
    this.#admitted = admitted;
    this.#roots = roots;
    this.#recorder = recorder;
    this.#mode = source.mode;
    const witness: Witness & { bind(position: Position, hash: string): void } = {
      record: (entry) => this.#witness(entry),
      bind: (position, hash) => this.#digest.bind(position, hash),
    };
    this.#scheduler = new Scheduler({
      clock,
      drainGrace: admitted.definition.limits.drainGrace,
      recorder,
      witness,
      mode: source.mode,
      history: source.history,
      startedAt: Date.parse(roots.startedAt),
      ...(source.onLive === undefined ? {} : { onLive: source.onLive }),
    });
    this.#interpreter = new Interpreter({
      run: roots.run,
      admitted,
      scheduler: this.#scheduler,
      recorder,
      connectors,
      runners,
      witness,
    });
  }

  get scheduler(): Scheduler {
    return this.#scheduler;
  }

  cancel(by: string): void {
    this.#scheduler.requestStop(this.#scheduler.root, { cause: "cancel", because: null, limit: null, by });
  }

  abandon(by: string): void {
    this.cancel(by);
    this.#scheduler.hurry();
  }

  async run(): Promise<EndedBody> {
    const { plan, limits, settings } = this.#admitted.definition;
    const { root } = this.#scheduler;
    const scope = new LexicalScope([
      ["inputs", this.#roots.inputs],
      ["trigger", this.#roots.trigger as Val],
      ["run", { id: this.#roots.run, attempt: 1, started_at: shortTime(this.#roots.startedAt) }],
      ["consts", plan.consts as Val],
      ["settings", settings as Val],
    ]);
    this.#scheduler.stopAt(root, this.#scheduler.now + limits.deadline, {
      cause: "deadline",
      because: null,
      limit: limits.deadline,
      by: null,
    });
    const { end, outputs } = await this.#drive(async () => {
      const list = await this.#interpreter.listIn(plan.steps, { scope, position: "", stop: root });
      if (list.end.is !== "value" || plan.outputs === undefined) return { end: list.end, outputs: null };
      const result = this.#interpreter.evaluator.value(plan.outputs, list.scope, "");
      return result.ok
        ? { end: list.end, outputs: result.value }
        : { end: { is: "failed" as const, fault: result.fault }, outputs: null };
    });
    this.#scheduler.closeScope(root);
    return this.#end(end, outputs);
  }

  /** A bug ends the run as what it is: failed, named, never retried. */
  async #drive(main: () => Promise<{ end: End; outputs: Val }>): Promise<{ end: End; outputs: Val }> {
    try {
      return await this.#scheduler.drive(main);
    } catch (error) {
      if (!(error instanceof InvariantError)) throw error;
      return { end: { is: "failed", fault: new Fault("internal.invariant", "", error.message) }, outputs: null };
    }
  }

  async #end(end: End, outputs: Val): Promise<EndedBody> {
    const { status, error, outputs: values } = this.#verdict(end, outputs);
    // In a replay they are still to be held against the records behind the plan's end.
    const notes = this.#mode === "run" ? this.#scheduler.takeNotes() : [];
    this.#counts.events = this.#recorder.seq + notes.length + 1;
    const { ends } = this.#interpreter;
    const body: EndedBody = {
      status,
      error: error === null ? null : error.toJSON(),
      outputs: recorded(values),
      counts: { ...this.#counts },
      forgiven: ends.forgiven,
      skipped: ends.skipped,
      truncated: ends.truncated,
      unknown: ends.unknown,
      cleanup: ends.cleanup,
      digest: this.#digest.finish({
        def: this.#admitted.def,
        inputs: recorded(this.#roots.inputs),
        trigger: this.#roots.trigger,
        status,
        error: error === null ? null : { code: error.code, position: error.at },
        outputs: recorded(values),
      }),
    };
    if (this.#mode === "run") {
      const draft: Draft = {
        kind: "run.ended",
        position: "",
        attempt: 1,
        in: undefined,
        body: body as unknown as JsonObject,
      };
      await this.#recorder.append([...notes, draft]);
    }
    return body;
  }

  #verdict(end: End, outputs: Val): { status: Outcome; error: Fault | null; outputs: Val } {
    switch (end.is) {
      case "value":
      case "skipped":
        return { status: "completed", error: null, outputs: outputs ?? {} };
      case "failed":
        return { status: statusOf(end.fault), error: end.fault, outputs: {} };
      case "exit":
        if (end.exit.how === "stop") return { status: "stopped", error: null, outputs: end.exit.outputs ?? {} };
        invariant(end.exit.how === "fail", "an exit of a flat scope at the end of a lexical one");
        return { status: "failed", error: end.exit.fault, outputs: {} };
      case "stopped":
        return { outputs: {}, ...this.#stopped(end.stop) };
    }
  }

  #stopped(stop: Stop): { status: Outcome; error: Fault | null } {
    switch (stop.cause) {
      case "cancel":
        return { status: "cancelled", error: null };
      case "deadline": {
        const text = `The run was not over within ${stop.limit} ms, its deadline.`;
        return { status: "timed_out", error: new Fault("flow.timeout", "", text, { deadline_ms: stop.limit }) };
      }
      case "abort":
        invariant(isFault(this.#interpreter.aborted), "an abort without a failure");
        return { status: "failed", error: this.#interpreter.aborted };
      default:
        throw new InvariantError(`the run was stopped by ${stop.cause}`);
    }
  }

  #witness(entry: Witnessed): void {
    this.#digest.record(entry);
    if (entry.kind === "call.ended" && entry.body["dispatched"] !== false) this.#counts.tool_attempts++;
    if (entry.kind !== "agent.turn") return;
    this.#counts.agent_turns++;
    const { usage } = entry.body as { usage?: Json };
    if (isObject(usage)) this.#counts.tokens += Number(usage["input"] ?? 0) + Number(usage["output"] ?? 0);
  }
}

function statusOf(fault: Fault): Outcome {
  return fault.code === "flow.timeout" ? "timed_out" : "failed";
}

/** RFC 3339 as expressions have it: milliseconds only if there are any (workfile.md 3). */
function shortTime(iso: string): string {
  return iso.replace(".000Z", "Z");
}
