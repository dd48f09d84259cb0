import type { JsonObject } from "../base/json.ts";
import type { RunRecord } from "./event.ts";

/** A process that may own runs (DU-08). Pid, start time and boot tell a living owner from a dead one. */
export interface Owner {
  /** Unique per engine instance. */
  id: string;
  pid: number;
  /** Kernel start time of the process, "" where the platform does not tell. */
  startTime: string;
  boot: string;
  pidNamespace: string;
  /** How to reach it, for people: the command line's verb or a URL. */
  label: string;
}

/** The right to append to one run. An append under an older epoch is refused (DU-14). */
export interface Lease {
  run: string;
  epoch: number;
}

/** A stdio server of a run, listed in its lease so that a later owner can end it first (DU-11). */
export interface ChildProcess {
  pid: number;
  startTime: string;
}

/** A text that lies sealed beside a record of a run; no reader of records gets to see it (DU-09). */
export interface SealedPart {
  seq: number;
  text: string;
}

/**
 * One run at a time of those with one key (DU-17): it holds the key from its acceptance to its end. `place` is its
 * place among those that wait for it, null for a start that does not wait.
 */
export interface SingleRun {
  key: string;
  place: number | null;
}

/** What another process asks of a run's owner through the store (DU-08). */
export interface RunRequest {
  id: number;
  run: string;
  /** `cancel`, `answer` (of a question or an approval), `settle` (of an effect whose outcome is not known). */
  verb: string;
  by: string;
  body: JsonObject;
  /** RFC 3339, when it was asked. */
  at: string;
}

/** What the store knows of a run without reading its records. */
export interface RunHead {
  run: string;
  name: string;
  /** `running` until a `run.suspended` or `run.ended` says otherwise; kept up by the store from the records. */
  status: string;
  createdAt: string;
  updatedAt: string;
  /** Highest `seq`. */
  records: number;
  owner: Owner | null;
}

export interface RunFilter {
  status?: string;
  name?: string;
  /** Runs alone that have, or had, an effect of unknown outcome. */
  unknown?: true;
  limit: number;
}

/**
 * The store of runs. Everything that is acknowledged is on disk (DU-05). Refusals are `Refusal` with the
 * codes named at each call; any call may refuse with `store.unavailable`.
 */
export interface Journal {
  /**
   * Writes the first records of a new run, with what lies sealed beside them, and takes its lease, in one transaction.
   * `run.exists`, `run.owned`, and `run.busy` where another run holds the key of `single`, or somebody waits before it.
   */
  create(records: RunRecord[], owner: Owner, sealed?: readonly SealedPart[], single?: SingleRun | null): Promise<Lease>;
  /**
   * Takes a place behind those that wait for a key; `run.busy` where `most` do. Whose owner is gone waits no more. A
   * place ends with the `create` that it is for, or with `leaveQueue`.
   */
  queue(key: string, owner: Owner, most: number): Promise<number>;
  /**
   * Whom a place waits for: the run that holds the key, with its owner, or null for somebody before it in the queue.
   * `free` once it is its turn.
   */
  turn(key: string, place: number): Promise<"free" | { run: RunHead | null }>;
  leaveQueue(place: number): Promise<void>;
  /**
   * Takes a run whose owner is gone (or which has none): raises the epoch. `run.unknown`, `run.owned`. `processes`
   * are those that earlier owners listed and nobody has told to be ended; they stay listed until `setProcesses`
   * says otherwise, so a taker ends them before anything else it does (DU-11).
   */
  acquire(run: string, owner: Owner, force?: "force"): Promise<{ lease: Lease; processes: ChildProcess[] }>;
  /**
   * Appends, in one transaction with what lies sealed beside the records; `journal.conflict` for a second write of an
   * identity with other content, `run.owned` for a lost lease.
   */
  append(lease: Lease, records: RunRecord[], sealed?: readonly SealedPart[]): Promise<void>;
  /** Lists the child processes of the run in its lease, in place of those listed before: these have been ended. */
  setProcesses(lease: Lease, processes: ChildProcess[]): Promise<void>;
  /**
   * Gives the lease up: the run has ended, is parked, or cannot go on here. Nothing for a lease that was lost. The
   * list of processes of a run that has not ended is kept for its next owner.
   */
  release(lease: Lease): Promise<void>;
  /**
   * Records from `seq` on, at most `limit`, checksums checked: `journal.corrupt`, `run.unknown`. A page may be
   * shorter than asked for where records are large; only an empty one is the end.
   */
  read(run: string, fromSeq: number, limit: number): Promise<RunRecord[]>;
  /** What lies sealed beside the record of this number, null where nothing does. */
  sealed(run: string, seq: number): Promise<string | null>;
  /** Whether anything lies sealed beside any record of the store. */
  holdsSealed(): Promise<boolean>;
  /** Newest first. */
  list(filter: RunFilter): Promise<RunHead[]>;
  /** The run of this id, or the only one whose id begins so, or of `@last` and `@failed`: `run.unknown`. */
  find(idOrPrefix: string): Promise<RunHead>;
  /** Takes over the records of an exported run, as a run without an owner. `run.exists`, `journal.corrupt`. */
  import(records: RunRecord[]): Promise<void>;
  /**
   * Leaves a request for the owner of a run. Of two with one verb and one `body.once` the second is refused:
   * `run.already_decided`.
   */
  post(request: Omit<RunRequest, "id" | "at">): Promise<void>;
  /** Requests of a run after `afterId`, oldest first. */
  requests(run: string, afterId: number): Promise<RunRequest[]>;
  /** Calls back (soon, from a timer) after another process or caller changed the store. */
  watch(changed: () => void): { stop(): void };
  /** For `doctor` and the run header. */
  describe(): { kind: string; path: string | null; durability: string };
  close(): Promise<void>;
}
