import { expect, test } from "vitest";
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
