import { describe, expect, test } from "vitest";
import type { Connector } from "../catalog/connector.ts";
import type { ChildProcess } from "../journal/journal.ts";
import { processList } from "./processes.ts";

const LEASE = { run: "r1", epoch: 1 };

/** A connector with processes, and a store that writes when it is told to. */
function parts() {
  const started: ChildProcess[] = [];
  let beforeUse = async (): Promise<void> => {};
  const connector = {
    processes: () => started,
    beforeUse: (listed: () => Promise<void>) => {
      beforeUse = listed;
    },
  } as unknown as Connector;
  const writes: { processes: ChildProcess[]; done: () => void; failed: (error: Error) => void }[] = [];
  const journal = {
    setProcesses: (_lease: unknown, processes: ChildProcess[]) =>
      new Promise<void>((done, failed) => writes.push({ processes, done, failed })),
  };
  const list = processList(new Map([["crm", connector]]), journal, LEASE);
  return { started, writes, list, use: () => beforeUse() };
}

/** What has become of a promise by now. */
async function now(promise: Promise<void>): Promise<string> {
  const soon = new Promise<string>((resolve) => setImmediate(() => resolve("waits")));
  return Promise.race([
    promise.then(
      () => "done",
      (error: Error) => error.message,
    ),
    soon,
  ]);
}

describe("I1: the list is on disk before anything is asked of a server", () => {
  test("without a server there is nothing to write and to wait for", async () => {
    const { list, writes } = parts();
    expect(await now(list())).toBe("done");
    expect(writes).toEqual([]);
  });

  test("who asks while the same list is being written waits for that write", async () => {
    const { started, writes, list, use } = parts();
    started.push({ pid: 7, startTime: "1" });
    const [first, second] = [list(), use()];
    expect(await now(first)).toBe("waits");
    expect(await now(second)).toBe("waits");
    expect(writes.map(({ processes }) => processes)).toEqual([[{ pid: 7, startTime: "1" }]]);
    writes[0]?.done();
    expect([await now(first), await now(second)]).toEqual(["done", "done"]);
    expect(await now(use())).toBe("done");
    expect(writes).toHaveLength(1);
  });

  test("a write that was refused is told to all who wait, and tried again", async () => {
    const { started, writes, list, use } = parts();
    started.push({ pid: 7, startTime: "1" });
    const [first, second] = [list(), use()];
    writes[0]?.failed(new Error("no"));
    expect([await now(first), await now(second)]).toEqual(["no", "no"]);
    const again = use();
    expect(await now(again)).toBe("waits");
    writes[1]?.done();
    expect(await now(again)).toBe("done");
  });
});
