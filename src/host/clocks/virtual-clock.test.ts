import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { sleep } from "../../base/clock.ts";
import { createVirtualClock } from "./virtual-clock.ts";

test("a day passes at once", async () => {
  const clock = createVirtualClock({ start: 1_000 });
  await sleep(clock, 86_400_000);
  expect(clock.now()).toBe(86_401_000);
});

test("I1: nothing advances while something else can go on", async () => {
  const clock = createVirtualClock({ start: 0 });
  let fired = false;
  clock.after(1, () => {
    fired = true;
  });
  for (let i = 0; i < 200; i++) {
    clock.now();
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(fired).toBe(false);
  await sleep(clock, 1);
  expect(fired).toBe(true);
});

test("I2: timers fire as they are due, and what one sets in motion comes to rest first", async () => {
  const clock = createVirtualClock({ start: 0 });
  const seen: string[] = [];
  clock.after(20, () => seen.push("20"));
  clock.after(10, () => {
    seen.push("10");
    void sleep(clock, 5).then(async () => {
      await null;
      seen.push(`15 at ${clock.now()}`);
    });
  });
  clock.after(10, () => seen.push("10 again"));
  await sleep(clock, 30);
  expect(seen).toEqual(["10", "10 again", "15 at 15", "20"]);
});

test("a timer that was taken back, or set on a stopped clock, never fires", async () => {
  const clock = createVirtualClock({ start: 0 });
  const seen: string[] = [];
  clock.after(5, () => seen.push("taken back")).cancel();
  await sleep(clock, 10);
  clock.after(5, () => seen.push("stopped"));
  clock.stop();
  for (let i = 0; i < 100; i++) await new Promise((resolve) => setImmediate(resolve));
  expect(seen).toEqual([]);
});

test("I3: with something outside under way, time does not jump", async () => {
  const clock = createVirtualClock({ start: 0 });
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  let fired = false;
  clock.after(3_600_000, () => {
    fired = true;
  });
  for (let i = 0; i < 20; i++) await readFile(new URL(import.meta.url));
  expect(fired).toBe(false);
  await new Promise((resolve) => server.close(resolve));
  await sleep(clock, 3_600_000);
  expect(fired).toBe(true);
});

test("whoever is asked at rest can hold time back by setting something in motion", async () => {
  const seen: number[] = [];
  const clock = createVirtualClock({
    start: 0,
    onRest: () => {
      if (seen.length > 0) return false;
      seen.push(clock.now());
      return true;
    },
  });
  await sleep(clock, 100);
  expect(seen).toEqual([0]);
});

test("I3: time goes on at the machine's pace, so that a timeout of something outside still fires", async () => {
  const clock = createVirtualClock({ start: 0 });
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  await sleep(clock, 20);
  expect(clock.now()).toBeGreaterThanOrEqual(20);
  expect(clock.now()).toBeLessThan(3_600_000);
  await new Promise((resolve) => server.close(resolve));
});
