import { describe, expect, test } from "vitest";
import { root } from "../built/built.ts";
import { clerk, type LedgerSpace, serverSpace, stubSpace } from "./ledger.ts";
import { scene } from "./scene.ts";
import { lives, until } from "./workspace.ts";

const RUN = ["run", "ledger.workfile.yaml", "-i", "item=a-7"];
const KEY = /^wf-agent-v1:[0-9a-f]{64}$/;
const held = scene();

/** Starts a run and kills its engine, by the pid that it tells itself, while the server holds a call of `tool`. */
async function killDuring(space: LedgerSpace, tool: string, run: string): Promise<void> {
  const earlier = space.lines("asked", tool).length;
  space.hold(tool);
  const started = space.start([...RUN, "--run-id", run, "--json"]);
  await until(`a call of ${tool}`, () => (space.lines("asked", tool).length > earlier ? true : null));
  process.kill(await space.owner(run), "SIGKILL");
  expect(await started.done).toMatchObject({ signal: "SIGKILL", code: null });
}

/** No position is written twice for one kind and attempt (DU-02). */
async function expectNothingTwice(space: LedgerSpace, run: string): Promise<void> {
  const events = await space.events(run);
  const keys = events.map(({ position, kind, attempt }) => `${position} ${kind} ${attempt}`);
  expect(new Set(keys).size).toBe(keys.length);
}

describe("SIGKILL while an agent's tool is under way (DU-10, DU-11)", { timeout: 120_000 }, () => {
  test("a read is asked again, what was recorded is not", async () => {
    const space = held(serverSpace(["charge", "look"]));
    const whole = await space.json([...RUN, "--run-id", "whole"]);
    expect(whole.result).toMatchObject({ status: "completed", outputs: { said: "look of a-7" } });
    const before = space.book.length;
    await killDuring(space, "look", "cut");
    space.letGo();

    const resumed = await space.json(["resume", "@last"]);
    expect(resumed.code).toBe(0);
    expect(resumed.result).toMatchObject({ run: "cut", status: "completed", digest: whole.result.digest });
    const asked = space.book.slice(before).filter((line) => line.phase === "asked");
    expect(asked.map((line) => line.tool)).toEqual(["charge", "look", "look"]);
    await expectNothingTwice(space, "cut");
    expect((await space.replay("cut")).report).toMatchObject({ result: "equal", digest: whole.result.digest });
  });

  test("dispatch I3: a keyed effect goes out with one key and happens once", async () => {
    const space = held(serverSpace(["look", "charge"]));
    const whole = await space.json([...RUN, "--run-id", "whole"]);
    const before = space.book.length;
    space.make("early");
    await killDuring(space, "charge", "cut");
    space.letGo();

    const resumed = await space.json(["resume", "@last"]);
    expect(resumed.result).toMatchObject({ run: "cut", status: "completed", digest: whole.result.digest });
    const own = space.book.slice(before);
    expect(own.filter((line) => line.phase === "asked").map((line) => line.tool)).toEqual(["look", "charge", "charge"]);
    const charges = own.filter((line) => line.tool === "charge");
    expect(new Set(charges.map((line) => line.key)).size).toBe(1);
    expect(charges[0]?.key).toMatch(KEY);
    expect(charges.filter((line) => line.phase === "done")).toHaveLength(1);
    expect(charges.filter((line) => line.phase === "deduplicated")).toHaveLength(1);
    await expectNothingTwice(space, "cut");
  });

  test("a server that outlived its engine is ended before anything is dispatched", async () => {
    const space = held(serverSpace(["charge"]));
    await killDuring(space, "charge", "cut");
    await expectOrphanEndedFirst(space);
    expect(space.lines("told to end")).toHaveLength(1);
  });

  test("one that does not listen is killed", async () => {
    const space = held(serverSpace(["charge"]));
    space.make("stubborn");
    await killDuring(space, "charge", "cut");
    await expectOrphanEndedFirst(space);
  });

  test("one that a shell has started is found", async () => {
    const space = held(serverSpace(["charge"]));
    const line = `node ${root}/test/faults/ledger-server.mjs ${space.folder}; true`;
    space.write({
      "ambit.yaml": space
        .read("ambit.yaml")
        .replace(/mcp: .*/, `mcp: ${JSON.stringify({ command: "sh", args: ["-c", line] })}`),
    });
    await killDuring(space, "charge", "cut");
    await expectOrphanEndedFirst(space);
  });

  /** Resumes; the server of before is gone, and had no effect, before another one is asked. */
  async function expectOrphanEndedFirst(space: LedgerSpace): Promise<void> {
    const orphan = space.lines("asked", "charge")[0]?.pid ?? 0;
    expect(lives(orphan)).toBe(true);
    const resuming = space.start(["resume", "cut", "--json"]);
    await until("the end of the orphan", () => (lives(orphan) ? null : true));
    const { book } = space;
    expect(book.filter((line) => line.pid !== orphan && line.phase === "asked")).toEqual([]);
    space.letGo();
    expect((await resuming.done).code).toBe(0);
    expect(space.book.slice(book.length).every((line) => line.pid !== orphan)).toBe(true);
    expect(space.lines("done", "charge")).toHaveLength(1);
  }

  test("dispatch I2: a write without a key is unknown and never dispatched again", async () => {
    const space = held(serverSpace(["look", "send"]));
    await killDuring(space, "send", "cut");
    space.letGo();

    const resumed = await space.json(["resume", "@last"]);
    expect(resumed.code).toBe(8);
    expect(resumed.result.status).toBe("failed");
    expect(resumed.result.unknown).toEqual([
      { position: "settle.(tools)[1]", action: "ledger.send", code: "executor_lost" },
    ]);
    expect(space.lines("asked", "send")).toHaveLength(1);

    const before = await space.events("cut");
    const again = await space.json(["resume", "@last"]);
    expect(again.code).toBe(8);
    expect(again.result).toEqual(resumed.result);
    expect(await space.events("cut")).toEqual(before);
    expect(space.lines("asked", "send")).toHaveLength(1);
    expect((await space.replay("cut")).report).toMatchObject({ result: "equal", digest: resumed.result.digest });
  });
});

describe("HO-11: the engine dies after the charge and before its result is recorded", { timeout: 120_000 }, () => {
  const charges = (kills: number): string => `actions:
  ledger.charge:
    - { times: ${kills}, kill: after, return: { done: charge, of: a-7 } }
`;

  test("twice in a row: one charge, one key, and another charge has another key", async () => {
    const space = held(stubSpace(clerk("charge", "charge"), charges(2)));
    expect((await space.ambit([...RUN, "--json"])).signal).toBe("SIGKILL");
    expect((await space.ambit(["resume", "@last", "--json"])).signal).toBe("SIGKILL");
    const third = await space.json(["resume", "@last"]);
    expect(third.code).toBe(0);
    expect(third.result).toMatchObject({ status: "completed", outputs: { said: "charge of a-7" } });

    const dispatched = space.calls.filter((call) => call.phase === "dispatched");
    const keys = [...new Set(dispatched.map((call) => call.key))];
    expect(keys).toHaveLength(2);
    for (const key of keys) expect(key).toMatch(KEY);
    expect(dispatched.map((call) => call.position)).toEqual([
      "settle.(tools)[0]",
      "settle.(tools)[0]",
      "settle.(tools)[0]",
      "settle.(tools)[1]",
    ]);
    const done = space.calls.filter((call) => call.phase === "done");
    expect(done.map((call) => call.key)).toEqual(keys);
    const resumes = (await space.events("@last")).filter((record) => record.kind === "run.resumed");
    expect(resumes).toHaveLength(2);
    expect((await space.replay("@last")).report).toMatchObject({ result: "equal", digest: third.result.digest });
  });

  test("three times at one position: the run is parked, and says how to go on (DU-13)", async () => {
    const space = held(stubSpace(clerk("charge"), charges(3)));
    expect((await space.ambit([...RUN, "--run-id", "cut"])).signal).toBe("SIGKILL");
    for (let time = 0; time < 2; time++) expect((await space.ambit(["resume", "cut"])).signal).toBe("SIGKILL");
    const parked = await space.ambit(["resume", "cut"]);
    expect(parked.code).toBe(6);
    expect(parked.stderr).toContain("ambit resume cut");
    const shown = await space.show("cut");
    expect(shown).toMatchObject({ status: "suspended", owner: null });
    expect(shown.waiting).toMatchObject([{ position: "settle.(tools)[0]", reason: "stuck" }]);
    expect(space.calls.filter((call) => call.phase === "dispatched")).toHaveLength(3);

    const resumed = await space.json(["resume", "cut"]);
    expect(resumed).toMatchObject({ code: 0, result: { status: "completed" } });
    expect(space.calls.filter((call) => call.phase === "done")).toHaveLength(1);
    expect((await space.replay("cut")).report).toMatchObject({ result: "equal", digest: resumed.result.digest });
  });

  test("a key that the agent brings along is refused before dispatch", async () => {
    const forged = `wf-agent-v1:${"0".repeat(64)}`;
    const script = clerk("charge").replace(
      "      turns:\n",
      `      turns:\n        - { call: ledger.charge, with: { item: a-7, key: "${forged}" } }\n`,
    );
    const tools = "actions:\n  ledger.charge: [ { return: { done: charge, of: a-7 } } ]\n";
    const space = held(stubSpace(script.replaceAll("results[0]", "results[1]"), tools));
    const done = await space.json(RUN);
    expect(done.result.status).toBe("completed");
    expect(space.calls.filter((call) => call.phase === "dispatched").map((call) => call.key)).not.toContain(forged);
    const turn = (await space.events("@last")).find((record) => record.position === "settle.(turns)[0]");
    expect(turn?.body["calls"]).toMatchObject([{ verdict: "refused", code: "agent.reserved_key", key: null }]);
  });
});
