import { describe, expect, test } from "vitest";
import { scene } from "./scene.ts";
import { until, Workspace } from "./workspace.ts";

const held = scene();

const FLOW = `workfile: "1"
name: one
inputs: { pause: { type: string, required: true } }
single: "the same"
overlap: queue
steps: [ { pause: { wf.wait: "{{ inputs.pause }}" } } ]
`;

function space(): Workspace {
  return held(new Workspace({ "a.workfile.yaml": FLOW }));
}

const run = (id: string, pause: string): string[] => ["run", "a.workfile.yaml", "-i", `pause=${pause}`, "--run-id", id];

describe("processes that wait for one value of single (DU-17)", { timeout: 120_000 }, () => {
  test("single I3: the run of a killed owner keeps it until somebody has ended it; then the next one has its turn", async () => {
    const folder = space();
    const first = folder.start(run("first", "1h"));
    const pid = await folder.owner("first");
    const waiting = folder.start([...run("second", "1ms"), "--json"]);
    await until("somebody who waits", async () => ((await places(folder)) === 1 ? true : null));
    process.kill(pid, "SIGKILL");
    expect((await first.done).signal).toBe("SIGKILL");
    // It is parked, in effect: whoever starts is told of it, and nothing else of the value is accepted.
    const refused = await folder.json([...run("third", "1ms"), "--no-wait"]);
    expect(refused.code).toBe(9);
    expect(refused.refused.error).toMatchObject({ code: "run.busy", details: { run: "first" } });
    expect(refused.refused.error.message).toMatch(/its process is gone: `ambit resume first`/);
    expect((await folder.ambit(["cancel", "first"])).code).toBe(0);
    const second = await waiting.done;
    expect(second.code, second.stderr).toBe(0);
    expect(second.stderr).toMatch(/Waits for run first\./);
    expect(second.stderr).toMatch(/Waits for run first, whose process is gone/);
    expect(await places(folder)).toBe(0);
  });

  test("who is killed while it waits stands in nobody's way and leaves no run behind", async () => {
    const folder = space();
    const first = folder.start(run("first", "4s"));
    await folder.owner("first");
    const second = folder.start(run("second", "1ms"));
    await until("a second", async () => ((await places(folder)) === 1 ? true : null));
    const third = folder.start(run("third", "1ms"));
    await until("a third", async () => ((await places(folder)) === 2 ? true : null));
    second.kill("SIGKILL");
    await second.done;
    expect((await first.done).code).toBe(0);
    const done = await third.done;
    expect(done.code, done.stderr).toBe(0);
    const { stdout } = await folder.ambit(["runs", "list", "--json"]);
    const { runs } = JSON.parse(stdout) as { runs: { run: string; status: string }[] };
    expect(runs.map(({ run, status }) => `${run} ${status}`).sort()).toEqual(["first completed", "third completed"]);
    expect(await places(folder)).toBe(0);
  });
});

/** How many places of queues the store holds. */
async function places(folder: Workspace): Promise<number> {
  const { DatabaseSync } = await import("@photostructure/sqlite");
  const db = new DatabaseSync(folder.path(".ambit", "ambit.db"), { timeout: 1_000 });
  try {
    const row = db.prepare("SELECT count(*) AS n FROM places").get() as { n: number };
    return row.n;
  } finally {
    db.close();
  }
}
