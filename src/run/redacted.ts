import { Refusal } from "../errors/fault.ts";
import { marksIn, type Val } from "../plan/marked.ts";
import type { Position } from "../plan/position.ts";

/**
 * Stops a resume or replay that would have to decide by, or dispatch with, a sensitive value that the history
 * does not hold (DU-09): `history.redacted`. The run itself is untouched and can be gone on with later.
 */
export function needClear(value: Val, at: Position, what: string): void {
  if (marksIn(value).redacted) throw redactedAt(at, what);
}

export function redactedAt(at: Position, what: string): Refusal {
  const place = at === "" ? "the run" : at;
  return new Refusal(
    "history.redacted",
    `${what} at ${place} needs a sensitive value, which the history does not hold. Give the sensitive inputs again with -i.`,
    { position: at },
  );
}
