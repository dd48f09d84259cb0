import { describe, expect, test } from "vitest";
import { type Clock, systemClock } from "../base/clock.ts";
import { Recorder } from "./recorder.ts";
import { type EffectRequest, type LiveBody, Scheduler } from "./scheduler.ts";

function made(clock: Clock = systemClock): { scheduler: Scheduler; seen: string[] } {
  const seen: string[] = [];
  const recorder = new Recorder({
    run: "r",
    def: "d",
    journal: null,
    lease: null,
    clock,
    listener: () => {},
    sealer: null,
  });
  const scheduler = new Scheduler({
    clock,
    drainGrace: 20,
    recorder,
    witness: { record: (entry) => seen.push(`${entry.position} ${entry.kind}`) },
    mode: "run",
    history: null,
    startedAt: clock.now(),
  });
  return { scheduler, seen };
}

function effect(scheduler: Scheduler, position: string, start: EffectRequest["start"]): EffectRequest {
  return { kind: "call.ended", position, attempt: 1, in: undefined, scope: scheduler.root, onBudget: "grace", start };
}

const later =
  (ms: number, body: LiveBody = {}): EffectRequest["start"] =>
  () =>
    new Promise((resolve) => setTimeout(() => resolve(body), ms));

/** Time moves when a test says so: timers fire in the order of their due times, then of their making. */
function manualClock(): Clock & { pass(ms: number): void } {
  let now = 1_000;
  let timers: { due: number; fire: () => void }[] = [];
  return {
    now: () => now,
    after: (ms, fire) => {
      const timer = { due: now + ms, fire };
      timers.push(timer);
      return {
        cancel: () => {
          timers = timers.filter((entry) => entry !== timer);
        },
      };
    },
    pass: (ms) => {
      now += ms;
      const due = timers.filter((entry) => entry.due <= now).sort((a, b) => a.due - b.due);
      timers = timers.filter((entry) => entry.due > now);
      for (const { fire } of due) fire();
    },
  };
}

describe("the scheduler", () => {
  test("I1: a branch that waits for anything else stops the run as a bug", async () => {
    const { scheduler } = made();
    await expect(scheduler.drive(() => new Promise((resolve) => setTimeout(resolve, 30)))).rejects.toThrow(/I1/);
  });

  test("I2, I3: branches wake one at a time, in the order in which their effects ended", async () => {
    const { scheduler, seen } = made();
    const order: string[] = [];
    const branch = (name: string, ms: number) => async (): Promise<void> => {
      await scheduler.wait(effect(scheduler, name, later(ms)));
      order.push(`${name} woke`);
      await null;
      order.push(`${name} rested`);
    };
    await scheduler.drive(async () => {
      await scheduler.fork([branch("a", 30), branch("b", 5), branch("c", 15)], 3, () => true);
    });
    expect(order).toEqual(["b woke", "b rested", "c woke", "c rested", "a woke", "a rested"]);
    expect(seen).toEqual(["b call.ended", "c call.ended", "a call.ended"]);
  });

  test("a fork keeps to its width and leaves the rest undone when told to", async () => {
    const { scheduler } = made();
    let now = 0;
    let most = 0;
    let goOn = true;
    const results = await scheduler.drive(() =>
      scheduler.fork(
        [0, 1, 2, 3, 4, 5].map((i) => async () => {
          most = Math.max(most, ++now);
          await scheduler.wait(effect(scheduler, `t${i}`, later(2)));
          now--;
          if (i === 3) goOn = false;
          return i;
        }),
        2,
        () => goOn,
      ),
    );
    expect(most).toBe(2);
    expect(results.slice(0, 4)).toEqual([0, 1, 2, 3]);
    expect(results.at(-1)).toBeNull();
  });

  test("a fork inside a fork hands its place back to its parent", async () => {
    const { scheduler } = made();
    const leaf = (name: string) => async (): Promise<string> => {
      await scheduler.wait(effect(scheduler, name, later(1)));
      return name;
    };
    const inner = (name: string) => () => scheduler.fork([leaf(`${name}1`), leaf(`${name}2`)], 2, () => true);
    const results = await scheduler.drive(() => scheduler.fork([inner("a"), inner("b")], 2, () => true));
    expect(results).toEqual([
      ["a1", "a2"],
      ["b1", "b2"],
    ]);
  });

  test("of several stops of one scope the first counts, and the effect below hears it once", async () => {
    const clock = manualClock();
    const { scheduler, seen } = made(clock);
    let heard = 0;
    setTimeout(() => clock.pass(5), 5);
    const end = await scheduler.drive(async () => {
      const scope = scheduler.openScope("s", scheduler.root);
      scheduler.stopAt(scope, scheduler.now + 5, { cause: "timeout", because: null, limit: 5, by: null });
      scheduler.stopAt(scope, scheduler.now + 5, { cause: "budget", because: null, limit: 5, by: null });
      await scheduler.wait({
        ...effect(
          scheduler,
          "s.x",
          ({ effect: { signal } }) =>
            new Promise((resolve) =>
              signal.addEventListener("abort", () => {
                heard++;
                resolve({});
              }),
            ),
        ),
        scope,
      });
      const { stop } = scope;
      scheduler.closeScope(scope);
      return stop;
    });
    expect(end?.cause).toBe("timeout");
    expect(heard).toBe(1);
    expect(seen).toEqual(["s stop.decided", "s.x call.ended"]);
  });

  test("what is spent lets a dispatched call settle for the grace; a timeout does not", async () => {
    const told = async (cause: "budget" | "timeout"): Promise<number> => {
      const { scheduler } = made();
      const began = Date.now();
      return scheduler.drive(async () => {
        const scope = scheduler.openScope("s", scheduler.root);
        scheduler.stopAt(scope, scheduler.now + 5, { cause, because: null, limit: 5, by: null });
        const { body } = await scheduler.wait({
          ...effect(scheduler, "s.x", ({ effect: { signal } }) =>
            Promise.race([
              later(15, { by: 1 })({} as never),
              new Promise<LiveBody>((resolve) => signal.addEventListener("abort", () => resolve({ by: 2 }))),
            ]),
          ),
          scope,
        });
        scheduler.closeScope(scope);
        expect(Date.now() - began).toBeLessThan(5_000);
        return body["by"] as number;
      });
    };
    expect(await told("budget")).toBe(1);
    expect(await told("timeout")).toBe(2);
  });

  test("an effect that throws is a bug of its port and fails the run", async () => {
    const { scheduler } = made();
    await expect(
      scheduler.drive(() =>
        scheduler.wait(
          effect(scheduler, "x", async () => {
            throw new Error("thrown");
          }),
        ),
      ),
    ).rejects.toThrow("thrown");
  });
});
