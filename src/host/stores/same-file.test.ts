import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import { Refusal } from "../../errors/fault.ts";
import type { Journal, Lease, Owner } from "../../journal/journal.ts";
import { History } from "../../journal/testing/history.ts";
import { openSqliteJournal } from "./sqlite.ts";

const root = mkdtempSync(join(tmpdir(), "ambit-same-file-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const OWNER: Owner = { id: "o", pid: 4_242, startTime: "1", boot: "b", pidNamespace: "n", label: "test" };
const open = (path: string): Promise<Journal> =>
  openSqliteJournal({ path, durability: "process", clock: systemClock, isAlive: () => true });

async function refusalOf(work: Promise<unknown>): Promise<Refusal> {
  const thrown: unknown = await work.then(
    () => null,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(Refusal);
  return thrown as Refusal;
}

describe("DU-05: nothing is acknowledged that the path does not lead to", () => {
  let path: string;
  let journal: Journal;
  let lease: Lease;
  let count = 0;
  const history = new History("r1").accepted().started().call("one", 1).call("two", 2);

  beforeEach(async () => {
    path = join(root, `s${count++}`, ".ambit", "ambit.db");
    journal = await open(path);
    lease = await journal.create(history.records.slice(0, 2), OWNER);
  });
  afterEach(() => journal.close());

  const removed: [string, () => void, string][] = [
    ["the file is removed", () => unlinkSync(path), "removed"],
    ["its folder is removed", () => rmSync(dirname(path), { recursive: true }), "removed"],
    ["its folder is moved away", () => renameSync(dirname(path), `${dirname(path)}-old`), "removed"],
    ["its log is removed", () => unlinkSync(`${path}-wal`), "removed"],
    ["its index is removed", () => unlinkSync(`${path}-shm`), "removed"],
    [
      "another file takes its place",
      () => {
        writeFileSync(`${path}.new`, "");
        renameSync(`${path}.new`, path);
      },
      "replaced",
    ],
    [
      "all of it is put in again anew",
      () => {
        for (const end of ["", "-wal", "-shm"]) {
          unlinkSync(`${path}${end}`);
          writeFileSync(`${path}${end}`, "");
        }
      },
      "replaced",
    ],
  ];
  test.each(removed)("%s: the next record is refused, and so is every other write", async (_what, change, reason) => {
    change();
    const refused = await refusalOf(journal.append(lease, history.records.slice(2, 3)));
    expect(refused.code).toBe("store.unavailable");
    expect(refused.message).toContain(path);
    expect(refused.fault.details).toEqual({ path, reason });
    for (const write of [
      journal.append(lease, history.records.slice(3, 4)),
      journal.setProcesses(lease, [{ pid: 1, startTime: "1" }]),
      journal.post({ run: "r1", verb: "cancel", by: "me", body: {} }),
      journal.create(new History("r2").accepted().records, OWNER),
      journal.acquire("r1", OWNER, "force"),
    ]) {
      expect((await refusalOf(write)).code).toBe("store.unavailable");
    }
  });

  test("what other processes do to it, and to the log, is no removal", async () => {
    const other = await open(path);
    await other.post({ run: "r1", verb: "cancel", by: "me", body: {} });
    await other.close();
    await journal.append(lease, history.records.slice(2));
    expect(await journal.read("r1", 1, 10)).toHaveLength(4);
  });
});

describe("what stands at the path of a store", () => {
  test("may be a link, as long as it leads to the same file", async () => {
    const folder = join(root, "linked");
    mkdirSync(folder);
    const [real, link] = [join(folder, "real.db"), join(folder, "link.db")];
    await (await open(real)).close();
    symlinkSync(real, link);
    const journal = await open(link);
    const lease = await journal.create(new History("r1").accepted().records, OWNER);
    unlinkSync(link);
    const refused = await refusalOf(journal.append(lease, new History("r1").accepted().started().records.slice(1)));
    expect(refused.fault.details["reason"]).toBe("removed");
    await journal.close();
  });

  test("a folder or a pipe is refused at once", async () => {
    const pipe = join(root, "pipe.db");
    execFileSync("mkfifo", [pipe]);
    for (const path of [pipe, root]) {
      const refused = await refusalOf(open(path));
      expect(refused.code).toBe("store.unavailable");
      expect(refused.fault.details["reason"]).toBe("no_file");
    }
  });
});
