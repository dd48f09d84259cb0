import { describe, expect, test } from "vitest";
import { Once } from "./once.ts";

test("everybody who asks gets the one that is made", async () => {
  const once = new Once<number>();
  let made = 0;
  const make = async (): Promise<number> => ++made;
  expect(await Promise.all([once.get(make), once.get(make)])).toEqual([1, 1]);
  expect(await once.get(make)).toBe(1);
});

test("what failed is made again for the next who asks, and fails everybody who waited", async () => {
  const once = new Once<string>();
  const refuse = (): Promise<string> => Promise.reject(new Error("no"));
  const first = once.get(refuse);
  const second = once.get(async () => "too early");
  await expect(first).rejects.toThrow("no");
  await expect(second).rejects.toThrow("no");
  expect(await once.get(async () => "later")).toBe("later");
});

describe("what is made for all who wait", () => {
  test("goes on when the first of them leaves", async () => {
    const once = new Once<string>();
    const first = new AbortController();
    let done = (_value: string): void => {};
    const make = (signal: AbortSignal): Promise<string> =>
      new Promise((resolve, reject) => {
        done = resolve;
        signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
      });
    const gone = once.get(make, first.signal);
    const stays = once.get(make);
    first.abort();
    await expect(gone).rejects.toThrow("it was stopped");
    done("made");
    expect(await stays).toBe("made");
  });

  test("is told to stop when nobody waits any more, and is made again for the next", async () => {
    const once = new Once<string>();
    const only = new AbortController();
    let told = false;
    const gone = once.get(
      (signal) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            told = true;
            reject(new Error("aborted"));
          });
        }),
      only.signal,
    );
    only.abort();
    await expect(gone).rejects.toThrow("it was stopped");
    expect(told).toBe(true);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await once.get(async () => "later")).toBe("later");
  });
});
