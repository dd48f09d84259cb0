import type { Plan } from "../plan/plan.ts";
import type { Position } from "../plan/position.ts";
import { type AgentStep, listsIn, type Step } from "../plan/step.ts";

/** A position without its iterations: all executions of a step have the same one. */
export function placeOf(position: Position): Position {
  return position.replace(/\[\d+\]/g, "");
}

/** The agent steps that a position may be of: ids may stand in several arms of a branch. */
export function agentStepsAt(plan: Plan, position: Position): AgentStep[] {
  return stepsAt(plan, position).filter((step): step is AgentStep => step.kind === "agent");
}

function stepsAt(plan: Plan, position: Position): Step[] {
  let found: { step: Step; file: Plan }[] = [];
  let lists = listsOf(plan).map((list) => ({ list, file: plan }));
  for (const part of placeOf(position).split(".")) {
    const here = lists.flatMap(({ list, file }) =>
      list.filter(({ id }) => id === part).map((step) => ({ step, file })),
    );
    // Parts of the engine's own and branch names lead to no step: the lists in hand stay the same.
    if (here.length === 0) continue;
    found = here;
    lists = here.flatMap(({ step, file }) => {
      const callee = step.kind === "call" ? file.callees[step.callee] : undefined;
      const called = callee === undefined ? [] : listsOf(callee).map((list) => ({ list, file: callee }));
      return [...listsIn(step).map((list) => ({ list, file })), ...called];
    });
  }
  return found.map(({ step }) => step);
}

function listsOf(plan: Plan): Step[][] {
  return [plan.steps, ...plan.cleanup.map((entry) => entry.steps)];
}
