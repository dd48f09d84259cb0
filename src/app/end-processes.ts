import { type Clock, sleep } from "../base/clock.ts";
import { isGroupAlive, isProcessAlive } from "../host/stores/process-identity.ts";
import type { ChildProcess } from "../journal/journal.ts";

const GRACE_MS = 5_000;
const LOOK_EVERY_MS = 20;

/**
 * Ends the stdio servers of a run whose engine has died, and waits for them, before anything is dispatched: an
 * orphaned server may still be finishing its effect (DU-11). Only processes that are still the recorded ones.
 * Servers lead a process group of their own, so one that stands behind a shell or `npx` is ended with it.
 */
export async function endProcesses(processes: readonly ChildProcess[], clock: Clock): Promise<void> {
  const found = processes.filter((child) => isProcessAlive(child.pid, child.startTime));
  const living = (): ChildProcess[] =>
    found.filter((child) => isProcessAlive(child.pid, child.startTime) || isGroupAlive(child.pid));
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    for (const child of living()) send(child, signal);
    const until = clock.now() + GRACE_MS;
    while (living().length > 0 && clock.now() < until) await sleep(clock, LOOK_EVERY_MS);
  }
}

function send(child: ChildProcess, signal: NodeJS.Signals): void {
  for (const target of [-child.pid, child.pid]) {
    try {
      process.kill(target, signal);
      return;
    } catch {
      // It leads no group, or has just ended.
    }
  }
}
