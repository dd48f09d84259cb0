import { describe, expect, it } from "vitest";
import type { Json } from "../base/json.ts";
import { failure, run, value } from "./testing/harness.ts";

const MIB = 1_048_576;
const big = "a".repeat(MIB);
const numbers = Array.from({ length: 10_000 }, (_, i) => i);
const huge = Array.from({ length: 20_000 }, (_, i) => ({ id: i }));
const names = {
  big,
  numbers,
  huge,
  half: "b".repeat(MIB / 2),
  rows: Array.from({ length: 10_000 }, () => ({ t: "x".repeat(200) })),
};

function tooLarge(source: string, more: { [name: string]: Json } = {}): boolean {
  return failure(source, { ...names, ...more })?.reason === "too_large";
}

describe("frame I2: a made value is at most 1 MiB and 10,000 elements", () => {
  it("texts count by their characters", () => {
    expect(run("big + ''", names)).toHaveLength(MIB);
    expect(tooLarge("big + 'a'")).toBe(true);
    expect(tooLarge("'é😀'.replace('é', big)")).toBe(true);
    expect(run("half + half", { half: "😀".repeat(MIB / 2) })).toHaveLength(2 * MIB);
    expect(tooLarge("[half, half, 'a'].join('')")).toBe(true);
    expect(tooLarge("json([half, half])")).toBe(true);
  });

  it("all else counts as 8, keys by their characters, at every depth", () => {
    expect(failure("[big.substring(8)]", names)).toBeNull();
    expect(tooLarge("[big]")).toBe(true);
    expect(tooLarge("{'k': half, 'l': [half]}")).toBe(true);
    expect(
      tooLarge(
        "numbers.map(x, {'a key of this length counts too, for each element': x, 'a second one with some more': [x, x, x]})",
      ),
    ).toBe(true);
    expect(tooLarge("cel.bind(a, [half], a + a + a)")).toBe(true);
  });

  it("elements are those of lists, at every depth", () => {
    expect(value("size(numbers.map(x, x))", names)).toBe(10_000);
    expect(tooLarge("numbers + [1]")).toBe(true);
    expect(tooLarge("numbers.slice(0, 5000) + numbers.slice(0, 5001)")).toBe(true);
    expect(tooLarge("range(1000).map(i, range(20))")).toBe(true);
    expect(tooLarge("huge.map(x, x.id)")).toBe(true);
    expect(tooLarge("huge.filter(x, true)")).toBe(true);
    expect(tooLarge("sort(huge, 'id')")).toBe(true);
    expect(tooLarge("half.split('')")).toBe(true);
    expect(tooLarge("flatten([numbers, [1]])")).toBe(true);
    expect(tooLarge("parse_json(t)", { t: JSON.stringify(huge) })).toBe(true);
  });

  it("what it only reads or hands on is bounded where it came from", () => {
    expect(run("huge", names)).toHaveLength(20_000);
    expect(run("true ? huge : []", names)).toHaveLength(20_000);
    expect(value("huge[19999].id", names)).toBe(19_999);
    expect(run("rows.filter(r, r.t != '')", names)).toHaveLength(10_000);
    expect(run("default(nope.x, huge)", names)).toHaveLength(20_000);
  });

  it("doubling again and again ends at the bound", () => {
    const doubled = Array.from({ length: 40 }, (_, i) => `cel.bind(v${i + 1}, v${i} + v${i}, `).join("");
    expect(tooLarge(`cel.bind(v0, 'ab', ${doubled}v40${")".repeat(41)}`)).toBe(true);
    expect(tooLarge(`cel.bind(v0, [1], ${doubled}v40${")".repeat(41)}`)).toBe(true);
    const wrapped = Array.from({ length: 40 }, (_, i) => `cel.bind(v${i + 1}, [v${i}, v${i}], `).join("");
    expect(tooLarge(`cel.bind(v0, [1], ${wrapped}v40${")".repeat(41)}`)).toBe(true);
  });

  it("a made value nests at most 64 deep", () => {
    expect(failure(`${"[".repeat(64)}1${"]".repeat(64)}`)).toBeNull();
    expect(tooLarge(`${"[".repeat(65)}1${"]".repeat(65)}`)).toBe(true);
  });
});

describe("frame I1: 1,000,000 visits", () => {
  it.each([
    ["loops in loops", "range(1000).all(a, range(1000).all(b, a + b >= 0))"],
    ["comparing long lists again and again", "range(1000).all(i, numbers == numbers)"],
    ["handling long texts again and again", "range(1000).all(i, big.contains('b') == false)"],
    ["making long texts again and again", "range(1000).all(i, size(half.upperAscii()) > 0)"],
    [
      "searching for a needle of half the text",
      "range(1000).all(i, big.contains('b' + big.substring(0, 500000)) == false)",
    ],
    ["sorting texts that differ at their end", "range(1000).all(i, size(sort(rows, 't')) > 0)"],
    ["failing again and again", "range(1000).exists(i, range(1000).exists(j, nope.x > 1))"],
    [
      "asking a zone again and again",
      "range(1000).all(i, range(100).all(j, date('2026-01-01T00:00:00Z', 'yyyy', 'Europe/Paris') != ''))",
    ],
    ["telling big values apart", "range(1000).all(i, size(distinct(rows)) > 0)"],
    ["writing JSON again and again", "range(1000).all(i, size(json(numbers)) > 0)"],
    ["a pattern on a long text", "range(1000).all(i, big.matches('(x+x+)+y') == false)"],
    ["a pattern of many states", "big.matches('a.{900}[ac]c?b$')"],
    ["a joint of everything", "range(1000).map(i, size(numbers.join(','))).sum() > 0"],
  ])("end %s", (_name, source) => {
    expect(tooLarge(source)).toBe(true);
  });

  it("ordinary work over the largest list passes", () => {
    expect(value("size(numbers.filter(x, x % 2 == 0).map(x, {'n': x, 't': string(x)}))", names)).toBe(5_000);
    expect(value("size(sort(numbers.map(x, -x)))", names)).toBe(10_000);
    expect(value("rows.all(r, r.t.matches('^x+$'))", { rows: names.rows.slice(0, 1_000) })).toBe(true);
  });
});

describe("frame I3: nothing absorbs a bound", () => {
  it.each([
    "big + big == '' || true",
    "true && (big + big == '') && false",
    "[1, 2].exists(x, x == 2 || big + big == '') && [1].exists(y, size(big + big) > 0 || true)",
    "[1].all(x, size(big + big) > 0 && false)",
    "default(big + big, 'other')",
    "default({'a': big + big}.b, 'other')",
    "size(range(1001)) > 0 || true",
  ])("%s", (source) => {
    expect(tooLarge(source)).toBe(true);
  });
});

it("JSON text deeper than 64 is refused before it is read", () => {
  expect(failure("parse_json(t)", { t: `${"[".repeat(64)}${"]".repeat(64)}` })).toBeNull();
  expect(failure("parse_json(t)", { t: `${"[".repeat(65)}${"]".repeat(65)}` })?.message).toContain("64 deep");
  expect(failure("parse_json(t)", { t: "[".repeat(1_000_000) })?.message).toContain("64 deep");
  expect(value("parse_json(t)", { t: '"[[[[\\"[[["' })).toBe('[[[["[[[');
});
