/** Opens the database file of a store: folder, file system, modes, pragmas, schema. */
import { chmodSync, closeSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as later } from "node:timers/promises";
import type { DatabaseSyncInstance } from "@photostructure/sqlite";
import { Refusal } from "../../errors/fault.ts";
import { unavailable } from "./refusals.ts";
import { isBusy, pauseAfter } from "./write-queue.ts";

export type Database = DatabaseSyncInstance;

/** "Ambt": tells our file from another program's database. */
const APPLICATION_ID = 0x416d6274;

/** Older ones can lose a committed WAL frame when two connections checkpoint at once. */
const OLDEST_SQLITE = [3, 51, 3] as const;

/**
 * The key of a record is its run's row number times this, plus `seq`: a table by one number holds rows of
 * some KiB without overflow pages, which one by (id, seq) does not.
 */
export const KEYS_OF_A_RUN = 2 ** 26;

/** Of a record: a call of unknown outcome, or one whose value says these very words. As the index has it, or it is not used. */
export const HAS_UNKNOWN = `kind = 'call.ended' AND instr(data, '"outcome":"unknown"') > 0`;

const FIRST = `
  CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    def TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    records INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    owner TEXT,
    since TEXT,
    processes TEXT NOT NULL
  ) STRICT;
  CREATE INDEX runs_by_status ON runs (status, id);
  CREATE TABLE records (
    key INTEGER PRIMARY KEY,
    id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    position TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    data TEXT NOT NULL,
    blobs TEXT,
    sum TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX records_by_identity ON records (id, position, kind, attempt);
  CREATE TABLE blobs (hash TEXT PRIMARY KEY, data TEXT NOT NULL) STRICT;
  CREATE TABLE beats (owner TEXT PRIMARY KEY, beat INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE requests (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run TEXT NOT NULL,
    verb TEXT NOT NULL,
    author TEXT NOT NULL,
    body TEXT NOT NULL,
    at TEXT NOT NULL
  ) STRICT;
  CREATE INDEX requests_by_run ON requests (run, id);
  PRAGMA application_id = ${APPLICATION_ID};
`;

/**
 * What each version added to the one before; a store of more versions than these is refused. Tables are added and none is changed, so a process that still has the
 * older ones open goes on unharmed, and nobody has to be alone for it.
 */
const ADDED: readonly string[] = [
  FIRST,
  `
  CREATE TABLE sealed (key INTEGER PRIMARY KEY, data TEXT NOT NULL) STRICT;
  CREATE TABLE singles (key TEXT PRIMARY KEY, run TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE places (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL, owner TEXT NOT NULL) STRICT;
  CREATE INDEX places_by_key ON places (key, id);
  CREATE INDEX records_unknown ON records (id) WHERE ${HAS_UNKNOWN};
`,
];

export interface OpenOptions {
  path: string;
  durability: "full" | "process";
  /** Milliseconds that a busy store is tried again. */
  patience: number;
  /** Names the network file system of a folder, null for a local one. */
  fileSystem: (folder: string) => string | null;
}

export async function openDatabase(options: OpenOptions): Promise<Database> {
  const { path } = options;
  let db: Database | undefined;
  try {
    prepareFile(options);
    const { DatabaseSync } = await import("@photostructure/sqlite");
    // No busy timeout: it would stop the event loop (DU-08).
    const opened: Database = new DatabaseSync(path, { timeout: 0, defensive: true });
    db = opened;
    await patiently(options.patience, () => setUp(opened, options));
    return opened;
  } catch (error) {
    if (db?.isOpen) db.close();
    throw asRefusal(path, error);
  }
}

/** Runs something that may find the store busy, again and again from a timer. */
export async function patiently<T>(patience: number, work: () => T): Promise<T> {
  let left = patience;
  for (let tries = 0; ; tries++) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || left <= 0) throw error;
    }
    const pause = pauseAfter(tries);
    left -= pause;
    await later(pause);
  }
}

function prepareFile({ path, fileSystem }: OpenOptions): void {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const network = fileSystem(folder);
  if (network !== null) {
    throw unavailable(
      path,
      "network_file_system",
      `lies on a network file system (${network}), where several processes cannot share it safely: put it on a local disk`,
    );
  }
  const found = statSync(path, { throwIfNoEntry: false });
  // A pipe would keep SQLite, and with it the whole process, waiting for whoever writes to it.
  if (found !== undefined && !found.isFile()) {
    throw unavailable(path, "no_file", `is ${found.isDirectory() ? "a folder" : "no regular file"}`);
  }
  if (found !== undefined) return;
  // SQLite gives its side files the mode of this one.
  closeSync(openSync(path, "a", 0o600));
  chmodSync(path, 0o600);
}

function setUp(db: Database, options: OpenOptions): void {
  const version = String(one(db, "SELECT sqlite_version()"));
  if (isOlder(version)) {
    throw unavailable(options.path, "sqlite", `needs SQLite ${OLDEST_SQLITE.join(".")} or newer and found ${version}`);
  }
  // Looked at first: another program's file is not to be changed.
  const found = schemaOf(db, options.path);
  if (one(db, "PRAGMA journal_mode = WAL") !== "wal") {
    throw unavailable(options.path, "wal", "lies where SQLite cannot keep a write-ahead log");
  }
  db.exec(
    `PRAGMA synchronous = ${options.durability === "full" ? "FULL" : "NORMAL"}; PRAGMA journal_size_limit = 67108864`,
  );
  if (process.platform === "darwin" && options.durability === "full") {
    // There a plain fsync does not reach the disk.
    db.exec("PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON");
  }
  if (found === ADDED.length) return;
  db.exec("BEGIN IMMEDIATE");
  try {
    // Another process may have been first.
    for (const added of ADDED.slice(schemaOf(db, options.path))) db.exec(added);
    db.exec(`PRAGMA user_version = ${ADDED.length}`);
    db.exec("COMMIT");
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

/** The version of the tables; 0 for a new file. */
function schemaOf(db: Database, path: string): number {
  const version = Number(one(db, "PRAGMA user_version"));
  const application = Number(one(db, "PRAGMA application_id"));
  if (version === 0 && application === 0 && Number(one(db, "SELECT count(*) FROM sqlite_schema")) === 0) return 0;
  if (application !== APPLICATION_ID) {
    throw unavailable(path, "foreign", "is a database of another program");
  }
  if (version > ADDED.length) {
    throw unavailable(
      path,
      "newer_schema",
      `was written by a newer version (format ${version}, this one knows ${ADDED.length}): update ambit, or use another store`,
    );
  }
  return version;
}

function one(db: Database, sql: string): unknown {
  const row = db.prepare(sql).get() as { [column: string]: unknown } | undefined;
  return row === undefined ? undefined : Object.values(row)[0];
}

function isOlder(version: string): boolean {
  const parts = version.split(".").map(Number);
  for (const [index, least] of OLDEST_SQLITE.entries()) {
    const part = parts[index] ?? 0;
    if (part !== least) return part < least;
  }
  return false;
}

/** An error of the database or the file system, in words. */
export function asRefusal(path: string, error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  const { errcode, code, message } = (error ?? {}) as { errcode?: number; code?: string; message?: string };
  if (isBusy(error)) return unavailable(path, "busy", "has been held by another process for too long");
  switch (typeof errcode === "number" ? errcode & 0xff : code) {
    case 11:
      return unavailable(path, "damaged", "is damaged");
    case 26:
      return unavailable(path, "no_database", "is no SQLite database");
    case 13:
    case "ENOSPC":
      return unavailable(path, "disk_full", "cannot be written: the disk is full");
    case 8:
    case 14:
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return unavailable(path, "no_access", "cannot be opened for writing");
    default:
      return unavailable(path, "failed", `cannot be used: ${message ?? "unknown error"}`);
  }
}
