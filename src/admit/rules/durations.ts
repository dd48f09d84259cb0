import { formatDuration } from "../../base/duration.ts";
import { allSteps } from "../../plan/plan.ts";
import { type Admission, find, stepName } from "../admission.ts";

/** The longest pause before a retry (workfile.md 2); a computed one beyond it fails its step. */
export const MAX_BACKOFF_MS = 30_000;

/** Literal durations beyond their bounds are refused; none is cut to fit. */
export function checkDurations(admission: Admission): void {
  for (const step of allSteps(admission.input.plan)) {
    if (step.kind !== "action" || typeof step.backoff !== "number" || step.backoff <= MAX_BACKOFF_MS) continue;
    find(admission, {
      code: "workfile.bad_value",
      message: `${stepName(step)} waits ${formatDuration(step.backoff)} before a retry: at most ${formatDuration(MAX_BACKOFF_MS)}.`,
      span: step.span,
      help: "For a longer pause put the step in a loop with a wait.",
    });
  }
}
