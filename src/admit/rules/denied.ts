import { allSteps } from "../../plan/plan.ts";
import { actionsOf } from "../actions-of.ts";
import { type Admission, find, stepName, wordOf } from "../admission.ts";
import { covers } from "../policy-match.ts";

/** What the policy denies is refused where it would be dispatched; whoever looks at a plan is told before. */
export function warnOfDenied(admission: Admission): void {
  const { plan, policy, notify } = admission.input;
  if (policy.deny.length === 0) return;
  for (const step of allSteps(plan)) {
    for (const action of actionsOf(step, notify)) {
      if (!covers(policy.deny, action)) continue;
      find(admission, {
        code: "tool_not_authorized",
        severity: "warning",
        message: `The deployment's policy denies ${action}: ${stepName(step)} will be refused it.`,
        at: [step, wordOf(step, action)],
        help: "Take it out of the file, or out of policy.deny.",
      });
    }
  }
}
