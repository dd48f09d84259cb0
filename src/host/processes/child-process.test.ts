import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, expect, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { endProcess } from "./child-process.ts";
import { isProcessAlive, startTimeOf } from "./process-identity.ts";

const GRACE = { before: 0, after: 200 };
const left: number[] = [];

afterEach(() => {
  for (const pid of left.splice(0)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended, which is what the test is about.
    }
  }
});

/** A shell that leads a group, and a child of it that does not hear SIGTERM. */
async function group(wait: string): Promise<{ shell: ChildProcess; leader: number; startTime: string; deaf: number }> {
  const child = `${process.execPath} -e 'process.on("SIGTERM", () => {}); console.log(process.pid); setInterval(() => {}, 1000)'`;
  const shell = spawn("sh", ["-c", `${child} & ${wait}`], { detached: true, stdio: ["ignore", "pipe", "ignore"] });
  const leader = shell.pid ?? 0;
  const startTime = startTimeOf(leader);
  const [line] = (await once(shell.stdout, "data")) as [Buffer];
  const deaf = Number(line.toString());
  left.push(leader, deaf);
  return { shell, leader, startTime, deaf };
}

test("DU-11: a server behind a shell has ended when the shell is said to have", async () => {
  const { leader, startTime, deaf } = await group("wait");
  expect(await endProcess({ pid: leader, startTime }, systemClock, GRACE)).toBe(true);
  expect(isProcessAlive(deaf, "")).toBe(false);
});

test("so has one whose shell is gone already", async () => {
  const { shell, leader, startTime, deaf } = await group("wait");
  const gone = once(shell, "exit");
  process.kill(leader, "SIGKILL");
  await gone;
  expect(isProcessAlive(deaf, "")).toBe(true);
  expect(await endProcess({ pid: leader, startTime }, systemClock, GRACE)).toBe(true);
  expect(isProcessAlive(deaf, "")).toBe(false);
});

test.runIf(process.platform === "linux")("a number that another process has now is left alone", async () => {
  const { leader, startTime, deaf } = await group("wait");
  expect(await endProcess({ pid: leader, startTime: `${startTime}1` }, systemClock, GRACE)).toBe(true);
  expect([isProcessAlive(leader, startTime), isProcessAlive(deaf, "")]).toEqual([true, true]);
});
