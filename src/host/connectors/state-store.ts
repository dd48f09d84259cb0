import type { Json } from "../../base/json.ts";

/** Whose value it is: the name of the workflow in whose file the step stands, and the key. */
export interface StateKey {
  workflow: string;
  key: string;
}

/**
 * One call that changes something. A change and the note that it was made are one transaction: the same call that
 * comes again (its process was lost before the result was recorded) is answered as the first time and changes
 * nothing, so that a run that was killed leaves the state of one that was not.
 */
export interface StateCall {
  run: string;
  position: string;
  /** The idempotency key of a keyed action, else null: then run and position tell the call. */
  requestKey: string | null;
}

export type StateChange = { is: "put"; value: Json } | { is: "add"; by: number } | { is: "delete" };

export type StateAnswer =
  | { is: "put" }
  | { is: "added"; value: number }
  | { is: "deleted"; found: boolean }
  /** Nothing was changed: over 1,000 keys, or over 16 KiB of canonical JSON. */
  | { is: "full" }
  | { is: "too_large"; bytes: number }
  /** Nothing was added: what is kept is no number, or the sum is none that is exact. */
  | { is: "no_number" }
  | { is: "out_of_range" };

export const MAX_STATE_KEYS = 1_000;
export const MAX_STATE_VALUE_BYTES = 16 * 1024;
/** Notes of calls that are kept for each workflow; the oldest go first. */
export const MAX_STATE_NOTES = 10_000;

/** The memory of workflows from run to run. May refuse with `store.unavailable`. */
export interface StateStore {
  read(at: StateKey): Promise<{ found: boolean; value: Json }>;
  change(at: StateKey, change: StateChange, call: StateCall): Promise<StateAnswer>;
  close(): Promise<void>;
}
