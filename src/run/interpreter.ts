/**
 * Walks an admitted plan. Deterministic: all that comes from outside comes through the scheduler.
 *
 * I1: the interpreter switches on a step's `kind` and on nothing else; it never asks for a notation.
 * I2: a stop outside counts more than whatever a step made of it: it is looked at after every wait.
 * I3: a failure travels outwards: the step's own `catch`, the steps around it, the item of the nearest loop,
 *     the run. Stops and exits are no failures and no `catch` sees them.
 * I4: a step binds its value at most once, after it has ended; a failed or stopped one binds nothing.
 * I5: executed steps are counted before they run; beyond `limits.steps` none runs.
 */
import type { AdmittedPlan, RunLimits } from "../admit/admitted-plan.ts";
import { covers } from "../admit/policy-match.ts";
import { invariant } from "../base/invariant.ts";
import type { Connector } from "../catalog/connector.ts";
import { Fault, matchesCode } from "../errors/fault.ts";
import type { Duration } from "../plan/expression.ts";
import type { Val } from "../plan/marked.ts";
import type { Plan } from "../plan/plan.ts";
import { auxPosition, childPosition, type Position } from "../plan/position.ts";
import type { Catch, Step } from "../plan/step.ts";
import { type DueCleanup, dueCleanups, leaveList } from "./cleanup.ts";
import { undetermined } from "./dry-run.ts";
import { type End, timeoutFault } from "./end.ts";
import { Ends } from "./ends.ts";
import { Evaluator } from "./evaluator.ts";
import type { Recorder } from "./recorder.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Scope } from "./scope.ts";
import { StepCount } from "./step-count.ts";
import { runAction } from "./steps/action.ts";
import { runAsk } from "./steps/ask.ts";
import { runAssign } from "./steps/assign.ts";
import { runBranch } from "./steps/branch.ts";
import { runCall } from "./steps/call.ts";
import { runEach } from "./steps/each.ts";
import { runExit } from "./steps/exit.ts";
import { runNotify } from "./steps/notify.ts";
import { runParallel } from "./steps/parallel.ts";
import { runRepeat } from "./steps/repeat.ts";
import type { ListContext, StepContext, StepRunner, StepRunners } from "./steps/step-runner.ts";
import { runWait } from "./steps/wait.ts";
import { hashValue } from "./value-hash.ts";

/** The kinds that the engine runs by itself; the composition root adds the agent. */
export const BASIC_RUNNERS: StepRunners = {
  action: runAction,
  assign: runAssign,
  branch: runBranch,
  each: runEach,
  repeat: runRepeat,
  parallel: runParallel,
  notify: runNotify,
  wait: runWait,
  ask: runAsk,
  call: runCall,
  exit: runExit,
};

export interface BindingWitness {
  bind(position: Position, hash: string): void;
}

export class Interpreter {
  readonly run: string;
  /** Who started the run. */
  readonly identity: string;
  readonly dryRun: boolean;
  readonly admitted: AdmittedPlan;
  readonly scheduler: Scheduler;
  readonly recorder: Recorder;
  readonly connectors: ReadonlyMap<string, Connector>;
  readonly evaluator = new Evaluator();
  readonly ends = new Ends();
  readonly #runners: StepRunners;
  readonly #witness: BindingWitness;
  /** What cleanups may execute beside the run's own steps, so that a run at its limit still cleans up. */
  readonly cleanupSteps: StepCount;

  constructor(options: {
    run: string;
    identity: string;
    dryRun: boolean;
    admitted: AdmittedPlan;
    scheduler: Scheduler;
    recorder: Recorder;
    connectors: ReadonlyMap<string, Connector>;
    runners: StepRunners;
    witness: BindingWitness;
  }) {
    this.run = options.run;
    this.identity = options.identity;
    this.dryRun = options.dryRun;
    this.admitted = options.admitted;
    this.scheduler = options.scheduler;
    this.recorder = options.recorder;
    this.connectors = options.connectors;
    this.#runners = options.runners;
    this.cleanupSteps = new StepCount(this.limits.steps);
    this.#witness = options.witness;
  }

  get limits(): RunLimits {
    return this.admitted.definition.limits;
  }

  /** Runs a list in a frame of its own; its value is that of its last step that ran. */
  async list(steps: readonly Step[], context: ListContext): Promise<End> {
    return (await this.listIn(steps, context)).end;
  }

  /** The same, with the frame, in which a `yield` or the outputs are evaluated. */
  async listIn(steps: readonly Step[], context: ListContext): Promise<{ end: End; scope: Scope }> {
    const scope = context.scope.enter({});
    const cleanups: DueCleanup[] = [];
    const { position, stop, plan, steps: count } = context;
    const end = await this.#inOrder(steps, { scope, position, stop, plan, steps: count, cleanups });
    if (cleanups.length > 0) await leaveList(this, cleanups, end, context.cleanups);
    return { end, scope };
  }

  async #inOrder(steps: readonly Step[], context: ListContext): Promise<End> {
    let last: Val = null;
    for (const step of steps) {
      const end = await this.#step(step, context);
      if (end.is === "value") last = end.value;
      else if (end.is !== "skipped") return end;
    }
    return { is: "value", value: last };
  }

  async #step(step: Step, context: ListContext): Promise<End> {
    const at = childPosition(context.position, step.id);
    const stopped = context.stop.current;
    if (stopped !== null) return { is: "stopped", stop: stopped };
    if (step.guard !== undefined) {
      const guard = this.evaluator.condition(step.guard, context.scope, at);
      if (!guard.ok) return this.#handle(step, at, context, guard.fault);
      if (guard.value === "untold") {
        const ways = [
          { branch: "runs", steps: [step], below: context.position },
          { branch: "skipped", steps: [], below: context.position },
        ];
        const end = undetermined(this, context.plan, at, ways);
        if (end.is === "value") this.#bind(step, at, context.scope, end.value);
        return end;
      }
      if (guard.value === "no") {
        this.recorder.trail(at, "skipped");
        context.scope.write(step, null);
        return { is: "skipped" };
      }
    }
    const limit = context.steps.take();
    if (limit !== null) {
      return {
        is: "failed",
        fault: new Fault("flow.limit_exceeded", at, `The run has executed ${limit} steps, its limit.`, { limit }),
      };
    }
    if (step.cleanup.length > 0) {
      // Readable in its cleanup from its start on, null until it has a value.
      context.scope.write(step, null);
      context.cleanups.push(...dueCleanups(step.cleanup, at, context.scope, context.plan));
    }
    const end = await this.#subject(step, at, context);
    const outside = context.stop.current;
    if (outside !== null) return { is: "stopped", stop: outside };
    if (end.is === "failed") return this.#handle(step, at, context, end.fault);
    if (end.is === "value") this.#bind(step, at, context.scope, end.value);
    return end;
  }

  /** Runs the subject under the step's own timeout. */
  async #subject(step: Step, at: Position, context: ListContext): Promise<End> {
    const runner = this.#runners[step.kind] as StepRunner<typeof step.kind> | undefined;
    invariant(runner !== undefined, `no runner for steps of kind ${step.kind}`);
    const bound = boundOf(step, context.plan);
    if (bound === undefined && step.kind !== "agent") {
      return runner(this, step, {
        scope: context.scope,
        position: at,
        stop: context.stop,
        plan: context.plan,
        steps: context.steps,
        cleanups: context.cleanups,
        due: null,
      });
    }
    let due: number | null = null;
    const scope = this.scheduler.openScope(at, context.stop);
    try {
      if (bound !== undefined) {
        const timeout = this.evaluator.duration(bound, context.scope, at);
        if (!timeout.ok) return { is: "failed", fault: timeout.fault };
        due = this.scheduler.now + timeout.value;
        this.scheduler.stopAt(scope, due, { cause: "timeout", because: null, limit: timeout.value, by: null });
      }
      const inner: StepContext = { ...context, stop: scope, position: at, due };
      const end = await runner(this, step, inner);
      const own = scope.stop;
      if (end.is !== "stopped" || own === null || context.stop.current !== null) return end;
      return { is: "failed", fault: timeoutFault(at, own.limit) };
    } finally {
      this.scheduler.closeScope(scope);
    }
  }

  /** The first `catch` entry that takes a failure; what it gives is the step's value. */
  async #handle(step: Step, at: Position, context: ListContext, fault: Fault): Promise<End> {
    const scope = context.scope.enter({ error: this.errorValue(fault) });
    for (const entry of step.catch) {
      if (!matchesCode(entry.codes, fault.code)) continue;
      if (entry.guard !== undefined) {
        const guard = this.evaluator.condition(entry.guard, scope, at);
        if (!guard.ok) return { is: "failed", fault: guard.fault };
        if (guard.value === "untold") return this.#untoldHandler(step, at, context, entry);
        if (guard.value === "no") continue;
      }
      const position = auxPosition(at, "catch");
      const { end, scope: inner } = await this.listIn(entry.steps, { ...context, scope, position });
      if (end.is !== "value" && end.is !== "skipped") return end;
      let value: Val = null;
      if (entry.value !== undefined) {
        const result = this.evaluator.value(entry.value, inner, at);
        if (!result.ok) return { is: "failed", fault: result.fault };
        value = result.value;
      }
      this.recorder.trail(at, "handled", { code: fault.code, reason: fault.message });
      this.ends.forgive(at, fault);
      this.#bind(step, at, context.scope, value);
      return { is: "value", value };
    }
    return { is: "failed", fault };
  }

  /** Nobody can tell whether this entry takes the failure, and so not what becomes of the step. */
  #untoldHandler(step: Step, at: Position, context: ListContext, { steps }: Catch): End {
    const below = auxPosition(at, "catch");
    const ways = [
      { branch: "handled", steps, below },
      { branch: "failed", steps: [], below },
    ];
    const end = undetermined(this, context.plan, at, ways);
    if (end.is === "value") this.#bind(step, at, context.scope, end.value);
    return end;
  }

  #bind(step: Step, at: Position, scope: Scope, value: Val): void {
    scope.write(step, value);
    this.#witness.bind(at, hashValue(value));
  }

  /** Where a question can be answered; null where nothing serves it. */
  askUrl(id: string): string | null {
    const base = this.admitted.definition.askUrl;
    return base === undefined ? null : `${base}/${id}`;
  }

  /** What `error` reads as in handlers. */
  errorValue(fault: Fault): Val {
    return { code: fault.code, message: fault.message, position: fault.at, details: fault.details };
  }

  isDenied(action: string): boolean {
    return covers(this.admitted.definition.policy.deny, action);
  }

  /** The failure that an `abort` ends the run with. */
  aborted: Fault | null = null;

  itemSkipped(position: Position, fault: Fault): void {
    this.recorder.trail(position, "item_skipped", { cause: "failure", step: fault.at, reason: fault.message });
    this.ends.skip(position, fault);
  }

  forgiven(position: Position, fault: Fault): void {
    this.recorder.trail(position, "forgiven", { code: fault.code, reason: fault.message });
    this.ends.forgive(position, fault);
  }

  truncated(position: Position, cause: "limit" | "max" | "max_iterations", done: number, left: number | null): void {
    this.recorder.trail(position, "truncated", { cause, done, left });
    this.ends.truncate(position, cause, done, left);
  }
}

/** A step's own bound in time; of a call the deadline of its file, where that is the lesser. */
function boundOf(step: Step, plan: Plan): Duration | undefined {
  const own = step.kind === "call" ? plan.callees[step.callee]?.limits.deadline : undefined;
  if (own === undefined || step.timeout === undefined) return step.timeout ?? own;
  return typeof step.timeout === "number" ? Math.min(step.timeout, own) : step.timeout;
}
