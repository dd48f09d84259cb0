import type { Clock, Timer } from "../base/clock.ts";
import type { Stop } from "./end.ts";
import type { Stoppable } from "./stop-scope.ts";

/**
 * An effect that is under way, as whoever stops it and whoever performs it see it. Signals are made when they are
 * first asked for: most effects need one of them, and making one costs more than the rest of a step's account.
 */
export class LiveEffect implements Stoppable {
  readonly onBudget: "abort" | "grace";
  readonly #clock: Clock;
  readonly #grace: number;
  #stop: Stop | null = null;
  #isStopped = false;
  #isOver = false;
  #signal: AbortController | null = null;
  #asked: AbortController | null = null;
  #timer: Timer | null = null;

  constructor(onBudget: "abort" | "grace", clock: Clock, grace: number) {
    this.onBudget = onBudget;
    this.#clock = clock;
    this.#grace = grace;
  }

  /** Why it shall stop; null as long as it may go on. */
  get stop(): Stop | null {
    return this.#stop;
  }

  /** A stop has reached `signal`: the grace of a spent budget, if there was one, is over. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Fires with a stop, or when the effect's own time is up. */
  get signal(): AbortSignal {
    this.#signal ??= fired(this.#isStopped || this.#isOver);
    return this.#signal.signal;
  }

  /** Fires as soon as it shall stop: with `signal`, or where a spent budget lets it settle before that. */
  get asked(): AbortSignal {
    this.#asked ??= fired(this.#stop !== null);
    return this.#asked.signal;
  }

  abort(stop: Stop): void {
    this.#ask(stop);
    this.settled();
    this.#isStopped = true;
    this.#signal?.abort();
  }

  abortAfterGrace(stop: Stop): void {
    this.#ask(stop);
    this.#timer ??= this.#clock.after(this.#grace, () => this.abort(stop));
  }

  /** Its own time is up. */
  timeUp(): void {
    this.#isOver = true;
    this.#signal?.abort();
  }

  /** Nothing is to be stopped any more. */
  settled(): void {
    this.#timer?.cancel();
  }

  #ask(stop: Stop): void {
    this.#stop ??= stop;
    this.#asked?.abort();
  }
}

function fired(isFired: boolean): AbortController {
  const controller = new AbortController();
  if (isFired) controller.abort();
  return controller;
}
