import { Refusal } from "../errors/fault.ts";
import { Cursor, type Pages } from "../journal/cursor.ts";
import type { RunRecord } from "../journal/event.ts";
import { applyRecord, initialState, type RunState } from "../journal/fold.ts";

/** The records of one run as they come: their fold, and a wake-up for whoever reads along. */
export class Feed {
  #state: RunState = initialState();
  #seq = 0;
  #over = false;
  #waiting: (() => void)[] = [];

  get state(): RunState {
    return this.#state;
  }

  push(record: RunRecord): void {
    this.#state = applyRecord(this.#state, record);
    this.#seq = record.seq;
    this.#wake();
  }

  end(): void {
    this.#over = true;
    this.#wake();
  }

  /** Reads from the store, page by page, and waits for more until the run is over here. `journal.corrupt`. */
  async *read(pages: Pages): AsyncGenerator<RunRecord> {
    const cursor = new Cursor(pages);
    for (;;) {
      if (cursor.seq <= this.#seq) {
        const record = await cursor.next();
        if (record === null) {
          // It was told once it was on disk: asking again would be asking without end.
          const message = `Record ${cursor.seq} was written and is not in the store any more.`;
          throw new Refusal("journal.corrupt", message, { seq: cursor.seq });
        }
        yield record;
        continue;
      }
      if (this.#over) return;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
