/** Steps that have been executed, against a limit: of the run, of a file that is called, of what is cleaned up. */
export class StepCount {
  readonly limit: number;
  readonly #outer: StepCount | null;
  #done = 0;

  constructor(limit: number, outer: StepCount | null = null) {
    this.limit = limit;
    this.#outer = outer;
  }

  /** Counts one more; the limit that leaves no room for it, or null. */
  take(): number | null {
    if (this.#done >= this.limit) return this.limit;
    const above = this.#outer?.take() ?? null;
    if (above === null) this.#done++;
    return above;
  }
}
