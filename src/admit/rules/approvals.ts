import { allSteps } from "../../plan/plan.ts";
import { type Admission, find, stepName } from "../admission.ts";

/** Whether a list of `connector.action` and `connector.*` covers an action. */
export function covers(list: readonly string[], action: string): boolean {
  const connector = action.slice(0, action.indexOf("."));
  return list.some((entry) => entry === action || entry === `${connector}.*`);
}

/** An action that a person has to approve cannot be run before approvals can be asked for. */
export function checkApprovals(admission: Admission): void {
  const { plan, policy } = admission.input;
  for (const step of allSteps(plan)) {
    const actions =
      step.kind === "action" ? [step.action] : step.kind === "agent" && step.tools !== "deployment" ? step.tools : [];
    for (const action of actions) {
      if (!covers(policy.approve, action)) continue;
      find(admission, {
        code: "capability.unsupported",
        message: `${action}, used by ${stepName(step)}, needs a person's approval by policy.approve, which this version cannot ask for.`,
        span: step.span,
        help: "Take it out of policy.approve, or out of the file.",
      });
    }
  }
}
