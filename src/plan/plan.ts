import type { Json } from "../base/json.ts";
import type { Expr, Value } from "./expression.ts";
import type { Field } from "./field.ts";
import type { Position } from "./position.ts";
import { type Cleanup, listsIn, type Step, walkSteps } from "./step.ts";

export interface Limits {
  /** Milliseconds of a run, without the time it is parked. */
  deadline?: number;
  /** Executions of steps in one run, iterations included. */
  steps?: number;
  depth?: number;
  concurrency?: number;
  /** AWL max_steps. */
  tasks?: number;
}

export type Trigger = { with: Value; when?: Expr } & (
  | { kind: "every"; every: number }
  | { kind: "cron"; cron: string; zone: string }
  | { kind: "webhook"; path: string; body?: Field[]; headers: string[]; reply: "accepted" | "outputs" }
);

/**
 * A whole flow as frozen plain JSON, the same from every notation: hashed, pinned in a run's first record,
 * printable again (product.md 4). Optional fields are absent, never null.
 */
export interface Plan {
  v: 1;
  notation: "workfile" | "awl" | "request";
  name: string;
  description?: string;
  scope: "lexical" | "flat";
  inputs: Field[];
  steps: Step[];
  cleanup: Cleanup[];
  /** Absent with scope flat: the outputs are `{ return, variables }`. */
  outputs?: Value;
  consts: Json;
  /** The `settings` paths that expressions read, as `a.b`; their values are pinned beside the plan. */
  settings: string[];
  limits: Limits;
  triggers: Trigger[];
  single?: { key: Value; overlap: "skip" | "queue" };
  callees: { [ref: string]: Plan };
  goal?: { id: string; success: string; maxActions: number; keeps: string[] };
}

/** A plan and the plans that it calls, however deep, in the order of the text. */
export function* allPlans(plan: Plan): Generator<Plan> {
  yield plan;
  for (const callee of Object.values(plan.callees)) yield* allPlans(callee);
}

/** Every step of a plan and of those that it calls. */
export function* everyStep(plan: Plan): Generator<Step> {
  for (const part of allPlans(plan)) yield* allSteps(part);
}

/** Every step of a plan, cleanups included, callees not. */
export function* allSteps(plan: Plan): Generator<Step> {
  yield* walkSteps(plan.steps);
  for (const entry of plan.cleanup) yield* walkSteps(entry.steps);
}

/** The plan in whose file the step at a position stands: the one given, or one that it calls. */
export function planAt(plan: Plan, position: Position): Plan {
  let file = plan;
  let candidates = [...allLists(file)];
  // Indexes, parts of the engine's own and branch names lead to no step: the lists in hand stay the same.
  for (const part of position.replace(/\[\d+\]/g, "").split(".")) {
    const step = candidates.flat().find((entry) => entry.id === part);
    if (step === undefined) continue;
    const callee = step.kind === "call" ? file.callees[step.callee] : undefined;
    if (callee !== undefined) file = callee;
    candidates = callee === undefined ? listsIn(step) : [...allLists(callee), ...listsIn(step)];
  }
  return file;
}

function allLists(plan: Plan): Step[][] {
  return [plan.steps, ...plan.cleanup.map((entry) => entry.steps)];
}
