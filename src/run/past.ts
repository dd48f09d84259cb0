import type { RunRecord } from "../journal/event.ts";
import type { Position } from "../plan/position.ts";

/** A position that was under way in so many crashes parks the run (DU-13). */
export const CRASHES_UNTIL_STUCK = 3;

/** What the records say of earlier processes: resumes, parkings, and how often each position was under way in a crash. */
export class Past {
  resumes = 0;
  parked = 0;
  readonly #again = new Map<Position, number>();

  read(record: RunRecord): void {
    if (record.kind === "run.suspended") {
      this.parked++;
      // Who resumes a parked run has looked at it: it starts afresh.
      this.#again.clear();
    }
    if (record.kind !== "run.resumed") return;
    this.resumes++;
    const { redispatched } = record.body;
    if (!Array.isArray(redispatched)) return;
    for (const position of redispatched) {
      if (typeof position === "string") this.#again.set(position, (this.#again.get(position) ?? 0) + 1);
    }
  }

  /** Crashes with this position under way, the one before this resume included. */
  crashesAt(position: Position): number {
    return this.parked > 0 && !this.#again.has(position) ? 0 : (this.#again.get(position) ?? 0) + 1;
  }
}

/** The run has been parked: its end is not for now. */
export class Parked extends Error {
  override readonly name = "Parked";
}
