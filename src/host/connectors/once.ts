const STOPPED = (): Error => new Error("it was stopped");

/**
 * Something that is made for everybody who waits for it, and by none of them: whoever stops waiting leaves the others
 * what they wait for. It is told to stop when nobody waits any more.
 */
export class Shared<T> {
  readonly promise: Promise<T>;
  readonly #stop = new AbortController();
  readonly #stopped: () => Error;
  #waiting = 0;
  #over = false;

  /** `stopped` makes what those get who stop waiting. */
  constructor(make: (signal: AbortSignal) => Promise<T>, stopped = STOPPED) {
    this.#stopped = stopped;
    this.promise = make(this.#stop.signal);
    const over = (): void => {
      this.#over = true;
    };
    this.promise.then(over, over);
  }

  /** Rejects at once when the signal of this one fires. */
  async wait(signal?: AbortSignal): Promise<T> {
    this.#waiting++;
    let onAbort = (): void => {};
    const stopped = new Promise<never>((_, reject) => {
      onAbort = () => reject(this.#stopped());
      if (signal?.aborted) onAbort();
      signal?.addEventListener("abort", onAbort, { once: true });
    });
    try {
      return await Promise.race([stopped, this.promise]);
    } finally {
      signal?.removeEventListener("abort", onAbort);
      if (--this.#waiting === 0 && !this.#over) this.#stop.abort();
    }
  }
}

/** Something that is made once, however many ask for it; what failed may be tried again by the next who asks. */
export class Once<T> {
  readonly #stopped: () => Error;
  #made: Shared<T> | null = null;

  constructor(stopped = STOPPED) {
    this.#stopped = stopped;
  }

  get(make: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#made === null) {
      const made = new Shared(make, this.#stopped);
      this.#made = made;
      made.promise.catch(() => {
        if (this.#made === made) this.#made = null;
      });
    }
    return this.#made.wait(signal);
  }
}
