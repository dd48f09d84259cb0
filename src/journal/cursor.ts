/**
 * Reads the records of one run in order, for resume and replay.
 *
 * I1: One page is held at a time: memory does not grow with the history.
 * I2: Records come in the order of `seq`, each once and without a gap; anything else is `journal.corrupt`.
 * I3: Reading ends at an empty page, so records that are added meanwhile are read too.
 */
import { Refusal } from "../errors/fault.ts";
import type { RunRecord } from "./event.ts";
import type { Journal } from "./journal.ts";

/** Gives records from a `seq` on, at most `limit`, fewer only as it likes; none at the end. */
export type Pages = (fromSeq: number, limit: number) => Promise<RunRecord[]>;

export function pagesOfRun(journal: Pick<Journal, "read">, run: string): Pages {
  return (fromSeq, limit) => journal.read(run, fromSeq, limit);
}

/** The records of a file that has been read. */
export function pagesOfRecords(records: readonly RunRecord[]): Pages {
  return async (fromSeq, limit) => {
    const from = fromSeq - (records[0]?.seq ?? 1);
    return from < 0 ? [] : records.slice(from, from + limit);
  };
}

const PAGE = 256;

export class Cursor {
  readonly #pages: Pages;
  #page: RunRecord[] = [];
  #at = 0;
  #due: number;

  constructor(pages: Pages, fromSeq = 1) {
    this.#pages = pages;
    this.#due = fromSeq;
  }

  /** The `seq` of the record that `next` gives. */
  get seq(): number {
    return this.#due;
  }

  /** The next record, null at the end. */
  async next(): Promise<RunRecord | null> {
    if (this.#at >= this.#page.length) {
      this.#page = await this.#pages(this.#due, PAGE);
      this.#at = 0;
    }
    const record = this.#page[this.#at];
    if (record === undefined) return null;
    if (record.seq !== this.#due) {
      throw new Refusal(
        "journal.corrupt",
        `Record ${this.#due} of run ${record.run} is missing: number ${record.seq} follows.`,
        { run: record.run, seq: this.#due },
      );
    }
    this.#at++;
    this.#due++;
    return record;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RunRecord> {
    for (let record = await this.next(); record !== null; record = await this.next()) yield record;
  }
}
