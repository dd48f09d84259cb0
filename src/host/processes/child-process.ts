import { type Clock, sleep } from "../../base/clock.ts";
import { isGroupAlive, isProcessAlive } from "./process-identity.ts";

/** A process of the operating system, told from a later one of the same number by its start time. */
export interface ProcessId {
  pid: number;
  /** Kernel start time; "" where the platform does not tell. */
  startTime: string;
}

export interface EndGrace {
  /** Milliseconds before SIGTERM, and before SIGKILL after it. */
  before: number;
  after: number;
}

const LOOK_AGAIN_MS = 20;
const AFTER_KILL_MS = 2_000;

/**
 * Ends a process and its group, and waits for both: SIGTERM after `grace.before`, SIGKILL `grace.after` later. A
 * server may stand behind a shell or `npx` that ends before it. False if something still runs then (it belongs to
 * somebody else, or hangs in the kernel).
 */
export async function endProcess(child: ProcessId, clock: Clock, grace: EndGrace): Promise<boolean> {
  if (await gone(child, clock, grace.before)) return true;
  signal(child, "SIGTERM");
  if (await gone(child, clock, grace.after)) return true;
  signal(child, "SIGKILL");
  return gone(child, clock, AFTER_KILL_MS);
}

async function gone(child: ProcessId, clock: Clock, within: number): Promise<boolean> {
  const end = clock.now() + within;
  while (lives(child)) {
    const left = end - clock.now();
    if (left <= 0) return false;
    await sleep(clock, Math.min(LOOK_AGAIN_MS, left));
  }
  return true;
}

/** It or its group. The number of a group is given to no other process while one of the group is left. */
function lives(child: ProcessId): boolean {
  if (isProcessAlive(child.pid, child.startTime)) return true;
  const isOther = isProcessAlive(child.pid, "");
  return !isOther && isGroupAlive(child.pid);
}

function signal(child: ProcessId, name: "SIGTERM" | "SIGKILL"): void {
  if (!lives(child)) return;
  // Servers are started as leaders of a group of their own, so that what they started goes with them.
  for (const target of [-child.pid, child.pid]) {
    try {
      process.kill(target, name);
      return;
    } catch {
      // No such group: the process alone.
    }
  }
}
