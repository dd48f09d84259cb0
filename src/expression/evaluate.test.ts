import { describe, expect, it } from "vitest";
import { compiled, failure, run, value } from "./testing/harness.ts";

const names = {
  inputs: {
    n: 4,
    s: "text",
    list: [3, 1, 2],
    nul: null,
    deep: { a: { b: "x" } },
    rows: [
      { id: "a", n: 2 },
      { id: "b", n: 1 },
    ],
  },
};

describe("numbers are JSON's, one kind", () => {
  it.each([
    ["1 == 1.0", true],
    ["inputs.n + 1", 5],
    ["5 / 2", 2.5],
    ["7 % 3", 1],
    ["-7 % 3", -1],
    ["[10, 20][1.0]", 20],
    ["string(1.0) + ' ' + string(0.1) + ' ' + string(1e-7)", "1 0.1 1e-7"],
    ["0.1 + 0.2", 0.1 + 0.2],
    ["1 == '1'", false],
    ["null == false", false],
    ["[1, 'a'] == [1.0, 'a']", true],
    ["{'a': [1]} == {'a': [1]}", true],
    ["'b' > 'a' && 2 > 1 && true > false", true],
  ])("%s", (source, wanted) => {
    expect(value(source, names)).toEqual(wanted);
  });

  it.each([
    ["1 / (inputs.n - 4)", "Division by 0."],
    ["inputs.n % (inputs.n - 4)", "Division by 0."],
    ["inputs.n % 0.5", "`%` wants whole numbers."],
    ["9007199254740991 + 1", "cannot be exact"],
    ["9007199254740991 * 9007199254740991", "cannot be exact"],
    ["9007199254740992", "9007199254740991"],
    ["1e400", "too large"],
    ["inputs.list[0.5]", "whole number"],
    ["inputs.list[inputs.s]", "not a text"],
    ["inputs.n + inputs.s", "between a number and a text"],
    ["inputs.s < inputs.n", "between a text and a number"],
    ["inputs.nul + 1", "between null and a number"],
    ["inputs.list < inputs.list", "between a list and a list"],
    ["-inputs.s", "not a text"],
    ["!inputs.n", "not a number"],
    ["{inputs.n: 1}", "A key of a map is a text"],
    ["{'a': 1, 'a': 2}", "stands twice"],
    ["inputs.s in inputs.s", "not into a text"],
  ])("%s fails", (source, message) => {
    expect(failure(source, names)?.message).toContain(message);
  });

  it("texts are ordered by code point, not by UTF-16 unit", () => {
    expect(value("'\\uffff' < '\\U0001F600'")).toBe(true);
    expect(value("sort(['\\U0001F600', '\\uffff', 'a'])")).toEqual(["a", "\uffff", "😀"]);
  });

  it("there is no negative zero", () => {
    expect(Object.is(run("0 * -1"), 0)).toBe(true);
    expect(Object.is(run("-0.0"), 0)).toBe(true);
    expect(Object.is(run("round(-0.2)"), 0)).toBe(true);
  });
});

describe("a field that is not there", () => {
  it("fails with kinds and places, a hint to has and default, and no value", () => {
    expect(failure("inputs.deep.a.c", names)).toMatchObject({
      message: "`inputs.deep.a.c` is not there: the map has no such field.",
      help: "ask `has(inputs.deep.a.c)` first, or write `default(inputs.deep.a.c, other)`",
      reason: null,
      start: 0,
      end: 15,
    });
    expect(failure("1 + inputs.nul.x", names)).toMatchObject({
      message: "`inputs.nul` is null, which has no fields.",
      start: 4,
      end: 16,
    });
    expect(failure("inputs.s.length", names)?.help).toBe("write size(x)");
    expect(failure("inputs.s[0]", names)?.help).toContain("substring");
    expect(failure("nothing", names)?.message).toContain("`nothing` has no value here");
    const canary = { inputs: { text: "canary-7f3a", key: "canary-7f3a" } };
    for (const source of [
      "int(inputs.text)",
      "inputs[inputs.key]",
      "inputs.text + 1",
      "timestamp(inputs.text)",
      "parse_json(inputs.text)",
      "date(inputs.text, 'yyyy')",
      "inputs.text ? 1 : 2",
      "sum([inputs.text])",
    ]) {
      expect(JSON.stringify(failure(source, canary)), source).not.toContain("canary");
      expect(failure(source, canary), source).not.toBeNull();
    }
  });

  it("has is false, also where the path ends earlier", () => {
    expect(value("has(inputs.deep.a.b)", names)).toBe(true);
    expect(value("has(inputs.nul)", names)).toBe(true);
    expect(value("has(inputs.deep.a.c)", names)).toBe(false);
    expect(value("has(inputs.q.r.s.t)", names)).toBe(false);
    expect(value("has(inputs.nul.x)", names)).toBe(false);
    expect(value("has(inputs.rows[7].id)", names)).toBe(false);
    expect(value("has(absent.x)", names)).toBe(false);
  });

  it("default stands in where the value is null or its path ends early", () => {
    expect(value("default(inputs.nul, 1)", names)).toBe(1);
    expect(value("inputs.nul.default(1)", names)).toBe(1);
    expect(value("default(inputs.q.r, 1)", names)).toBe(1);
    expect(value("default(inputs.rows[9].id, 'none')", names)).toBe("none");
    expect(value("default(inputs['q']['r'], 1)", names)).toBe(1);
    expect(value("default(inputs.q, default(inputs.r, 2))", names)).toBe(2);
    expect(value("default(inputs.n, 1)", names)).toBe(4);
    expect(value("default(absent.x, 3)", names)).toBe(3);
    expect(value("default(false, true)", names)).toBe(false);
  });

  it("default hides no other failure", () => {
    expect(failure("default(1 / 0, 5)")).not.toBeNull();
    expect(failure("default(inputs.q + 1, 5)", names)).not.toBeNull();
    expect(failure("default(inputs.list['a'], 5)", names)).not.toBeNull();
  });
});

describe("evaluate I2: no name reaches a prototype of the host", () => {
  it.each(["constructor", "__proto__", "toString", "hasOwnProperty", "valueOf"])("%s", (name) => {
    const plain = { inputs: { a: 1 }, list: [1], s: "x" };
    expect(failure(`inputs.${name}`, plain)).not.toBeNull();
    expect(failure(`inputs['${name}']`, plain)).not.toBeNull();
    expect(failure(`list.${name}`, plain)).not.toBeNull();
    expect(failure(`s.${name}`, plain)).not.toBeNull();
    expect(value(`has(inputs.${name})`, plain)).toBe(false);
    expect(value(`'${name}' in inputs`, plain)).toBe(false);
    expect(failure(name, plain)).not.toBeNull();
    expect(value(`{'${name}': 7}.${name}`)).toBe(7);
    expect(value(`keys(parse_json('{"${name}": 7}'))`)).toEqual([name]);
    expect(failure(`inputs.${name}('return process')`, plain)).not.toBeNull();
  });

  it("a made map with an odd key changes no prototype", () => {
    run("{'__proto__': {'polluted': true}}");
    run(`parse_json('{"__proto__": {"polluted": true}}')`);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe("evaluate I4: what decides is not spoilt by a failure", () => {
  it.each([
    ["1/0 > 1 || true", true],
    ["true || 1/0 > 1", true],
    ["1/0 > 1 && false", false],
    ["[1, 0].exists(x, 1 / x == 1)", true],
    ["[0, 1].exists(x, 1 / x == 1)", true],
    ["[0, 1].all(x, 1 / x == 2)", false],
  ])("%s", (source, wanted) => {
    expect(value(source)).toBe(wanted);
  });

  it.each([
    "1/0 > 1 && true",
    "1/0 > 1 || false",
    "[0].exists(x, 1/x > 1)",
    "[0, 1].all(x, 1/x == 1)",
    "[0, 1].exists_one(x, 1/x == 1)",
    "1 && true",
    "null ? 1 : 2",
    "[1].filter(x, x)",
  ])("%s fails", (source) => {
    expect(failure(source)).not.toBeNull();
  });

  it("only one branch of a condition is evaluated", () => {
    expect(value("true ? 1 : 1 / 0")).toBe(1);
  });
});

describe("loops", () => {
  it.each([
    ["inputs.list.map(x, x * 2)", [6, 2, 4]],
    ["inputs.list.map(x, x > 1, x * 2)", [6, 4]],
    ["inputs.list.filter(x, x > 1)", [3, 2]],
    ["inputs.rows.filter(r, r.n > 1).map(r, r.id)", ["a"]],
    ["inputs.list.all(x, x > 0) && inputs.list.exists(x, x == 3) && inputs.list.exists_one(x, x == 1)", true],
    ["{'b': 1, 'a': 2}.map(k, k)", ["a", "b"]],
    ["{'b': 1, 'a': 2}.filter(k, k > 'a')", ["b"]],
    [
      "[1, 2].map(x, [10, 20].map(y, x * y))",
      [
        [10, 20],
        [20, 40],
      ],
    ],
    ["[1, 2].map(x, [x].map(x, x + 1)[0] + x)", [3, 5]],
    ["cel.bind(t, inputs.n * 2, t + t)", 16],
    ["[1].map(inputs, inputs + 1)", [2]],
    ["[1].map(n, .n + n)", [10]],
  ])("%s", (source, wanted) => {
    expect(value(source, { ...names, n: 9 })).toEqual(wanted);
  });

  it("go over lists and maps only", () => {
    expect(failure("inputs.s.map(x, x)", names)?.message).toContain("not a text");
    expect(failure("inputs.nul.map(x, x)", names)?.help).toContain("default(v, [])");
  });
});

describe("times leave an evaluation as text", () => {
  it.each([
    ["timestamp('2026-03-04T09:00:00+01:00')", "2026-03-04T08:00:00Z"],
    ["timestamp('2026-03-04T08:00:00.120Z')", "2026-03-04T08:00:00.120Z"],
    ["timestamp('2026-03-04T08:00:00.0009Z')", "2026-03-04T08:00:00Z"],
    ["[timestamp('2026-03-04T08:00:00Z')]", ["2026-03-04T08:00:00Z"]],
    ["{'at': duration('90m')}", { at: "PT1H30M" }],
    ["duration('1d12h30m')", "PT36H30M"],
    ["duration('PT36H30M') == duration('1d12h30m')", true],
    ["timestamp('2026-01-01T00:00:00Z') - timestamp('2026-01-01T00:00:00.500Z')", "-PT0.5S"],
    ["duration('-PT0.5S') + duration('500ms')", "PT0S"],
    ["duration(string(timestamp('2030-01-01T00:00:00Z') - timestamp('2026-01-01T00:00:00Z')))", "PT35064H"],
    ["timestamp('2026-01-01T00:00:00Z') + duration('2d') > timestamp('2026-01-02T23:59:59Z')", true],
    ["timestamp('2026-01-01T00:00:00Z') == '2026-01-01T00:00:00Z'", false],
    ["json({'t': timestamp('2026-01-01T00:00:00Z')})", '{"t":"2026-01-01T00:00:00Z"}'],
    ["duration('P13D').getHours()", 312],
  ])("%s", (source, wanted) => {
    expect(value(source)).toEqual(wanted);
  });

  it.each([
    "duration('1.5h')",
    "duration('5')",
    "duration('P1M')",
    "duration('1m1h')",
    "duration('')",
    "timestamp('2026-02-30T00:00:00Z')",
    "timestamp('2026-01-01')",
    "timestamp('2026-01-01T00:00:00Z') < '2027-01-01T00:00:00Z'",
    "duration('P')",
    "duration('PT')",
  ])("%s fails", (source) => {
    expect(failure(source)).not.toBeNull();
  });
});

it("an expression evaluates again and again to the same, with whatever names", () => {
  const expr = compiled("inputs.rows.map(r, r.n).filter(n, n > 1)");
  const env = { read: (name: string) => (name === "inputs" ? names.inputs : undefined) };
  expect(expr.evaluate(env)).toEqual(expr.evaluate(env));
});
