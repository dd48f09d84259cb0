import { describe, expect, it } from "vitest";
import { FUNCTIONS, findFunction, TRIED_NAMES } from "./functions.ts";
import { failure, fault, pointed, value } from "./testing/harness.ts";

const names = {
  s: "Hé😀llo",
  list: [3, 1, 2],
  rows: [
    { k: "b", n: 1 },
    { k: "a", n: 2 },
    { k: "b", n: 0 },
  ],
};

const RIGHT: readonly (readonly [string, unknown])[] = [
  // text
  ["size(s) + s.size()", 12],
  ["size([1]) + size({'a': 1, 'b': 2})", 3],
  ["s.lowerAscii() + s.upperAscii()", "hé😀lloHé😀LLO"],
  ["' \\t\\u00a0\\u0085x y\\n'.trim()", "x y"],
  ["s.contains('😀l') && s.startsWith('Hé') && s.endsWith('lo') && !s.contains('z')", true],
  [
    "[s.indexOf('l'), s.indexOf('l', 4), s.indexOf('z'), s.lastIndexOf('l'), s.lastIndexOf('l', 3), 'abc'.indexOf('')]",
    [3, 4, -1, 4, 3, 0],
  ],
  ["s.substring(2, 4) + s.substring(4)", "😀llo"],
  ["'a,b,,c'.split(',')", ["a", "b", "", "c"]],
  ["'a,b,c'.split(',', 2)", ["a", "b,c"]],
  ["'a😀b'.split('')", ["a", "😀", "b"]],
  ["''.split(',')", [""]],
  ["replace('a.b.c', '.', '$&') + 'aaa'.replace('aa', 'b')", "a$&b$&cba"],
  ["'foo42'.matches(r'^[a-z]+\\d{2}$') && matches('xay', 'a')", true],
  ["'é😀'.matches(r'^..$')", true],
  ["join(['a', 1, true, 0.5], '-')", "a-1-true-0.5"],
  ["[].join(',') + ['x'].join()", "x"],
  // lists and maps
  ["{'b': 1, 'a': 2}.keys() + keys({})", ["a", "b"]],
  ["slice(list, 1)", [1, 2]],
  ["list.slice(-2)", [1, 2]],
  ["slice(list, 0, -1)", [3, 1]],
  ["slice(list, -99, 99)", [3, 1, 2]],
  ["slice(list, 2, 1)", []],
  ["slice(s, 1, 3)", "é😀"],
  ["s.slice(-2)", "lo"],
  ["sort(list)", [1, 2, 3]],
  ["rows.sort('k').map(r, r.n)", [2, 1, 0]],
  ["sort(rows, 'n').map(r, r.k)", ["b", "b", "a"]],
  ["reverse(list) + [].reverse()", [2, 1, 3]],
  ["flatten([1, [2, [3]], []])", [1, 2, [3]]],
  [
    "distinct([1, 1.0, '1', [1], [1], {'a': 1, 'b': 2}, {'b': 2, 'a': 1}, null, null])",
    [1, "1", [1], { a: 1, b: 2 }, null],
  ],
  [
    "distinct([timestamp('2026-01-01T00:00:00Z'), '2026-01-01T00:00:00Z'])",
    ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"],
  ],
  ["range(3) + range(5, 7) + range(3, 1) + 2.range()", [0, 1, 2, 5, 6, 0, 1]],
  ["size(range(1000))", 1000],
  ["'a' in {'a': null} && 2 in list && !(9 in list) && !(1 in {'a': 1})", true],
  ["[1] + [2]", [1, 2]],
  // numbers
  ["sum(list) + sum([])", 6],
  ["[min(list), max(list), min([]), max([])]", [1, 3, null, null]],
  [
    "[round(1.005, 2), round(-1.005, 2), round(2.5), round(-2.5), round(1e-9), round(1234.5678, 3), round(0.5, 0), round(1.45, 1)]",
    [1.01, -1.01, 3, -3, 0, 1234.568, 1, 1.5],
  ],
  ["[round(0.000000049999, 7), round(99.995, 2), round(5, 15), round(1e15 + 0.5)]", [0, 100, 5, 1e15 + 1]],
  ["[floor(-1.5), ceil(-1.5), abs(-1.5), floor(2), ceil(2.1)]", [-2, -1, 1.5, 2, 3]],
  // any value
  ["json({'b': [1, null, true, 'x\\n'], 'a': 1.50, 'é': {}})", '{"a":1.5,"b":[1,null,true,"x\\n"],"é":{}}'],
  ['parse_json(\' {"a": [1, {"b": null}]} \').a[1].b == null', true],
  ["parse_json(json(rows)) == rows", true],
  ["string(1) + string(true) + string('x') + string(duration('1s'))", "1truexPT1S"],
  ["[int(1.9), int(-1.9), int('42'), int('-7'), int(timestamp('1970-01-01T00:01:00.9Z'))]", [1, -1, 42, -7, 60]],
  ["[double('1.5'), double('-.5e1'), double(2)]", [1.5, -5, 2]],
  // times
  ["date('2026-03-04T08:05:06.007Z', 'yyyy-MM-dd HH:mm:ss.SSS')", "2026-03-04 08:05:06.007"],
  ["date(timestamp('2026-07-01T22:30:00Z'), 'EEE dd MMM yyyy HH:mm', 'Europe/Paris')", "Thu 02 Jul 2026 00:30"],
  ["'2026-01-01T00:00:00Z'.date('HH:mm', '-03:30')", "20:30"],
  ["date('2026-03-29T01:00:00Z', 'HH:mm', 'Europe/Paris')", "03:00"],
  ["date('0099-01-01T00:00:00Z', 'yyyy', 'Europe/Paris')", "0099"],
];

const WRONG: readonly (readonly [string, string])[] = [
  ["'abc'.substring(1, 9)", "outside of the text"],
  ["'abc'.substring(2, 1)", "end before its start"],
  ["'abc'.substring(-1)", "outside of the text"],
  ["'abc'.indexOf('c', 9)", "outside of the text"],
  ["replace('abc', '', 'x')", "empty text"],
  ["'abc'.matches(s)", "no literal"],
  ["'abc'.matches('(')", "cannot be used"],
  ["join([null], ',')", "element 0 is null"],
  ["join([[1]], ',')", "element 0 is a list"],
  ["slice(list, 0.5)", "whole number"],
  ["sort([1, 'a'])", "another kind"],
  ["sort([true])", "element 0 is a boolean"],
  ["sort(rows)", "element 0 is a map"],
  ["sort(rows, 'zz')", "no such field in element 0"],
  ["sort(list, 'k')", "wants maps"],
  ["range(0.5)", "whole number"],
  ["range(1001)", "at most 1000"],
  ["sum(['1'])", "element 0 is a text"],
  ["max([1, null])", "element 1 is null"],
  ["round(1, 16)", "0 to 15"],
  ["round(1, -1)", "0 to 15"],
  ["string(null)", "not null"],
  ["string([1])", "not a list"],
  ["int('1.5')", "no whole number"],
  ["int(' 1')", "no whole number"],
  ["int('9007199254740993')", "cannot be exact"],
  ["int(true)", "not a boolean"],
  ["double('abc')", "no number"],
  ["double('1e999')", "no finite number"],
  ["double('Infinity')", "no number"],
  ["parse_json('{')", "no JSON"],
  ["parse_json('')", "no JSON"],
  ["parse_json('[12345678901234567890]')", "beyond what is exact"],
  ["parse_json('\"\\\\ud800\"')", "half a character"],
  ["timestamp(0)", "not a number"],
  ["date('2026-01-01T00:00:00Z', 'yyyy QQ')", "letter that means nothing"],
  ["date('2026-01-01T00:00:00Z', 'yyyy', 'Mars/Olympus')", "zone is not known"],
  ["date('soon', 'yyyy')", "no timestamp"],
  ["timestamp('2026-01-01T00:00:00Z').getHours('constructor')", "zone is not known"],
  ["duration('1h').getHours('UTC')", "has no zone"],
  ["timestamp('9999-12-31T23:59:59Z') + duration('2s')", "years 1 to 9999"],
];

describe("functions give", () => {
  it.each(RIGHT)("%s", (source, wanted) => {
    expect(value(source, names)).toEqual(wanted);
  });
});

describe("functions fail on", () => {
  it.each(WRONG)("%s", (source, message) => {
    expect(failure(source, names)?.message).toContain(message);
  });
});

describe("the table", () => {
  it("is closed: each name of the page, and no other", () => {
    const page =
      "size lowerAscii upperAscii trim contains startsWith endsWith indexOf lastIndexOf substring split replace matches " +
      "in + has cel.bind map filter all exists exists_one join keys slice sort reverse flatten distinct range " +
      "sum min max round floor ceil abs default json parse_json string int double " +
      "timestamp duration getFullYear getMonth getDate getDayOfMonth getDayOfWeek getDayOfYear getHours getMinutes getSeconds " +
      "getMilliseconds date";
    expect(FUNCTIONS.map((row) => row.name).sort()).toEqual(page.split(" ").sort());
  });

  it("every row has a signature, a line of text and an example here", () => {
    for (const row of FUNCTIONS) {
      expect(row.signature.length).toBeGreaterThan(2);
      expect(row.doc).toMatch(/[.!]$/);
    }
    const tested = RIGHT.map(([source]) => source).join(" ");
    const missing = FUNCTIONS.filter(
      (row) => row.macro !== true && !row.name.startsWith("get") && !tested.includes(row.name),
    );
    expect(missing.map((row) => row.name)).toEqual(["timestamp", "duration"].filter((name) => !tested.includes(name)));
  });

  it("ours can be written both ways, CEL's in CEL's way", () => {
    for (const name of [
      "replace",
      "keys",
      "slice",
      "sort",
      "reverse",
      "flatten",
      "distinct",
      "range",
      "sum",
      "min",
      "max",
      "round",
      "floor",
      "ceil",
      "abs",
      "default",
      "json",
      "parse_json",
      "date",
    ]) {
      expect(findFunction(name)?.forms, name).toEqual(["call", "method"]);
    }
    expect(value("floor(1.5) + 1.5.floor()")).toBe(2);
    expect(pointed("trim('a')")).toEqual(["syntax [trim] write `s.trim()`"]);
    expect(pointed("'1'.int()")).toEqual(["syntax [int] write `int(v)`"]);
    expect(failure("trim('a')")).not.toBeNull();
  });

  it("no tried name is a function, and each help names what exists", () => {
    for (const [tried, instead] of TRIED_NAMES) {
      expect(findFunction(tried), tried).toBeUndefined();
      const called = /([a-z_A-Z]+)\(/.exec(instead)?.[1];
      expect(called !== undefined || /[[+=`]|itself|randomness/.test(instead), `${tried}: ${instead}`).toBe(true);
      if (called !== undefined) expect(findFunction(called), `${tried}: ${instead}`).toBeDefined();
    }
  });

  it("numbers of arguments", () => {
    expect(pointed("size()")[0]).toContain("`size(x)`");
    expect(failure("size()")).not.toBeNull();
    expect(failure("round(1, 2, 3)")).not.toBeNull();
    expect(pointed("'a'.replace('a')")[0]).toContain("replace(s, a, b)");
  });
});

describe("patterns", () => {
  it("a literal of at most 1 KiB", () => {
    expect(pointed(`'a'.matches('${"a".repeat(1_024)}')`)).toEqual([]);
    expect(pointed(`'a'.matches('${"a".repeat(1_025)}')`)[0]).toContain("longer than 1 KiB");
    expect(pointed("'a'.matches('a' + 'b')")[0]).toContain("r'^a+$'");
    expect(pointed("'a'.matches('a(')")[0]).toMatch(/^syntax \['a\('\]/);
    const many = (count: number): string => Array.from({ length: count }, () => "'a'.matches('a{900}')").join("||");
    expect(pointed(many(10))).toEqual([]);
    expect(pointed(many(12))[0]).toContain("too large");
    expect(fault("'a'.matches('(?=x)')")).toBeNull();
    expect(pointed("'a'.matches('(?=x)')")[0]).toContain("syntax");
  });
});
