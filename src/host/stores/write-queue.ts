/**
 * Group commit: what is written in the same turn of the event loop shares one transaction and one flush.
 *
 * I1: A promise resolves only after its transaction has been committed, which is after the flush (DU-05).
 * I2: A piece of work that throws takes no other with it: the transaction is rolled back and begun again
 *     without it. Work therefore touches nothing but the database.
 * I3: A transaction begins and ends in one turn of the event loop: none is open while we wait.
 * I4: Whoever asks while the queue is coming to rest is not forgotten: the look at what is waiting and the end of
 *     the flush are one step, with no turn of the microtasks between them.
 * I5: A busy store is tried again from a timer, so the event loop goes on (DU-08); after `patience` the work
 *     is refused.
 */
import { setTimeout as later } from "node:timers/promises";
import type { Refusal } from "../../errors/fault.ts";

/** What the queue needs of a database. */
export interface Transactions {
  begin(): void;
  commit(): void;
  rollback(): void;
}

/** Thrown by a piece of work that wants to be run again from the start of a transaction. */
export const AGAIN: unique symbol = Symbol("again");

/** Transactions hold no more than this many pieces of work, so that others get their turn. */
const LARGEST_BATCH = 1_000;
const SHORTEST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 100;

interface Work {
  run(): unknown;
  done(value: unknown): void;
  failed(error: unknown): void;
}

export class WriteQueue {
  readonly #on: Transactions;
  readonly #patience: number;
  readonly #refuse: (error: unknown) => Refusal;
  #waiting: Work[] = [];
  #flush: Promise<void> | undefined;

  /** `patience` in milliseconds; `refuse` words an error of the database. */
  constructor(on: Transactions, patience: number, refuse: (error: unknown) => Refusal) {
    this.#on = on;
    this.#patience = patience;
    this.#refuse = refuse;
  }

  /** Runs `work` in a transaction with whatever else is asked for in this turn of the event loop. */
  add<T>(work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ run: work, done: resolve as (value: unknown) => void, failed: reject });
      this.#flush ??= this.#soon();
    });
  }

  /** Resolves when nothing is waiting. */
  async idle(): Promise<void> {
    while (this.#flush) await this.#flush;
  }

  #soon(): Promise<void> {
    return new Promise((resolve) => {
      setImmediate(() => void this.#writeAll().then(resolve));
    });
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, LARGEST_BATCH);
      this.#waiting = this.#waiting.slice(LARGEST_BATCH);
      let left = this.#patience;
      for (let tries = 0; batch.length > 0; tries++) {
        const error = this.#write(batch);
        if (error === null) break;
        if (!isBusy(error) || left <= 0) {
          const refusal = this.#refuse(error);
          for (const work of batch) work.failed(refusal);
          break;
        }
        const pause = pauseAfter(tries);
        left -= pause;
        await later(pause);
      }
    }
    // I4: here and not behind the promise of this function.
    this.#flush = undefined;
  }

  /** One transaction over the batch; the error that hit all of it, or null. Takes out what is settled. */
  #write(batch: Work[]): unknown {
    while (batch.length > 0) {
      const values: unknown[] = [];
      try {
        this.#on.begin();
        for (const work of batch) values.push(work.run());
        this.#on.commit();
      } catch (error) {
        const stuck = this.#rollBack();
        if (stuck !== null) return stuck;
        if (error === AGAIN) continue;
        const guilty = batch[values.length];
        if (guilty === undefined || isOfStore(error)) return error;
        guilty.failed(error);
        batch.splice(values.length, 1);
        continue;
      }
      batch.splice(0).forEach((work, index) => {
        work.done(values[index]);
      });
    }
    return null;
  }

  /** What keeps the transaction open, or null: then nothing of the batch is sure, and all of it is refused. */
  #rollBack(): unknown {
    try {
      this.#on.rollback();
      return null;
    } catch (error) {
      return error ?? new Error("the transaction could not be rolled back");
    }
  }
}

/** Milliseconds before the next try; spread, so that two processes do not meet again and again. */
export function pauseAfter(tries: number): number {
  const longest = Math.min(LONGEST_PAUSE_MS, SHORTEST_PAUSE_MS * 2 ** Math.min(tries, 10));
  return SHORTEST_PAUSE_MS + Math.random() * (longest - SHORTEST_PAUSE_MS);
}

/** Whether an error of the database says: somebody else is writing, try again. */
export function isBusy(error: unknown): boolean {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  // SQLITE_BUSY and SQLITE_LOCKED with their extended codes.
  return typeof code === "number" && ((code & 0xff) === 5 || (code & 0xff) === 6);
}

/** Whether an error concerns the whole store, not one piece of work: disk full, input or output, damage, no memory. */
function isOfStore(error: unknown): boolean {
  if (isBusy(error)) return true;
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === "number" && [7, 8, 10, 11, 13, 14, 26].includes(code & 0xff);
}
