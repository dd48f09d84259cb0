import { type Clock, sleep } from "../base/clock.ts";
import { isProcessAlive } from "../host/stores/process-identity.ts";
import type { ChildProcess } from "../journal/journal.ts";

const GRACE_MS = 5_000;
const LOOK_EVERY_MS = 20;

/**
 * Ends the stdio servers of a run whose engine has died, and waits for them, before anything is dispatched: an
 * orphaned server may still be finishing its effect (DU-11). Only processes that are still the recorded ones.
 */
export async function endProcesses(processes: readonly ChildProcess[], clock: Clock): Promise<void> {
  const living = (): ChildProcess[] => processes.filter((child) => isProcessAlive(child.pid, child.startTime));
  signalAll(living(), "SIGTERM");
  const until = clock.now() + GRACE_MS;
  while (living().length > 0 && clock.now() < until) await sleep(clock, LOOK_EVERY_MS);
  signalAll(living(), "SIGKILL");
  const last = clock.now() + GRACE_MS;
  while (living().length > 0 && clock.now() < last) await sleep(clock, LOOK_EVERY_MS);
}

function signalAll(processes: readonly ChildProcess[], signal: NodeJS.Signals): void {
  for (const child of processes) {
    try {
      process.kill(child.pid, signal);
    } catch {
      // It has just ended.
    }
  }
}
