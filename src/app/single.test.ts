import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createEngine, type Engine, type EngineRun } from "./engine.ts";

let folder = "";
const engines: Engine[] = [];
const said: string[] = [];

async function engine(store = join(folder, "ambit.db")): Promise<Engine> {
  const made = await createEngine({ cwd: folder, store, deployment: {}, env: {}, say: (line) => said.push(line) });
  engines.push(made);
  return made;
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ambit-single-"));
  said.length = 0;
});
afterEach(async () => {
  for (const made of engines.splice(0)) await made.close();
  rmSync(folder, { recursive: true, force: true });
});

function write(overlap: string, steps: string, single = "{{ inputs.of }}"): void {
  writeFileSync(
    join(folder, "a.workfile.yaml"),
    `workfile: "1"
name: a
inputs: { of: { type: string, default: x }, token: { type: string, sensitive: true, default: secret-token }, list: { type: any, default: [] } }
single: "${single}"
overlap: ${overlap}
steps: [ ${steps} ]
`,
  );
}

const ASK = "{ ok: { wf.ask: Go? } }";
const SHORT = "{ pause: { wf.wait: 150ms } }";
const busy = (run: string) => ({ exit: 9, fault: { code: "run.busy", details: { run } } });

/** Resolves once a line was said that fits. */
async function line(pattern: RegExp): Promise<void> {
  while (!said.some((text) => pattern.test(text))) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function status(run: EngineRun): Promise<string> {
  return (await run.result()).status;
}

describe.each(["sqlite", "memory"])("single, on %s", (kind) => {
  const open = (): Promise<Engine> => (kind === "memory" ? engine("memory") : engine());

  test("skip: another start of the value is refused as long as the run is open, parked time included", async () => {
    write("skip", ASK);
    const one = await open();
    const first = await one.start("a.workfile.yaml");
    await expect(one.start("a.workfile.yaml")).rejects.toMatchObject(busy(first.id));
    expect(await status(first)).toBe("suspended");
    await expect(one.start("a.workfile.yaml")).rejects.toMatchObject(busy(first.id));
    const other = await one.start("a.workfile.yaml", { inputs: { of: "y" } });
    expect(await status(other)).toBe("suspended");
    await one.cancel(first.id, "ana", false);
    expect(await status(await one.start("a.workfile.yaml"))).toBe("suspended");
  });

  test("queue: starts run one after the other, the first one first", async () => {
    write("queue", SHORT);
    const one = await open();
    const first = await one.start("a.workfile.yaml");
    const ended: string[] = [];
    const started = ["b", "c", "d"].map(async (runId, i) => {
      await new Promise((resolve) => setTimeout(resolve, i * 20));
      const run = await one.start("a.workfile.yaml", { runId });
      expect((await (await one.journal(null)).list({ status: "running", limit: 9 })).length).toBe(1);
      await run.result();
      ended.push(runId);
    });
    await first.result();
    await Promise.all(started);
    expect(ended).toEqual(["b", "c", "d"]);
    expect(said[0]).toBe(`Waits for run ${first.id}.`);
  });

  test("queue: at most a hundred wait; who leaves makes room", async () => {
    write("queue", ASK);
    const one = await open();
    await (await one.start("a.workfile.yaml")).result();
    const stop = new AbortController();
    const waiting = Array.from({ length: 100 }, () =>
      one.start("a.workfile.yaml", { signal: stop.signal }).catch((error: unknown) => error),
    );
    const journal = await one.journal(null);
    await line(/parked/);
    while (said.length < 100) await new Promise((resolve) => setTimeout(resolve, 5));
    await expect(one.start("a.workfile.yaml")).rejects.toMatchObject({
      fault: { code: "run.busy", details: { waiting: 100 } },
    });
    stop.abort();
    for (const refused of await Promise.all(waiting)) expect(refused).toMatchObject({ fault: { code: "run.busy" } });
    expect((await journal.list({ limit: 9 })).length).toBe(1);
    const next = new AbortController();
    const again = one.start("a.workfile.yaml", { signal: next.signal }).catch(() => "left");
    next.abort();
    expect(await again).toBe("left");
  });

  test("queue: with --no-wait it is refused at once", async () => {
    write("queue", ASK);
    const one = await open();
    const first = await one.start("a.workfile.yaml");
    await expect(one.start("a.workfile.yaml", { leavesTimers: true })).rejects.toMatchObject(busy(first.id));
  });
});

describe("single", () => {
  test("single I1: of many starts at once, over several engines on one store, one is accepted", async () => {
    write("skip", ASK);
    const made = await Promise.all([engine(), engine(), engine()]);
    const tried = await Promise.all(
      made.flatMap((one) => [1, 2, 3].map(() => one.start("a.workfile.yaml").catch((error: unknown) => error))),
    );
    const accepted = tried.filter((entry) => !(entry instanceof Error)) as EngineRun[];
    expect(accepted.length).toBe(1);
    for (const entry of tried) if (entry instanceof Error) expect(entry).toMatchObject({ fault: { code: "run.busy" } });
    expect(await status(accepted[0] as EngineRun)).toBe("suspended");
  });

  test("single I2: what waits is in no list, and its record says the value", async () => {
    write("queue", SHORT);
    const one = await engine();
    const first = await one.start("a.workfile.yaml");
    const second = one.start("a.workfile.yaml", { runId: "second" });
    await line(/Waits/);
    const journal = await one.journal(null);
    expect((await journal.list({ limit: 9 })).map(({ run }) => run)).toEqual([first.id]);
    await (await second).result();
    const [accepted] = await journal.read("second", 1, 1);
    expect(accepted?.body["single"]).toBe("x");
    expect(await one.replay("second")).toMatchObject({ is: "equal" });
  });

  test("another workflow of the same value is another matter", async () => {
    write("skip", ASK);
    const one = await engine();
    await one.start("a.workfile.yaml");
    writeFileSync(join(folder, "b.workfile.yaml"), `workfile: "1"\nname: b\nsingle: x\nsteps: [ ${ASK} ]\n`);
    expect(await status(await one.start("b.workfile.yaml"))).toBe("suspended");
  });

  test.each([
    ["{{ inputs.token }}", /sensitive/],
    ["{{ inputs.list }}", /text is needed/],
    ["{{ inputs.list.nothing }}", /single: /],
  ])("%s is no value of it", async (single, why) => {
    write("skip", ASK, single);
    const one = await engine();
    const refused = await one.start("a.workfile.yaml").catch((error: unknown) => error);
    expect(refused).toMatchObject({ exit: 3, fault: { code: "expression.failed" } });
    expect(String(refused)).toMatch(why);
    expect(String(refused)).not.toContain("secret-token");
  });
});
