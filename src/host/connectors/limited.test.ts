import { describe, expect, test } from "vitest";
import type { Clock } from "../../base/clock.ts";
import type { CallPlace, Connector } from "../../catalog/connector.ts";
import { LimitedConnector, Limiter, MAX_WAITING } from "./limited.ts";

/** A clock that is turned by hand; timers fire in order. */
function handClock(): Clock & { pass(ms: number): Promise<void>; armed(): number } {
  let now = 1_000;
  let timers: { due: number; fire: () => void }[] = [];
  return {
    now: () => now,
    after(ms, fire) {
      const timer = { due: now + ms, fire };
      timers.push(timer);
      return {
        cancel: () => {
          timers = timers.filter((other) => other !== timer);
        },
      };
    },
    armed: () => timers.length,
    async pass(ms) {
      const end = now + ms;
      await new Promise(setImmediate);
      for (;;) {
        const next = timers.filter(({ due }) => due <= end).sort((a, b) => a.due - b.due)[0];
        if (!next) break;
        timers = timers.filter((timer) => timer !== next);
        now = next.due;
        next.fire();
        await new Promise(setImmediate);
      }
      now = end;
      await new Promise(setImmediate);
    },
  };
}

const never = (): AbortSignal => new AbortController().signal;

async function place(entering: Promise<CallPlace | "full" | "stopped">): Promise<CallPlace> {
  const entered = await entering;
  if (typeof entered === "string") throw new Error(entered);
  return entered;
}

describe("concurrency", () => {
  test("no more places are out than it says, and who came first goes first", async () => {
    const limiter = new Limiter({ concurrency: 2 }, handClock());
    const order: number[] = [];
    const places: CallPlace[] = [];
    for (let i = 0; i < 5; i++) {
      void place(limiter.enter(never())).then((entered) => {
        order.push(i);
        places.push(entered);
      });
    }
    await new Promise(setImmediate);
    expect(order).toEqual([0, 1]);
    places[0]?.leave();
    // Twice is once.
    places[0]?.leave();
    await new Promise(setImmediate);
    expect(order).toEqual([0, 1, 2]);
  });

  test("says how long it was waited for", async () => {
    const clock = handClock();
    const limiter = new Limiter({ concurrency: 1 }, clock);
    const first = await place(limiter.enter(never()));
    const second = place(limiter.enter(never()));
    await clock.pass(70);
    first.leave();
    expect([first.queuedMs, (await second).queuedMs]).toEqual([0, 70]);
  });
});

describe("rate", () => {
  test("starts are spread evenly, without a burst after a pause", async () => {
    const clock = handClock();
    const limiter = new Limiter({ rate: 10 }, clock);
    const starts: number[] = [];
    const enter = (): void => void place(limiter.enter(never())).then(() => starts.push(clock.now()));
    for (let i = 0; i < 4; i++) enter();
    await clock.pass(1_000);
    expect(starts).toEqual([1_000, 1_100, 1_200, 1_300]);
    await clock.pass(5_000);
    starts.length = 0;
    for (let i = 0; i < 3; i++) enter();
    await clock.pass(1_000);
    expect(starts.map((at) => at - (starts[0] ?? 0))).toEqual([0, 100, 200]);
  });

  test("a slow one: 2 in a minute", async () => {
    const clock = handClock();
    const limiter = new Limiter({ rate: 2 / 60 }, clock);
    let started = 0;
    for (let i = 0; i < 3; i++) void place(limiter.enter(never())).then(() => started++);
    await clock.pass(29_999);
    expect(started).toBe(1);
    await clock.pass(2);
    expect(started).toBe(2);
  });
});

describe("who waits", () => {
  test("and is stopped leaves the line at once, and no timer behind", async () => {
    const clock = handClock();
    const limiter = new Limiter({ rate: 1 }, clock);
    await place(limiter.enter(never()));
    const stop = new AbortController();
    const waiting = limiter.enter(stop.signal);
    expect(clock.armed()).toBe(1);
    stop.abort();
    expect(await waiting).toBe("stopped");
    expect(clock.armed()).toBe(0);
    expect(await limiter.enter(AbortSignal.abort())).toBe("stopped");
  });

  test("makes room for the next when it is stopped in front of it", async () => {
    const limiter = new Limiter({ concurrency: 1 }, handClock());
    const first = await place(limiter.enter(never()));
    const stop = new AbortController();
    const second = limiter.enter(stop.signal);
    const third = limiter.enter(never());
    stop.abort();
    first.leave();
    expect(await second).toBe("stopped");
    expect((await place(third)).queuedMs).toBe(0);
  });

  test("stands behind at most 1,000", async () => {
    const limiter = new Limiter({ concurrency: 1 }, handClock());
    await place(limiter.enter(never()));
    for (let i = 0; i < MAX_WAITING; i++) void limiter.enter(never());
    expect(await limiter.enter(never())).toBe("full");
  });
});

test("a limited connector is the one behind it, with a line before it", async () => {
  const said: string[] = [];
  const inner: Connector = {
    name: "crm",
    connect: async () => ({ actions: { "crm.a": { pin: null } } }),
    call: async () => ({ is: "ok", value: 1 }),
    processes: () => [{ pid: 7, startTime: "x" }],
    close: async () => void said.push("closed"),
  };
  const limited = new LimitedConnector(inner, new Limiter({ concurrency: 1 }, handClock()));
  expect(limited.name).toBe("crm");
  expect(await limited.connect(never())).toEqual({ actions: { "crm.a": { pin: null } } });
  expect(await limited.call({} as never, never())).toEqual({ is: "ok", value: 1 });
  expect(limited.processes()).toEqual([{ pid: 7, startTime: "x" }]);
  await limited.close();
  expect(said).toEqual(["closed"]);
  expect(typeof (await limited.enter(never()))).toBe("object");
});
