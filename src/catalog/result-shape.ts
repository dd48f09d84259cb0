/**
 * What a manifest's output schema says of an action's result before it runs, for `plan` and `run`.
 *
 * I1: a shape is certain for every value that the schema takes; what is not certain is `any`. The value is held against
 *     the schema before it is bound, so what the shape excludes is never read.
 */
import { emptyObject, isObject, type Json } from "../base/json.ts";
import { asShape, either } from "../expression/known.ts";
import { ANY, type Shape } from "../expression/shape.ts";
import { setOwn } from "../plan/marked.ts";
import type { JsonSchema } from "./manifest.ts";

/** What lies deeper, or comes behind so many parts, is not known. */
const DEEPEST = 16;
const MOST_PARTS = 2_000;

/** The shape of what a schema takes. `$ref` is not followed, and of several types nothing is known. */
export function resultShape(schema: JsonSchema): Shape {
  const left = { parts: MOST_PARTS };
  return shapeOf(schema, DEEPEST, left);
}

function shapeOf(schema: Json | undefined, depth: number, left: { parts: number }): Shape {
  // In the older draft what stands beside a reference says nothing.
  if (!isObject(schema) || Object.hasOwn(schema, "$ref") || depth === 0 || left.parts === 0) return ANY;
  left.parts--;
  const types = typesOf(schema["type"]);
  const [type] = types.filter((name) => name !== "null");
  if (type === undefined || types.length > 2 || (types.length === 2 && !types.includes("null"))) return ANY;
  const shape = ofType(type, schema, depth, left);
  return types.length === 2 || schema["nullable"] === true ? orNull(shape) : shape;
}

function typesOf(type: Json | undefined): string[] {
  if (typeof type === "string") return [type];
  return Array.isArray(type) ? type.filter((name) => typeof name === "string") : [];
}

function ofType(type: string, schema: { [key: string]: Json }, depth: number, left: { parts: number }): Shape {
  switch (type) {
    case "string":
    case "boolean":
      return { kind: type };
    case "integer":
    case "number":
      return { kind: "number" };
    case "array":
      return { kind: "list", of: "prefixItems" in schema ? ANY : shapeOf(schema["items"], depth - 1, left) };
    case "object":
      return ofObject(schema, depth, left);
    default:
      return ANY;
  }
}

function ofObject(schema: { [key: string]: Json }, depth: number, left: { parts: number }): Shape {
  const { properties, required, additionalProperties, patternProperties } = schema;
  const fields = emptyObject<Shape>();
  for (const [name, part] of Object.entries(isObject(properties) ? properties : {})) {
    const shape = shapeOf(part, depth - 1, left);
    const isThere = Array.isArray(required) && required.includes(name);
    setOwn(fields, name, isThere ? shape : orNull(shape));
  }
  const open = additionalProperties !== false || patternProperties !== undefined;
  return { kind: "object", fields, open };
}

function orNull(shape: Shape): Shape {
  return asShape(either(shape, { kind: "null" }));
}
