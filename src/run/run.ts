/**
 * One execution of an admitted plan in this process: start, resume, cancel, and the lease that it holds meanwhile.
 */
import type { AdmittedPlan } from "../admit/admitted-plan.ts";
import { type Clock, isoTime } from "../base/clock.ts";
import { invariant } from "../base/invariant.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { Connector } from "../catalog/connector.ts";
import { Refusal } from "../errors/fault.ts";
import type { RunRecord } from "../journal/event.ts";
import type { Journal, Lease, Owner } from "../journal/journal.ts";
import { recorded, type Val } from "../plan/marked.ts";
import { Execution, type Roots } from "./execution.ts";
import { type History, HistoryMismatch } from "./history.ts";
import { Mailbox } from "./mailbox.ts";
import { CRASHES_UNTIL_STUCK, Parked, Past } from "./past.ts";
import { processList } from "./processes.ts";
import { Recorder } from "./recorder.ts";
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
  const list = processList(env.connectors, env.journal, lease);
  recorder.afterAppend(() => {
    // A store that refuses here refuses the next append as well, and that one ends the run.
    list().catch(() => {});
  });
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
  const mailbox = new Mailbox(env.journal, roots.run, env.clock, (request) => {
    if (request.verb === "cancel") execution.cancel(request.by);
    if (request.verb === "cancel" && request.body["force"] === true) execution.abandon(request.by);
  });
  // Nothing is dispatched to a server that is not on the list.
  const running = list().then(() => execution.run());
  const ended = running.then(
    async () => {
      mailbox.stop();
      await env.journal.release(lease);
    },
    async (error: unknown) => {
      mailbox.stop();
      // Whatever stopped it here, somebody may go on with it; a lease that is lost releases nothing.
      await env.journal.release(lease).catch(() => {});
      if (!(error instanceof Parked)) throw asRefusal(error);
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
  if (error instanceof HistoryMismatch) {
    const { fault } = error;
    return new Refusal(fault.code, fault.message, { ...fault.details, position: fault.at });
  }
  return error;
}
