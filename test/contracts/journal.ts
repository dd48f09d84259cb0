/** What every store must do: run over each implementation of the port `journal/journal.ts`. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Refusal } from "../../src/errors/fault.ts";
import type { RunRecord } from "../../src/journal/event.ts";
import type { Journal, Owner } from "../../src/journal/journal.ts";
import { changed, did, History } from "../../src/journal/testing/history.ts";

export interface Harness {
  journal: Journal;
  end(): Promise<void>;
}

export function owner(id: string): Owner {
  return { id, pid: 4242, startTime: "77", boot: "boot", pidNamespace: "pid:[1]", label: `test ${id}` };
}

/** The code of the refusal that a promise ends in. */
export async function refusal(promise: Promise<unknown>): Promise<Refusal> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

export async function codeOf(promise: Promise<unknown>): Promise<string> {
  return (await refusal(promise)).code;
}

/** Resolves once `condition` holds; the test's own deadline bounds it. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

/** A run of three records: accepted, started, one call. */
export function shortRun(run: string): History {
  return new History(run)
    .accepted()
    .started()
    .call("find", { accounts: ["a-1"] });
}

export function journalContract(name: string, make: () => Promise<Harness>): void {
  describe(`${name}: the contract of a store`, () => {
    let harness: Harness;
    let journal: Journal;

    beforeEach(async () => {
      harness = await make();
      journal = harness.journal;
    });
    afterEach(() => harness.end());

    const part = (history: History, from: number, to?: number): RunRecord[] => history.records.slice(from, to);

    test("runs that have an effect of unknown outcome are found without the others being read", async () => {
      const history = shortRun("r2").callUnknown("pay", "lost");
      await journal.create(shortRun("r1").records, owner("a"));
      await journal.create(history.records, owner("a"));
      await journal.create(shortRun("r3").records, owner("a"));
      const found = await journal.list({ unknown: true, limit: 9 });
      expect(found.map(({ run }) => run)).toEqual(["r2"]);
      expect(await journal.list({ unknown: true, status: "completed", limit: 9 })).toEqual([]);
      expect((await journal.list({ limit: 9 })).length).toBe(3);
    });

    describe("the key of single (DU-17)", () => {
      const start = (run: string, key: string, place: number | null = null) =>
        journal.create(shortRun(run).records, owner("a"), [], { key, place });

      test("is one run's as long as that is open, whoever owns it, and then free", async () => {
        const history = shortRun("r1");
        const lease = await journal.create(part(history, 0, 2), owner("a"), [], { key: "k", place: null });
        const refused = await refusal(start("r2", "k"));
        expect(refused.fault).toMatchObject({ code: "run.busy", details: { run: "r1" } });
        expect(await codeOf(journal.find("r2"))).toBe("run.unknown");
        await start("r3", "other");
        await journal.release(lease);
        expect(await codeOf(start("r2", "k"))).toBe("run.busy");
        const again = await journal.acquire("r1", owner("b"));
        await journal.append(again.lease, history.ended("completed").records.slice(2));
        await start("r2", "k");
        expect((await journal.find("r2")).run).toBe("r2");
      });

      test("goes to those that wait, the first one first; who leaves is passed over", async () => {
        const history = shortRun("r1");
        const lease = await journal.create(part(history, 0, 2), owner("a"), [], { key: "k", place: null });
        const [one, two, three] = [
          await journal.queue("k", owner("a"), 3),
          await journal.queue("k", owner("b"), 3),
          await journal.queue("k", owner("c"), 3),
        ];
        expect(await codeOf(journal.queue("k", owner("d"), 3))).toBe("run.busy");
        expect(await journal.turn("k", two)).toMatchObject({ run: { run: "r1" } });
        await journal.append(lease, history.ended("completed").records.slice(2));
        expect(await journal.turn("k", two)).toEqual({ run: null });
        expect(await codeOf(start("r2", "k", two))).toBe("run.busy");
        expect(await codeOf(start("r2", "k"))).toBe("run.busy");
        await journal.leaveQueue(one);
        expect(await journal.turn("k", two)).toBe("free");
        await start("r2", "k", two);
        expect(await journal.turn("k", three)).toMatchObject({ run: { run: "r2" } });
        await journal.leaveQueue(three);
      });

      test("of starts in the same moment one wins", async () => {
        const tried = await Promise.allSettled(["r1", "r2", "r3", "r4"].map((run) => start(run, "k")));
        expect(tried.filter(({ status }) => status === "fulfilled").length).toBe(1);
        expect((await journal.list({ limit: 9 })).length).toBe(1);
      });
    });

    describe("records", () => {
      test("what was written is read back, in order and whole", async () => {
        const history = shortRun("r1").call(
          "odd",
          JSON.parse('{"__proto__": {"a": 1}, "constructor": "x", "€": "\\u2028"}'),
        );
        const lease = await journal.create(part(history, 0, 2), owner("a"));
        await journal.append(lease, part(history, 2));
        const read = await journal.read("r1", 1, 100);
        expect(JSON.stringify(read)).toBe(JSON.stringify(history.records));
      });

      test("reading begins and ends where it is asked to, and past the end there is nothing", async () => {
        const history = shortRun("r1");
        await journal.create(history.records, owner("a"));
        expect((await journal.read("r1", 2, 1)).map((record) => record.seq)).toEqual([2]);
        expect((await journal.read("r1", 3, 10)).map((record) => record.seq)).toEqual([3]);
        expect(await journal.read("r1", 4, 10)).toEqual([]);
        expect(await codeOf(journal.read("nobody", 1, 1))).toBe("run.unknown");
      });

      test("what lies sealed beside a record is given to who asks for it, and no record shows it", async () => {
        const history = shortRun("r1").call("next", 2);
        const lease = await journal.create(part(history, 0, 2), owner("a"), [{ seq: 1, text: "sealed-1" }]);
        await journal.append(lease, part(history, 2), [{ seq: 4, text: "sealed-4" }]);
        const parts = await Promise.all([1, 2, 3, 4, 5].map((seq) => journal.sealed("r1", seq)));
        expect(parts).toEqual(["sealed-1", null, null, "sealed-4", null]);
        expect(JSON.stringify(await journal.read("r1", 1, 100))).toBe(JSON.stringify(history.records));
        expect(await codeOf(journal.sealed("nobody", 1))).toBe("run.unknown");
      });

      test("of a second write of an identity nothing is kept, what is sealed beside it included", async () => {
        const history = shortRun("r1");
        const third = history.records[2] as RunRecord;
        const lease = await journal.create(part(history, 0, 2), owner("a"));
        await journal.append(lease, [third], [{ seq: 3, text: "first" }]);
        await journal.append(lease, [third], [{ seq: 3, text: "second" }]);
        expect(await journal.sealed("r1", 3)).toBe("first");
      });

      test("what is refused leaves nothing sealed behind", async () => {
        const history = shortRun("r1");
        const lease = await journal.create(part(history, 0, 2), owner("a"));
        const bad = { ...(history.records[2] as RunRecord), run: "r2" };
        expect(await codeOf(journal.append(lease, [bad], [{ seq: 3, text: "x" }]))).toBe("journal.conflict");
        await journal.append(lease, part(history, 2));
        expect(await journal.sealed("r1", 3)).toBeNull();
        await journal.release(lease);
        const again = await journal.acquire("r1", owner("b"));
        expect(await codeOf(journal.append(lease, [{ ...bad, run: "r1", seq: 4 }], [{ seq: 4, text: "x" }]))).toBe(
          "run.owned",
        );
        expect(await journal.sealed("r1", 4)).toBeNull();
        await journal.release(again.lease);
      });

      test("what a caller does to a record afterwards changes nothing", async () => {
        const history = shortRun("r1");
        await journal.create(history.records, owner("a"));
        const before = JSON.stringify(await journal.read("r1", 1, 10));
        for (const record of history.records) record.body["value"] = "changed";
        expect(JSON.stringify(await journal.read("r1", 1, 10))).toBe(before);
      });

      test("DU-02: an identity is written once; the same again is nothing, other content is a conflict", async () => {
        const history = shortRun("r1");
        const lease = await journal.create(history.records, owner("a"));
        const third = history.records[2] as RunRecord;
        await journal.append(lease, [{ ...third, at: "2026-05-05T00:00:00.000Z" }]);
        expect(await codeOf(journal.append(lease, [changed(third, { value: "other" })]))).toBe("journal.conflict");
        expect(await codeOf(journal.append(lease, [{ ...third, seq: 4, body: { other: 1 } }]))).toBe(
          "journal.conflict",
        );
        await journal.append(lease, [{ ...third, seq: 4 }]);
        expect(await journal.read("r1", 1, 10)).toEqual(history.records);
      });

      test("numbers follow each other without a gap", async () => {
        const history = shortRun("r1").call("more", 1);
        const lease = await journal.create(part(history, 0, 2), owner("a"));
        expect(await codeOf(journal.append(lease, part(history, 3)))).toBe("journal.conflict");
        expect((await journal.read("r1", 1, 10)).length).toBe(2);
      });

      test("of a batch with a conflict nothing stays, and others asked for in the same turn are kept", async () => {
        const one = shortRun("r1").call("x", 1);
        const two = shortRun("r2").call("y", 2);
        const first = await journal.create(part(one, 0, 3), owner("a"));
        const second = await journal.create(part(two, 0, 3), owner("a"));
        const bad = [one.records[3] as RunRecord, { ...changed(one.records[2] as RunRecord, { value: 9 }), seq: 5 }];
        const refused = codeOf(journal.append(first, bad));
        const kept = journal.append(second, part(two, 3));
        expect(await refused).toBe("journal.conflict");
        await kept;
        expect((await journal.read("r1", 1, 10)).length).toBe(3);
        expect((await journal.read("r2", 1, 10)).length).toBe(4);
      });

      test("an identity twice in one batch is a conflict", async () => {
        const history = shortRun("r1").call("x", 1);
        const lease = await journal.create(part(history, 0, 3), owner("a"));
        const twice = [history.records[3] as RunRecord, { ...(history.records[3] as RunRecord), seq: 5 }];
        expect(await codeOf(journal.append(lease, twice))).toBe("journal.conflict");
      });

      test("a record of another run or definition is refused", async () => {
        const history = shortRun("r1").call("x", 1);
        const lease = await journal.create(part(history, 0, 3), owner("a"));
        const next = history.records[3] as RunRecord;
        expect(await codeOf(journal.append(lease, [{ ...next, run: "r2" }]))).toBe("journal.conflict");
        expect(await codeOf(journal.append(lease, [{ ...next, def: "f".repeat(64) }]))).toBe("journal.conflict");
        await journal.append(lease, [next]);
      });

      test("appends of one turn of the event loop keep their order", async () => {
        const history = shortRun("r1");
        for (let i = 0; i < 20; i++) history.call(`s${i}`, i);
        const lease = await journal.create(part(history, 0, 3), owner("a"));
        await Promise.all(part(history, 3).map((record) => journal.append(lease, [record])));
        expect(await journal.read("r1", 1, 100)).toEqual(history.records);
      });
    });

    describe("owners", () => {
      test("DU-08: a run has one owner, and a refusal names it", async () => {
        const history = shortRun("r1");
        await journal.create(history.records, owner("first"));
        for (const asked of [
          journal.acquire("r1", owner("second")),
          journal.create(history.records, owner("second")),
        ]) {
          const refused = await refusal(asked);
          expect(refused.code).toBe("run.owned");
          expect(refused.message).toContain("test first");
          expect(refused.fault.details).toMatchObject({ pid: 4242, label: "test first" });
          expect(refused.fault.details["since"]).toMatch(/^\d{4}-/);
        }
        expect((await journal.find("r1")).owner?.id).toBe("first");
      });

      test("the same engine does not take a run twice either", async () => {
        await journal.create(shortRun("r1").records, owner("first"));
        expect(await codeOf(journal.acquire("r1", owner("first")))).toBe("run.owned");
      });

      test("a run that was given up is there for the next one, under a higher epoch", async () => {
        const history = shortRun("r1").call("x", 1);
        const lease = await journal.create(part(history, 0, 3), owner("first"));
        await journal.release(lease);
        expect((await journal.find("r1")).owner).toBeNull();
        expect(await codeOf(journal.create(history.records, owner("second")))).toBe("run.exists");
        const taken = await journal.acquire("r1", owner("second"));
        expect(taken.lease.epoch).toBeGreaterThan(lease.epoch);
        await journal.append(taken.lease, part(history, 3));
        expect(await codeOf(journal.acquire("nobody", owner("second")))).toBe("run.unknown");
      });

      test("DU-14, sqlite I1: a lease that was given up or lost adds nothing and gives nothing up", async () => {
        const history = shortRun("r1").call("x", 1);
        const old = await journal.create(part(history, 0, 3), owner("first"));
        await journal.release(old);
        expect(await codeOf(journal.append(old, part(history, 3)))).toBe("run.owned");
        const { lease } = await journal.acquire("r1", owner("second"));
        const refused = await refusal(journal.append(old, part(history, 3)));
        expect(refused.code).toBe("run.owned");
        expect(refused.message).toContain("test second");
        expect(await codeOf(journal.setProcesses(old, []))).toBe("run.owned");
        await journal.release(old);
        expect((await journal.find("r1")).owner?.id).toBe("second");
        await journal.append(lease, part(history, 3));
      });

      test("DU-10: of two takers one wins", async () => {
        const lease = await journal.create(shortRun("r1").records, owner("first"));
        await journal.release(lease);
        const takers = await Promise.allSettled([
          journal.acquire("r1", owner("a")),
          journal.acquire("r1", owner("b")),
          journal.acquire("r1", owner("c")),
        ]);
        expect(takers.filter((taker) => taker.status === "fulfilled").length).toBe(1);
        for (const taker of takers) {
          if (taker.status === "rejected") expect((taker.reason as Refusal).code).toBe("run.owned");
        }
      });
    });

    describe("child processes", () => {
      const servers = [{ pid: 4001, startTime: "12" }];

      test("DU-11: the list of a run that is not over outlives every owner, until one writes another", async () => {
        const history = shortRun("r1").add("run.suspended", "", { reason: "ask", positions: ["find"] });
        const first = await journal.create(part(history, 0, 3), owner("first"));
        await journal.setProcesses(first, servers);
        await journal.release(first);
        const second = await journal.acquire("r1", owner("second"));
        expect(second.processes).toEqual(servers);
        // This one gives up before it has ended any of them.
        await journal.append(second.lease, part(history, 3));
        await journal.release(second.lease);
        const third = await journal.acquire("r1", owner("third"));
        expect(third.processes).toEqual(servers);
        await journal.setProcesses(third.lease, []);
        await journal.release(third.lease);
        expect((await journal.acquire("r1", owner("fourth"))).processes).toEqual([]);
      });

      test("a run that has ended lists nothing any more", async () => {
        const history = shortRun("r1").ended("completed");
        const lease = await journal.create(part(history, 0, 3), owner("first"));
        await journal.setProcesses(lease, servers);
        await journal.append(lease, part(history, 3));
        await journal.release(lease);
        expect((await journal.acquire("r1", owner("second"))).processes).toEqual([]);
      });
    });

    describe("heads", () => {
      test("the status follows the records", async () => {
        const history = shortRun("r1")
          .add("run.suspended", "", { reason: "ask", positions: ["find"] })
          .add("run.resumed", "", { by: "person", redispatched: [] })
          .ended("timed_out");
        const lease = await journal.create(part(history, 0, 3), owner("a"));
        const seen: string[] = [];
        for (const record of part(history, 3)) {
          seen.push((await journal.find("r1")).status);
          await journal.append(lease, [record]);
        }
        const head = await journal.find("r1");
        expect([...seen, head.status]).toEqual(["running", "suspended", "running", "timed_out"]);
        expect(head).toMatchObject({
          run: "r1",
          name: "sample",
          records: 6,
          createdAt: history.records[0]?.at,
          updatedAt: history.records[5]?.at,
        });
      });

      test("the list is newest first, filtered and cut", async () => {
        await journal.import(shortRun("r1").ended("completed").records);
        await journal.import(new History("r2").accepted({ name: "other" }).ended("failed").records);
        await journal.import(shortRun("r3").records);
        const runs = async (filter: Parameters<Journal["list"]>[0]): Promise<string[]> =>
          (await journal.list(filter)).map((head) => head.run);
        expect(await runs({ limit: 10 })).toEqual(["r3", "r2", "r1"]);
        expect(await runs({ limit: 2 })).toEqual(["r3", "r2"]);
        expect(await runs({ limit: 10, status: "completed" })).toEqual(["r1"]);
        expect(await runs({ limit: 10, name: "other" })).toEqual(["r2"]);
        expect(await runs({ limit: 10, name: "other", status: "running" })).toEqual([]);
      });

      test("a run is found by id, by prefix, as the last one and as the last that failed", async () => {
        expect(await codeOf(journal.find("@last"))).toBe("run.unknown");
        await journal.import(shortRun("run_a").ended("failed").records);
        await journal.import(shortRun("run_ab").ended("timed_out").records);
        await journal.import(shortRun("run_b%").ended("completed").records);
        expect((await journal.find("run_a")).run).toBe("run_a");
        expect((await journal.find("run_b")).run).toBe("run_b%");
        expect((await journal.find("@last")).run).toBe("run_b%");
        expect((await journal.find("@failed")).run).toBe("run_ab");
        for (const none of ["", "x", "%", "run_a%", "run_abc", "@first"]) {
          expect(await codeOf(journal.find(none)), none).toBe("run.unknown");
        }
        const ambiguous = await refusal(journal.find("run_"));
        expect(ambiguous.code).toBe("run.unknown");
        expect(ambiguous.fault.details["matches"]).toEqual(["run_a", "run_ab", "run_b%"]);
      });
    });

    describe("import", () => {
      test("DU-23: an imported run is complete and has no owner", async () => {
        const history = shortRun("r1").add("run.suspended", "", { reason: "ask", positions: [] });
        await journal.import(history.records);
        expect(await journal.find("r1")).toMatchObject({ status: "suspended", owner: null });
        const { lease } = await journal.acquire("r1", owner("a"));
        history.add("run.resumed", "", { by: "person", redispatched: [] });
        await journal.append(lease, part(history, 4));
        expect(await journal.read("r1", 1, 10)).toEqual(history.records);
        await journal.release(lease);
        expect(await codeOf(journal.import(history.records))).toBe("run.exists");
      });

      test("a history with a gap, without a beginning, or of two runs is damaged", async () => {
        const { records } = shortRun("r1");
        expect(await codeOf(journal.import([]))).toBe("journal.corrupt");
        expect(await codeOf(journal.import(records.slice(1)))).toBe("journal.corrupt");
        expect(await codeOf(journal.import(records.filter((record) => record.seq !== 2)))).toBe("journal.corrupt");
        expect(await codeOf(journal.import(records.map((r) => (r.seq === 3 ? { ...r, run: "r2" } : r))))).toBe(
          "journal.corrupt",
        );
        expect(await codeOf(journal.find("r1"))).toBe("run.unknown");
      });

      test("a history that has a record twice is damaged", async () => {
        const { records } = shortRun("r1");
        const twice = [...records, { ...(records[1] as RunRecord), seq: records.length + 1 }];
        expect(await codeOf(journal.import(twice))).toBe("journal.corrupt");
        expect(await codeOf(journal.create(twice, owner("a")))).toBe("journal.conflict");
        expect(await codeOf(journal.find("r1"))).toBe("run.unknown");
      });
    });

    describe("requests", () => {
      test("what is posted is read in order, after what was read before", async () => {
        await journal.import(shortRun("r1").records);
        await journal.import(shortRun("r2").records);
        await journal.post({ run: "r1", verb: "cancel", by: "ana", body: {} });
        await journal.post({ run: "r2", verb: "cancel", by: "ben", body: {} });
        await journal.post({ run: "r1", verb: "answer", by: "cem", body: { value: { ok: true } } });
        const all = await journal.requests("r1", 0);
        expect(all.map(({ verb, by, body }) => ({ verb, by, body }))).toEqual([
          { verb: "cancel", by: "ana", body: {} },
          { verb: "answer", by: "cem", body: { value: { ok: true } } },
        ]);
        expect((await journal.requests("r1", all[0]?.id ?? 0)).map((request) => request.verb)).toEqual(["answer"]);
        expect(await codeOf(journal.post({ run: "r3", verb: "cancel", by: "x", body: {} }))).toBe("run.unknown");
      });

      test("a change made through the same process wakes the watcher, until it stops", async () => {
        await journal.import(shortRun("r1").records);
        let woken = 0;
        const watch = journal.watch(() => woken++);
        await journal.post({ run: "r1", verb: "cancel", by: "ana", body: {} });
        await until(() => woken > 0);
        const lease = (await journal.acquire("r1", owner("a"))).lease;
        woken = 0;
        await journal.append(lease, [shortRun("r1").call("x", 1).records[3] as RunRecord]);
        await until(() => woken > 0);
        watch.stop();
        woken = 0;
        await journal.post({ run: "r1", verb: "cancel", by: "ana", body: {} });
        await new Promise((resolve) => setTimeout(resolve, 60));
        expect(woken).toBe(0);
      });
    });

    test("trails are kept", async () => {
      const history = new History("r1").accepted();
      for (const position of ["a", "d"]) {
        const trail = [did("b", "skipped"), did("c", "handled", { code: "x.y", reason: "because" })];
        history.call(position, 1, {}, { trail });
      }
      const lease = await journal.create(part(history, 0, 2), owner("a"));
      await journal.append(lease, part(history, 2));
      expect((await journal.read("r1", 1, 9)).map((record) => record.trail)).toEqual(
        history.records.map((record) => record.trail),
      );
    });

    test("after close every call is refused, and closing again is nothing", async () => {
      await journal.close();
      await journal.close();
      expect(await codeOf(journal.read("r1", 1, 1))).toBe("store.unavailable");
      expect(await codeOf(journal.create(shortRun("r1").records, owner("a")))).toBe("store.unavailable");
      expect(await codeOf(journal.list({ limit: 1 }))).toBe("store.unavailable");
    });
  });
}
