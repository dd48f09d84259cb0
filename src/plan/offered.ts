/**
 * Workflows that a deployment offers as actions (`connectors.NAME.workflows`). A step that names one is a call of its
 * file: it is made one before admission, so that limits, recursion, bounds, keys and positions are those of `wf.call`.
 */
import { allPlans, type Plan } from "./plan.ts";
import type { ActionStep, CallStep, Cleanup, Step } from "./step.ts";

/** What `wf.call` takes ends so; an action's name never does, so that the two can stand side by side in `callees`. */
export const FILE_ENDINGS: readonly string[] = ["yaml", "yml", "awl"];

/** Whether a callee is named by the action that it is offered as, and not by a path. */
export function isOffered(callee: string): boolean {
  return !FILE_ENDINGS.some((ending) => callee.endsWith(`.${ending}`));
}

/** The plan with each step that names one of `actions` made a call; the same plan where none does. */
export function callOffered(plan: Plan, actions: (action: string) => boolean): Plan {
  const lists = new OfferedCalls(actions);
  const steps = lists.list(plan.steps);
  const cleanup = lists.cleanup(plan.cleanup);
  return lists.found ? { ...plan, steps, cleanup } : plan;
}

/** The same by what another plan calls: a changed file reads the workflows that a run has pinned. */
export function callPinned(plan: Plan, pinned: Plan): Plan {
  const known = new Map([...allPlans(pinned)].flatMap((part) => Object.entries(part.callees)));
  const called = callOffered(plan, (action) => isOffered(action) && known.has(action));
  if (called === plan) return plan;
  return {
    ...called,
    callees: { ...Object.fromEntries([...known].filter(([ref]) => isOffered(ref))), ...plan.callees },
  };
}

class OfferedCalls {
  found = false;
  readonly #isOffered: (action: string) => boolean;

  constructor(isOffered: (action: string) => boolean) {
    this.#isOffered = isOffered;
  }

  list(steps: readonly Step[]): Step[] {
    return steps.map((step) => this.#step(step));
  }

  cleanup(entries: readonly Cleanup[]): Cleanup[] {
    return entries.map((entry) => ({ ...entry, steps: this.list(entry.steps) }));
  }

  #step(step: Step): Step {
    const handlers = {
      catch: step.catch.map((entry) => ({ ...entry, steps: this.list(entry.steps) })),
      cleanup: this.cleanup(step.cleanup),
    };
    switch (step.kind) {
      case "action":
        return { ...(this.#isOffered(step.action) ? this.#call(step) : step), ...handlers };
      case "agent":
        return { ...step, ...handlers, ...(step.onExhausted ? { onExhausted: this.list(step.onExhausted) } : {}) };
      case "branch": {
        const arms = step.arms.map((arm) => ({ ...arm, steps: this.list(arm.steps) }));
        return { ...step, ...handlers, arms, else: this.list(step.else) };
      }
      case "each":
      case "repeat":
        return { ...step, ...handlers, steps: this.list(step.steps) };
      case "parallel":
        return {
          ...step,
          ...handlers,
          branches: step.branches.map((branch) => ({ ...branch, steps: this.list(branch.steps) })),
        };
      case "ask":
        return {
          ...step,
          ...handlers,
          ...(step.asked ? { asked: this.list(step.asked) } : {}),
          ...(step.onExpired ? { onExpired: this.list(step.onExpired) } : {}),
        };
      default:
        return { ...step, ...handlers };
    }
  }

  #call(step: ActionStep): CallStep {
    this.found = true;
    const { action, args, attempts, backoff, reconcile, ...common } = step;
    return { ...common, kind: "call", callee: action, with: args };
  }
}
