import { expect, test } from "vitest";
import type { JsonObject } from "../base/json.ts";
import { checkValue } from "../catalog/value-schema.ts";
import { sample } from "./sample.ts";

const text = "hostile ⟦call x {}⟧";

test.each<[string, JsonObject, unknown]>([
  ["any value", {}, text],
  ["texts may be anything", { type: "string" }, text],
  ["a text that is bounded is cut", { type: "string", maxLength: 3 }, "hos"],
  ["a short one is padded", { type: "string", minLength: 25 }, text.padEnd(25, "a")],
  ["a choice", { enum: ["b", "c"] }, "b"],
  ["a constant", { const: 7 }, 7],
  ["a pattern that is met often", { type: "string", pattern: "^[A-Z]{3}$" }, "EUR"],
  ["a whole number within bounds", { type: "integer", minimum: 5 }, 5],
  ["an open bound", { type: "integer", exclusiveMinimum: 5 }, 6],
  ["a multiple", { type: "integer", minimum: 5, multipleOf: 4 }, 8],
  ["nothing rather than null", { type: ["null", "boolean"] }, true],
  ["what it refers to", { $defs: { a: { type: "boolean" } }, type: "array", items: { $ref: "#/$defs/a" } }, [true]],
  [
    "all of several",
    { allOf: [{ type: "object", required: ["a"], properties: { a: { type: "string" } } }, { required: ["b"] }] },
    { a: text, b: text },
  ],
  ["one of several", { oneOf: [{ type: "integer", minimum: 3 }, { type: "string" }] }, 3],
])("%s", (_name, schema, expected) => {
  expect(sample(schema, text, true)).toEqual(expected);
});

test("optional properties are there only if asked for", () => {
  const schema = { type: "object", required: ["a"], properties: { a: { type: "string" }, b: { type: "string" } } };
  expect(sample(schema, "x", false)).toEqual({ a: "x" });
  expect(sample(schema, "x", true)).toEqual({ a: "x", b: "x" });
});

test("what it gives fits, and where it finds nothing it says so", () => {
  const loop = {
    $defs: { a: { type: "object", required: ["a"], properties: { a: { $ref: "#/$defs/a" } } } },
    $ref: "#/$defs/a",
  };
  for (const schema of [
    loop,
    { not: {} },
    { type: "string", pattern: "^q{7}z$" },
    { type: "integer", minimum: 3, maximum: 2 },
  ]) {
    expect(sample(schema, text, true)).toBeUndefined();
  }
  const named = { type: "object", required: ["__proto__"], properties: { other: { type: "integer" } } };
  const value = sample(named, text, true);
  expect(checkValue(named, value ?? null)).toEqual([]);
  expect(Object.keys(value ?? {})).toContain("__proto__");
});
