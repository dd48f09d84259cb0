import { describe, expect, test } from "vitest";
import { match, matchAnyOrder, matchSubsequence, sayMismatch } from "./match.ts";

describe("match", () => {
  test("I1: objects are compared by the keys that are given", () => {
    expect(match({ a: 1 }, { a: 1, b: 2 })).toEqual([]);
    expect(match({ a: 1 }, { a: 2 })).toEqual([{ path: "a", expected: 1, found: 2 }]);
    expect(match({ a: { b: [{ c: 1 }] } }, { a: { b: [{ c: 2 }] } })[0]?.path).toBe("a.b[0].c");
  });

  test("I1: null is not absent, and keys of a prototype are no keys", () => {
    expect(match({ a: null }, {})).toHaveLength(1);
    expect(match({ a: null }, { a: null })).toEqual([]);
    expect(match({ constructor: "*" }, {})).toHaveLength(1);
    expect(match({}, [])).toHaveLength(1);
    expect(match([], {})).toHaveLength(1);
    expect(match({}, null)).toHaveLength(1);
  });

  test("I2: lists are compared in full and in order", () => {
    expect(match([1, 2], [1, 2])).toEqual([]);
    expect(match([1], [1, 2])).toEqual([{ path: "[1]", expected: undefined, found: 2 }]);
    expect(match([1, 2], [1])).toEqual([{ path: "[1]", expected: 2, found: undefined }]);
    expect(match([1, 2], [2, 1])).toHaveLength(2);
    expect(match({ a: [] }, { a: [1] })).toHaveLength(1);
  });

  test("I3: a star in a text stands for anything, an escaped one for itself", () => {
    expect(match("wf-agent-v1:*", "wf-agent-v1:00ff")).toEqual([]);
    expect(match("a.(tools)[0]", "a.(tools)[0]")).toEqual([]);
    expect(match("a.c", "abc")).toHaveLength(1);
    expect(match("2 \\* 3", "2 * 3")).toEqual([]);
    expect(match("2 \\* 3", "2 + 3")).toHaveLength(1);
    expect(match("1", 1)).toHaveLength(1);
  });
});

test("any order frees the order and nothing else", () => {
  expect(matchAnyOrder([{ a: 1 }, { a: 2 }], [{ a: 2 }, { a: 1 }], "calls")).toEqual([]);
  expect(matchAnyOrder([{ a: 1 }], [{ a: 1 }, { a: 1 }], "calls")).toHaveLength(1);
  expect(matchAnyOrder([{ a: 1 }, { a: 1 }], [{ a: 1 }], "calls")).toHaveLength(1);
  // The wide one comes first and must not take what only it could leave to the narrow one.
  expect(matchAnyOrder([{ a: "*" }, { a: "x" }], [{ a: "x" }, { a: "y" }], "calls")).toEqual([]);
});

test("a subsequence keeps the order and allows others between", () => {
  const found = [
    { kind: "a", position: "p", body: { n: 1 } },
    { kind: "b", position: "p", body: { n: 2 } },
    { kind: "c", position: "p", body: { n: 3 } },
  ];
  expect(matchSubsequence([{ kind: "a" }, { kind: "c" }], found, "events")).toEqual([]);
  expect(matchSubsequence([{ kind: "c" }, { kind: "a" }], found, "events")).toHaveLength(1);
  expect(matchSubsequence([{ kind: "a" }, { kind: "a" }], found, "events")).toHaveLength(1);
  const [, near] = matchSubsequence([{ kind: "b", body: { n: 9 } }], found, "events");
  expect(near).toEqual({ path: "events[0] (nearest).body.n", expected: 9, found: 2 });
});

test("a difference is said with its path, both sides and no end of text", () => {
  expect(sayMismatch({ path: "calls[0].args", expected: { a: 1 }, found: undefined })).toBe(
    'calls[0].args\n    expected {"a":1}\n    found    (nothing)',
  );
  expect(sayMismatch({ path: "", expected: "x".repeat(5_000), found: 1 }).length).toBeLessThan(3_000);
});
