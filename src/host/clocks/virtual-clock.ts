/**
 * Time that passes at once: the clock of simulated cases.
 *
 * I1: time advances only when nothing else can go on, and then to the next timer.
 * I2: timers fire in the order in which they are due, equal ones in the order in which they were set, one at a
 *     time: what one of them sets in motion comes to rest before the next.
 * I3: while something outside of this process is under way (a child process, a socket, a file), time passes at
 *     the pace of the machine's: how long that takes cannot be known, and waiting for it must not skip a timeout.
 */
import type { Clock, Timer } from "../../base/clock.ts";

export interface VirtualClock extends Clock {
  /** Ends the clock: no timer fires any more. */
  stop(): void;
}

export interface VirtualClockOptions {
  /** Milliseconds since 1970 UTC. */
  start: number;
  /** Asked whenever time would advance; true if something was set in motion, and it does not yet. */
  onRest?: () => boolean;
}

interface Waiting {
  due: number;
  order: number;
  fire: () => void;
}

/** Turns of the event loop without a sign of life after which nothing else can go on. */
const QUIET_TURNS = 12;
/** Milliseconds of the machine for which time stands still first: what is over by then leaves no trace in it. */
const PACE_AFTER_MS = 100;

export function createVirtualClock(options: VirtualClockOptions): VirtualClock {
  return new RestingClock(options);
}

class RestingClock implements VirtualClock {
  readonly #onRest: () => boolean;
  readonly #outsideAtStart: number;
  #now: number;
  #set = 0;
  #waiting: Waiting[] = [];
  #quiet = 0;
  #pumping = false;
  #stopped = false;
  /** When the machine's clock was looked at last while something outside was under way. */
  #outsideSince: number | null = null;

  constructor(options: VirtualClockOptions) {
    this.#now = options.start;
    this.#onRest = options.onRest ?? (() => false);
    this.#outsideAtStart = outside();
  }

  now(): number {
    this.#quiet = 0;
    return this.#now;
  }

  after(ms: number, fire: () => void): Timer {
    this.#quiet = 0;
    const timer = { due: this.#now + Math.max(0, ms), order: this.#set++, fire };
    this.#waiting.push(timer);
    this.#pump();
    return {
      cancel: () => {
        this.#quiet = 0;
        this.#waiting = this.#waiting.filter((other) => other !== timer);
      },
    };
  }

  stop(): void {
    this.#stopped = true;
    this.#waiting = [];
  }

  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    const turn = (): void => {
      if (this.#stopped || this.#waiting.length === 0) {
        this.#pumping = false;
        return;
      }
      if (this.#quiet++ < QUIET_TURNS) {
        setImmediate(turn);
        return;
      }
      if (this.#onRest()) {
        this.#quiet = 0;
        setImmediate(turn);
        return;
      }
      if (outside() > this.#outsideAtStart) {
        this.#keepPace();
        setTimeout(turn, 1);
        return;
      }
      this.#outsideSince = null;
      this.#fireNext(Number.POSITIVE_INFINITY);
      setImmediate(turn);
    };
    setImmediate(turn);
  }

  /** I3: as much time has passed as on the machine. */
  #keepPace(): void {
    const machine = performance.now();
    this.#outsideSince ??= machine + PACE_AFTER_MS;
    const passed = Math.max(0, Math.floor(machine - this.#outsideSince));
    if (passed === 0) return;
    this.#outsideSince += passed;
    const until = this.#now + passed;
    if (!this.#fireNext(until)) this.#now = until;
  }

  /** I2: one timer, if one is due by then. */
  #fireNext(until: number): boolean {
    let next: Waiting | null = null;
    for (const timer of this.#waiting) {
      if (next === null || timer.due < next.due || (timer.due === next.due && timer.order < next.order)) next = timer;
    }
    if (next === null || next.due > until) return false;
    const fired = next;
    this.#waiting = this.#waiting.filter((other) => other !== fired);
    this.#now = Math.max(this.#now, fired.due);
    this.#quiet = 0;
    fired.fire();
    return true;
  }
}

/** What the process waits for beside timers and turns of its own event loop. */
function outside(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind !== "Timeout" && kind !== "Immediate").length;
}
