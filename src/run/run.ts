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
import type { Journal, Lease, Owner, SingleRun } from "../journal/journal.ts";
import type { SuspendReason } from "../journal/outcome.ts";
import { recorded, type Val } from "../plan/marked.ts";
import type { Position } from "../plan/position.ts";
import { checkedHistory } from "./checked-history.ts";
import { Execution, type Roots } from "./execution.ts";
import { type History, HistoryMismatch } from "./history.ts";
import { Inbox } from "./inbox.ts";
import { Mailbox } from "./mailbox.ts";
import { CRASHES_UNTIL_STUCK, Parked, Past } from "./past.ts";
import { processList } from "./processes.ts";
import { type Draft, Recorder } from "./recorder.ts";
import type { ParkedAt } from "./scheduler.ts";
import { openRequest, opensFrom } from "./sealed-parts.ts";
import type { Sealer } from "./sealer.ts";
import type { StepRunners } from "./steps/step-runner.ts";

/** What a run needs of its surroundings; the composition root makes it. */
export interface RunEnvironment {
  clock: Clock;
  journal: Journal;
  owner: Owner;
  sealer: Sealer;
  connectors: ReadonlyMap<string, Connector>;
  /** For every kind of step that the plan has. */
  runners: StepRunners;
  /** Told of each record once it is on disk. */
  onRecord(record: RunRecord): void;
  /** A run that waits for a time only is left at once, as one that waits for a person is anyway. */
  leavesTimers?: boolean;
}

export interface StartOptions {
  run: string;
  /** By name, sensitive ones marked. */
  inputs: { [name: string]: Val };
  trigger: Json;
  identity: string;
  seed: string;
  durability: string;
  dryRun?: boolean;
  /** Where it was started, for a later `resume`. */
  origin: JsonObject;
  /** Of a plan with `single`: its value, and the key that the run holds until its end. */
  single: { value: string; held: SingleRun } | null;
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
    sealer: env.sealer,
  });
  const inputs = recorded(options.inputs);
  const { plan, limits } = admitted.definition;
  const drafts: Draft[] = [
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
        single: options.single?.value ?? null,
        seed: options.seed,
        deadline_at: isoTime(env.clock.now() + limits.deadline),
        profile: "standard",
        durability: options.durability,
        dry_run: options.dryRun === true,
        lineage: null,
        builtins: null,
        origin: options.origin,
      },
      clear: { inputs: options.inputs },
    },
    { kind: "run.started", position: "", attempt: 1, in: undefined, body: { attempt: 1 } },
  ];
  const first = recorder.make(drafts);
  const lease = await env.journal.create(first, env.owner, recorder.seal(first, drafts), options.single?.held);
  recorder.setLease(lease);
  for (const record of first) env.onRecord(record);
  const started = first[1];
  invariant(started !== undefined, "a run without a start");
  const roots: Roots = {
    inputs: options.inputs,
    trigger: options.trigger,
    run: options.run,
    startedAt: started.at,
    identity: options.identity,
    dryRun: options.dryRun === true,
  };
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
    sealer: env.sealer,
  });
  // There may be no further one: what is written next has to come after these.
  for (const record of first) recorder.observe(record);
  return own(admitted, roots, env, recorder, lease, checkedHistory(history), past);
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
  const inbox = new Inbox((request) => openRequest(env.sealer, request));
  const execution = new Execution(admitted, roots, env.connectors, env.runners, recorder, env.clock, {
    mode: "run",
    history,
    open: opensFrom(env.journal, env.sealer),
    inbox,
    onParked: (waiting) => {
      if (env.leavesTimers !== true && waiting.some(({ reason }) => reason === "timer")) return null;
      return parkedDraft(waiting, past);
    },
    onLive: async (redispatched) => {
      // What was asked while nobody owned the run comes before anything that falls due.
      await mailbox.look();
      const stuck = redispatched.filter((position) => past.crashesAt(position) >= CRASHES_UNTIL_STUCK);
      if (stuck.length > 0) {
        await recorder.append([suspendedDraft("stuck", stuck, past)]);
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
    if (request.verb !== "cancel") inbox.add(request);
    else if (request.body["force"] === true) execution.abandon(request.by);
    else execution.cancel(request.by);
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

/** What a run that is left waits for; a halt is no question that stands, so its reason is the run's. */
function parkedDraft(waiting: readonly ParkedAt[], past: Past): Draft {
  const reasons = waiting.map(({ reason }) => reason);
  const reason = reasons.find((entry) => entry === "halt") ?? reasons.find((entry) => entry !== "timer") ?? "timer";
  return suspendedDraft(
    reason,
    waiting.map(({ position }) => position),
    past,
  );
}

function suspendedDraft(reason: SuspendReason, positions: Position[], past: Past): Draft {
  return { kind: "run.suspended", position: "", attempt: past.parked + 1, in: undefined, body: { reason, positions } };
}

function asRefusal(error: unknown): unknown {
  if (error instanceof HistoryMismatch) {
    const { fault } = error;
    return new Refusal(fault.code, fault.message, { ...fault.details, position: fault.at });
  }
  return error;
}
