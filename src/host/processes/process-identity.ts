/**
 * Who a process is, so that a living owner of a run can be told from a dead one (DU-08, DU-10).
 *
 * A pid alone says nothing: it is used again. Pid and kernel start time, within one boot and one pid namespace,
 * name a process.
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { Owner } from "../../journal/journal.ts";

export interface ProcessIdentity {
  pid: number;
  /** "" where the platform does not tell. */
  startTime: string;
  boot: string;
  pidNamespace: string;
}

/** What is seen of a pid: its start time and whether it still runs. */
type Seen = { startTime: string; zombie: boolean } | null;

let own: ProcessIdentity | undefined;

/** This process. Asked once. */
export function ownIdentity(): ProcessIdentity {
  own ??= {
    pid: process.pid,
    startTime: startTimeOf(process.pid),
    boot: bootId(),
    pidNamespace: namespaceId(),
  };
  return own;
}

/** This process as an owner of runs. */
export function ownOwner(id: string, label: string): Owner {
  return { id, label, ...ownIdentity() };
}

/** Kernel start time of a living process; "" where there is none or the platform does not tell. */
export function startTimeOf(pid: number): string {
  return look(pid)?.startTime ?? "";
}

/**
 * Whether the process of that pid and start time lives. A zombie is dead: it has ended and does nothing more.
 * An empty start time matches any.
 */
export function isProcessAlive(pid: number, startTime: string): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  const seen = look(pid);
  if (seen === null || seen.zombie) return false;
  return startTime === "" || seen.startTime === "" || seen.startTime === startTime;
}

/** Whether an owner lives; null for one in another pid namespace, whose pid says nothing here. */
export function isAlive(owner: Owner): boolean | null {
  const me = ownIdentity();
  if (owner.boot !== me.boot) return false;
  if (owner.pidNamespace !== me.pidNamespace) return null;
  return isProcessAlive(owner.pid, owner.startTime);
}

/** Whether anything but zombies is left in the process group that a process led. */
export function isGroupAlive(leader: number): boolean {
  if (!Number.isSafeInteger(leader) || leader <= 1 || !reachable(-leader)) return false;
  if (process.platform !== "linux") return true;
  return readdirSync("/proc").some((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1");
      const [state, , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return Number(group) === leader && state !== "Z" && state !== "X";
    } catch {
      return false;
    }
  });
}

function look(pid: number): Seen {
  return process.platform === "linux" ? lookInProc(pid) : lookByPs(pid);
}

function lookInProc(pid: number): Seen {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return null;
  }
  return readStat(stat);
}

/** Reads the state and the start time off a line of `/proc/PID/stat`. */
export function readStat(stat: string): Seen {
  // The second field is the command in brackets and may hold blanks and brackets itself.
  const rest = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const state = rest[0] ?? "";
  return { startTime: rest[19] ?? "", zombie: state === "Z" || state === "X" };
}

function lookByPs(pid: number): Seen {
  try {
    const line = execFileSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      timeout: 5_000,
      env: { ...process.env, LC_ALL: "C", TZ: "UTC" },
    }).trim();
    const blank = line.search(/\s/);
    if (blank < 0) return null;
    return { startTime: line.slice(blank).trim(), zombie: line.startsWith("Z") };
  } catch {
    // No such process, or no `ps`: then the signal alone decides.
    return reachable(pid) ? { startTime: "", zombie: false } : null;
  }
}

function reachable(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function bootId(): string {
  try {
    if (process.platform === "linux") return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const text = execFileSync("sysctl", ["-n", "kern.boottime"], { encoding: "utf8", timeout: 5_000 });
    return /sec = (\d+)/.exec(text)?.[1] ?? "";
  } catch {
    return "";
  }
}

function namespaceId(): string {
  try {
    return process.platform === "linux" ? readlinkSync("/proc/self/ns/pid") : "";
  } catch {
    return "";
  }
}
