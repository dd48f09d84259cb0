import { allSteps, everyStep, type Plan } from "../../plan/plan.ts";
import type { Step } from "../../plan/step.ts";
import { type Admission, find, type StepWord, stepName } from "../admission.ts";

/** Older names of capabilities, as seed 002 has them. */
export const CAPABILITY_ALIASES: { [capability: string]: string } = {
  "wf.agent-execution": "agent-nodes",
  "wf.run-python": "run-python",
  "wf.run-javascript": "run-javascript",
};

/** The capability that a step needs, if any. */
function capabilityOf(step: Step): string | null {
  if (step.kind === "agent") return "wf.agent-execution";
  return step.kind === "code" ? `wf.run-${step.language}` : null;
}

/** The set a plan needs, wherever the steps stand: a branch that never runs counts (WX-03). Sorted. */
export function requiredCapabilities(plan: Plan): string[] {
  const needed = new Set<string>();
  for (const step of everyStep(plan)) {
    const capability = capabilityOf(step);
    if (capability !== null) needed.add(capability);
  }
  return [...needed].sort();
}

/** Refuses what this executor does not do: a needed capability, or a construct it cannot run yet. */
export function checkCapabilities(admission: Admission): void {
  const { plan, capabilities } = admission.input;
  for (const step of allSteps(plan)) {
    const capability = capabilityOf(step);
    if (capability !== null && !capabilities.has(capability)) {
      find(admission, {
        code: "capability.unsupported",
        message: `${stepName(step)} needs the capability ${capability}, which is not offered here.`,
        at: [step, { is: "subject" }],
        help: `Offered: ${[...capabilities].sort().join(", ") || "none"}.`,
      });
    }
    if (step.onUnknown === "halt" && admission.input.durable === false) {
      find(admission, {
        code: "capability.unsupported",
        message: `${stepName(step)} halts on an unknown outcome, which needs the Durable Execution Profile: the store is in memory and would lose the run.`,
        at: [step, { is: "key", name: "on_unknown" }],
        help: "Run it on a store that lasts, or write on_unknown: fail or abort.",
      });
    }
    for (const { what, word } of unsupportedIn(step)) {
      find(admission, {
        code: "capability.unsupported",
        message: `${stepName(step)} uses ${what}, which this version parses and does not run.`,
        at: [step, word],
        help: `Write it with what this version runs: ${SUPPORTED.join(", ")}.`,
      });
    }
  }
}

/** What this version runs, as a step says it. */
export const SUPPORTED = [
  "actions",
  "wf.agent",
  "wf.let",
  "wf.if",
  "wf.switch",
  "wf.each",
  "wf.repeat",
  "wf.parallel",
  "wf.call",
  "wf.wait",
  "wf.ask",
  "wf.notify",
  "wf.stop",
  "wf.fail",
] as const;

/** What it parses and refuses: never ignored. The README lists them, and a test holds it against this. */
export const UNSUPPORTED_KINDS: { [kind in Step["kind"]]?: string } = {};

function unsupportedIn(step: Step): { what: string; word: StepWord }[] {
  const found: { what: string; word: StepWord }[] = [];
  const kind = UNSUPPORTED_KINDS[step.kind];
  if (kind !== undefined) found.push({ what: kind, word: { is: "subject" } });
  return found;
}
