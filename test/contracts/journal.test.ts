import { type ChildProcess as Child, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DatabaseSync } from "@photostructure/sqlite";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { isAlive, isProcessAlive, ownOwner, readStat, startTimeOf } from "../../src/host/processes/process-identity.ts";
import { networkFileSystem } from "../../src/host/stores/file-system.ts";
import { openMemoryJournal } from "../../src/host/stores/memory.ts";
import { openSqliteJournal, type SqliteJournalOptions } from "../../src/host/stores/sqlite.ts";
import { HAS_UNKNOWN } from "../../src/host/stores/sqlite-open.ts";
import type { RunRecord } from "../../src/journal/event.ts";
import type { Journal, Lease, Owner } from "../../src/journal/journal.ts";
import { History } from "../../src/journal/testing/history.ts";
import { codeOf, journalContract, owner, refusal, shortRun, until } from "./journal.ts";

const root = mkdtempSync(join(tmpdir(), "ambit-journal-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let stores = 0;
function freshPath(): string {
  return join(root, `s${stores++}`, ".ambit", "ambit.db");
}

function open(path: string, more: Partial<SqliteJournalOptions> = {}): Promise<Journal> {
  // `process`: a test does not wait for the disk, except where it is about that.
  return openSqliteJournal({ path, durability: "process", clock: systemClock, isAlive: () => true, ...more });
}

journalContract("memory", async () => {
  const journal = openMemoryJournal({ clock: systemClock });
  return { journal, end: () => journal.close() };
});

journalContract("sqlite", async () => {
  const journal = await open(freshPath());
  return { journal, end: () => journal.close() };
});

describe("sqlite", () => {
  let path: string;
  const journals: Journal[] = [];

  beforeEach(() => {
    path = freshPath();
  });
  afterEach(async () => {
    for (const journal of journals.splice(0)) await journal.close();
  });

  async function opened(more: Partial<SqliteJournalOptions> = {}): Promise<Journal> {
    const journal = await open(path, more);
    journals.push(journal);
    return journal;
  }

  /** Changes the file behind the store's back. */
  function tamper(sql: string): void {
    const db = new DatabaseSync(path, { timeout: 1_000 });
    db.exec(sql);
    db.close();
  }

  function ask(sql: string): unknown {
    const db = new DatabaseSync(path, { timeout: 1_000 });
    const row = db.prepare(sql).get() as { [column: string]: unknown };
    db.close();
    return Object.values(row)[0];
  }

  test("a store of the released version is taken as it is, and gets what it lacks", async () => {
    const before = await opened();
    const lease = await before.create(shortRun("r1").records, owner("a"));
    await before.release(lease);
    await before.close();
    tamper(
      "DROP TABLE sealed; DROP TABLE singles; DROP TABLE places; DROP INDEX records_unknown; PRAGMA user_version = 1",
    );
    const journal = await opened();
    expect((await journal.read("r1", 1, 10)).length).toBe(3);
    expect(await journal.sealed("r1", 1)).toBeNull();
    await journal.create(shortRun("r2").records, owner("a"), [{ seq: 1, text: "s" }]);
    expect(await journal.sealed("r2", 1)).toBe("s");
  });

  test("unknown outcomes are looked for in an index of them alone", async () => {
    await opened();
    const db = new DatabaseSync(path, { timeout: 1_000 });
    const plan = db.prepare(`EXPLAIN QUERY PLAN SELECT id FROM records WHERE ${HAS_UNKNOWN}`).all();
    db.close();
    expect(JSON.stringify(plan)).toMatch(/USING (COVERING )?INDEX records_unknown/);
  });

  describe("sqlite I3: damage (DU-06)", () => {
    test.each([
      ["a byte of its body", "UPDATE records SET data = replace(data, 'a-1', 'a-2') WHERE seq = 3"],
      ["its position", "UPDATE records SET position = 'fund' WHERE seq = 3"],
      ["its kind", "UPDATE records SET kind = 'call.settled' WHERE seq = 3"],
      ["its attempt", "UPDATE records SET attempt = 2 WHERE seq = 3"],
      ["its checksum", "UPDATE records SET sum = 'AAAA' WHERE seq = 3"],
      ["where its large values lie", "UPDATE records SET blobs = '[\"value\"]' WHERE seq = 3"],
      ["the record itself, the last", "DELETE FROM records WHERE seq = 3"],
    ])("a record that lost %s refuses the run, and is named", async (_, sql) => {
      const journal = await opened();
      await journal.create(shortRun("r1").records, owner("a"));
      await journal.create(shortRun("r2").records, owner("a"));
      tamper(`${sql} AND id = 1`);
      const refused = await refusal(journal.read("r1", 1, 10));
      expect(refused.code).toBe("journal.corrupt");
      expect(refused.message).toContain("r1");
      expect(refused.fault.details).toEqual({ run: "r1", seq: 3 });
      expect((await journal.read("r2", 1, 10)).length).toBe(3);
    });

    test("a gap in the middle is damage", async () => {
      const journal = await opened();
      await journal.create(shortRun("r1").records, owner("a"));
      tamper("DELETE FROM records WHERE seq = 2");
      expect((await refusal(journal.read("r1", 1, 10))).fault.details).toEqual({ run: "r1", seq: 2 });
    });

    test("another definition beside the records is damage", async () => {
      const journal = await opened();
      await journal.create(shortRun("r1").records, owner("a"));
      tamper(`UPDATE runs SET def = '${"f".repeat(64)}'`);
      expect(await codeOf(journal.read("r1", 1, 10))).toBe("journal.corrupt");
    });

    test("bytes overwritten in the file itself do not pass", async () => {
      const history = shortRun("r1").call("long", "q".repeat(3_000));
      const journal = await open(path);
      await journal.create(history.records, owner("a"));
      await journal.close();
      const bytes = readFileSync(path);
      const at = bytes.indexOf("q".repeat(100));
      expect(at).toBeGreaterThan(0);
      bytes[at + 50] = (bytes[at + 50] ?? 0) ^ 1;
      writeFileSync(path, bytes);
      expect(await codeOf((await opened()).read("r1", 1, 10))).toBe("journal.corrupt");
    });
  });

  describe("large values (DU-06)", () => {
    const large = "x".repeat(300 * 1024);

    test("lie outside the record, once for all runs, and come back whole", async () => {
      const journal = await opened();
      const one = new History("r1").accepted().call("big", { text: large });
      const two = new History("r2").accepted().call("big", { text: large }).call("small", "y");
      await journal.create(one.records, owner("a"));
      const lease = await journal.create(two.records.slice(0, 1), owner("a"));
      await journal.append(lease, two.records.slice(1));
      expect(await journal.read("r1", 1, 10)).toEqual(one.records);
      expect(await journal.read("r2", 1, 10)).toEqual(two.records);
      expect(ask("SELECT count(*) FROM blobs")).toBe(1);
      expect(ask("SELECT max(length(data)) FROM records")).toBeLessThan(64 * 1024);
    });

    test("data that looks like a reference stays data", async () => {
      const journal = await opened();
      await journal.create(new History("r1").accepted().call("big", { text: large }).records, owner("a"));
      const hash = ask("SELECT hash FROM blobs");
      const thief = new History("r2").accepted().call("odd", { $blob: `sha256:${hash}` });
      await journal.create(thief.records, owner("a"));
      expect(await journal.read("r2", 1, 10)).toEqual(thief.records);
    });

    test("a damaged or missing one refuses the run", async () => {
      const journal = await opened();
      await journal.create(new History("r1").accepted().call("big", { text: large }).records, owner("a"));
      tamper("UPDATE blobs SET data = replace(data, 'xxx', 'xyx')");
      expect((await refusal(journal.read("r1", 1, 10))).fault.details).toEqual({ run: "r1", seq: 2 });
      tamper("DELETE FROM blobs");
      expect(await codeOf(journal.read("r1", 1, 10))).toBe("journal.corrupt");
    });

    test("beyond 16 MiB a value is refused and nothing of the append stays", async () => {
      const journal = await opened();
      const history = new History("r1").accepted();
      const lease = await journal.create(history.records, owner("a"));
      history.call("small", 1).call("big", "x".repeat(16 * 1024 * 1024));
      expect(await codeOf(journal.append(lease, history.records.slice(1)))).toBe("store.unavailable");
      expect((await journal.read("r1", 1, 10)).length).toBe(1);
    });

    test("sqlite I4: a page of large records is handed out in parts, none left out", async () => {
      const journal = await opened();
      const history = new History("r1").accepted();
      for (let i = 0; i < 12; i++) history.call(`s${i}`, `${i}${"z".repeat(1024 * 1024)}`);
      await journal.import(history.records);
      const first = await journal.read("r1", 1, 100);
      expect(first.length).toBeLessThan(history.records.length);
      const seen: number[] = [];
      for (let page = first; page.length > 0; page = await journal.read("r1", seen.length + 1, 100)) {
        seen.push(...page.map((record) => record.seq));
      }
      expect(seen).toEqual(history.records.map((record) => record.seq));
    });
  });

  describe("dead owners (DU-10, DU-11, DU-14)", () => {
    test("their runs are taken over with a list of the processes they left, and they add nothing more", async () => {
      const dead = new Set<string>();
      const more = { isAlive: (who: Owner) => !dead.has(who.id) };
      const first = await opened(more);
      const second = await opened(more);
      const history = shortRun("r1").call("x", 1);
      const old = await first.create(history.records.slice(0, 3), owner("first"));
      await first.setProcesses(old, [{ pid: 7, startTime: "70" }]);
      expect(await codeOf(second.acquire("r1", owner("second")))).toBe("run.owned");
      dead.add("first");
      const taken = await second.acquire("r1", owner("second"));
      expect(taken.processes).toEqual([{ pid: 7, startTime: "70" }]);
      const refused = await refusal(first.append(old, history.records.slice(3)));
      expect(refused.code).toBe("run.owned");
      expect(refused.message).toContain("test second");
      // A taker that dies before it has ended these processes leaves them to the next.
      dead.add("second");
      const third = await first.acquire("r1", owner("third"));
      expect(third.processes).toEqual([{ pid: 7, startTime: "70" }]);
      await first.setProcesses(third.lease, []);
      await first.append(third.lease, history.records.slice(3));
    });

    test("after another boot the processes they left are nobody's: their numbers may name others", async () => {
      const before = await opened({ boot: "before", isAlive: () => false });
      const after = await opened({ boot: "after", isAlive: () => false });
      const lease = await before.create(shortRun("r1").records, owner("first"));
      await before.setProcesses(lease, [{ pid: 7, startTime: "70" }]);
      expect((await before.acquire("r1", owner("second"))).processes).toEqual([{ pid: 7, startTime: "70" }]);
      expect((await after.acquire("r1", owner("third"))).processes).toEqual([]);
    });

    test("sqlite I2: of many takers on several connections one wins", async () => {
      const more = { isAlive: (who: Owner) => who.id !== "dead" };
      const takers = [await opened(more), await opened(more), await opened(more)];
      await takers[0]?.create(shortRun("r1").records, owner("dead"));
      const ends = await Promise.allSettled(
        takers.flatMap((journal, i) => [0, 1].map((j) => journal.acquire("r1", owner(`t${i}${j}`)))),
      );
      expect(ends.filter((end) => end.status === "fulfilled").length).toBe(1);
    });

    test("sqlite I5: an owner whose pid says nothing here is judged by its heartbeat", async () => {
      let uptime = 1_000_000;
      const journal = await opened({ isAlive: () => null, uptime: () => uptime });
      await journal.create(shortRun("r1").records, owner("far"));
      uptime += 29_999;
      expect(await codeOf(journal.acquire("r1", owner("near")))).toBe("run.owned");
      uptime += 1;
      await journal.acquire("r1", owner("near"));
    });
  });

  describe("several connections (DU-08)", () => {
    test("a change made through another one wakes the watcher", async () => {
      const watching = await opened();
      const other = await opened();
      await other.create(shortRun("r1").records, owner("a"));
      let woken = 0;
      const watch = watching.watch(() => woken++);
      await other.post({ run: "r1", verb: "cancel", by: "ana", body: {} });
      await until(() => woken > 0);
      watch.stop();
      expect((await watching.requests("r1", 0)).map((request) => request.verb)).toEqual(["cancel"]);
    });

    test("a busy store slows a writer, fails none and does not stop the event loop", async () => {
      const journal = await opened();
      const history = shortRun("r1").call("x", 1);
      const lease = await journal.create(history.records.slice(0, 3), owner("a"));
      const holder = new DatabaseSync(path, { timeout: 1_000 });
      holder.exec("BEGIN IMMEDIATE");
      let done = false;
      const append = journal.append(lease, history.records.slice(3)).then(() => {
        done = true;
      });
      let ticks = 0;
      await until(() => ++ticks > 10);
      expect(done).toBe(false);
      expect((await journal.read("r1", 1, 10)).length).toBe(3);
      holder.exec("COMMIT");
      holder.close();
      await append;
      expect((await journal.read("r1", 1, 10)).length).toBe(4);
    });

    test("patience has an end: then the work is refused, and later work goes on", async () => {
      const journal = await opened({ patience: 30 });
      const history = shortRun("r1").call("x", 1);
      const lease = await journal.create(history.records.slice(0, 3), owner("a"));
      const holder = new DatabaseSync(path, { timeout: 1_000 });
      holder.exec("BEGIN IMMEDIATE");
      const refused = await refusal(journal.append(lease, history.records.slice(3)));
      expect(refused.code).toBe("store.unavailable");
      expect(refused.fault.details["reason"]).toBe("busy");
      holder.exec("COMMIT");
      holder.close();
      await journal.append(lease, history.records.slice(3));
    });

    test("DU-05: what is written in one turn of the event loop is one transaction", async () => {
      const journal = await opened();
      const histories = Array.from({ length: 50 }, (_, i) => shortRun(`r${i}`).call("x", 1).call("y", 2));
      const leases: Lease[] = [];
      for (const history of histories) leases.push(await journal.create(history.records.slice(0, 3), owner("a")));
      const size = (): number => statSync(`${path}-wal`).size;
      const write = (i: number, seq: number): Promise<void> =>
        journal.append(leases[i] as Lease, histories[i]?.records.slice(seq - 1, seq) as RunRecord[]);
      tamper("PRAGMA wal_checkpoint(TRUNCATE)");
      await Promise.all(histories.map((_, i) => write(i, 4)));
      const together = size();
      tamper("PRAGMA wal_checkpoint(TRUNCATE)");
      for (let i = 0; i < histories.length; i++) await write(i, 5);
      // Each transaction writes the pages it touched anew.
      expect(size()).toBeGreaterThan(together * 3);
    });
  });

  describe("opening", () => {
    test("the folder is ours alone, and so are the files", async () => {
      const journal = await opened();
      await journal.create(shortRun("r1").records, owner("a"));
      expect(statSync(join(path, "..")).mode & 0o777).toBe(0o700);
      for (const file of [path, `${path}-wal`, `${path}-shm`]) expect(statSync(file).mode & 0o777, file).toBe(0o600);
    });

    test("what it is can be told", async () => {
      expect((await opened()).describe()).toEqual({ kind: "sqlite", path, durability: "process" });
    });

    const strace = ["/usr/bin/strace", "/bin/strace"].find((file) => existsSync(file)) ?? "";

    test.skipIf(strace === "")(
      "DU-05, DU-42: one flush for each acknowledged batch; none with process durability",
      async () => {
        // `synchronous` belongs to a connection, so the flushes themselves are counted.
        const counted = async (durability: string): Promise<number> => {
          const log = join(root, `strace-${durability}`);
          const script = `
          import { openSqliteJournal } from ${JSON.stringify(fileURLToPath(new URL("../../src/host/stores/sqlite.ts", import.meta.url)))};
          import { History } from ${JSON.stringify(fileURLToPath(new URL("../../src/journal/testing/history.ts", import.meta.url)))};
          const journal = await openSqliteJournal({ path: ${JSON.stringify(join(root, `strace-${durability}.db`))}, durability: ${JSON.stringify(durability)},
            clock: { now: () => 0, after: () => ({ cancel() {} }) } });
          const history = new History("r1").accepted();
          const lease = await journal.create(history.records, ${JSON.stringify(owner("a"))});
          for (let i = 0; i < 20; i++) { history.call("s" + i, i); await journal.append(lease, history.records.slice(-1)); }
          const before = history.records.length;
          for (let i = 0; i < 30; i++) history.call("t" + i, i);
          await Promise.all(history.records.slice(before).map((record) => journal.append(lease, [record])));
          process.kill(process.pid, "SIGKILL");`;
          const file = join(root, `strace-${durability}.ts`);
          writeFileSync(file, script);
          await once(
            spawn(strace, ["-f", "-e", "trace=fsync,fdatasync", "-o", log, process.execPath, "--import", LOADER, file]),
            "close",
          );
          return readFileSync(log, "utf8")
            .split("\n")
            .filter((line) => /f(?:data)?sync\(/.test(line)).length;
        };
        const full = await counted("full");
        expect(full).toBeGreaterThanOrEqual(22);
        expect(full).toBeLessThan(30);
        expect(await counted("process")).toBeLessThan(8);
      },
    );

    test("a network file system is refused by name", async () => {
      const refused = await refusal(open(path, { fileSystem: () => "NFS" }));
      expect(refused.code).toBe("store.unavailable");
      expect(refused.message).toContain("NFS");
      expect(existsSync(path)).toBe(false);
    });

    test("a newer format, another program's database, and a file that is none are refused and left alone", async () => {
      await (await open(path)).close();
      tamper("PRAGMA user_version = 999");
      const newer = await refusal(open(path));
      expect(newer.fault.details["reason"]).toBe("newer_schema");
      expect(ask("PRAGMA user_version")).toBe(999);

      path = join(root, `foreign${stores++}.db`);
      tamper("CREATE TABLE mine (a)");
      expect((await refusal(open(path))).fault.details["reason"]).toBe("foreign");
      expect(ask("SELECT count(*) FROM sqlite_schema")).toBe(1);

      const text = join(root, `text${stores++}.db`);
      writeFileSync(text, "no database at all, ".repeat(100));
      expect((await refusal(open(text))).fault.details["reason"]).toBe("no_database");
      expect(readFileSync(text, "utf8")).toMatch(/^no database/);
    });

    test("a folder in the place of the file is refused", async () => {
      expect(await codeOf(open(root))).toBe("store.unavailable");
    });

    test("many at once on a new file all succeed", async () => {
      const many = await Promise.all(Array.from({ length: 8 }, () => opened()));
      await Promise.all(many.map((journal, i) => journal.create(shortRun(`r${i}`).records, owner(`o${i}`))));
      expect((await many[0]?.list({ limit: 100 }))?.length).toBe(8);
    });
  });

  describe("real processes", () => {
    const children: Child[] = [];
    afterEach(() => {
      for (const child of children.splice(0)) child.kill("SIGKILL");
    });

    function start(run: string, count: number): Child {
      const child = spawn(process.execPath, ["--import", LOADER, CHILD, path, run, String(count)], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      children.push(child);
      return child;
    }

    /** The last number that a child has said, as it goes. */
    function acknowledged(child: Child): () => number {
      let text = "";
      child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      return () => Number(text.slice(0, text.lastIndexOf("\n")).split("\n").at(-1) ?? 0);
    }

    test("two append at once, and both histories are whole", async () => {
      const both = [start("left", 60), start("right", 60)];
      const said = both.map(acknowledged);
      const codes = await Promise.all(both.map(async (child) => (await once(child, "close"))[0]));
      expect(codes).toEqual([0, 0]);
      expect(said.map((last) => last())).toEqual([62, 62]);
      const journal = await opened({ isAlive });
      for (const run of ["left", "right"]) {
        const records = await journal.read(run, 1, 1_000);
        expect(records.map((record) => record.seq)).toEqual(Array.from({ length: 62 }, (_, i) => i + 1));
        expect((await journal.find(run)).owner).toBeNull();
      }
    });

    test("one is killed: all it acknowledged is there, and its run is taken over at once", async () => {
      const child = start("doomed", 1_000_000);
      const said = acknowledged(child);
      await until(() => said() > 20);
      const journal = await opened({ isAlive });
      const refused = await refusal(journal.acquire("doomed", ownOwner("heir", "test")));
      expect(refused.code).toBe("run.owned");
      expect(refused.fault.details).toMatchObject({ pid: child.pid, label: "child doomed" });
      child.kill("SIGKILL");
      await once(child, "close");
      const { lease } = await journal.acquire("doomed", ownOwner("heir", "test"));
      const { records: last } = await journal.find("doomed");
      expect(last).toBeGreaterThanOrEqual(said());
      expect((await journal.read("doomed", last, 10)).length).toBe(1);
      const history = new History("doomed").accepted().started();
      while (history.records.length < last)
        history.call(`s${history.records.length - 2}`, { i: history.records.length - 2 });
      history.add("run.resumed", "", { by: "heir", redispatched: [] });
      await journal.append(lease, history.records.slice(last));
      expect((await journal.find("doomed")).records).toBe(last + 1);
    });
  });
});

const LOADER = fileURLToPath(new URL("./journal-loader.mjs", import.meta.url));
const CHILD = fileURLToPath(new URL("./journal-child.ts", import.meta.url));

describe("who a process is (DU-08, DU-10)", () => {
  test("this process lives; the same pid with another start time, another boot, does not", () => {
    const me = ownOwner("me", "test");
    expect(isAlive(me)).toBe(true);
    expect(isAlive({ ...me, startTime: `${me.startTime}1` })).toBe(me.startTime === "");
    expect(isAlive({ ...me, boot: "another" })).toBe(false);
    expect(isAlive({ ...me, pidNamespace: "another" })).toBeNull();
    expect(isProcessAlive(0, "")).toBe(false);
    expect(isProcessAlive(2 ** 31, "")).toBe(false);
  });

  test("the line of a process whose name holds brackets and blanks is read right", () => {
    const fields = Array.from({ length: 30 }, (_, i) => String(i));
    expect(readStat(`12 (a) b (c) S ${fields.join(" ")}`)).toEqual({ startTime: "18", zombie: false });
    expect(readStat(`12 (a Z b) Z ${fields.join(" ")}`)?.zombie).toBe(true);
  });

  test.runIf(process.platform === "linux")("a zombie is dead", async () => {
    // The shell becomes a program that never asks how its child ended.
    const shell = spawn("sh", ["-c", "sleep 0.2 & echo $!; exec sleep 20"], { stdio: ["ignore", "pipe", "ignore"] });
    try {
      const [line] = (await once(shell.stdout, "data")) as [Buffer];
      const pid = Number(line.toString());
      const born = startTimeOf(pid);
      await until(() => /\) Z/.test(readFileSync(`/proc/${pid}/stat`, "latin1")));
      expect(isProcessAlive(pid, born)).toBe(false);
      expect(isProcessAlive(pid, "")).toBe(false);
    } finally {
      shell.kill("SIGKILL");
    }
  });

  test("start times agree with what a second look says", () => {
    expect(startTimeOf(process.pid)).toBe(startTimeOf(process.pid));
    if (process.platform === "linux") {
      const stat = execFileSync("cat", ["/proc/self/stat"], { encoding: "latin1" });
      expect(readStat(stat)?.startTime).toMatch(/^\d+$/);
    }
  });
});

describe("file systems (DU-08)", () => {
  test.runIf(process.platform === "linux")("network ones are told by number", () => {
    expect(networkFileSystem("/", { type: 0x6969, name: "" })).toBe("NFS");
    expect(networkFileSystem("/", { type: 0xff534d42, name: "" })).toBe("CIFS");
    expect(networkFileSystem("/", { type: 0xff534d42 | 0, name: "" })).toBe("CIFS");
    expect(networkFileSystem("/", { type: 0xef53, name: "" })).toBeNull();
  });

  test("of FUSE the name decides", () => {
    expect(networkFileSystem("/", { type: 0x65735546, name: "fuse.sshfs" })).toBe("fuse.sshfs");
    expect(networkFileSystem("/", { type: 0x65735546, name: "fuseblk" })).toBeNull();
    expect(networkFileSystem("/", { type: 0, name: "smbfs" })).toBe("smbfs");
  });

  test("this one is local", () => {
    expect(networkFileSystem(root)).toBeNull();
  });
});
