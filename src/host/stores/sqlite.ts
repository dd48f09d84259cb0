/**
 * The store on SQLite: several processes of one machine share the file, each run has one owner (DU-05..08).
 *
 * I1: An append checks epoch and number in the statement that moves the head, inside the transaction of its
 *     records: an owner that lost its run adds nothing (DU-14).
 * I2: A lease changes hands in one transaction that looks at the owner and raises the epoch: of two takers
 *     one wins (DU-10).
 * I3: What is read was checked: checksum, no gap, no missing end (DU-06).
 * I4: Statements live as long as the store, and rows are read by pages of `all()`.
 * I5: Nobody's wall clock is compared with another's: beats are counted in the machine's monotonic time.
 * I6: Nothing is acknowledged that went into a file which the path does not name any more (DU-05).
 *
 * One long file: leases, records and requests share the statements and the one queue of writes. Rows and their texts
 * are `record-text.ts`, opening is `sqlite-open.ts`.
 */
import type { StatementSyncInstance as Statement } from "@photostructure/sqlite";
import { type Clock, isoTime } from "../../base/clock.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import type { Refusal } from "../../errors/fault.ts";
import type { RunRecord } from "../../journal/event.ts";
import type {
  ChildProcess,
  Journal,
  Lease,
  Owner,
  RunFilter,
  RunHead,
  RunRequest,
  SealedPart,
  SingleRun,
} from "../../journal/journal.ts";
import { isAlive as isAliveHere, ownIdentity } from "../processes/process-identity.ts";
import { networkFileSystem } from "./file-system.ts";
import {
  checkOf,
  FAILED_STATES,
  identityOf,
  OPEN_STATES,
  sameContent,
  statusAfter,
  toldByFirst,
} from "./first-records.ts";
import { type Blob, fromRow, type RecordRow, toRow } from "./record-text.ts";
import {
  alreadyDecided,
  conflict,
  corrupt,
  leaseLost,
  noRunYet,
  queueBusy,
  runBusy,
  runExists,
  runOwned,
  runUnknown,
  unavailable,
} from "./refusals.ts";
import { SameFile } from "./same-file.ts";
import { asRefusal, type Database, HAS_UNKNOWN, KEYS_OF_A_RUN, openDatabase, patiently } from "./sqlite-open.ts";
import { AGAIN, WriteQueue } from "./write-queue.ts";

const BEAT_EVERY_MS = 5_000;
const BEAT_LOST_AFTER_MS = 30_000;
const LOOK_EVERY_MS = 25;
const PATIENCE_MS = 60_000;
/** Rows of one `all()`, and bytes after which a page is handed out as it is. */
const PAGE_ROWS = 128;
const PAGE_BYTES = 4 * 1024 * 1024;
const MOST_LISTED = 10_000;
const MOST_REQUESTS = 1_000;
const NEAR = 6;

export interface SqliteJournalOptions {
  /** Absolute path of the database file. */
  path: string;
  /** `process`: acknowledged once the process has handed it over, not the disk. For tests. */
  durability: "full" | "process";
  clock: Clock;
  /** Whether an owner lives; null where its pid says nothing here, so that its heartbeat decides. */
  isAlive?: (owner: Owner) => boolean | null;
  /** Milliseconds that a busy store is tried again before `store.unavailable`. */
  patience?: number;
  /** Names the network file system of a folder, null for a local one. */
  fileSystem?: (folder: string) => string | null;
  /** Milliseconds of a clock that all processes of the machine share. */
  uptime?: () => number;
  /** Names the machine's present boot. */
  boot?: string;
}

/** Opens the store, making it where there is none. `store.unavailable` with the reason. */
export async function openSqliteJournal(options: SqliteJournalOptions): Promise<Journal> {
  const patience = options.patience ?? PATIENCE_MS;
  const db = await openDatabase({
    path: options.path,
    durability: options.durability,
    patience,
    fileSystem: options.fileSystem ?? networkFileSystem,
  });
  try {
    return new SqliteJournal(db, options, patience);
  } catch (error) {
    db.close();
    throw asRefusal(options.path, error);
  }
}

interface HeadRow {
  id: number;
  run: string;
  name: string;
  def: string;
  status: string;
  created_at: string;
  updated_at: string;
  records: number;
  epoch: number;
  owner: string | null;
  since: string | null;
  processes: string;
}

function monotonic(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

function statements(db: Database) {
  const sql = (text: string): Statement => db.prepare(text);
  return {
    begin: sql("BEGIN IMMEDIATE"),
    commit: sql("COMMIT"),
    head: sql("SELECT * FROM runs WHERE run = ?"),
    addRun: sql(
      `INSERT INTO runs (run, name, def, status, created_at, updated_at, records, epoch, owner, since, processes)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '[]')`,
    ),
    // Two statements, since naming `status` costs its index a write even where it stays.
    moveHead: sql("UPDATE runs SET records = ?, updated_at = ? WHERE id = ? AND epoch = ? AND records = ? AND def = ?"),
    setStatus: sql("UPDATE runs SET status = ? WHERE id = ?"),
    addRecord: sql(
      `INSERT INTO records (key, id, seq, kind, position, attempt, data, blobs, sum)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    byIdentity: sql(
      `SELECT seq, kind, position, attempt, data, blobs, sum FROM records
       WHERE id = ? AND position = ? AND kind = ? AND attempt = ?`,
    ),
    page: sql(
      `SELECT seq, kind, position, attempt, data, blobs, sum FROM records
       WHERE key >= ? AND key < ? ORDER BY key LIMIT ?`,
    ),
    // Held as long as its run is open: nothing has to be given back.
    holder: sql(
      `SELECT runs.* FROM singles JOIN runs ON runs.run = singles.run
       WHERE singles.key = ? AND runs.status IN (${OPEN_STATES.map((state) => `'${state}'`).join(", ")})`,
    ),
    hold: sql("INSERT INTO singles (key, run) VALUES (?, ?) ON CONFLICT DO UPDATE SET run = excluded.run"),
    addPlace: sql("INSERT INTO places (key, owner) VALUES (?, ?)"),
    places: sql("SELECT id, owner FROM places WHERE key = ? ORDER BY id"),
    dropPlace: sql("DELETE FROM places WHERE id = ?"),
    addSealed: sql("INSERT INTO sealed (key, data) VALUES (?, ?)"),
    sealed: sql("SELECT data FROM sealed WHERE key = ?"),
    anySealed: sql("SELECT 1 AS one FROM sealed LIMIT 1"),
    addBlob: sql("INSERT INTO blobs (hash, data) VALUES (?, ?) ON CONFLICT DO NOTHING"),
    blob: sql("SELECT data FROM blobs WHERE hash = ?"),
    take: sql("UPDATE runs SET owner = ?, since = ?, epoch = epoch + 1 WHERE id = ?"),
    // What a run that goes on has listed stays for the next owner: nobody here knows that it has been ended.
    giveUp: sql(
      `UPDATE runs SET owner = NULL, since = NULL, epoch = epoch + 1,
         processes = CASE WHEN status IN (${OPEN_STATES.map((state) => `'${state}'`).join(", ")}) THEN processes ELSE '[]' END
       WHERE run = ? AND epoch = ?`,
    ),
    setProcesses: sql("UPDATE runs SET processes = ? WHERE run = ? AND epoch = ?"),
    setBeat: sql("INSERT INTO beats (owner, beat) VALUES (?, ?) ON CONFLICT DO UPDATE SET beat = excluded.beat"),
    beat: sql("SELECT beat FROM beats WHERE owner = ?"),
    dropBeat: sql("DELETE FROM beats WHERE owner = ?"),
    list: sql(
      `SELECT * FROM runs WHERE (?1 IS NULL OR status = ?1) AND (?2 IS NULL OR name = ?2)
       ORDER BY id DESC LIMIT ?3`,
    ),
    listUnknown: sql(
      `SELECT * FROM runs WHERE (?1 IS NULL OR status = ?1) AND (?2 IS NULL OR name = ?2)
         AND id IN (SELECT id FROM records WHERE ${HAS_UNKNOWN})
       ORDER BY id DESC LIMIT ?3`,
    ),
    last: sql("SELECT * FROM runs ORDER BY id DESC LIMIT 1"),
    lastFailed: sql(
      `SELECT * FROM runs WHERE status IN (${FAILED_STATES.map((state) => `'${state}'`).join(", ")})
       ORDER BY id DESC LIMIT 1`,
    ),
    // Texts are compared by their bytes, and nothing follows the last character there is.
    byPrefix: sql("SELECT * FROM runs WHERE run >= ?1 AND run < ?1 || char(1114111) ORDER BY run LIMIT ?2"),
    addRequest: sql("INSERT INTO requests (run, verb, author, body, at) VALUES (?, ?, ?, ?, ?)"),
    sameRequest: sql("SELECT 1 FROM requests WHERE run = ? AND verb = ? AND json_extract(body, '$.once') = ?"),
    requests: sql("SELECT * FROM requests WHERE run = ? AND id > ? ORDER BY id LIMIT ?"),
    dataVersion: sql("PRAGMA data_version"),
  };
}

class SqliteJournal implements Journal {
  readonly #db: Database;
  readonly #options: SqliteJournalOptions;
  readonly #patience: number;
  readonly #sql: ReturnType<typeof statements>;
  readonly #file: SameFile;
  readonly #queue: WriteQueue;
  readonly #isAlive: (owner: Owner) => boolean | null;
  readonly #uptime: () => number;
  readonly #boot: string;
  /** The runs that each owner of this store object holds, and the places that it waits at; it beats for these. */
  readonly #holding = new Map<string, Set<string>>();
  /** Row numbers of the runs held here: they never change. */
  readonly #ids = new Map<string, number>();
  /** Owners that are about to hold a run, with how many. */
  readonly #arrivals = new Map<string, number>();
  #heart: NodeJS.Timeout | undefined;
  readonly #watchers = new Set<() => void>();
  #look: NodeJS.Timeout | undefined;
  #seenVersion = 0;
  /** Something was changed through this object, which `data_version` does not show. */
  #changedHere = false;
  #closing: Promise<void> | undefined;

  constructor(db: Database, options: SqliteJournalOptions, patience: number) {
    this.#db = db;
    this.#options = options;
    this.#patience = patience;
    this.#isAlive = options.isAlive ?? isAliveHere;
    this.#uptime = options.uptime ?? monotonic;
    this.#boot = options.boot ?? ownIdentity().boot;
    this.#file = new SameFile(options.path);
    this.#sql = statements(db);
    const { begin, commit } = this.#sql;
    this.#queue = new WriteQueue(
      {
        begin: () => void begin.run(),
        // Looked at after the commit: only what is where it will be looked for is acknowledged (I6).
        commit: () => {
          commit.run();
          this.#file.check();
        },
        rollback: () => {
          if (db.isOpen && db.isTransaction) db.exec("ROLLBACK");
        },
      },
      patience,
      (error) => asRefusal(options.path, error),
    );
  }

  async create(
    records: RunRecord[],
    owner: Owner,
    sealed: readonly SealedPart[] = [],
    single: SingleRun | null = null,
  ): Promise<Lease> {
    const { id, lease } = await this.#arriving(owner.id, () =>
      this.#addRun(records, owner, "conflict", sealed, single),
    );
    this.#hold(owner.id, lease.run, id);
    return lease;
  }

  /** In the transaction of the run's first records: of two starts one wins. */
  #holdSingle({ key, place }: SingleRun, run: string): void {
    const holder = this.#sql.holder.get(key) as HeadRow | undefined;
    if (holder !== undefined) throw this.#busy(holder);
    const before = this.#waiting(key).filter((id) => place === null || id < place);
    if (before.length > 0) throw queueBusy(before.length);
    this.#sql.hold.run(key, run);
    if (place !== null) this.#sql.dropPlace.run(place);
  }

  #busy(holder: HeadRow): Refusal {
    const owner = ownerOf(holder);
    return runBusy(holder.run, holder.status, owner, owner !== null && this.#lives(owner));
  }

  /** The places that stand, the first one first; those of dead owners are taken away. */
  #waiting(key: string): number[] {
    const standing: number[] = [];
    for (const { id, owner } of this.#sql.places.all(key) as { id: number; owner: string }[]) {
      if (this.#waits(owner)) standing.push(id);
      else this.#sql.dropPlace.run(id);
    }
    return standing;
  }

  #waits(owner: string): boolean {
    const who = parsed(owner);
    return isObject(who) && typeof who["pid"] === "number" && this.#lives(who as unknown as Owner);
  }

  async queue(key: string, owner: Owner, most: number): Promise<number> {
    const place = await this.#write(() => {
      const waiting = this.#waiting(key).length;
      if (waiting >= most) throw queueBusy(waiting);
      this.#sql.setBeat.run(owner.id, this.#uptime());
      return Number(this.#sql.addPlace.run(key, JSON.stringify(owner)).lastInsertRowid);
    });
    this.#beatFor(owner.id, placeName(place));
    return place;
  }

  async turn(key: string, place: number): Promise<"free" | { run: RunHead | null }> {
    return this.#reading(() => {
      const holder = this.#sql.holder.get(key) as HeadRow | undefined;
      if (holder !== undefined) return { run: toHead(holder) };
      const before = (this.#sql.places.all(key) as { id: number; owner: string }[]).filter(({ id }) => id < place);
      return before.some(({ owner }) => this.#waits(owner)) ? { run: null } : "free";
    });
  }

  async leaveQueue(place: number): Promise<void> {
    await this.#write(() => void this.#sql.dropPlace.run(place));
    this.#restFor(placeName(place));
  }

  async acquire(run: string, owner: Owner, force?: "force"): Promise<{ lease: Lease; processes: ChildProcess[] }> {
    const { id, ...taken } = await this.#arriving(owner.id, () =>
      this.#write(() => {
        const head = this.#head(run);
        const before = ownerOf(head);
        if (before && force === undefined && this.#lives(before)) throw runOwned(run, before, head.since ?? "");
        this.#sql.setBeat.run(owner.id, this.#uptime());
        this.#sql.take.run(JSON.stringify(owner), this.#now(), head.id);
        const processes = this.#processesOf(head);
        return { id: head.id, lease: { run, epoch: head.epoch + 1 }, processes };
      }),
    );
    this.#hold(owner.id, run, id);
    return taken;
  }

  async append(lease: Lease, records: RunRecord[], sealed: readonly SealedPart[] = []): Promise<void> {
    const first = records[0];
    if (first === undefined) return;
    const rows: RecordRow[] = [];
    const large: Blob[] = [];
    let status = "";
    for (const record of records) {
      checkOf(record, lease.run, first.def, conflict);
      const written = toRow(record);
      rows.push(written.row);
      large.push(...written.large);
      status = statusAfter(status, record);
    }
    const last = records[records.length - 1] ?? first;
    let expected = true;
    await this.#write(() => {
      if (!expected) return this.#appendOneByOne(lease, records, rows, large, sealed);
      const id = this.#ids.get(lease.run) ?? this.#head(lease.run).id;
      const before = first.seq - 1;
      const moved = this.#sql.moveHead.run(before + records.length, last.at, id, lease.epoch, before, first.def);
      if (moved.changes === 0) return this.#appendOneByOne(lease, records, rows, large, sealed);
      if (status !== "") this.#sql.setStatus.run(status, id);
      try {
        this.#insert(id, rows, large, sealed);
      } catch (error) {
        if (!isConstraint(error)) throw error;
        // Something of it is there already: look at each, from a clean start.
        expected = false;
        throw AGAIN;
      }
    });
  }

  async setProcesses(lease: Lease, processes: ChildProcess[]): Promise<void> {
    const boot = this.#boot;
    const text = JSON.stringify(processes.map(({ pid, startTime }) => ({ pid, startTime, boot })));
    await this.#write(() => {
      if (this.#sql.setProcesses.run(text, lease.run, lease.epoch).changes === 0) this.#throwLost(lease);
    });
  }

  async release(lease: Lease): Promise<void> {
    const [owner, held] = [...this.#holding].find(([, runs]) => runs.has(lease.run)) ?? [null, null];
    await this.#write(() => {
      this.#sql.giveUp.run(lease.run, lease.epoch);
      // Its last run: nobody has to be told any more that it lives.
      if (owner !== null && held?.size === 1 && !this.#arrivals.has(owner)) this.#sql.dropBeat.run(owner);
    });
    this.#ids.delete(lease.run);
    this.#restFor(lease.run);
  }

  /** Nobody has to be told any more that an owner lives for the sake of this. */
  #restFor(what: string): void {
    for (const [owner, held] of this.#holding) {
      if (held.delete(what) && held.size === 0) this.#holding.delete(owner);
    }
    if (this.#holding.size === 0) this.#stopHeart();
  }

  async read(run: string, fromSeq: number, limit: number): Promise<RunRecord[]> {
    const { id, def, records: total } = await this.#reading(() => this.#head(run));
    const found: RunRecord[] = [];
    let due = Math.max(1, fromSeq);
    let bytes = 0;
    while (found.length < limit) {
      const wanted = Math.min(PAGE_ROWS, limit - found.length);
      const rows = await this.#readingRecords(
        run,
        due,
        () => this.#sql.page.all(keyOf(id, due), keyOf(id + 1, 0), wanted) as RecordRow[],
      );
      for (const row of rows) {
        if (row.seq !== due) throw corrupt(run, due, "it is missing");
        const record = fromRow(run, def, row, (hash) => {
          const text = (this.#sql.blob.get(hash) as { data: string } | undefined)?.data;
          bytes += text?.length ?? 0;
          return text;
        });
        found.push(record);
        bytes += row.data.length;
        due++;
        if (bytes >= PAGE_BYTES) return found;
      }
      if (rows.length < wanted) {
        if (due <= total) throw corrupt(run, due, "it is missing");
        break;
      }
    }
    return found;
  }

  async holdsSealed(): Promise<boolean> {
    return this.#reading(() => this.#sql.anySealed.get() !== undefined);
  }

  async sealed(run: string, seq: number): Promise<string | null> {
    const { id } = await this.#reading(() => this.#head(run));
    const row = await this.#readingRecords(run, seq, () => this.#sql.sealed.get(keyOf(id, seq)));
    return (row as { data: string } | undefined)?.data ?? null;
  }

  async list(filter: RunFilter): Promise<RunHead[]> {
    const limit = Math.max(0, Math.min(filter.limit, MOST_LISTED));
    return this.#reading(() =>
      (
        (filter.unknown ? this.#sql.listUnknown : this.#sql.list).all(
          filter.status ?? null,
          filter.name ?? null,
          limit,
        ) as HeadRow[]
      ).map(toHead),
    );
  }

  async find(wanted: string): Promise<RunHead> {
    return this.#reading(() => {
      if (wanted === "@last" || wanted === "@failed") {
        const row = (wanted === "@last" ? this.#sql.last : this.#sql.lastFailed).get() as HeadRow | undefined;
        if (row === undefined) throw noRunYet(wanted);
        return toHead(row);
      }
      const exact = this.#sql.head.get(wanted) as HeadRow | undefined;
      if (exact) return toHead(exact);
      const rows = wanted === "" ? [] : (this.#sql.byPrefix.all(wanted, NEAR) as HeadRow[]);
      const [only] = rows;
      if (rows.length !== 1 || !only) {
        throw runUnknown(
          wanted,
          rows.map((row) => row.run),
        );
      }
      return toHead(only);
    });
  }

  async import(records: RunRecord[]): Promise<void> {
    await this.#addRun(records, null, "corrupt");
  }

  async post(request: Omit<RunRequest, "id" | "at">): Promise<void> {
    const body = JSON.stringify(request.body);
    await this.#write(() => {
      this.#head(request.run);
      const { once } = request.body;
      if (typeof once === "string" && this.#sql.sameRequest.get(request.run, request.verb, once) !== undefined) {
        throw alreadyDecided(request.run);
      }
      this.#sql.addRequest.run(request.run, request.verb, request.by, body, this.#now());
    });
  }

  async requests(run: string, afterId: number): Promise<RunRequest[]> {
    return this.#reading(() =>
      (
        this.#sql.requests.all(run, afterId, MOST_REQUESTS) as {
          id: number;
          verb: string;
          author: string;
          body: string;
          at: string;
        }[]
      ).map(({ id, verb, author, body, at }) => ({
        id,
        run,
        verb,
        by: author,
        body: JSON.parse(body) as JsonObject,
        at,
      })),
    );
  }

  watch(changed: () => void): { stop(): void } {
    const watcher = (): void => changed();
    this.#watchers.add(watcher);
    if (this.#look === undefined && this.#closing === undefined) {
      this.#seenVersion = this.#dataVersion();
      this.#changedHere = false;
      this.#look = setInterval(() => this.#lookForChanges(), LOOK_EVERY_MS);
    }
    return {
      stop: () => {
        this.#watchers.delete(watcher);
        if (this.#watchers.size === 0) this.#stopLooking();
      },
    };
  }

  describe(): { kind: string; path: string | null; durability: string } {
    return { kind: "sqlite", path: this.#options.path, durability: this.#options.durability };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#watchers.clear();
    this.#stopLooking();
    this.#stopHeart();
    await this.#queue.idle();
    try {
      // The driver keeps the connection open behind `close` until its statements are collected, so SQLite's own
      // checkpoint at the last close may never come.
      this.#db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // Somebody else is at it; the log is whole without it.
    }
    this.#db.close();
  }

  #addRun(
    records: RunRecord[],
    owner: Owner | null,
    refuse: "conflict" | "corrupt",
    sealed: readonly SealedPart[] = [],
    single: SingleRun | null = null,
  ): Promise<{ id: number; lease: Lease }> {
    return this.#write(() => {
      const told = toldByFirst(records, refuse);
      const run = records[0]?.run ?? "";
      const before = this.#sql.head.get(run) as HeadRow | undefined;
      if (before) {
        const holder = ownerOf(before);
        throw holder && this.#lives(holder) ? runOwned(run, holder, before.since ?? "") : runExists(run);
      }
      if (single !== null) this.#holdSingle(single, run);
      const seen = new Set<string>();
      const rows: RecordRow[] = [];
      const large: Blob[] = [];
      for (const record of records) {
        const key = identityOf(record);
        if (seen.has(key)) {
          throw (refuse === "conflict" ? conflict : corrupt)(run, record.seq, `${key} stands twice`);
        }
        seen.add(key);
        const written = toRow(record);
        rows.push(written.row);
        large.push(...written.large);
      }
      const epoch = owner ? 1 : 0;
      const added = this.#sql.addRun.run(
        run,
        told.name,
        told.def,
        told.status,
        told.createdAt,
        records.at(-1)?.at ?? told.createdAt,
        records.length,
        epoch,
        owner ? JSON.stringify(owner) : null,
        owner ? this.#now() : null,
      );
      if (owner) this.#sql.setBeat.run(owner.id, this.#uptime());
      const id = Number(added.lastInsertRowid);
      this.#insert(id, rows, large, sealed);
      return { id, lease: { run, epoch } };
    });
  }

  #insert(id: number, rows: readonly RecordRow[], large: readonly Blob[], sealed: readonly SealedPart[]): void {
    for (const { hash, text } of large) this.#sql.addBlob.run(hash, text);
    for (const row of rows) {
      const { seq, kind, position, attempt, data, blobs, sum } = row;
      if (seq >= KEYS_OF_A_RUN) {
        throw unavailable(this.#options.path, "too_long", `holds no run of more than ${KEYS_OF_A_RUN - 1} records`);
      }
      this.#sql.addRecord.run(keyOf(id, seq), id, seq, kind, position, attempt, data, blobs, sum);
      for (const part of sealed) if (part.seq === seq) this.#sql.addSealed.run(keyOf(id, seq), part.text);
    }
  }

  /** The way of an append that does not simply continue the history: says why, or skips what is there already. */
  #appendOneByOne(
    lease: Lease,
    records: readonly RunRecord[],
    rows: readonly RecordRow[],
    large: readonly Blob[],
    sealed: readonly SealedPart[],
  ): void {
    const head = this.#head(lease.run);
    if (head.epoch !== lease.epoch) throw leaseLost(lease.run, ownerOf(head), head.since ?? "");
    let due = head.records + 1;
    let status = head.status;
    const fresh: RecordRow[] = [];
    const seen = new Set<string>();
    for (const [index, record] of records.entries()) {
      checkOf(record, lease.run, head.def, conflict);
      const key = identityOf(record);
      const known = this.#sql.byIdentity.get(head.id, record.position, record.kind, record.attempt) as
        | RecordRow
        | undefined;
      if (known) {
        if (
          sameContent(
            fromRow(lease.run, head.def, known, (hash) => this.#blob(hash)),
            record,
          )
        )
          continue;
        throw conflict(lease.run, record.seq, `${key} was recorded before with other content`);
      }
      if (seen.has(key)) throw conflict(lease.run, record.seq, `${key} stands twice in one batch`);
      if (record.seq !== due) throw conflict(lease.run, record.seq, `number ${due} is due`);
      seen.add(key);
      const row = rows[index];
      if (row) fresh.push(row);
      status = statusAfter(status, record);
      due++;
    }
    if (fresh.length === 0) return;
    const at = records.at(-1)?.at ?? head.updated_at;
    this.#sql.moveHead.run(head.records + fresh.length, at, head.id, lease.epoch, head.records, head.def);
    if (status !== head.status) this.#sql.setStatus.run(status, head.id);
    this.#insert(head.id, fresh, large, sealed);
  }

  #blob(hash: string): string | undefined {
    return (this.#sql.blob.get(hash) as { data: string } | undefined)?.data;
  }

  #head(run: string): HeadRow {
    const row = this.#sql.head.get(run) as HeadRow | undefined;
    if (row === undefined) throw runUnknown(run, []);
    return row;
  }

  /** A list may outlive its machine: after another boot the same numbers name processes of somebody else. */
  #processesOf(head: HeadRow): ChildProcess[] {
    const listed = parsed(head.processes);
    if (!Array.isArray(listed)) return [];
    return (listed as (ChildProcess & { boot?: string })[])
      .filter((entry) => entry.boot === undefined || entry.boot === this.#boot)
      .map(({ pid, startTime }) => ({ pid, startTime }));
  }

  #throwLost(lease: Lease): never {
    const head = this.#head(lease.run);
    throw leaseLost(lease.run, ownerOf(head), head.since ?? "");
  }

  #lives(owner: Owner): boolean {
    const told = this.#isAlive(owner);
    if (told !== null) return told;
    const beat = (this.#sql.beat.get(owner.id) as { beat: number } | undefined)?.beat;
    return beat !== undefined && this.#uptime() - beat < BEAT_LOST_AFTER_MS;
  }

  #now(): string {
    return isoTime(this.#options.clock.now());
  }

  async #write<T>(work: () => T): Promise<T> {
    this.#checkOpen();
    const value = await this.#queue.add(work);
    this.#changedHere = true;
    return value;
  }

  async #reading<T>(work: () => T): Promise<T> {
    this.#checkOpen();
    try {
      return await patiently(this.#patience, work);
    } catch (error) {
      throw asRefusal(this.#options.path, error);
    }
  }

  /** As {@link #reading}; damage of the file under these rows is damage of the run. */
  async #readingRecords<T>(run: string, seq: number, work: () => T): Promise<T> {
    try {
      return await patiently(this.#patience, work);
    } catch (error) {
      if (((error as { errcode?: number }).errcode ?? 0) % 256 === 11)
        throw corrupt(run, seq, "the database file is broken there");
      throw asRefusal(this.#options.path, error);
    }
  }

  #checkOpen(): void {
    if (this.#closing) throw unavailable(this.#options.path, "closed", "has been closed");
  }

  /** Takes a run for an owner; a release beside it does not call the owner one that has nothing more to live for. */
  async #arriving<T>(owner: string, take: () => Promise<T>): Promise<T> {
    this.#arrivals.set(owner, (this.#arrivals.get(owner) ?? 0) + 1);
    try {
      return await take();
    } finally {
      const left = (this.#arrivals.get(owner) ?? 1) - 1;
      if (left === 0) this.#arrivals.delete(owner);
      else this.#arrivals.set(owner, left);
    }
  }

  #hold(owner: string, run: string, id: number): void {
    this.#ids.set(run, id);
    this.#beatFor(owner, run);
  }

  #beatFor(owner: string, what: string): void {
    const held = this.#holding.get(owner) ?? new Set();
    held.add(what);
    this.#holding.set(owner, held);
    // Whoever owns a run has other things that keep its process alive.
    this.#heart ??= setInterval(() => this.#beat(), BEAT_EVERY_MS).unref();
  }

  #beat(): void {
    const beat = this.#uptime();
    for (const owner of this.#holding.keys()) {
      // A beat that is lost is followed by the next; appends report what is wrong with the store.
      this.#queue.add(() => this.#sql.setBeat.run(owner, beat)).catch(() => {});
    }
  }

  #stopHeart(): void {
    clearInterval(this.#heart);
    this.#heart = undefined;
  }

  #stopLooking(): void {
    clearInterval(this.#look);
    this.#look = undefined;
  }

  #lookForChanges(): void {
    const version = this.#dataVersion();
    if (version === this.#seenVersion && !this.#changedHere) return;
    this.#seenVersion = version;
    this.#changedHere = false;
    for (const watcher of [...this.#watchers]) watcher();
  }

  #dataVersion(): number {
    try {
      return (this.#sql.dataVersion.get() as { data_version: number }).data_version;
    } catch {
      // Nobody waits for the answer of a timer; the next look tries again, and reads and writes tell what is wrong.
      return this.#seenVersion;
    }
  }
}

/** No id of a run has a blank. */
function placeName(place: number): string {
  return `place ${place}`;
}

function keyOf(id: number, seq: number): number {
  return id * KEYS_OF_A_RUN + seq;
}

/** An owner that cannot be read is none: a damaged row hides no other run, and its own can be taken over. */
function ownerOf(head: HeadRow): Owner | null {
  const owner = head.owner === null ? null : parsed(head.owner);
  return isObject(owner) && typeof owner["pid"] === "number" ? (owner as unknown as Owner) : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function toHead(row: HeadRow): RunHead {
  return {
    run: row.run,
    name: row.name,
    status: row.status,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    records: row.records,
    owner: ownerOf(row),
  };
}

function isConstraint(error: unknown): boolean {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === "number" && (code & 0xff) === 19;
}
