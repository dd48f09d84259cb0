import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import { isProcessAlive, ownOwner, startTimeOf } from "../host/processes/process-identity.ts";
import { openSqliteJournal } from "../host/stores/sqlite.ts";
import { History } from "../journal/testing/history.ts";
import { createEngine, type EngineRun } from "./engine.ts";

const folder = mkdtempSync(join(tmpdir(), "ambit-engine-"));
const children: ChildProcess[] = [];

beforeEach(() => mkdirSync(folder, { recursive: true }));

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

test("DU-11: a taker that cannot go on has ended the servers of the run before it gives the run up", async () => {
  const path = join(folder, "ambit.db");
  const server = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { detached: true, stdio: "ignore" });
  children.push(server);
  const pid = server.pid ?? 0;
  const journal = await openSqliteJournal({ path, durability: "process", clock: systemClock });
  // Its records do not fit their definition, so nobody can read the run; its owner is of an earlier boot.
  const { records } = new History("orphaned").accepted().started();
  const broken = records.map((record) => ({ ...record, def: "f".repeat(64) }));
  const lease = await journal.create(broken, { ...ownOwner("dead", "a dead engine"), boot: "an earlier one" });
  await journal.setProcesses(lease, [{ pid, startTime: startTimeOf(pid) }]);

  const engine = await createEngine({ cwd: folder, store: path, deployment: {} });
  await expect(engine.resume("orphaned")).rejects.toMatchObject({ fault: { code: "journal.corrupt" } });
  expect(isProcessAlive(pid, startTimeOf(pid))).toBe(false);
  await engine.close();

  const next = await journal.acquire("orphaned", ownOwner("next", "the next engine"));
  expect(next.processes).toEqual([]);
  await journal.close();
});

/** Held by the compiler alone: the kind of an event tells its body. */
async function narrowed(run: EngineRun): Promise<number> {
  let attempts = 0;
  for await (const event of run.events()) {
    if (event.kind === "agent.ended") attempts += event.body.observed.steps;
    else if (event.kind === "run.suspended") {
      // @ts-expect-error: a suspended run has nothing observed
      event.body.observed.steps;
    }
  }
  return attempts;
}

test("events end with the run; one that is over is given as it is", async () => {
  writeFileSync(join(folder, "a.workfile.yaml"), 'workfile: "1"\nname: a\nsteps:\n  - say: { wf.notify: hi }\n');
  const engine = await createEngine({ cwd: folder, store: "memory", deployment: {} });
  const run = await engine.start("a.workfile.yaml");
  expect(await narrowed(run)).toBe(0);
  expect(run).toMatchObject({ isOver: false, seq: (await run.result()).counts.events });
  const again = await engine.resume(run.id);
  expect(again).toMatchObject({ isOver: true, seq: run.seq });
  await engine.close();
});
