import type { AdmittedPlan } from "../admit/admitted-plan.ts";
import type { PolicyConfig } from "../admit/deployment.ts";
import { covers } from "../admit/policy-match.ts";
import { Refusal } from "../errors/fault.ts";

/**
 * A run goes on under what it was admitted with, which its own first record says, and that may come from elsewhere. What
 * the deployment denies today, or has a person asked for, and did not then, refuses it: `tool_not_authorized`.
 */
export function holdAgainstToday(run: string, { definition }: AdmittedPlan, today: PolicyConfig): void {
  for (const action of Object.keys(definition.manifests)) {
    for (const list of ["deny", "approve"] as const) {
      if (!covers(today[list], action) || covers(definition.policy[list], action)) continue;
      const why = `policy.${list} covers ${action} today, and did not when run ${run} was admitted`;
      throw new Refusal("tool_not_authorized", `${why}: cancel the run, or start it anew under this policy.`, {
        run,
        action,
      });
    }
  }
}
