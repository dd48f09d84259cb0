import type { Clock } from "../../src/base/clock.ts";

/** A clock that a test turns by hand. */
export interface ManualClock extends Clock {
  /** Milliseconds of the timers that wait, soonest first. */
  waiting(): number[];
  /** How many timers were ever set. */
  armed(): number;
  /** Lets time pass and fires what is due, in order, with a breath for promises after each. */
  pass(ms: number): Promise<void>;
}

export function manualClock(start = 0): ManualClock {
  let now = start;
  let armed = 0;
  let timers: { due: number; fire: () => void }[] = [];
  const soonest = (): { due: number; fire: () => void } | undefined => timers.sort((a, b) => a.due - b.due)[0];
  return {
    now: () => now,
    after(ms, fire) {
      const timer = { due: now + ms, fire };
      timers.push(timer);
      armed++;
      return {
        cancel: () => {
          timers = timers.filter((other) => other !== timer);
        },
      };
    },
    waiting: () => timers.map((timer) => timer.due - now).sort((a, b) => a - b),
    armed: () => armed,
    async pass(ms) {
      const end = now + ms;
      for (let next = soonest(); next !== undefined && next.due <= end; next = soonest()) {
        const due = next;
        now = due.due;
        timers = timers.filter((timer) => timer !== due);
        due.fire();
        await breath();
      }
      now = end;
      await breath();
    },
  };
}

/** Lets promises that are settled run their course. */
export function breath(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Waits, by turns of the event loop and not by the clock, until something holds. */
export async function until(holds: () => boolean): Promise<void> {
  for (let i = 0; i < 200_000 && !holds(); i++) await breath();
  if (!holds()) throw new Error("what the test waits for did not come about");
}
