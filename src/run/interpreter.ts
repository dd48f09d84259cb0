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
import type { Val } from "../plan/marked.ts";
import { auxPosition, childPosition, type Position } from "../plan/position.ts";
import type { OnUnknown, Step } from "../plan/step.ts";
import type { End } from "./end.ts";
import { Ends } from "./ends.ts";
import { Evaluator } from "./evaluator.ts";
import type { Recorder } from "./recorder.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Scope } from "./scope.ts";
import { runAction } from "./steps/action.ts";
import { runAssign } from "./steps/assign.ts";
import { runBranch } from "./steps/branch.ts";
import { runEach } from "./steps/each.ts";
import { runExit } from "./steps/exit.ts";
import { runNotify } from "./steps/notify.ts";
import type { ListContext, StepContext, StepRunner, StepRunners } from "./steps/step-runner.ts";
import { hashValue } from "./value-hash.ts";

/** The kinds that the engine runs by itself; the composition root adds the agent. */
export const BASIC_RUNNERS: StepRunners = {
  action: runAction,
  assign: runAssign,
  branch: runBranch,
  each: runEach,
  notify: runNotify,
  exit: runExit,
};

export interface BindingWitness {
  bind(position: Position, hash: string): void;
}

export class Interpreter {
  readonly run: string;
  readonly admitted: AdmittedPlan;
  readonly scheduler: Scheduler;
  readonly recorder: Recorder;
  readonly connectors: ReadonlyMap<string, Connector>;
  readonly evaluator = new Evaluator();
  readonly ends = new Ends();
  readonly #runners: StepRunners;
  readonly #witness: BindingWitness;
  #steps = 0;

  constructor(options: {
    run: string;
    admitted: AdmittedPlan;
    scheduler: Scheduler;
    recorder: Recorder;
    connectors: ReadonlyMap<string, Connector>;
    runners: StepRunners;
    witness: BindingWitness;
  }) {
    this.run = options.run;
    this.admitted = options.admitted;
    this.scheduler = options.scheduler;
    this.recorder = options.recorder;
    this.connectors = options.connectors;
    this.#runners = options.runners;
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
    let last: Val = null;
    for (const step of steps) {
      const end = await this.#step(step, { scope, position: context.position, stop: context.stop });
      if (end.is === "value") last = end.value;
      else if (end.is === "skipped") continue;
      else return { end, scope };
    }
    return { end: { is: "value", value: last }, scope };
  }

  async #step(step: Step, context: ListContext): Promise<End> {
    const at = childPosition(context.position, step.id);
    const stopped = context.stop.current;
    if (stopped !== null) return { is: "stopped", stop: stopped };
    if (step.guard !== undefined) {
      const guard = this.evaluator.condition(step.guard, context.scope, at);
      if (!guard.ok) return this.#handle(step, at, context, guard.fault);
      if (!guard.value) {
        this.recorder.trail(at, "skipped");
        context.scope.write(step, null);
        return { is: "skipped" };
      }
    }
    if (++this.#steps > this.limits.steps) {
      const limit = this.limits.steps;
      return {
        is: "failed",
        fault: new Fault("flow.limit_exceeded", at, `The run has executed ${limit} steps, its limit.`, { limit }),
      };
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
    if (step.timeout === undefined && step.kind !== "agent") {
      return runner(this, step, { scope: context.scope, position: at, stop: context.stop, due: null });
    }
    let due: number | null = null;
    const scope = this.scheduler.openScope(at, context.stop);
    try {
      if (step.timeout !== undefined) {
        const timeout = this.evaluator.duration(step.timeout, context.scope, at);
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
        if (!guard.value) continue;
      }
      const position = auxPosition(at, "catch");
      const { end, scope: inner } = await this.listIn(entry.steps, { scope, position, stop: context.stop });
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

  #bind(step: Step, at: Position, scope: Scope, value: Val): void {
    scope.write(step, value);
    this.#witness.bind(at, hashValue(value));
  }

  /** What `error` reads as in handlers. */
  errorValue(fault: Fault): Val {
    return { code: fault.code, message: fault.message, position: fault.at, details: fault.details };
  }

  isDenied(action: string): boolean {
    return covers(this.admitted.definition.policy.deny, action);
  }

  /** Applies `on_unknown` to an effect whose outcome is not known. */
  async unknown(policy: OnUnknown, fault: Fault, at: Position): Promise<End> {
    if (policy === "fail") return { is: "failed", fault };
    invariant(policy === "abort", `on_unknown: ${policy} was admitted and cannot be run`);
    await this.scheduler.decide(this.scheduler.root, {
      cause: "abort",
      because: { position: at, code: fault.code },
      limit: null,
      by: null,
    });
    this.aborted ??= fault;
    const stop = this.scheduler.root.current;
    invariant(stop !== null, "an abort that stopped nothing");
    return { is: "stopped", stop };
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

export function timeoutFault(at: Position, limit: number | null): Fault {
  return new Fault("flow.timeout", at, `The step was not over within ${limit} ms.`, { timeout_ms: limit });
}
