import { describe, expect, test } from "vitest";
import { didYouMean, nearestName } from "./nearest.ts";

describe("the nearest name", () => {
  const names = ["search", "size", "starts_with", "contains", "on_exhausted", "x"];

  test.each([
    ["serach", "search"],
    ["seach", "search"],
    ["Size", "size"],
    ["startsWith", "starts_with"],
    ["cont", "contains"],
    ["onExhausted", "on_exhausted"],
    ["y", null],
    ["unlike", null],
    ["", null],
    ["s".repeat(65), null],
  ])("of %s", (name, near) => {
    expect(nearestName(name, names)).toBe(near);
  });

  test("a name is not proposed for itself, and a long one not at all", () => {
    expect(nearestName("size", ["size"])).toBeNull();
    expect(nearestName("size", [`size${"x".repeat(61)}`])).toBeNull();
  });

  test("of several the one with the fewest slips, the first of equals", () => {
    expect(nearestName("searc", ["seance", "search"])).toBe("search");
    expect(nearestName("cat", ["car", "can"])).toBe("car");
  });

  test("in words, or nothing", () => {
    expect(didYouMean("serach", names)).toBe('Did you mean "search"?');
    expect(didYouMean("unlike", names)).toBe("");
  });
});
