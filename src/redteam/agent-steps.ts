import type { Plan } from "../plan/plan.ts";
import { auxPosition, childPosition, type Position } from "../plan/position.ts";
import type { AgentStep, Step } from "../plan/step.ts";

/** An agent step and its place: the position of its executions, without iterations. */
export interface PlacedAgent {
  place: Position;
  step: AgentStep;
}

/** A position without its iterations: all executions of a step have the same one. */
export function placeOf(position: Position): Position {
  return position.replace(/\[\d+\]/g, "");
}

/** The agent steps of a plan and of the files that it calls. Steps in the arms of one branch may share a place. */
export function placedAgents(plan: Plan): PlacedAgent[] {
  return [...inFile(plan, "")];
}

/** The agent steps that an execution at a position may be of. */
export function agentStepsAt(plan: Plan, position: Position): AgentStep[] {
  const place = placeOf(position);
  return placedAgents(plan)
    .filter((entry) => entry.place === place)
    .map(({ step }) => step);
}

function* inFile(plan: Plan, at: Position): Generator<PlacedAgent> {
  yield* inList(plan.steps, at, plan);
  for (const { steps } of plan.cleanup) yield* inList(steps, auxPosition(at, "cleanup"), plan);
}

function* inList(steps: readonly Step[], parent: Position, plan: Plan): Generator<PlacedAgent> {
  for (const step of steps) {
    const at = childPosition(parent, step.id);
    yield* inSubject(step, at, plan);
    for (const { steps: handler } of step.catch) yield* inList(handler, auxPosition(at, "catch"), plan);
    for (const { steps: due } of step.cleanup) yield* inList(due, auxPosition(at, "cleanup"), plan);
  }
}

function* inSubject(step: Step, at: Position, plan: Plan): Generator<PlacedAgent> {
  switch (step.kind) {
    case "agent":
      yield { place: at, step };
      yield* inList(step.onExhausted ?? [], auxPosition(at, "on_exhausted"), plan);
      return;
    case "branch":
      for (const list of [...step.arms.map((arm) => arm.steps), step.else]) yield* inList(list, at, plan);
      return;
    case "each":
    case "repeat":
      yield* inList(step.steps, at, plan);
      return;
    case "parallel":
      for (const { name, steps } of step.branches) yield* inList(steps, childPosition(at, name), plan);
      return;
    case "ask":
      yield* inList(step.asked ?? [], auxPosition(at, "asked"), plan);
      yield* inList(step.onExpired ?? [], auxPosition(at, "on_expired"), plan);
      return;
    case "call": {
      const callee = plan.callees[step.callee];
      if (callee !== undefined) yield* inFile(callee, at);
      return;
    }
    default:
      return;
  }
}
