import type { AdmittedPlan } from "../admit/admitted-plan.ts";
import type { Clock } from "../base/clock.ts";
import { InvariantError, invariant } from "../base/invariant.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { Connector } from "../catalog/connector.ts";
import { Fault, isFault, Refusal } from "../errors/fault.ts";
import type { EndedBody } from "../journal/bodies.ts";
import { DigestBuilder } from "../journal/digest.ts";
import type { Counts, Outcome } from "../journal/outcome.ts";
import { recorded, type Val } from "../plan/marked.ts";
import type { Position } from "../plan/position.ts";
import type { End, Stop } from "./end.ts";
import { runFile } from "./file.ts";
import { type History, HistoryEnd, HistoryMismatch } from "./history.ts";
import type { Inbox } from "./inbox.ts";
import { Interpreter } from "./interpreter.ts";
import { Parked } from "./past.ts";
import type { Draft, Recorder } from "./recorder.ts";
import { type ParkedAt, Scheduler, type Witness, type Witnessed } from "./scheduler.ts";
import { LexicalScope } from "./scope.ts";
import type { OpenBody } from "./sealed-parts.ts";
import { StepCount } from "./step-count.ts";
import type { StepRunners } from "./steps/step-runner.ts";
import { reportedUsage } from "./usage.ts";

/** The roots that expressions read beside the steps. */
export interface Roots {
  inputs: { [name: string]: Val };
  trigger: Json;
  run: string;
  startedAt: string;
  /** Who started it. */
  identity: string;
  /** Nothing is dispatched but what manifests let a dry run execute. */
  dryRun?: boolean;
}

export interface ExecutionSource {
  mode: "run" | "replay";
  history: History | null;
  open?: OpenBody;
  inbox?: Inbox;
  onLive?: (redispatched: Position[]) => Promise<void>;
  onParked?: (waiting: ParkedAt[]) => Draft | null;
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
      ...(source.open === undefined ? {} : { open: source.open }),
      ...(source.inbox === undefined ? {} : { inbox: source.inbox }),
      ...(source.onLive === undefined ? {} : { onLive: source.onLive }),
      ...(source.onParked === undefined ? {} : { onParked: source.onParked }),
    });
    this.#interpreter = new Interpreter({
      run: roots.run,
      identity: roots.identity,
      dryRun: roots.dryRun === true,
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
    const { end, outputs } = await this.#drive(() =>
      runFile(this.#interpreter, { scope, position: "", stop: root, plan, steps: new StepCount(limits.steps) }, () =>
        this.#scheduler.closeScope(root),
      ),
    );
    this.#scheduler.closeScope(root);
    return this.#end(end, outputs);
  }

  /** A bug ends the run as what it is: failed, named, never retried. */
  async #drive(main: () => Promise<{ end: End; outputs: Val }>): Promise<{ end: End; outputs: Val }> {
    try {
      const end = await this.#scheduler.drive(main);
      await this.#scheduler.drain();
      return end;
    } catch (error) {
      if (isExpected(error)) throw error;
      await this.#scheduler.drain(true);
      const message = error instanceof Error ? error.message : String(error);
      return { end: { is: "failed", fault: new Fault("internal.invariant", "", message) }, outputs: null };
    }
  }

  async #end(end: End, outputs: Val): Promise<EndedBody> {
    const { status, error, outputs: values } = this.#verdict(end, outputs);
    // In a replay they are still to be held against the records behind the plan's end.
    const notes = this.#mode === "run" ? this.#scheduler.notes.take() : [];
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
      ...(this.#roots.dryRun ? { suppressed: ends.suppressed, undetermined: ends.undetermined } : {}),
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
    const isCall = entry.kind === "call.ended" && entry.body["outcome"] !== "suppressed";
    if (isCall && entry.body["dispatched"] !== false) this.#counts.tool_attempts++;
    if (entry.kind !== "agent.turn") return;
    this.#counts.agent_turns++;
    const usage = reportedUsage(entry.body["usage"] ?? null);
    if (usage !== null) this.#counts.tokens += usage.input + usage.output;
  }
}

/** What stops an execution without being a bug: everything else ends the run as one. */
function isExpected(error: unknown): boolean {
  return (
    error instanceof Refusal ||
    error instanceof HistoryMismatch ||
    error instanceof HistoryEnd ||
    error instanceof Parked
  );
}

function statusOf(fault: Fault): Outcome {
  return fault.code === "flow.timeout" ? "timed_out" : "failed";
}

/** RFC 3339 as expressions have it: milliseconds only if there are any (workfile.md 3). */
function shortTime(iso: string): string {
  return iso.replace(".000Z", "Z");
}
