import type { Clock, Timer } from "../base/clock.ts";
import type { Journal, RunRequest } from "../journal/journal.ts";

const LOOK_AGAIN_MS = 1_000;

/** Reads what other processes ask of a run through the store (DU-08). */
export class Mailbox {
  readonly #journal: Journal;
  readonly #run: string;
  readonly #handle: (request: RunRequest) => void;
  readonly #clock: Clock;
  readonly #watch: { stop(): void };
  #last = 0;
  #looking: Promise<void> = Promise.resolve();
  #again: Timer | null = null;
  #stopped = false;

  constructor(journal: Journal, run: string, clock: Clock, handle: (request: RunRequest) => void) {
    this.#journal = journal;
    this.#run = run;
    this.#clock = clock;
    this.#handle = handle;
    this.#watch = journal.watch(() => void this.look());
    void this.look();
  }

  /** Reads what has been asked by now. */
  look(): Promise<void> {
    // Whoever asks while a look is under way wants what has come since: another one follows.
    this.#looking = this.#looking.then(() => this.#look());
    return this.#looking;
  }

  async #look(): Promise<void> {
    if (this.#stopped) return;
    try {
      for (const request of await this.#journal.requests(this.#run, this.#last)) {
        this.#last = Math.max(this.#last, request.id);
        this.#handle(request);
      }
    } catch {
      // A store that does not answer fails the run at its next append; until then it is asked again.
      if (!this.#stopped) this.#again ??= this.#clock.after(LOOK_AGAIN_MS, () => this.#retry());
    }
  }

  #retry(): void {
    this.#again = null;
    void this.look();
  }

  stop(): void {
    this.#stopped = true;
    this.#again?.cancel();
    this.#watch.stop();
  }
}
