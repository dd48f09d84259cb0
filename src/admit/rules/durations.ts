import { formatDuration, MAX_BACKOFF_MS } from "../../base/duration.ts";
import { allSteps } from "../../plan/plan.ts";
import { type Admission, find, stepName } from "../admission.ts";

/** Literal durations beyond their bounds are refused; none is cut to fit. */
export function checkDurations(admission: Admission): void {
  for (const step of allSteps(admission.input.plan)) {
    if (step.kind !== "action" || typeof step.backoff !== "number" || step.backoff <= MAX_BACKOFF_MS) continue;
    find(admission, {
      code: "workfile.bad_value",
      message: `${stepName(step)} waits ${formatDuration(step.backoff)} before a retry: at most ${formatDuration(MAX_BACKOFF_MS)}.`,
      at: [step, { is: "key", name: "retry.backoff" }],
      help: "For a longer pause put the step in a loop with a wait.",
    });
  }
}
