import { describe, expect, test } from "vitest";
import { lastJson } from "../built/built.ts";
import { clerk, type LedgerSpace, serverSpace, stubSpace } from "./ledger.ts";
import { scene } from "./scene.ts";
import { asEnded, readRecords, until } from "./workspace.ts";

const RUN = ["run", "ledger.workfile.yaml", "-i", "item=a-7", "--json"];
/** A call that lasts until its signal, then says so in the log. */
const HANGS = "actions:\n  ledger.look: [ { hang: true } ]\n  ledger.send: [ { return: { done: send } } ]\n";
/** One that does not hear its signal for longer than a drain grace. */
const DEAF = "actions:\n  ledger.look: [ { hang: { ignore_signal: 30s }, return: { done: look, of: a-7 } } ]\n";
const ANSWERS = "actions:\n  ledger.look: [ { delay: 300ms, return: { done: look, of: a-7 } } ]\n";

const held = scene();

const dispatched = (space: LedgerSpace): Promise<true> =>
  until("a dispatch", () => (space.calls.some((call) => call.phase === "dispatched") ? true : null));

const aborted = (space: LedgerSpace): number => space.calls.filter((call) => call.phase === "aborted").length;

describe("one run has one owner, a store has many (DU-08, DU-44)", { timeout: 150_000 }, () => {
  test("two runs in one folder at once simply work, and so do ten", async () => {
    const space = held(stubSpace(clerk("look"), ANSWERS));
    const two = await Promise.all([space.json(RUN), space.json(RUN)]);
    expect(two.map((done) => done.result.status)).toEqual(["completed", "completed"]);
    const ten = await Promise.all(Array.from({ length: 10 }, (_, i) => space.json([...RUN, "--run-id", `ten-${i}`])));
    for (const done of ten) {
      expect(done.code, done.stdout + done.stderr).toBe(0);
      expect(`${done.stdout}${done.stderr}`).not.toContain("store.locked");
    }
    expect(new Set(ten.map((done) => done.result.digest))).toEqual(new Set([two[0]?.result.digest]));
    const listed = JSON.parse((await space.ambit(["runs", "list", "--json"])).stdout) as {
      runs: { run: string; status: string; owner: unknown }[];
    };
    expect(listed.runs).toHaveLength(12);
    expect(listed.runs.every((run) => run.status === "completed" && run.owner === null)).toBe(true);
  });

  test("a run under way is not taken, and its owner is named", async () => {
    const space = held(stubSpace(clerk("look"), HANGS));
    const started = space.start([...RUN, "--run-id", "mine"]);
    await dispatched(space);
    const [resumed, again] = await Promise.all([
      space.json(["resume", "mine"]),
      space.json([...RUN, "--run-id", "mine"]),
    ]);
    expect(resumed.code).toBe(9);
    expect(resumed.refused).toMatchObject({ type: "refused", exit: 9, error: { code: "run.owned" } });
    expect(resumed.refused.error.message).toContain(String(started.pid));
    expect(again.code).toBe(9);
    expect(again.refused.error.code).toMatch(/^run\.(exists|owned)$/);
    const replayed = await space.replay("mine");
    expect(replayed).toMatchObject({ code: 0, report: { result: "unfinished" } });
    expect((await space.show("mine")).owner?.pid).toBe(started.pid);
    started.kill("SIGTERM");
    expect((await started.done).code).toBe(143);
    // Once it has ended there is nothing to own.
    expect((await space.json(["resume", "mine"])).result.status).toBe("cancelled");
    expect((await space.json([...RUN, "--run-id", "mine"])).refused.error.code).toBe("run.exists");
  });

  test("one that nobody runs any more reads as interrupted, whoever had it", async () => {
    const space = held(stubSpace(clerk("look"), HANGS));
    const started = space.start([...RUN, "--run-id", "dead"]);
    await dispatched(space);
    expect((await space.ambit(["runs", "list"])).stdout).toMatch(/^dead +running/);
    started.kill("SIGKILL");
    await started.done;
    // Taken over without an owner: as one that a process let go of because it could write no more.
    space.write({ "run.jsonl": (await space.ambit(["runs", "export", "dead"])).stdout });
    const elsewhere = ["--store", space.path("moved", "far", "other.db")];
    expect((await space.ambit(["runs", "import", "run.jsonl", ...elsewhere])).code).toBe(0);
    // Its deployment is told from where the store was, and is not there.
    const resumed = await space.json(["resume", "dead", ...elsewhere]);
    expect(resumed).toMatchObject({ code: 4, refused: { error: { code: "deployment.invalid" } } });
    expect(resumed.refused.error.message).toMatch(/moved.*no such file.*--config/);
    for (const store of [[], elsewhere]) {
      const listed = await space.ambit(["runs", "list", ...store]);
      expect(listed.stdout).toMatch(/^dead +interrupted/);
      expect(listed.stderr).toContain("ambit resume");
      const shown = (await space.ambit(["runs", "show", "dead", ...store])).stdout;
      expect(shown).toMatch(/^Interrupted .*ambit resume/m);
      expect(shown).toContain("interrupted");
      expect(shown).not.toMatch(/running/i);
      const json = JSON.parse((await space.ambit(["runs", "show", "dead", "--json", ...store])).stdout);
      expect(json).toMatchObject({ status: "running", interrupted: true });
      const tail = space.start(["runs", "tail", "dead", ...store]);
      await until("the hint", () => (tail.talk().includes("ambit resume dead") ? true : null));
      tail.kill("SIGINT");
      await tail.done;
    }
  });

  test("of two that take over a dead run one wins, and nothing is done twice", async () => {
    const space = held(serverSpace(["charge", "look"]));
    space.hold("charge");
    const started = space.start([...RUN, "--run-id", "dead"]);
    await until("a charge", () => (space.lines("asked").length > 0 ? true : null));
    started.kill("SIGKILL");
    await started.done;
    const takers = [space.start(["resume", "dead", "--json"]), space.start(["resume", "dead", "--json"])];
    // One is refused while the other one works; the server answers only then.
    const first = await Promise.race(takers.map(async (taker) => asEnded(await taker.done)));
    expect(first.code).toBe(9);
    expect(first.refused.error.code).toBe("run.owned");
    space.letGo();
    const ends = await Promise.all(takers.map(async (taker) => asEnded(await taker.done)));
    expect(ends.map((end) => end.code).sort()).toEqual([0, 9]);
    expect(space.lines("done", "charge")).toHaveLength(1);
    const events = await space.events("dead");
    expect(events.filter((record) => record.kind === "run.resumed")).toHaveLength(1);
    expect(events.filter((record) => record.kind === "run.ended")).toHaveLength(1);
  });

  test("ten processes, each killed in turn: every run ends, no charge doubles", async () => {
    const tools = `actions:
  ledger.charge:
    - { times: 10, hang: true }
    - { return: { done: charge, of: a-7 } }
`;
    const space = held(stubSpace(clerk("charge"), tools));
    const runs = Array.from({ length: 10 }, (_, i) => `many-${i}`);
    const started = runs.map((run) => space.start([...RUN, "--run-id", run]));
    await until("ten charges", () => (space.calls.length >= 10 ? true : null));
    for (const run of started) {
      run.kill("SIGKILL");
      expect((await run.done).signal).toBe("SIGKILL");
    }
    const resumed = await Promise.all(runs.map((run) => space.json(["resume", run])));
    expect(resumed.map((done) => [done.code, done.result.status])).toEqual(runs.map(() => [0, "completed"]));
    const keys = space.calls.filter((call) => call.phase === "done").map((call) => call.key);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys).toHaveLength(10);
  });
});

describe("cancel (DU-15, HO-09)", { timeout: 120_000 }, () => {
  test("from another process it reaches the tool, and ends the run", async () => {
    const space = held(stubSpace(clerk("look"), HANGS));
    const started = space.start([...RUN, "--run-id", "mine"]);
    await dispatched(space);
    const asked = await space.ambit(["cancel", "mine", "--json"]);
    expect(asked.code).toBe(0);
    const told = Date.now();
    const done = asEnded(await started.done);
    expect(done.code).toBe(1);
    expect(done.result).toMatchObject({ status: "cancelled", error: null, unknown: [] });
    expect(aborted(space)).toBe(1);
    const events = await space.events("mine");
    const stop = events.find((record) => record.kind === "stop.decided");
    expect(stop?.body).toMatchObject({ cause: "cancel" });
    // By the times of the records, since ending a process takes its own: well within the second that HO-09 allows.
    const heard = Date.parse(space.calls.find((call) => call.phase === "aborted")?.at ?? "");
    expect(heard - told).toBeLessThan(1_000);
    expect(Date.parse(events.at(-1)?.at ?? "") - told).toBeLessThan(1_000);

    for (let again = 0; again < 2; again++) {
      expect((await space.ambit(["cancel", "mine", "--json"])).code).toBe(0);
    }
    expect(await space.events("mine")).toEqual(events);
    expect((await space.replay("mine")).report).toMatchObject({ result: "equal", digest: done.result.digest });
  });

  test("asked for twice it is recorded once", async () => {
    const space = held(serverSpace(["look"]));
    space.hold("look");
    const started = space.start([...RUN, "--run-id", "mine"]);
    await until("a look", () => (space.lines("asked").length > 0 ? true : null));
    const both = await Promise.all([space.ambit(["cancel", "mine"]), space.ambit(["cancel", "mine"])]);
    expect(both.map((done) => done.code)).toEqual([0, 0]);
    space.letGo();
    expect(asEnded(await started.done).result.status).toBe("cancelled");
    const stops = (await space.events("mine")).filter((record) => record.kind === "stop.decided");
    expect(stops).toHaveLength(1);
  });

  test("of a run whose engine is dead it ends it, and what had gone out without a key is unknown", async () => {
    const space = held(serverSpace(["send"]));
    space.hold("send");
    const started = space.start([...RUN, "--run-id", "dead"]);
    await until("a letter", () => (space.lines("asked").length > 0 ? true : null));
    started.kill("SIGKILL");
    await started.done;
    space.letGo();
    const cancelled = await space.ambit(["cancel", "dead", "--json"]);
    expect(cancelled.code, cancelled.stderr).toBe(0);
    expect(lastJson(cancelled.stdout)).toMatchObject({ outcome: "cancelled" });
    const shown = await space.show("dead");
    expect(shown).toMatchObject({ status: "cancelled", owner: null, unknown: [{ code: "executor_lost" }] });
    expect(space.lines("asked", "send")).toHaveLength(1);
    expect((await space.json(["resume", "dead"])).code).toBe(8);
    expect((await space.replay("dead")).report.result).toBe("equal");
  });

  test("Ctrl-C cancels and exits 130", async () => {
    const space = held(stubSpace(clerk("look"), HANGS));
    const started = space.start(RUN);
    await dispatched(space);
    started.kill("SIGINT");
    const done = asEnded(await started.done);
    expect(done).toMatchObject({ code: 130, signal: null, result: { status: "cancelled" } });
    expect(aborted(space)).toBe(1);
  });

  test("a second Ctrl-C waits for nothing", async () => {
    const space = held(stubSpace(clerk("look"), DEAF));
    const started = space.start([...RUN, "--run-id", "mine"]);
    await dispatched(space);
    started.kill("SIGINT");
    await until("a decided stop", async () =>
      (await space.events("mine")).some((record) => record.kind === "stop.decided") ? true : null,
    );
    const told = performance.now();
    started.kill("SIGINT");
    const done = asEnded(await started.done);
    // The first one alone would have waited for the drain grace of 5 s.
    expect(performance.now() - told).toBeLessThan(4_000);
    expect(done).toMatchObject({ code: 130, result: { status: "cancelled" } });
    expect((await space.replay("mine")).report.result).toBe("equal");
  });

  test("a write that a second signal cuts off is unknown", async () => {
    const deaf = DEAF.replace("ledger.look", "ledger.send").replace("done: look", "done: send");
    const space = held(stubSpace(clerk("send"), deaf));
    const started = space.start([...RUN, "--run-id", "mine"]);
    await dispatched(space);
    expect((await space.ambit(["cancel", "mine", "--force"])).code).toBe(0);
    const done = asEnded(await started.done);
    expect(done.result).toMatchObject({ status: "cancelled", unknown: [{ action: "ledger.send" }] });
    expect(done.code).toBe(8);
  });

  test("SIGTERM cancels and exits 143", async () => {
    const space = held(stubSpace(clerk("look"), HANGS));
    const started = space.start(RUN);
    await dispatched(space);
    started.kill("SIGTERM");
    const done = asEnded(await started.done);
    expect(done).toMatchObject({ code: 143, signal: null, result: { status: "cancelled" } });
  });

  test("a deadline is no cancel", async () => {
    const space = held(stubSpace(clerk("look"), HANGS));
    const done = await space.json([...RUN.slice(0, -1), "--deadline", "1s", "--run-id", "late"]);
    expect(done.code).toBe(1);
    expect(done.result).toMatchObject({ status: "timed_out", error: { code: "flow.timeout", position: "" } });
    expect(aborted(space)).toBe(1);
    expect((await space.replay("late")).report).toMatchObject({ result: "equal", digest: done.result.digest });
  });

  test("the deadline counts from the first start, also for one that resumes (DU-12)", async () => {
    const space = held(stubSpace(clerk("look"), HANGS));
    const started = space.start([...RUN, "--deadline", "4s", "--run-id", "late"]);
    await dispatched(space);
    started.kill("SIGKILL");
    await started.done;
    const done = await space.json(["resume", "late"]);
    expect(done.result).toMatchObject({ status: "timed_out", error: { code: "flow.timeout" } });
    const events = readRecords(done.stdout).filter((line) => (line as unknown as { type: string }).type === "event");
    const at = (kind: string): number => Date.parse(events.find((record) => record.kind === kind)?.at ?? "");
    expect(at("stop.decided") - at("run.started")).toBeGreaterThanOrEqual(3_990);
    expect(at("stop.decided") - at("run.started")).toBeLessThan(15_000);
  });
});
