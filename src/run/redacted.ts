import { Refusal } from "../errors/fault.ts";
import { marksIn, type Redacted, type Val } from "../plan/marked.ts";
import type { Position } from "../plan/position.ts";
import { SHUT } from "./sealed-parts.ts";

/**
 * Stops a resume or replay that would have to decide by, or dispatch with, a sensitive value that the history
 * does not give (DU-09): `history.redacted`. The run itself is untouched and can be gone on with later.
 */
export function needClear(value: Val, at: Position, what: string): void {
  const { redacted } = marksIn(value);
  if (redacted !== undefined) throw redactedAt(at, what, redacted);
}

export function redactedAt(at: Position, what: string, why: Redacted): Refusal {
  const place = at === "" ? "the run" : at;
  return new Refusal(
    "history.redacted",
    `${what} at ${place} needs a sensitive value, and ${SHUT[why]}. ${HELP[why]}`,
    { position: at, sealed: why },
  );
}

const INPUTS_AGAIN = "A sensitive input can be given again with -i.";

const HELP: { readonly [why in Redacted]: string } = {
  unsealed: INPUTS_AGAIN,
  no_key: `Put the key back that the run was recorded with. ${INPUTS_AGAIN}`,
  other_key: `Put the key back that the run was recorded with. ${INPUTS_AGAIN}`,
  moved: `Take the store from a backup. ${INPUTS_AGAIN}`,
  damaged: `Take the store from a backup. ${INPUTS_AGAIN}`,
};
