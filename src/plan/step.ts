import type { Span } from "../base/span.ts";
import type { Budget } from "./budget.ts";
import type { Duration, Expr, Value } from "./expression.ts";
import type { Field } from "./field.ts";

export type OnUnknown = "abort" | "fail" | "halt" | "reconcile";

export interface Common {
  /** Absent for a request's group or cleanup call, which adds no part to positions. */
  id?: string;
  span: Span;
  reads: string[];
  writes: string[];
  guard?: Expr;
  timeout?: Duration;
  catch: Catch[];
  cleanup: Cleanup[];
  onUnknown: OnUnknown;
  forgive?: true;
}

/** Handlers of a failure: first match wins; `*` matches any eligible failure, `family.*` a family. */
export interface Catch {
  codes: string[];
  guard?: Expr;
  steps: Step[];
  value?: Value;
}

export interface Cleanup {
  on: "always" | "failure";
  steps: Step[];
}

export interface Reconcile {
  action: string;
  with: Value;
  succeeded: Expr;
  failed: Expr;
  value?: Value;
}

/** The AWL part of an agent step: texts, soft budget, conversation, knowledge, model level, effort, grants. */
export interface Task {
  text: Value;
  expose: { name: string; optional: boolean; description?: string }[];
  hints: { [name: string]: string };
  soft: Budget;
  history: boolean;
  knowledge: boolean;
  level?: string;
  effort?: string;
  grants: string[];
}

export interface ActionStep extends Common {
  kind: "action";
  action: string;
  args: Value;
  attempts?: number;
  backoff?: Duration;
  reconcile?: Reconcile;
}

export interface AgentStep extends Common {
  kind: "agent";
  agent: string;
  goal: Value;
  with: Value;
  tools: string[] | "deployment";
  returns: Field[];
  budget: Budget;
  onExhausted?: Step[];
  finish: "result" | "report";
  task?: Task;
}

export interface CodeStep extends Common {
  kind: "code";
  language: string;
  code: string;
  network: string[];
  with: Value;
}

export interface AssignStep extends Common {
  kind: "assign";
  /** wf.let binds one map under its id (lexical); @set writes each name (flat). */
  values: { [name: string]: Value };
}

export interface BranchStep extends Common {
  kind: "branch";
  subject: Expr | boolean;
  /** wf.if and @if: one arm, `true`; wf.switch: texts. */
  arms: { is: true | string; steps: Step[] }[];
  else: Step[];
}

export type OnItemFailure = "fail" | "skip" | { yield: Value };

export interface EachStep extends Common {
  kind: "each";
  list: Value;
  item: string;
  max?: number;
  concurrency: number;
  steps: Step[];
  until?: Expr;
  yield?: Value;
  collect?: { name: string; fields?: string[] };
  onItemFailure: OnItemFailure;
}

export interface RepeatStep extends Common {
  kind: "repeat";
  max: number;
  from?: Value;
  test?: { while: Expr } | { until: Expr };
  steps: Step[];
  yield?: Value;
  onMax: "fail" | "truncate";
  onItemFailure: "fail" | "skip";
}

export interface ParallelStep extends Common {
  kind: "parallel";
  branches: { name?: string; steps: Step[] }[];
  concurrency: number;
}

export interface CallStep extends Common {
  kind: "call";
  callee: string;
  with: Value;
  /** Nested workflows of a request, in milliseconds. */
  deadline?: number;
}

export interface WaitStep extends Common {
  kind: "wait";
  for?: Duration;
  until?: Value;
}

export interface AskStep extends Common {
  kind: "ask";
  text: Value;
  returns: Field[];
  expires?: Duration;
  asked?: Step[];
  onExpired?: Step[];
  assignees: Value;
  approvers?: { notInitiator: boolean; count: number };
}

export interface NotifyStep extends Common {
  kind: "notify";
  text: Value;
}

export interface ExitStep extends Common {
  kind: "exit";
  how: "stop" | "fail" | "return" | "continue" | "break";
  value?: Value;
  code?: Value;
  text?: Value;
}

/** The closed union the interpreter switches on. */
export type Step =
  | ActionStep
  | AgentStep
  | CodeStep
  | AssignStep
  | BranchStep
  | EachStep
  | RepeatStep
  | ParallelStep
  | CallStep
  | WaitStep
  | AskStep
  | NotifyStep
  | ExitStep;

export type StepKind = Step["kind"];

/** The step lists directly inside a step, handlers and cleanups included. */
export function listsIn(step: Step): Step[][] {
  const lists: Step[][] = [];
  switch (step.kind) {
    case "agent":
      if (step.onExhausted) lists.push(step.onExhausted);
      break;
    case "branch":
      lists.push(...step.arms.map((arm) => arm.steps), step.else);
      break;
    case "each":
    case "repeat":
      lists.push(step.steps);
      break;
    case "parallel":
      lists.push(...step.branches.map((branch) => branch.steps));
      break;
    case "ask":
      if (step.asked) lists.push(step.asked);
      if (step.onExpired) lists.push(step.onExpired);
      break;
    default:
      break;
  }
  lists.push(...step.catch.map((entry) => entry.steps), ...step.cleanup.map((entry) => entry.steps));
  return lists;
}

/** Every step of some lists, outer before inner, in the order of the text. */
export function* walkSteps(steps: readonly Step[]): Generator<Step> {
  for (const step of steps) {
    yield step;
    for (const list of listsIn(step)) yield* walkSteps(list);
  }
}
