import { emptyObject, type Json } from "../../base/json.ts";
import { asShape, either } from "../../expression/known.ts";
import { ANY, type Shape } from "../../expression/shape.ts";
import type { Field, FieldShape } from "../../plan/field.ts";

export const TEXT: Shape = Object.freeze({ kind: "string" as const });
export const NUMBER: Shape = Object.freeze({ kind: "number" as const });
export const NULL: Shape = Object.freeze({ kind: "null" as const });

/** `error` in handlers and cleanups. */
export const ERROR: Shape = object({ code: TEXT, position: TEXT, message: TEXT, details: ANY });
/** `run` everywhere. */
export const RUN: Shape = object({ id: TEXT, attempt: NUMBER, started_at: TEXT });
/** `ask` in the steps of `asked`. */
export const ASK: Shape = object({ id: TEXT, url: TEXT });

/** A closed object. */
export function object(fields: { readonly [name: string]: Shape }): Shape {
  const own = emptyObject<Shape>();
  for (const name of Object.keys(fields)) own[name] = fields[name] ?? ANY;
  return { kind: "object", fields: own, open: false };
}

/** The object that field declarations describe: a field that may be left out is bound as null. */
export function shapeOfFields(fields: readonly Field[]): Shape {
  const own = emptyObject<Shape>();
  for (const field of fields) {
    const absent = !field.required && field.default === undefined && field.defaultValue === undefined;
    const shape = shapeOfField(field);
    own[field.name] = absent || field.default === null ? nullable(shape) : shape;
  }
  return { kind: "object", fields: own, open: false };
}

export function shapeOfField(field: FieldShape): Shape {
  const shape = bareShape(field);
  return field.sensitive && shape.kind !== "null" ? { ...shape, sensitive: true } : shape;
}

function bareShape(field: FieldShape): Shape {
  const values = field.enum === undefined ? {} : { enum: field.enum };
  switch (field.type) {
    case "string":
      return { kind: "string", ...values };
    case "integer":
    case "number":
      return { kind: "number", ...values };
    case "boolean":
      return { kind: "boolean" };
    case "array":
      return { kind: "list", of: field.items === undefined ? ANY : shapeOfField(field.items) };
    case "object":
      if (field.fields === undefined) return { kind: "object", fields: emptyObject<Shape>(), open: true };
      return shapeOfFields(field.fields);
    case "any":
      return ANY;
  }
}

export function shapeOfJson(value: Json): Shape {
  if (value === null) return NULL;
  if (typeof value === "boolean") return { kind: "boolean" };
  if (typeof value === "number") return NUMBER;
  if (typeof value === "string") return TEXT;
  if (Array.isArray(value)) {
    return { kind: "list", of: value.length === 0 ? ANY : joined(value.map(shapeOfJson)) };
  }
  const fields = emptyObject<Shape>();
  for (const key of Object.keys(value)) fields[key] = shapeOfJson(value[key] ?? null);
  return { kind: "object", fields, open: false };
}

export function nullable(shape: Shape): Shape {
  return shape.kind === "any" || shape.kind === "null" ? shape : { ...shape, nullable: true };
}

/** What is known of a value that has one of some shapes. */
export function joined(shapes: readonly Shape[]): Shape {
  const [first, ...rest] = shapes;
  if (first === undefined) return NULL;
  return rest.reduce((all, shape) => asShape(either(all, shape)), first);
}
