/** The worst case of a plan: what it can do at most, whatever the data and the agents do. */

import { formatDuration } from "../base/duration.ts";
import type { ActionManifest } from "../catalog/manifest.ts";
import type { AgentStep, Step } from "../plan/step.ts";
import type { AdmittedAction, Bounds, RunLimits } from "./admitted-plan.ts";

/** Null: it cannot be proved. */
type Count = number | null;

interface Cost {
  attempts: Count;
  tokens: Count;
}

const NOTHING: Cost = { attempts: 0, tokens: 0 };

export interface UnprovedBound {
  step: Step;
  bound: "tool_attempts" | "tokens";
}

export interface ProvedBounds {
  bounds: Bounds;
  /** The steps for which a bound could not be proved. */
  unproved: UnprovedBound[];
}

export function proveBounds(
  steps: readonly Step[],
  manifests: { [name: string]: AdmittedAction },
  limits: RunLimits,
): ProvedBounds {
  const unproved: UnprovedBound[] = [];
  const cost = costOfList(steps, manifests, limits, unproved);
  return {
    bounds: {
      toolAttempts: cost.attempts,
      tokens: cost.tokens,
      duration: limits.deadline,
      depth: 1,
      width: widthOf(steps, limits),
    },
    unproved,
  };
}

function add(a: Cost, b: Cost): Cost {
  return {
    attempts: a.attempts === null || b.attempts === null ? null : a.attempts + b.attempts,
    tokens: a.tokens === null || b.tokens === null ? null : a.tokens + b.tokens,
  };
}

function most(a: Cost, b: Cost): Cost {
  return {
    attempts: a.attempts === null || b.attempts === null ? null : Math.max(a.attempts, b.attempts),
    tokens: a.tokens === null || b.tokens === null ? null : Math.max(a.tokens, b.tokens),
  };
}

function times(cost: Cost, n: number): Cost {
  return {
    attempts: cost.attempts === null ? null : cost.attempts * n,
    tokens: cost.tokens === null ? null : cost.tokens * n,
  };
}

type Manifests = { [name: string]: AdmittedAction };

function costOfList(steps: readonly Step[], manifests: Manifests, limits: RunLimits, unproved: UnprovedBound[]): Cost {
  return steps.reduce((sum, step) => add(sum, costOf(step, manifests, limits, unproved)), NOTHING);
}

function costOf(step: Step, manifests: Manifests, limits: RunLimits, unproved: UnprovedBound[]): Cost {
  const list = (steps: readonly Step[]): Cost => costOfList(steps, manifests, limits, unproved);
  const handlers = step.catch.map((entry) => list(entry.steps)).reduce(most, NOTHING);
  const cleanups = step.cleanup.map((entry) => list(entry.steps)).reduce(add, NOTHING);
  return add(add(subjectCost(step, manifests, limits, unproved, list), handlers), cleanups);
}

function subjectCost(
  step: Step,
  manifests: Manifests,
  limits: RunLimits,
  unproved: UnprovedBound[],
  list: (steps: readonly Step[]) => Cost,
): Cost {
  switch (step.kind) {
    case "action": {
      const manifest = manifests[step.action]?.manifest;
      return { attempts: attemptsOf(manifest, step.attempts), tokens: 0 };
    }
    case "agent":
      return add(agentCost(step, unproved), list(step.onExhausted ?? []));
    case "branch":
      return [...step.arms.map((arm) => arm.steps), step.else].map(list).reduce(most, NOTHING);
    case "each": {
      const count = step.max ?? ("list" in step.list ? step.list.list.length : literalCount(step.list));
      return times(list(step.steps), Math.min(count, limits.steps));
    }
    case "repeat":
      return times(list(step.steps), step.max);
    case "parallel":
      return step.branches.map((branch) => list(branch.steps)).reduce(add, NOTHING);
    case "ask":
      return add(list(step.asked ?? []), list(step.onExpired ?? []));
    case "code":
    case "assign":
    case "call":
    case "wait":
    case "notify":
    case "exit":
      return NOTHING;
  }
}

function literalCount(list: Extract<Step, { kind: "each" }>["list"]): number {
  return "lit" in list && Array.isArray(list.lit) ? list.lit.length : 0;
}

function attemptsOf(manifest: ActionManifest | undefined, own: number | undefined): number {
  const declared = manifest?.retry.attempts ?? 1;
  return Math.min(own ?? declared, declared);
}

function agentCost(step: AgentStep, unproved: UnprovedBound[]): Cost {
  const tools = step.tools === "deployment" || step.tools.length > 0;
  const attempts = !tools ? 0 : (step.budget.steps ?? null);
  const tokens = step.budget.tokens ?? null;
  if (attempts === null) unproved.push({ step, bound: "tool_attempts" });
  if (tokens === null) unproved.push({ step, bound: "tokens" });
  return { attempts, tokens };
}

function widthOf(steps: readonly Step[], limits: RunLimits): number {
  let width = 1;
  for (const step of steps) {
    const lists =
      step.kind === "branch"
        ? [...step.arms.map((arm) => arm.steps), step.else]
        : step.kind === "each" || step.kind === "repeat"
          ? [step.steps]
          : [];
    const inner = Math.max(1, ...lists.map((list) => widthOf(list, limits)));
    if (step.kind === "each") width = Math.max(width, inner * Math.min(step.concurrency, limits.concurrency));
    else if (step.kind === "parallel") {
      const widest = step.branches.map((branch) => widthOf(branch.steps, limits)).sort((a, b) => b - a);
      const lanes = Math.min(step.concurrency, limits.concurrency, step.branches.length);
      width = Math.max(
        width,
        widest.slice(0, lanes).reduce((sum, n) => sum + n, 0),
      );
    } else if (step.kind === "agent") width = Math.max(width, step.tools.length > 0 ? limits.concurrency : 1);
    else width = Math.max(width, inner);
  }
  return width;
}

/** A bound in words. */
export function boundText(name: "toolAttempts" | "tokens" | "duration", value: number | null): string {
  if (value === null) return "not proved";
  return name === "duration" ? formatDuration(value) : value.toLocaleString("en-US");
}
