import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ambit, ensureBuilt, lastJson, startAmbit } from "../built/built.ts";

const folder = mkdtempSync(join(tmpdir(), "ambit-force-"));
const file = "hang.workfile.yaml";

beforeAll(() => {
  ensureBuilt();
  writeFileSync(join(folder, "package.json"), "{}");
  writeFileSync(join(folder, "tools.yaml"), "actions: { work.wait: [ { hang: true } ] }\n");
  writeFileSync(
    join(folder, "ambit.yaml"),
    "connectors: { work: { stub: ./tools.yaml, manifest: { connector: work, version: 1.0.0, actions: { wait: { description: waits, input: { type: object }, effects: read, timeout: 5m } } } } }\n",
  );
  writeFileSync(join(folder, file), 'workfile: "1"\nname: hang\nsteps: [ { w: { work.wait: {} } } ]\n');
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function owner(): Promise<number> {
  for (let i = 0; i < 200; i++) {
    const { stdout } = await ambit(["runs", "show", "--json"], folder);
    const shown = stdout === "" ? {} : lastJson(stdout);
    const { pid } = (shown["owner"] ?? {}) as { pid?: number };
    if (pid !== undefined) return pid;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("the run never had an owner");
}

test("DU-10: cancel --force takes the run from a process that hangs but lives, and ends it", async () => {
  const run = startAmbit(["run", file], folder);
  const pid = await owner();
  process.kill(pid, "SIGSTOP");
  try {
    const cancelled = await ambit(["cancel", "@last", "--force", "--json"], folder);
    expect(cancelled.code).toBe(0);
    expect(lastJson(cancelled.stdout)).toMatchObject({ outcome: "cancelled" });
    const shown = lastJson((await ambit(["runs", "show", "--json"], folder)).stdout);
    expect(shown["status"]).toBe("cancelled");
  } finally {
    process.kill(pid, "SIGCONT");
    run.kill("SIGINT");
  }
  const ended = await run.done;
  // It wakes up to a run that is no longer its own, and says so.
  expect(ended.stderr).not.toMatch(/\n\s+at /);
  expect((await ambit(["replay", "@last"], folder)).code).toBe(0);
}, 60_000);
