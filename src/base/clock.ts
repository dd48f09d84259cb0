/** A timer that can be taken back. Firing after `cancel()` does not happen. */
export interface Timer {
  cancel(): void;
}

/**
 * Time as a parameter. `now` is in milliseconds since 1970 UTC. Timers keep the process alive until they
 * fire or are cancelled (a deadline that lets the process exit is no deadline).
 */
export interface Clock {
  now(): number;
  after(ms: number, fire: () => void): Timer;
}

/** setTimeout takes at most 2^31-1 ms and would fire at once beyond it. */
const LONGEST_TIMEOUT_MS = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, fire) {
    const due = Date.now() + ms;
    let handle: NodeJS.Timeout;
    const arm = (left: number): void => {
      handle = setTimeout(
        () => {
          const rest = due - Date.now();
          if (left > LONGEST_TIMEOUT_MS && rest > 0) arm(rest);
          else fire();
        },
        Math.min(Math.max(0, left), LONGEST_TIMEOUT_MS),
      );
    };
    arm(ms);
    return { cancel: () => clearTimeout(handle) };
  },
};

/** Resolves after `ms`, or at once when `signal` fires. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = (): void => {
      timer.cancel();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = clock.after(ms, done);
    signal?.addEventListener("abort", done, { once: true });
  });
}

/** RFC 3339 in UTC with milliseconds. */
export function isoTime(ms: number): string {
  const second = Math.floor(ms / 1_000);
  if (second !== lastSecond.second) {
    lastSecond.text = new Date(second * 1_000).toISOString().slice(0, -4);
    lastSecond.second = second;
  }
  return `${lastSecond.text}${String(Math.floor(ms) - second * 1_000).padStart(3, "0")}Z`;
}

/** Records come in quick succession: most have the second of the one before. */
const lastSecond = { second: Number.NaN, text: "" };
