import type { RunRequest } from "../journal/journal.ts";

/** More than a person would ever ask of one run: what comes beyond is left in the store for the next owner. */
const MOST_HELD = 1_000;

/** What people have asked of a run's open questions, approvals and halts, until the position that it is for takes it. */
export class Inbox {
  readonly #held: RunRequest[] = [];
  readonly #open: (request: RunRequest) => RunRequest;
  readonly #listeners = new Set<() => void>();

  /** `open` gives a request whose value lies sealed as it was made, and throws a Refusal where it does not open. */
  constructor(open: (request: RunRequest) => RunRequest = (request) => request) {
    this.#open = open;
  }

  add(request: RunRequest): void {
    if (this.#held.length >= MOST_HELD) return;
    this.#held.push(request);
    for (const listener of [...this.#listeners]) listener();
  }

  /** The oldest request that is wanted, which is taken out. */
  take(isWanted: (request: RunRequest) => boolean): RunRequest | null {
    const at = this.#held.findIndex(isWanted);
    const [taken] = at === -1 ? [] : this.#held.splice(at, 1);
    return taken === undefined ? null : this.#open(taken);
  }

  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
