/** What a run finds when it goes on under a deployment that has changed since: its policy, its key, its store. */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createEngine, type Engine } from "./engine.ts";

const DEPLOYMENT = `store: ./runs.db
connectors:
  desk:
    stub: ./tools.yaml
    manifest:
      connector: desk
      version: 1.0.0
      actions:
        put: { description: Puts., input: { type: object }, output: { type: object }, effects: write, idempotency: natural }
`;
const TOOLS = "log: ./calls.jsonl\nactions:\n  desk.put: [ { return: {} } ]\n";
const FLOW = `workfile: "1"
name: later
steps:
  - pin: { wf.ask: Which?, returns: { pin: { type: string, sensitive: true, required: true } } }
  - put: { desk.put: { n: 1 } }
`;

let folder = "";
let engine: Engine;
const at = (name: string): string => join(folder, name);
const given = { how: "answered", value: { pin: "canary-pin" }, by: "ana" } as const;
const code = (wanted: string) => ({ fault: { code: wanted } });

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "ambit-today-"));
  mkdirSync(at(".ambit"));
  writeFileSync(at("ambit.yaml"), DEPLOYMENT);
  writeFileSync(at("tools.yaml"), TOOLS);
  writeFileSync(at("a.workfile.yaml"), FLOW);
  engine = await createEngine({ cwd: folder, env: {}, say: () => {} });
});
afterEach(async () => {
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A run that has asked, and another process after it. */
async function parked(): Promise<{ run: string; ask: string }> {
  const run = await engine.start("a.workfile.yaml");
  expect(await run.result()).toMatchObject({ status: "suspended" });
  const [open] = await engine.approvals();
  await again();
  return { run: run.id, ask: open?.id ?? "" };
}

async function again(): Promise<void> {
  await engine.close();
  engine = await createEngine({ cwd: folder, env: {}, say: () => {} });
}

test.each(["deny", "approve"])("a run does not go on with what policy.%s has come to cover", async (list) => {
  const { run, ask } = await parked();
  await engine.answer(ask, given);
  writeFileSync(at("ambit.yaml"), `${DEPLOYMENT}policy: { ${list}: [desk.*] }\n`);
  await again();
  await expect(engine.resume(run)).rejects.toMatchObject(code("tool_not_authorized"));
  expect(existsSync(at("calls.jsonl"))).toBe(false);
  writeFileSync(at("ambit.yaml"), DEPLOYMENT);
  await again();
  expect((await (await engine.resume(run)).result()).status).toBe("completed");
});

describe("sensitive values of a store", () => {
  test("are not sealed with another key while the first is gone", async () => {
    const { run, ask } = await parked();
    await engine.answer(ask, given);
    expect((await (await engine.resume(run)).result()).status).toBe("completed");
    const second = await parked();
    const path = at("runs.db.key");
    renameSync(path, at("saved"));
    await again();
    await expect(engine.answer(second.ask, given)).rejects.toMatchObject(code("store.unavailable"));
    await expect(engine.start("a.workfile.yaml")).rejects.toMatchObject(code("store.unavailable"));
    expect(existsSync(path)).toBe(false);
    renameSync(at("saved"), path);
    await again();
    await engine.answer(second.ask, given);
    expect((await (await engine.resume(second.run)).result()).status).toBe("completed");
  });

  test("are not sealed for a run whose deployment cannot be read, which may have another key", async () => {
    const { run, ask } = await parked();
    writeFileSync(at("ambit.yaml"), `${DEPLOYMENT}nonsense: 1\n`);
    await again();
    await expect(engine.answer(ask, given)).rejects.toMatchObject(code("deployment.invalid"));
    writeFileSync(at("ambit.yaml"), DEPLOYMENT);
    await again();
    await engine.answer(ask, given);
    expect((await (await engine.resume(run)).result()).status).toBe("completed");
  });
});

describe("the store", () => {
  test("is the one of a deployment that is broken elsewhere", async () => {
    const { ask } = await parked();
    writeFileSync(at("ambit.yaml"), `${DEPLOYMENT}nonsense: 1\n`);
    await again();
    expect((await engine.approvals()).map(({ id }) => id)).toEqual([ask]);
    expect(existsSync(at(".ambit/ambit.db"))).toBe(false);
  });

  test("is opened once, however many ask for it at once", async () => {
    const [first, second] = await Promise.all([engine.journal(null), engine.journal(null)]);
    expect(second).toBe(first);
  });

  test("that could not be opened is tried again when it is asked for again", async () => {
    mkdirSync(at("runs.db"));
    await expect(engine.journal(null)).rejects.toMatchObject(code("store.unavailable"));
    rmSync(at("runs.db"), { recursive: true });
    expect((await engine.journal(null)).describe().kind).toBe("sqlite");
  });
});
