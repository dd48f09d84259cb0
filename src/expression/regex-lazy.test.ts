import { createRequire } from "node:module";
import { expect, it } from "vitest";
import { value } from "./testing/harness.ts";

it("the engine of patterns is loaded by the first pattern, not before", () => {
  const { cache } = createRequire(import.meta.url);
  const loaded = (): boolean => Object.keys(cache).some((file) => file.includes("re2js"));
  expect(value("[1, 2].filter(x, x > 1)[0] + size('abc')")).toBe(5);
  expect(loaded()).toBe(false);
  expect(value("'abc'.matches('b')")).toBe(true);
  expect(loaded()).toBe(true);
});
