import type { Json } from "../base/json.ts";
import type { FaultJson } from "../errors/fault.ts";
import type {
  CleanupEntry,
  Counts,
  Forgiven,
  RunStatus,
  Skipped,
  Suppressed,
  Truncated,
  Undetermined,
  UnknownEffect,
  Waiting,
} from "./outcome.ts";

/** What `ambit run --json` ends with (interfaces.md 1); a run under way has what is known so far. */
export interface RunResult {
  type: "result";
  run: string;
  status: RunStatus;
  outputs: Json;
  error: FaultJson | null;
  /** `sha256:...`, null until the run has ended. */
  digest: string | null;
  duration_ms: number;
  counts: Counts;
  forgiven: Forgiven[];
  skipped: Skipped[];
  truncated: Truncated[];
  unknown: UnknownEffect[];
  cleanup: CleanupEntry[];
  waiting: Waiting[];
  dry_run: boolean;
  /** Of a dry run only: what a real one would have done, in the order of the run. */
  suppressed?: Suppressed[];
  /** Of a dry run only: where nobody can tell how a real one would go on. */
  undetermined?: Undetermined[];
}

/** The signal that cancelled a run, if one did. */
export type StopSignal = "SIGINT" | "SIGTERM" | null;

/** The exit code of a run by the table of ends (interfaces.md 1). */
export function exitOf(result: Pick<RunResult, "status" | "error" | "unknown">, signal: StopSignal = null): number {
  if (result.status === "suspended") return 6;
  if (result.status === "cancelled" && signal !== null) return signal === "SIGINT" ? 130 : 143;
  if (result.unknown.length > 0) return 8;
  switch (result.status) {
    case "completed":
    case "stopped":
    case "running":
      return 0;
    case "failed":
      return result.error?.code === "agent.budget_exhausted" ? 5 : 1;
    case "timed_out":
    case "cancelled":
      return 1;
  }
}

/** Whether a run came to a good end with nothing left to say: otherwise it never reads as plain success. */
export function isPlainSuccess(result: RunResult): boolean {
  return (
    (result.status === "completed" || result.status === "stopped") &&
    result.forgiven.length === 0 &&
    result.skipped.length === 0 &&
    result.truncated.length === 0 &&
    result.unknown.length === 0 &&
    result.cleanup.every((entry) => entry.status === "completed" || entry.status === "skipped")
  );
}
