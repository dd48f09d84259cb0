import { allSteps } from "../../plan/plan.ts";
import { actionsOf } from "../actions-of.ts";
import { type Admission, find, stepName, wordOf } from "../admission.ts";
import { covers } from "../policy-match.ts";

/** Whoever looks at a plan is told where it waits for a person: an agent's duration goes on meanwhile. */
export function checkApprovals(admission: Admission): void {
  const { plan, policy, notify } = admission.input;
  for (const step of allSteps(plan)) {
    if (step.kind !== "agent" || step.budget.duration === undefined) continue;
    for (const action of actionsOf(step, notify)) {
      if (!covers(policy.approve, action)) continue;
      find(admission, {
        code: "agent.approval_in_duration",
        severity: "warning",
        message: `${action} waits for a person's approval, and the duration of ${stepName(step)} goes on meanwhile.`,
        at: [step, wordOf(step, action)],
        help: "Give it a duration that a person can answer in, or let an ordinary step do the writing.",
      });
    }
  }
}
