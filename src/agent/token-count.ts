/**
 * The token bound of an agent step.
 *
 * The provider's count decides (WX-74) and is known at a turn's end only (D1, D10). A turn without one could have
 * cost as much as it was let to, which is all that was left: from its end on the bound counts as reached, so no
 * further work is accepted. Its own calls are judged by the counts that were known with them, since no estimate
 * of ours stands in for the meter's; and as after every bound a typed result still counts, for which the agent
 * has one further turn. The charge is not written as a count: `observed.tokens` stays what was reported, and
 * `observed.unreported` says how many turns are missing in it, that is, that it is a lower bound.
 */
import type { Val } from "../plan/marked.ts";
import { reportedUsage } from "../run/usage.ts";
import type { TurnState } from "./turn.ts";

/** Counts a turn's tokens and says whether the bound keeps its calls from being accepted. */
export function countTurn(state: TurnState, usage: Val): boolean {
  const { meter } = state;
  const missing = meter.budget.tokens !== undefined && state.uncounted > 0;
  const reported = reportedUsage(usage);
  meter.count(reported === null ? null : reported.input + reported.output);
  if (reported === null) state.uncounted++;
  return missing || meter.tokensSpent;
}
