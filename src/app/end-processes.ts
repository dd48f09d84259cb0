import type { Clock } from "../base/clock.ts";
import { endProcess } from "../host/processes/child-process.ts";
import type { ChildProcess } from "../journal/journal.ts";

const GRACE = { before: 0, after: 5_000 };

/**
 * Ends the stdio servers of a run whose engine has died, and waits for them, before anything is dispatched: an
 * orphaned server may still be finishing its effect (DU-11). Only processes that are still the recorded ones.
 * True where there were some and all are gone: then their list may be cleared.
 */
export async function endProcesses(processes: readonly ChildProcess[], clock: Clock): Promise<boolean> {
  const gone = await Promise.all(processes.map((child) => endProcess(child, clock, GRACE)));
  return gone.length > 0 && gone.every(Boolean);
}
