import { describe, expect, test } from "vitest";
import type { Json } from "../base/json.ts";
import type { Field, FieldShape } from "../plan/field.ts";
import { Marked, recorded, SENSITIVE, type Val } from "../plan/marked.ts";
import { checkFields, fieldsToSchema } from "./field-value.ts";

function field(name: string, type: FieldShape["type"], more: Partial<Field> = {}): Field {
  return { name, type, required: false, ...more };
}

function bound(fields: Field[], value: Val): Json {
  const result = checkFields(fields, value);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return recorded(result.value);
}

function paths(fields: Field[], value: Val): string[] {
  const result = checkFields(fields, value);
  return result.ok ? [] : result.problems.map((problem) => problem.path);
}

describe("reject unknown, apply defaults, require, validate", () => {
  const fields = [
    field("id", "string", { required: true }),
    field("count", "integer", { default: 3 }),
    field("note", "string"),
  ];

  test("WX-67: what is left out gets its default, or null", () => {
    expect(bound(fields, { id: "a" })).toEqual({ id: "a", count: 3, note: null });
  });

  test("WX-67: an explicit null is a value, not replaced by the default", () => {
    expect(bound(fields, { id: "a", count: null })).toEqual({ id: "a", count: null, note: null });
    expect(paths(fields, { id: null })).toEqual(["id"]);
    expect(bound([field("x", "any", { required: true })], { x: null })).toEqual({ x: null });
  });

  test("WX-66, WX-68, WX-69: all problems at once, with their paths", () => {
    expect(paths(fields, { count: "3", extra: 1 }).sort()).toEqual(["count", "extra", "id"]);
  });

  test("a default stands in for a required field", () => {
    expect(bound([field("n", "integer", { required: true, default: 1 })], {})).toEqual({ n: 1 });
  });

  test("what is no map is refused", () => {
    for (const value of [null, 1, "x", []]) expect(paths(fields, value)).toEqual([""]);
  });

  test("odd names are names", () => {
    expect(paths([field("a", "any")], JSON.parse('{ "__proto__": 1 }') as Val)).toHaveLength(1);
    expect(bound([field("constructor", "any")], {})).toEqual({ constructor: null });
  });
});

describe("values", () => {
  test.each<[FieldShape["type"], Json[], Json[]]>([
    ["string", ["", "x"], [1, [], {}, true]],
    ["integer", [1, 2.0, -3], [1.5, "1", false]],
    ["number", [1, 1.5], ["1", []]],
    ["boolean", [true, false], [0, "true"]],
    ["object", [{}, { any: 1 }], [[], "x"]],
    ["array", [[], [1, "a"]], [{}, "x"]],
    ["any", [1, "x", [], {}, true], []],
  ])("%s", (type, good, bad) => {
    const fields = [field("v", type, { required: true })];
    for (const value of good) expect(bound(fields, { v: value as Val })).toEqual({ v: value });
    for (const value of bad) expect(paths(fields, { v: value as Val })).toEqual(["v"]);
  });

  test("min and max bound a number, the characters of a string, the elements of an array", () => {
    const fields = [
      field("n", "integer", { min: 1, max: 3 }),
      field("s", "string", { min: 2, max: 2 }),
      field("l", "array", { max: 1 }),
    ];
    expect(paths(fields, { n: 4, s: "🎈", l: [1, 2] }).sort()).toEqual(["l", "n", "s"]);
    expect(paths(fields, { n: 3, s: "🎈🎈", l: [1] })).toEqual([]);
  });

  test("enum and pattern", () => {
    const fields = [field("e", "string", { enum: ["a", "b"] }), field("p", "string", { pattern: "^\\d+$" })];
    expect(paths(fields, { e: "c", p: "x" }).sort()).toEqual(["e", "p"]);
    expect(bound(fields, { e: null, p: null })).toEqual({ e: null, p: null });
  });

  test("objects with fields are closed at every depth, and defaults reach down", () => {
    const inner: Field[] = [field("a", "string", { required: true }), field("b", "integer", { default: 7 })];
    const fields = [
      field("o", "object", { fields: inner }),
      field("l", "array", { items: { type: "object", required: true, fields: inner } }),
    ];
    expect(paths(fields, { o: { a: "x", z: 1 }, l: [{ b: 1 }] }).sort()).toEqual(["l[0].a", "o.z"]);
    expect(bound(fields, { o: { a: "x" }, l: [{ a: "y" }] })).toEqual({ o: { a: "x", b: 7 }, l: [{ a: "y", b: 7 }] });
  });
});

describe("marks", () => {
  const fields = [field("user", "string"), field("token", "string", { sensitive: true })];

  test("a sensitive field is marked, and only it", () => {
    expect(bound(fields, { user: "ana", token: "t" })).toEqual({ user: "ana", token: { $sensitive: true } });
  });

  test("what comes in marked stays marked", () => {
    expect(bound(fields, { user: new Marked("ana", SENSITIVE) })).toMatchObject({ user: { $sensitive: true } });
    expect(bound(fields, new Marked({ user: "ana" }, SENSITIVE))).toMatchObject({ user: { $sensitive: true } });
  });

  test("WX-70: a problem holds no value", () => {
    const result = checkFields([field("token", "integer", { sensitive: true, required: true })], { token: "canary" });
    expect(JSON.stringify(result)).not.toContain("canary");
  });

  test("computed defaults come before declared ones", () => {
    const result = checkFields(fields, {}, { user: "draft" });
    expect(result.ok && recorded(result.value)).toEqual({ user: "draft", token: { $sensitive: true } });
  });
});

describe("the schema that a model sees", () => {
  test("says types, bounds, what is required and what for", () => {
    const fields = [
      field("id", "string", { required: true, description: "Of the account.", min: 1, sensitive: true }),
      field("list", "array", { items: { type: "integer", required: true }, max: 3 }),
      field("n", "integer", { required: true, default: 1 }),
    ];
    expect(fieldsToSchema(fields)).toEqual({
      type: "object",
      required: ["id"],
      additionalProperties: false,
      properties: {
        id: { type: "string", description: "Of the account.", minLength: 1 },
        list: { type: "array", items: { type: "integer" }, maxItems: 3 },
        n: { type: "integer", default: 1 },
      },
    });
  });

  test("a pattern that is none fits nothing", () => {
    expect(paths([field("p", "string", { pattern: "(" })], { p: "x" })).toEqual([""]);
  });
});
