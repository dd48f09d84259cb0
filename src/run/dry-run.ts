/**
 * What a dry run does not do, and what it cannot tell (workfile.md 5).
 *
 * I1: nothing is dispatched unless its manifest lets a dry run execute it; what needs a person's approval is not,
 *     since nobody is asked.
 * I2: what reads a suppressed value is suppressed, whatever it is; no stand-in is made up for one.
 * I3: a branch on such a value is taken neither way: which ways there are is told, from the plan alone.
 * I4: all of it is computed from the plan and the records, so a replay of a dry run tells the same.
 */

import { actionsOf } from "../admit/actions-of.ts";
import type { AdmittedAction } from "../admit/admitted-plan.ts";
import { covers } from "../admit/policy-match.ts";
import { byteLength, canonical, type Json } from "../base/json.ts";
import type { CouldRun, Suppressed } from "../journal/outcome.ts";
import { marksIn, recorded, SUPPRESSED, type Val } from "../plan/marked.ts";
import { everyStep, type Plan } from "../plan/plan.ts";
import { childPosition, type Position } from "../plan/position.ts";
import { type Step, walkSteps } from "../plan/step.ts";
import type { End } from "./end.ts";
import type { Interpreter } from "./interpreter.ts";

/** Bytes of arguments that the report of a dry run repeats; the records have them whole. */
const MAX_ARGS_BYTES = 4_096;
/** Actions that are named of one way on. */
const MAX_NAMED = 100;

/** Why a call is not dispatched, and what stands in the place of its result. */
export interface Suppression {
  because: Suppressed["because"];
  /** The result that the manifest gives for a dry run. */
  simulated?: Json;
}

/** Null: the call is dispatched as in any run (I1, I2). */
export function suppressionOf(interpreter: Interpreter, action: AdmittedAction, args: Val): Suppression | null {
  if (!interpreter.dryRun) return null;
  if (isSuppressed(args)) return { because: "reads_suppressed" };
  const { name, dryRun } = action.manifest;
  if (dryRun.kind === "simulate") return { because: "dry_run", simulated: dryRun.output };
  if (dryRun.kind === "suppress") return { because: "dry_run" };
  return covers(interpreter.admitted.definition.policy.approve, name) ? { because: "needs_approval" } : null;
}

export function isSuppressed(value: Val): boolean {
  return marksIn(value).suppressed === true;
}

/** Lists a call that a real run would have made. */
export function suppressedCall(
  interpreter: Interpreter,
  position: Position,
  action: AdmittedAction,
  args: Val,
  { because, simulated }: Suppression,
): void {
  const shown = recorded(args);
  const { name, effects } = action.manifest;
  interpreter.ends.suppress({
    position,
    what: "call",
    because,
    action: name,
    effects,
    ...(byteLength(canonical(shown)) > MAX_ARGS_BYTES ? {} : { args: shown }),
    ...(simulated === undefined ? {} : { simulated: true as const }),
  });
}

/** Lists a step that a dry run leaves out, in its trail as well; its value is suppressed. */
export function suppressedStep(
  interpreter: Interpreter,
  position: Position,
  what: Suppressed["what"],
  because: Suppressed["because"],
  more: { agent?: string; text?: Json } = {},
): End {
  interpreter.recorder.trail(position, "suppressed", { what, because, ...more });
  interpreter.ends.suppress({ position, what, because, ...more });
  return { is: "value", value: SUPPRESSED };
}

/** A way that a step could go on, as its author names it, and the steps that would run below a position. */
export interface Way {
  branch: string;
  steps: readonly Step[];
  below: Position;
}

/** Lists the ways between which a dry run cannot decide, and takes none (I3); the value is suppressed. */
export function undetermined(interpreter: Interpreter, plan: Plan, position: Position, ways: readonly Way[]): End {
  const could = ways.map((way) => couldRun(interpreter, plan, way));
  interpreter.recorder.trail(position, "undetermined", could as unknown as Json);
  interpreter.ends.leaveOpen({ position, could });
  return { is: "value", value: SUPPRESSED };
}

function couldRun(interpreter: Interpreter, plan: Plan, { branch, steps, below }: Way): CouldRun {
  const actions = new Set<string>();
  const agents = new Set<string>();
  for (const step of inside(steps, plan)) {
    for (const action of actionsOf(step, interpreter.admitted.definition.notify)) actions.add(action);
    if (step.kind === "agent") agents.add(step.agent);
  }
  return {
    branch,
    steps: steps.map((step) => childPosition(below, step.id)).slice(0, MAX_NAMED),
    actions: [...actions].slice(0, MAX_NAMED),
    agents: [...agents].slice(0, MAX_NAMED),
  };
}

/** The steps, those in them, and those of the files that they call. */
function* inside(steps: readonly Step[], plan: Plan): Generator<Step> {
  for (const step of walkSteps(steps)) {
    yield step;
    const callee = step.kind === "call" ? plan.callees[step.callee] : undefined;
    if (callee !== undefined) yield* everyStep(callee);
  }
}
