import { allSteps } from "../../plan/plan.ts";
import { actionsOf } from "../actions-of.ts";
import { type Admission, find, stepName, wordOf } from "../admission.ts";
import { covers } from "../policy-match.ts";

/** An action that a person has to approve cannot be run before approvals can be asked for. */
export function checkApprovals(admission: Admission): void {
  const { plan, policy, notify } = admission.input;
  for (const step of allSteps(plan)) {
    for (const action of actionsOf(step, notify)) {
      if (!covers(policy.approve, action)) continue;
      find(admission, {
        code: "capability.unsupported",
        message: `${action}, used by ${stepName(step)}, needs a person's approval by policy.approve, which this version cannot ask for.`,
        at: [step, wordOf(step, action)],
        help: "Take it out of policy.approve, or out of the file.",
      });
    }
  }
}
