import type { Plan } from "../../plan/plan.ts";
import type { Position } from "../../plan/position.ts";
import type { Step, StepKind } from "../../plan/step.ts";
import type { DueCleanup } from "../cleanup.ts";
import type { End } from "../end.ts";
import type { Interpreter } from "../interpreter.ts";
import type { Scope } from "../scope.ts";
import type { StepCount } from "../step-count.ts";
import type { StopScope } from "../stop-scope.ts";

/** Where a list of steps runs. */
export interface ListContext {
  scope: Scope;
  /** The position that the list's steps stand below. */
  position: Position;
  stop: StopScope;
  /** The file that the list belongs to. */
  plan: Plan;
  steps: StepCount;
  /** Where what is still due when a list below has ended well goes: the list around. */
  cleanups: DueCleanup[];
}

/** Where one step runs: `position` is its own, `stop` the nearest scope that can stop it. */
export interface StepContext extends ListContext {
  /** Logical time at which the step's timeout is due, for what goes on after its subject was stopped. */
  due: number | null;
}

export type StepOf<K extends StepKind> = Extract<Step, { kind: K }>;

/** Runs the subject of one kind of step; guards, timeouts, handlers and binding are the interpreter's. */
export type StepRunner<K extends StepKind> = (
  interpreter: Interpreter,
  step: StepOf<K>,
  context: StepContext,
) => Promise<End>;

export type StepRunners = { [K in StepKind]?: StepRunner<K> };
