import { afterEach, describe, expect, test } from "vitest";
import type { Json } from "../../src/base/json.ts";
import type {
  StateAnswer,
  StateCall,
  StateChange,
  StateKey,
  StateStore,
} from "../../src/host/connectors/state-store.ts";

/** What every store of state does. `open` gives another handle of the same state where `isKept`. */
export function stateContract(
  kind: string,
  subject: { make: () => Promise<() => Promise<StateStore>>; isKept: boolean },
) {
  describe(`the state contract: ${kind}`, () => {
    const stores: StateStore[] = [];
    let calls = 0;
    const opened = async (): Promise<StateStore> => {
      const open = await subject.make();
      const store = await open();
      stores.push(store);
      return store;
    };
    afterEach(async () => {
      for (const store of stores.splice(0)) await store.close();
    });
    const at = (key: string, workflow = "triage"): StateKey => ({ workflow, key });
    const fresh = (): StateCall => ({ run: "run-1", position: `step[${calls++}]`, requestKey: null });
    const change = (store: StateStore, key: string, wanted: StateChange, call = fresh()): Promise<StateAnswer> =>
      store.change(at(key), wanted, call);
    const put = (store: StateStore, key: string, value: Json, call = fresh()): Promise<StateAnswer> =>
      change(store, key, { is: "put", value }, call);

    test("keeps what was put, whatever JSON it is", async () => {
      const store = await opened();
      expect(await store.read(at("a"))).toEqual({ found: false, value: null });
      for (const value of [
        null,
        false,
        0,
        -1.5,
        "",
        "ü\u0000🎈",
        [1, [2]],
        { __proto__x: 1, constructor: { a: [] } },
      ]) {
        expect(await put(store, "a", value)).toEqual({ is: "put" });
        expect(await store.read(at("a"))).toEqual({ found: true, value });
      }
    });

    test("workflows do not see each other, nor keys that only look alike", async () => {
      const store = await opened();
      await put(store, "a", 1);
      await store.change(at("a", "other"), { is: "put", value: 2 }, fresh());
      for (const key of ["A", "a ", "__proto__", "constructor", "ä"]) {
        expect(await store.read(at(key))).toEqual({ found: false, value: null });
      }
      expect(await store.read(at("a"))).toEqual({ found: true, value: 1 });
      expect(await store.read(at("a", "other"))).toEqual({ found: true, value: 2 });
    });

    test("adds to what is there, from 0, and to numbers only", async () => {
      const store = await opened();
      expect(await change(store, "n", { is: "add", by: 2 })).toEqual({ is: "added", value: 2 });
      expect(await change(store, "n", { is: "add", by: -2.5 })).toEqual({ is: "added", value: -0.5 });
      await put(store, "t", "1");
      expect(await change(store, "t", { is: "add", by: 1 })).toEqual({ is: "no_number" });
      expect(await store.read(at("t"))).toEqual({ found: true, value: "1" });
      await put(store, "n", Number.MAX_SAFE_INTEGER);
      expect(await change(store, "n", { is: "add", by: 1 })).toEqual({ is: "out_of_range" });
      await put(store, "n", 1e308);
      expect(await change(store, "n", { is: "add", by: 1e308 })).toEqual({ is: "out_of_range" });
      expect(await store.read(at("n"))).toEqual({ found: true, value: 1e308 });
    });

    test("deletes, and says whether there was something", async () => {
      const store = await opened();
      await put(store, "a", null);
      expect(await change(store, "a", { is: "delete" })).toEqual({ is: "deleted", found: true });
      expect(await change(store, "a", { is: "delete" })).toEqual({ is: "deleted", found: false });
      expect(await store.read(at("a"))).toEqual({ found: false, value: null });
    });

    test("a call that comes again is answered as the first time and changes nothing", async () => {
      const store = await opened();
      const first = { run: "run-1", position: "save", requestKey: null };
      await put(store, "a", 1, first);
      await put(store, "a", 2);
      expect(await put(store, "a", 1, first)).toEqual({ is: "put" });
      expect(await store.read(at("a"))).toEqual({ found: true, value: 2 });

      const keyed = { run: "run-1", position: "count", requestKey: "k-1" };
      expect(await change(store, "n", { is: "add", by: 1 }, keyed)).toEqual({ is: "added", value: 1 });
      expect(await change(store, "n", { is: "add", by: 1 }, { ...keyed, position: "else" })).toEqual({
        is: "added",
        value: 1,
      });
      expect(await change(store, "n", { is: "add", by: 1 }, { ...keyed, requestKey: "k-2" })).toEqual({
        is: "added",
        value: 2,
      });

      const gone = { run: "run-1", position: "forget", requestKey: null };
      expect(await change(store, "a", { is: "delete" }, gone)).toEqual({ is: "deleted", found: true });
      await put(store, "a", 3);
      expect(await change(store, "a", { is: "delete" }, gone)).toEqual({ is: "deleted", found: true });
      expect(await store.read(at("a"))).toEqual({ found: true, value: 3 });
    });

    test("one that was refused may come again and be done", async () => {
      const store = await opened();
      const call = fresh();
      await put(store, "t", "x");
      expect(await change(store, "t", { is: "add", by: 1 }, call)).toEqual({ is: "no_number" });
      await put(store, "t", 1);
      expect(await change(store, "t", { is: "add", by: 1 }, call)).toEqual({ is: "added", value: 2 });
    });

    test("another run at the same position is another call", async () => {
      const store = await opened();
      await put(store, "a", 1, { run: "run-1", position: "save", requestKey: null });
      await put(store, "a", 2, { run: "run-2", position: "save", requestKey: null });
      expect(await store.read(at("a"))).toEqual({ found: true, value: 2 });
    });

    test("16 KiB of a value, and 1,000 keys", async () => {
      const store = await opened();
      const largest = "x".repeat(16 * 1024 - 2);
      expect(await put(store, "a", largest)).toEqual({ is: "put" });
      expect(await put(store, "a", `${largest}x`)).toEqual({ is: "too_large", bytes: 16 * 1024 + 1 });
      expect(await put(store, "a", "ü".repeat(8_192))).toEqual({ is: "too_large", bytes: 16 * 1024 + 2 });
      expect(await store.read(at("a"))).toEqual({ found: true, value: largest });
      await Promise.all(Array.from({ length: 999 }, (_, i) => put(store, `k${i}`, i)));
      expect(await put(store, "more", 1)).toEqual({ is: "full" });
      expect(await change(store, "more", { is: "add", by: 1 })).toEqual({ is: "full" });
      // What is there may still be changed, and another workflow has its own room.
      expect(await put(store, "k0", "new")).toEqual({ is: "put" });
      expect(await store.change(at("more", "other"), { is: "put", value: 1 }, fresh())).toEqual({ is: "put" });
      await change(store, "k0", { is: "delete" });
      expect(await put(store, "more", 1)).toEqual({ is: "put" });
    });

    test("many at once lose nothing", async () => {
      const store = await opened();
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, i) =>
          change(store, "n", { is: "add", by: 1 }, { run: "run-1", position: "count", requestKey: `k${i}` }),
        ),
      );
      expect(new Set(answers.map((answer) => (answer.is === "added" ? answer.value : 0))).size).toBe(200);
      expect(await store.read(at("n"))).toEqual({ found: true, value: 200 });
    });

    test("what is closed refuses, and closing twice does no harm", async () => {
      const store = await opened();
      await store.close();
      await store.close();
      await expect(store.read(at("a"))).rejects.toMatchObject({ code: "store.unavailable" });
      await expect(put(store, "a", 1)).rejects.toMatchObject({ code: "store.unavailable" });
    });

    if (!subject.isKept) return;

    test("another process sees it, and what it had done of a call", async () => {
      const open = await subject.make();
      const first = await open();
      stores.push(first);
      const keyed = { run: "run-1", position: "count", requestKey: "k-1" };
      await change(first, "n", { is: "add", by: 5 }, keyed);
      await first.close();
      const second = await open();
      stores.push(second);
      expect(await change(second, "n", { is: "add", by: 5 }, keyed)).toEqual({ is: "added", value: 5 });
      expect(await second.read(at("n"))).toEqual({ found: true, value: 5 });
    });

    test("two handles at once lose nothing", async () => {
      const open = await subject.make();
      const handles = [await open(), await open()];
      stores.push(...handles);
      const adding = handles.flatMap((store) =>
        Array.from({ length: 50 }, () => change(store, "n", { is: "add", by: 1 })),
      );
      await Promise.all(adding);
      expect(await handles[0]?.read(at("n"))).toEqual({ found: true, value: 100 });
    });
  });
}
