// `limits` of a connector: how many calls are under way at once, and how often one begins.
//
// I1: no more than `concurrency` places are out at a time, whoever asks: all runs and connections of the process.
// I2: starts are spread evenly: between two of them lies at least the time of one, so there are no bursts.
// I3: who came first goes first.
// I4: at most 1,000 wait; who is stopped leaves the line at once.
import type { Clock, Timer } from "../../base/clock.ts";
import type { CallPlace, CallRequest, CallResult, Connector, Offer } from "../../catalog/connector.ts";

export interface Limits {
  /** Calls at once; absent is no limit. */
  concurrency?: number;
  /** Starts per second; absent is no limit. */
  rate?: number;
}

export const MAX_WAITING = 1_000;

interface Waiting {
  go(): void;
}

/** The line before one connector. */
export class Limiter {
  readonly #concurrency: number;
  /** Milliseconds between two starts. */
  readonly #apart: number;
  readonly #clock: Clock;
  readonly #line: Waiting[] = [];
  #out = 0;
  #nextStart = 0;
  #timer: Timer | null = null;

  constructor(limits: Limits, clock: Clock) {
    this.#concurrency = limits.concurrency ?? Number.POSITIVE_INFINITY;
    this.#apart = limits.rate === undefined ? 0 : 1_000 / limits.rate;
    this.#clock = clock;
  }

  enter(signal: AbortSignal): Promise<CallPlace | "full" | "stopped"> {
    if (signal.aborted) return Promise.resolve("stopped");
    if (this.#line.length >= MAX_WAITING) return Promise.resolve("full");
    return new Promise((resolve) => {
      const since = this.#clock.now();
      const stopped = (): void => {
        const at = this.#line.indexOf(waiting);
        if (at >= 0) this.#line.splice(at, 1);
        resolve("stopped");
        this.#rest();
      };
      const waiting: Waiting = {
        go: () => {
          signal.removeEventListener("abort", stopped);
          resolve({ queuedMs: Math.max(0, this.#clock.now() - since), leave: this.#leaveOnce() });
        },
      };
      signal.addEventListener("abort", stopped, { once: true });
      this.#line.push(waiting);
      this.#advance();
    });
  }

  #leaveOnce(): () => void {
    let isOut = true;
    return () => {
      if (!isOut) return;
      isOut = false;
      this.#out--;
      this.#advance();
    };
  }

  #advance(): void {
    while (this.#line.length > 0 && this.#out < this.#concurrency) {
      const now = this.#clock.now();
      const wait = Math.min(this.#nextStart - now, this.#apart);
      if (wait > 0) {
        this.#timer ??= this.#clock.after(Math.ceil(wait), () => {
          this.#timer = null;
          this.#advance();
        });
        return;
      }
      this.#out++;
      this.#nextStart = Math.max(now, this.#nextStart) + this.#apart;
      this.#line.shift()?.go();
    }
  }

  /** A timer that nobody waits for would keep the process. */
  #rest(): void {
    if (this.#line.length > 0) return;
    this.#timer?.cancel();
    this.#timer = null;
  }
}

/** A connector behind a limiter. */
export class LimitedConnector implements Connector {
  readonly name: string;
  readonly #connector: Connector;
  readonly #limiter: Limiter;

  constructor(connector: Connector, limiter: Limiter) {
    this.name = connector.name;
    this.#connector = connector;
    this.#limiter = limiter;
  }

  connect(signal: AbortSignal): Promise<Offer> {
    return this.#connector.connect(signal);
  }

  enter(signal: AbortSignal): Promise<CallPlace | "full" | "stopped"> {
    return this.#limiter.enter(signal);
  }

  call(request: CallRequest, signal: AbortSignal): Promise<CallResult> {
    return this.#connector.call(request, signal);
  }

  processes(): { pid: number; startTime: string }[] {
    return this.#connector.processes();
  }

  close(): Promise<void> {
    return this.#connector.close();
  }
}
