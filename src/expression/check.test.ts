import { describe, expect, it } from "vitest";
import type { Shape } from "./shape.ts";
import { check, pointed } from "./testing/harness.ts";

const text: Shape = { kind: "string" };
const closed = (fields: { [name: string]: Shape }): Shape => ({ kind: "object", fields, open: false });

const scope: { [name: string]: Shape } = {
  inputs: closed({
    sender: text,
    n: { kind: "number" },
    token: { kind: "string", sensitive: true },
    list: { kind: "list", of: closed({ id: text, price: { kind: "number" } }) },
    flag: { kind: "boolean", nullable: true },
    free: { kind: "object", fields: {}, open: true },
  }),
  resolve: { ...closed({ account_id: text }), nullable: true } as Shape,
  fetch: { kind: "any" },
  nothing: { kind: "null" },
  "my-step": { kind: "any" },
  "get-all-items": { kind: "any" },
  run: closed({ id: text, attempt: { kind: "number" }, started_at: text }),
};

const of = (source: string): string[] => pointed(source, scope);
const shape = (source: string): Shape => check(source, scope).shape;

describe("names", () => {
  it("an unknown one is found at its place, with the nearest", () => {
    expect(of("1 + resolv.account_id")).toEqual(["unknown_name [resolv] did you mean `resolve`?"]);
    expect(of("inputs.sendr")).toEqual(["unknown_name [sendr] did you mean `sender`?"]);
    expect(of("inputs.zzz")[0]).toContain("its fields: sender, n");
    expect(of("zzz")[0]).toContain("known here: inputs, resolve, fetch, nothing, run");
  });

  it("the name of an input alone shows where it stands (WX-25)", () => {
    expect(of("sender")).toEqual(["unknown_name [sender] write `inputs.sender`"]);
  });

  it("the constructor ladder is unknown at check (HO-13)", () => {
    expect(of("inputs.constructor")[0]).toMatch(/^unknown_name \[constructor\]/);
    expect(of("inputs['__proto__']")[0]).toMatch(/^unknown_name \['__proto__'\]/);
    expect(of("ctx.constructor")[0]).toMatch(/^unknown_name \[ctx\]/);
    expect(of("constructor")[0]).toMatch(/^unknown_name \[constructor\]/);
    expect(of("has(inputs.constructor)")[0]).toMatch(/^unknown_name/);
  });

  it("an id with `-` cannot be read: `_` is proposed, once", () => {
    expect(of("my-step.x + 1")).toEqual(["unknown_name [my-step] call it `my_step`"]);
    expect(of("get-all-items")).toEqual(["unknown_name [get-all-items] call it `get_all_items`"]);
    expect(of("inputs.n - fetch")).toEqual([]);
  });

  it("all of one expression are reported together, in the order of the text", () => {
    expect(of("a + inputs.q + b").map((line) => line.split("]")[0])).toEqual([
      "unknown_name [a",
      "unknown_name [q",
      "unknown_name [b",
    ]);
  });

  it("variables of loops are names inside, and nowhere else", () => {
    expect(of("inputs.list.map(x, x.id)")).toEqual([]);
    expect(of("inputs.list.map(x, x.name)")[0]).toContain("unknown_name [name]");
    expect(of("inputs.list.map(x, x.id) + [x]")[0]).toContain("unknown_name [x]");
    expect(of("cel.bind(v, inputs.n, v * 2)")).toEqual([]);
    expect(of("inputs.list.map(x, x.price, x.id)")[0]).toContain("failed [x.price]");
  });

  it("open and unknown values allow everything", () => {
    expect(of("inputs.free.whatever.x + fetch.y[0].z")).toEqual([]);
  });
});

describe("functions people try", () => {
  it.each([
    ["inputs.sender.toLowerCase()", "unknown_name [toLowerCase] write s.lowerAscii()"],
    ["inputs.list.length", "failed [length] write size(x)"],
    [
      "inputs.sender.includes('a')",
      "unknown_name [includes] write s.contains(part) for a text, `v in list` for a list",
    ],
    ["JSON.stringify(inputs)", "unknown_name [JSON.stringify] write json(v)"],
    [
      "now()",
      "unknown_name [now] there is no clock, since a replay must find the same time; `run.started_at` is when the run began",
    ],
    ["Math.round(inputs.n)", "unknown_name [Math.round] write round(x)"],
    ["inputs.sender.tirm()", "unknown_name [tirm] did you mean `s.trim()`?"],
    ["size", "unknown_name [size] `size` is a function: write `size(x)`"],
    ["True", "unknown_name [True] write `true`"],
  ])("%s", (source, wanted) => {
    expect(of(source)).toEqual([wanted]);
  });
});

describe("faults of kinds that are certain", () => {
  it.each([
    ["inputs.n + inputs.sender", "failed [inputs.n + inputs.sender]"],
    ["inputs.sender.id", "failed [id]"],
    ["inputs.sender[0]", "failed [inputs.sender[0]]"],
    ["inputs.list['a']", "failed ['a']"],
    ["inputs.n && true", "failed [inputs.n]"],
    ["!inputs.sender", "failed [inputs.sender]"],
    ["-inputs.sender", "failed [-inputs.sender]"],
    ["inputs.n ? 1 : 2", "failed [inputs.n]"],
    ["inputs.n.map(x, x)", "failed [inputs.n]"],
    ["inputs.list.filter(x, x.id)", "failed [x.id]"],
    ["size(inputs.n)", "failed [inputs.n]"],
    ["sum(inputs.sender)", "failed [inputs.sender]"],
    ["inputs.sender < 1", "failed [inputs.sender < 1]"],
    ["fetch + null", "failed [fetch + null]"],
    ["'a' in inputs.sender", "failed ['a' in inputs.sender]"],
    ["{1: 2}", "failed [1]"],
    ["{'a': fetch, 'a': 2}", "failed ['a']"],
    ["timestamp(inputs.sender) + 1", "failed [timestamp(inputs.sender) + 1]"],
    ["null.x", "failed [x]"],
  ])("%s", (source, wanted) => {
    expect(of(source)[0]?.startsWith(wanted), of(source).join()).toBe(true);
  });

  it("one fault gives one finding", () => {
    expect(of("(inputs.n + inputs.sender) * 2 > absent.x.y")).toHaveLength(2);
  });

  it("what may be null is not refused", () => {
    expect(of("resolve.account_id == '' || inputs.flag && resolve != null")).toEqual([]);
    expect(of("default(resolve.account_id, 'x') + 'y'")).toEqual([]);
  });

  it("times go together in their own ways", () => {
    expect(of("timestamp(run.started_at) - duration('1h') < timestamp(inputs.sender)")).toEqual([]);
    expect(of("(timestamp(run.started_at) - timestamp(inputs.sender)).getHours() > 1")).toEqual([]);
    expect(of("date(run.started_at, 'yyyy-QQ')")[0]).toContain("failed ['yyyy-QQ'] known are yyyy");
    expect(of("date(run.started_at, 'yyyy', 'Paris/Europe')")[0]).toContain("failed ['Paris/Europe']");
  });
});

describe("constants that fail", () => {
  it.each([
    ["1 / 0", "failed [1 / 0]"],
    ["inputs.n / 0", "failed [inputs.n / 0]"],
    ["inputs.n % 0.0", "failed [inputs.n % 0.0]"],
    ["9007199254740993", "failed [9007199254740993]"],
    ["inputs.n + 1e400", "failed [1e400]"],
    ["9007199254740991 + 1", "failed [9007199254740991 + 1]"],
    ["inputs.n > int('x')", "failed [int('x')]"],
    ["timestamp(run.started_at) + duration('1 hour')", "failed [duration('1 hour')]"],
    ["inputs.flag ? range(2000) : []", "failed [range(2000)]"],
  ])("%s", (source, wanted) => {
    expect(of(source).map((line) => line.split("] ")[0])).toEqual([wanted.slice(0, -1)]);
  });

  it("are not reported where default takes them, nor where they take too long to know", () => {
    expect(of("default([][0], 1)")).toEqual([]);
    expect(of("default([1][5], inputs.n)")).toEqual([]);
    expect(of("default(nothing.x.y, inputs.n) + inputs.n > 0 && !has(nothing.x.y)")).toEqual([]);
    expect(of("nothing.x")[0]).toContain("failed [x]");
    expect(of("range(1000).all(x, range(1000).all(y, x + y >= 0))")).toEqual([]);
  });
});

describe("the shape of the result", () => {
  it("follows the parts", () => {
    expect(shape("inputs.sender")).toEqual(text);
    expect(shape("inputs.n + 1")).toEqual({ kind: "number" });
    expect(shape("inputs.list.map(x, x.price > 1)")).toEqual({ kind: "list", of: { kind: "boolean" } });
    expect(shape("inputs.list[0].id")).toEqual(text);
    expect(shape("timestamp(run.started_at)")).toEqual(text);
    expect(shape("[duration('1s')]")).toEqual({ kind: "list", of: text });
    expect(shape("{'a': 1}")).toEqual({ kind: "object", fields: { a: { kind: "number" } }, open: false });
    expect(shape("inputs.flag ? 1 : 'a'")).toEqual({ kind: "any" });
    expect(shape("inputs.flag ? 1 : null")).toEqual({ kind: "number", nullable: true });
    expect(shape("default(inputs.flag, false)")).toEqual({ kind: "boolean" });
    expect(shape("fetch.x")).toEqual({ kind: "any" });
  });

  it("joins what is sensitive, exactly", () => {
    const marked = (source: string): boolean => (shape(source) as { sensitive?: true }).sensitive === true;
    expect(marked("inputs.token")).toBe(true);
    expect(marked("inputs.sender")).toBe(false);
    expect(marked("inputs")).toBe(false);
    expect(marked("inputs.sender + inputs.token")).toBe(true);
    expect(marked("size(inputs.token) > 3")).toBe(true);
    expect(marked("json(inputs)")).toBe(true);
    expect(marked("inputs == fetch")).toBe(true);
    expect(marked("inputs.flag ? inputs.token : 'x'")).toBe(true);
    expect(marked("inputs.token == 'a' ? 1 : 2")).toBe(true);
    expect(shape("[inputs.token]")).toEqual({ kind: "list", of: { kind: "string", sensitive: true } });
    expect(marked("[inputs.token][0]")).toBe(true);
    expect(marked("{'a': inputs.token, 'b': 1}.b")).toBe(false);
    expect(marked("{'a': inputs.token}.a")).toBe(true);
  });
});
