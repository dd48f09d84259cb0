import { describe, expect, test } from "vitest";
import type { JsonObject } from "../base/json.ts";
import { ANY, type Shape } from "../expression/shape.ts";
import { resultShape } from "./result-shape.ts";

const closed = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});

describe("I1: a shape is certain for every value that the schema takes", () => {
  test.each<[string, JsonObject, Shape]>([
    ["nothing said", {}, ANY],
    ["properties without a type", { properties: { a: {} }, additionalProperties: false }, ANY],
    ["several types", { type: ["string", "integer"] }, ANY],
    ["a reference", { $ref: "#/$defs/a", type: "string" }, ANY],
    ["a text", { type: "string", enum: ["a"] }, { kind: "string" }],
    ["a text or null", { type: ["string", "null"] }, { kind: "string", nullable: true }],
    ["null", { type: "null" }, ANY],
    ["a tuple", { type: "array", prefixItems: [{ type: "string" }] }, { kind: "list", of: ANY }],
    ["a list", { type: "array", items: { type: "integer" } }, { kind: "list", of: { kind: "number" } }],
    ["an older tuple", { type: "array", items: [{ type: "string" }] }, { kind: "list", of: ANY }],
  ])("%s", (_, schema, shape) => {
    expect(resultShape(schema)).toEqual(shape);
  });

  test("only an object that takes nothing else is closed; what is not required may be null", () => {
    expect(resultShape(closed({ a: { type: "string" } }))).toMatchObject({
      open: false,
      fields: { a: { kind: "string" } },
    });
    expect(resultShape(closed({ a: {} }, { additionalProperties: {} }))).toMatchObject({ open: true });
    expect(resultShape(closed({ a: {} }, { patternProperties: {} }))).toMatchObject({ open: true });
    expect(resultShape({ type: "object" })).toMatchObject({ open: true });
    expect(resultShape(closed({ a: { type: "string" } }, { required: [] }))).toMatchObject({
      fields: { a: { kind: "string", nullable: true } },
    });
  });

  test("a schema without end, or with very many parts, is known to a depth and no further", () => {
    const endless: JsonObject = { type: "array" };
    endless["items"] = endless;
    expect(JSON.stringify(resultShape(endless)).length).toBeLessThan(2_000);
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`f${n}`, { type: "string" }]));
    const shape = resultShape(closed(many));
    expect(shape).toMatchObject({ open: false, fields: { f0: { kind: "string" }, f4999: { kind: "any" } } });
  });

  test("a property called __proto__ is one like any other", () => {
    const shape = resultShape(
      JSON.parse(`{"type":"object","properties":{"__proto__":{"type":"string"}}}`) as JsonObject,
    );
    expect(shape.kind === "object" && Object.keys(shape.fields)).toEqual(["__proto__"]);
  });
});
