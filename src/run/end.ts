import { Fault } from "../errors/fault.ts";
import type { StopCause } from "../journal/bodies.ts";
import type { Val } from "../plan/marked.ts";
import type { Position } from "../plan/position.ts";

/** Why something was stopped; the body of its `stop.decided` record. */
export interface Stop {
  cause: StopCause;
  /** What it follows from, where it follows from something. */
  because: { position: Position; code: string } | null;
  /** Milliseconds of the bound that was reached, for timeouts, deadlines and durations. */
  limit: number | null;
  /** Who asked, for a cancel. */
  by: string | null;
}

/** How an author's exit leaves: `stop` and `fail` end the run; the others belong to flat scopes. */
export type Exit =
  | { how: "stop"; outputs: Val }
  | { how: "fail"; fault: Fault }
  | { how: "return"; value: Val }
  | { how: "continue" }
  | { how: "break" };

/**
 * How a step or a list of steps ended. Stopping and exiting are not exceptions: they are handed outwards
 * until the one they belong to takes them.
 */
export type End =
  | { is: "value"; value: Val }
  | { is: "skipped" }
  | { is: "failed"; fault: Fault }
  | { is: "stopped"; stop: Stop }
  | { is: "exit"; exit: Exit };

export const NULL_END: End = Object.freeze({ is: "value", value: null });

export function timeoutFault(at: Position, limit: number | null): Fault {
  return new Fault("flow.timeout", at, `The step was not over within ${limit} ms.`, { timeout_ms: limit });
}
