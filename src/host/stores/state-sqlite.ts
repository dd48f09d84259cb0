/**
 * State in the database of the runs, in tables of its own: what was written without them opens as before, and an
 * older version passes them over.
 *
 * I1: A change and the note of its call are one transaction, acknowledged once it is on disk.
 * I2: No call waits with a transaction open, and a busy store is tried again from a timer (write-queue.ts).
 */
import type { Json } from "../../base/json.ts";
import {
  MAX_STATE_NOTES,
  type StateAnswer,
  type StateCall,
  type StateChange,
  type StateKey,
  type StateStore,
} from "../connectors/state-store.ts";
import { networkFileSystem } from "./file-system.ts";
import { unavailable } from "./refusals.ts";
import { asRefusal, type Database, openDatabase, patiently } from "./sqlite-open.ts";
import { callIdentity, planChange } from "./state-answer.ts";
import { WriteQueue } from "./write-queue.ts";

const PATIENCE_MS = 60_000;
/** Old notes are looked for once in so many calls. */
const SWEEP_EVERY = 256;

const SCHEMA = `
  BEGIN IMMEDIATE;
  CREATE TABLE IF NOT EXISTS state_values (
    workflow TEXT NOT NULL,
    key TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (workflow, key)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS state_notes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    workflow TEXT NOT NULL,
    call TEXT NOT NULL,
    answer TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS state_notes_by_call ON state_notes (workflow, call);
  CREATE INDEX IF NOT EXISTS state_notes_by_age ON state_notes (workflow, id);
  COMMIT;
`;

export interface SqliteStateOptions {
  /** Absolute path of the database file. */
  path: string;
  durability: "full" | "process";
  /** Milliseconds that a busy store is tried again before `store.unavailable`. */
  patience?: number;
}

/** Opens the state kept in a store's file, making both where there are none. `store.unavailable` with the reason. */
export async function openSqliteState(options: SqliteStateOptions): Promise<StateStore> {
  const patience = options.patience ?? PATIENCE_MS;
  const { path, durability } = options;
  const db = await openDatabase({ path, durability, patience, fileSystem: networkFileSystem });
  try {
    await patiently(patience, () => {
      try {
        db.exec(SCHEMA);
      } catch (error) {
        if (db.isTransaction) db.exec("ROLLBACK");
        throw error;
      }
    });
    return new SqliteState(db, path, patience);
  } catch (error) {
    if (db.isOpen) db.close();
    throw asRefusal(path, error);
  }
}

function statements(db: Database) {
  return {
    begin: db.prepare("BEGIN IMMEDIATE"),
    commit: db.prepare("COMMIT"),
    value: db.prepare("SELECT data FROM state_values WHERE workflow = ? AND key = ?"),
    count: db.prepare("SELECT count(*) AS n FROM state_values WHERE workflow = ?"),
    put: db.prepare(
      `INSERT INTO state_values (workflow, key, data) VALUES (?, ?, ?)
       ON CONFLICT (workflow, key) DO UPDATE SET data = excluded.data`,
    ),
    remove: db.prepare("DELETE FROM state_values WHERE workflow = ? AND key = ?"),
    note: db.prepare("SELECT answer FROM state_notes WHERE workflow = ? AND call = ?"),
    addNote: db.prepare("INSERT INTO state_notes (workflow, call, answer) VALUES (?, ?, ?)"),
    sweep: db.prepare(
      `DELETE FROM state_notes WHERE workflow = ?1 AND id <=
       (SELECT id FROM state_notes WHERE workflow = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)`,
    ),
  };
}

class SqliteState implements StateStore {
  readonly #db: Database;
  readonly #path: string;
  readonly #patience: number;
  readonly #sql: ReturnType<typeof statements>;
  readonly #queue: WriteQueue;
  #calls = 0;
  #closed = false;

  constructor(db: Database, path: string, patience: number) {
    this.#db = db;
    this.#path = path;
    this.#patience = patience;
    this.#sql = statements(db);
    const { begin, commit } = this.#sql;
    this.#queue = new WriteQueue(
      {
        begin: () => void begin.run(),
        commit: () => void commit.run(),
        rollback: () => {
          if (db.isOpen && db.isTransaction) db.exec("ROLLBACK");
        },
      },
      patience,
      (error) => asRefusal(path, error),
    );
  }

  async read({ workflow, key }: StateKey): Promise<{ found: boolean; value: Json }> {
    this.#open();
    const text = await patiently(this.#patience, () => this.#value(workflow, key)).catch((error: unknown) => {
      throw asRefusal(this.#path, error);
    });
    return text === null ? { found: false, value: null } : { found: true, value: JSON.parse(text) as Json };
  }

  async change({ workflow, key }: StateKey, change: StateChange, call: StateCall): Promise<StateAnswer> {
    this.#open();
    const identity = callIdentity(call);
    return this.#queue.add(() => {
      const earlier = this.#sql.note.get(workflow, identity) as { answer: string } | undefined;
      if (earlier) return JSON.parse(earlier.answer) as StateAnswer;
      const { n } = this.#sql.count.get(workflow) as { n: number };
      const { answer, text } = planChange(change, this.#value(workflow, key), n);
      if (text === undefined) return answer;
      if (text === null) this.#sql.remove.run(workflow, key);
      else this.#sql.put.run(workflow, key, text);
      this.#sql.addNote.run(workflow, identity, JSON.stringify(answer));
      if (this.#calls++ % SWEEP_EVERY === 0) this.#sql.sweep.run(workflow, MAX_STATE_NOTES);
      return answer;
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#queue.idle();
    this.#db.close();
  }

  #value(workflow: string, key: string): string | null {
    const row = this.#sql.value.get(workflow, key) as { data: string } | undefined;
    return row?.data ?? null;
  }

  #open(): void {
    if (this.#closed) throw unavailable(this.#path, "closed", "has been closed");
  }
}
