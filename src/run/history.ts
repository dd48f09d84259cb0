import type { JsonObject } from "../base/json.ts";
import { Fault } from "../errors/fault.ts";
import type { RunRecord } from "../journal/event.ts";
import type { Position } from "../plan/position.ts";

/** Where recorded deliveries come from; null when the history is used up. */
export interface History {
  next(): Promise<RunRecord | null>;
}

/** The history does not fit what the plan does: where, what was expected, what is recorded. */
export class HistoryMismatch extends Error {
  override readonly name = "HistoryMismatch";
  readonly fault: Fault;
  constructor(position: Position, message: string, details: JsonObject) {
    super(message);
    this.fault = new Fault("history.mismatch", position, message, details);
  }
}

/** A replay has used up the records of a run that has not ended. */
export class HistoryEnd extends Error {
  override readonly name = "HistoryEnd";
}
