/** The worst case of a plan: what it can do at most, whatever the data and the agents do. */

import { formatDuration } from "../base/duration.ts";
import type { ActionManifest } from "../catalog/manifest.ts";
import type { Plan } from "../plan/plan.ts";
import { type AgentStep, listsIn, type Step } from "../plan/step.ts";
import { actionsOf, type NotifyAction } from "./actions-of.ts";
import type { AdmittedAction, Bounds, RunLimits } from "./admitted-plan.ts";
import type { PolicyConfig } from "./deployment.ts";

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
  /** The step that makes most of a bound, where there is one: what a finding about it points at. */
  heaviest: { toolAttempts: Step | null; tokens: Step | null; width: Step | null };
}

interface Proof {
  /** The files that the steps in hand may call. */
  callees: Plan["callees"];
  manifests: { [name: string]: AdmittedAction };
  limits: RunLimits;
  notify: NotifyAction;
  policy: AgentPolicies;
  unproved: UnprovedBound[];
}

/** What the deployment's policy bounds of the tools of an agent. */
type AgentPolicies = PolicyConfig["agents"];

/** `notify`: where `wf.notify` also goes. */
export function proveBounds(
  plan: Plan,
  manifests: { [name: string]: AdmittedAction },
  limits: RunLimits,
  notify: NotifyAction,
  policy: AgentPolicies = {},
): ProvedBounds {
  const steps = stepsOf(plan);
  const proof: Proof = { callees: plan.callees, manifests, limits, notify, policy, unproved: [] };
  const cost = costOfList(steps, proof);
  const again: Proof = { ...proof, unproved: [] };
  return {
    bounds: {
      toolAttempts: cost.attempts,
      tokens: cost.tokens,
      duration: limits.deadline,
      depth: depthOf(plan),
      width: widthOfList(steps, proof),
    },
    unproved: proof.unproved,
    heaviest: {
      toolAttempts: heaviest(steps, (step) => costOf(step, again).attempts),
      tokens: heaviest(steps, (step) => costOf(step, again).tokens),
      width: heaviest(steps, (step) => widthOf(step, proof)),
    },
  };
}

function stepsOf(plan: Plan): Step[] {
  return [...plan.steps, ...plan.cleanup.flatMap((entry) => entry.steps)];
}

/** Levels of files that call each other, the first one included. */
function depthOf(plan: Plan): number {
  return 1 + Object.values(plan.callees).reduce((depth, callee) => Math.max(depth, depthOf(callee)), 0);
}

/** A loop is what multiplies, so it is named itself; of a branch the step in its arm is. */
function heaviest(steps: readonly Step[], weigh: (step: Step) => Count): Step | null {
  let found: Step | null = null;
  let most = -1;
  for (const step of steps) {
    const weight = weigh(step) ?? Number.POSITIVE_INFINITY;
    if (weight <= most) continue;
    found = step;
    most = weight;
  }
  if (found?.kind !== "branch") return found;
  return heaviest([...found.arms.flatMap((arm) => arm.steps), ...found.else], weigh) ?? found;
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

function costOfList(steps: readonly Step[], proof: Proof): Cost {
  return steps.reduce((sum, step) => add(sum, costOf(step, proof)), NOTHING);
}

function costOf(step: Step, proof: Proof): Cost {
  const list = (steps: readonly Step[]): Cost => costOfList(steps, proof);
  const handlers = step.catch.map((entry) => list(entry.steps)).reduce(most, NOTHING);
  const cleanups = step.cleanup.map((entry) => list(entry.steps)).reduce(add, NOTHING);
  return add(add(subjectCost(step, proof, list), handlers), cleanups);
}

function subjectCost(step: Step, proof: Proof, list: (steps: readonly Step[]) => Cost): Cost {
  switch (step.kind) {
    case "action":
    case "notify": {
      const own = step.kind === "action" ? step.attempts : undefined;
      // The step lowers the attempts of its own action only: a reconciliation has those of its manifest.
      const attempts = actionsOf(step, proof.notify).map((name, i) =>
        attemptsOf(proof.manifests[name]?.manifest, i === 0 ? own : undefined),
      );
      return { attempts: attempts.reduce((sum, n) => sum + n, 0), tokens: 0 };
    }
    case "agent":
      return add(agentCost(step, proof), list(step.onExhausted ?? []));
    case "branch":
      return [...step.arms.map((arm) => arm.steps), step.else].map(list).reduce(most, NOTHING);
    case "each": {
      const count = step.max ?? ("list" in step.list ? step.list.list.length : literalCount(step.list));
      return times(list(step.steps), Math.min(count, proof.limits.steps));
    }
    case "repeat":
      return times(list(step.steps), step.max);
    case "parallel":
      return step.branches.map((branch) => list(branch.steps)).reduce(add, NOTHING);
    case "ask":
      return add(list(step.asked ?? []), list(step.onExpired ?? []));
    case "call": {
      const callee = proof.callees[step.callee];
      return callee === undefined ? NOTHING : costOfList(stepsOf(callee), { ...proof, callees: callee.callees });
    }
    case "code":
    case "assign":
    case "wait":
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

function agentCost(step: AgentStep, { unproved, policy, manifests }: Proof): Cost {
  const byPolicy = attemptsByPolicy(step, policy, manifests);
  const { steps } = step.budget;
  const attempts = steps === undefined || byPolicy === null ? (steps ?? byPolicy) : Math.min(steps, byPolicy);
  const tokens = step.budget.tokens ?? null;
  if (attempts === null) unproved.push({ step, bound: "tool_attempts" });
  if (tokens === null) unproved.push({ step, bound: "tokens" });
  return { attempts, tokens };
}

/** What the policy's `max` leaves of attempts where each tool has one, and nothing where there are no tools. */
function attemptsByPolicy(step: AgentStep, policy: AgentPolicies, manifests: Proof["manifests"]): Count {
  if (step.tools === "deployment") return null;
  let sum = 0;
  for (const name of step.tools) {
    const max = policy[step.agent]?.[name]?.max;
    if (max === undefined) return null;
    sum += max * attemptsOf(manifests[name]?.manifest, undefined);
  }
  return sum;
}

function widthOfList(steps: readonly Step[], proof: Proof): number {
  return steps.reduce((width, step) => Math.max(width, widthOf(step, proof)), 1);
}

/** Handlers, clean-ups and what follows an agent or a question run when the step's own subject is over. */
function widthOf(step: Step, proof: Proof): number {
  const { limits } = proof;
  const inside = listsIn(step).reduce((width, list) => Math.max(width, widthOfList(list, proof)), 1);
  switch (step.kind) {
    case "each":
      return Math.max(inside, widthOfList(step.steps, proof) * Math.min(step.concurrency, limits.concurrency));
    case "parallel": {
      const lanes = Math.min(step.concurrency, limits.concurrency, step.branches.length);
      const widest = step.branches.map((branch) => widthOfList(branch.steps, proof)).sort((a, b) => b - a);
      return Math.max(
        inside,
        widest.slice(0, lanes).reduce((sum, n) => sum + n, 0),
      );
    }
    case "call": {
      const callee = proof.callees[step.callee];
      if (callee === undefined) return inside;
      return Math.max(inside, widthOfList(stepsOf(callee), { ...proof, callees: callee.callees }));
    }
    case "agent":
      return Math.max(inside, step.tools.length > 0 ? limits.concurrency : 1);
    default:
      return inside;
  }
}

/** A bound in words. */
export function boundText(name: "toolAttempts" | "tokens" | "duration", value: number | null): string {
  if (value === null) return "not proved";
  return name === "duration" ? formatDuration(value) : value.toLocaleString("en-US");
}
