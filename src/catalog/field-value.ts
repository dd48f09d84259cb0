import { isObject, type Json, type JsonObject } from "../base/json.ts";
import type { Field, FieldShape } from "../plan/field.ts";
import { mark, peel, reveal, SENSITIVE, setOwn, type Val } from "../plan/marked.ts";
import type { JsonSchema } from "./manifest.ts";
import { kindOf, type ValueProblem } from "./value-problem.ts";
import { compileSchema, type ValueSchema } from "./value-schema.ts";

/** The bound map, or all that is wrong with the value. */
export type FieldsOutcome = { ok: true; value: { [name: string]: Val } } | { ok: false; problems: ValueProblem[] };

/**
 * Checks a map against field declarations: unknown fields are refused, defaults applied, required fields
 * required, every value validated, at every depth; all problems at once. A field that is left out and has no
 * default is bound as null; an explicit null stays null, and fits where a field may be left out. Marks on the
 * parts that come in are kept, `sensitive` fields are marked. `defaults` gives defaults that were computed (of
 * an `ask`) and comes before those of the declarations.
 */
export function checkFields(
  fields: readonly Field[],
  value: Val,
  defaults: { readonly [name: string]: Val } = {},
): FieldsOutcome {
  const { value: given, marks } = peel(value);
  if (!isObject(given)) {
    const expected = "an object";
    return {
      ok: false,
      problems: [{ path: "", message: `the value must be ${expected}, is ${kindOf(given)}`, expected }],
    };
  }
  const filled = fill(fields, given as { [key: string]: Val }, defaults);
  const problems = validatorOf(fields).check(reveal(filled));
  if (problems.length > 0) return { ok: false, problems };
  const bound = bindFields(fields, filled);
  if (marks.sensitive || marks.suppressed) {
    for (const name of Object.keys(bound)) setOwn(bound, name, mark(bound[name] as Val, marks));
  }
  return { ok: true, value: bound };
}

function fill(
  fields: readonly Field[],
  given: { [key: string]: Val },
  defaults: { readonly [name: string]: Val },
): { [key: string]: Val } {
  const out: { [key: string]: Val } = {};
  for (const key of Object.keys(given)) setOwn(out, key, given[key] as Val);
  for (const field of fields) {
    if (Object.hasOwn(out, field.name)) {
      setOwn(out, field.name, fillShape(field, out[field.name] as Val));
    } else if (Object.hasOwn(defaults, field.name)) {
      setOwn(out, field.name, defaults[field.name] as Val);
    } else if (field.default !== undefined) {
      setOwn(out, field.name, fillShape(field, field.default as Val));
    }
  }
  return out;
}

function fillShape(shape: FieldShape, value: Val): Val {
  const { value: inner, marks } = peel(value);
  if (shape.fields && isObject(inner)) return mark(fill(shape.fields, inner as { [key: string]: Val }, {}), marks);
  const items = shape.items;
  if (items && Array.isArray(inner))
    return mark(
      inner.map((item) => fillShape(items, item)),
      marks,
    );
  return value;
}

/** Of a value that fits: what was left out becomes null, what is declared sensitive is marked. */
function bindFields(fields: readonly Field[], given: { [key: string]: Val }): { [key: string]: Val } {
  const out: { [key: string]: Val } = {};
  for (const field of fields) {
    setOwn(
      out,
      field.name,
      Object.hasOwn(given, field.name) ? bindShape(field, given[field.name] as Val) : markIf(field, null),
    );
  }
  return out;
}

function bindShape(shape: FieldShape, value: Val): Val {
  const { value: inner, marks } = peel(value);
  let bound: Val = inner;
  if (shape.fields && isObject(inner)) bound = bindFields(shape.fields, inner as { [key: string]: Val });
  else if (shape.items && Array.isArray(inner)) {
    const items = shape.items;
    bound = inner.map((item) => bindShape(items, item));
  }
  return markIf(shape, mark(bound, marks));
}

function markIf(shape: FieldShape, value: Val): Val {
  return shape.sensitive ? mark(value, SENSITIVE) : value;
}

const validators = new WeakMap<object, ValueSchema>();

function validatorOf(fields: readonly Field[]): ValueSchema {
  let made = validators.get(fields);
  if (!made) {
    const compiled = compileSchema(objectSchema(fields, true));
    made =
      "error" in compiled
        ? {
            check: () => [{ path: "", message: `the declaration is unusable: ${compiled.error}`, expected: "nothing" }],
          }
        : compiled;
    validators.set(fields, made);
  }
  return made;
}

/** The JSON Schema of field declarations, as models and tool lists are shown it. */
export function fieldsToSchema(fields: readonly Field[]): JsonSchema {
  return objectSchema(fields, false);
}

/** `optionalNull`: what may be left out may be null, which is what it is bound to then. */
function objectSchema(fields: readonly Field[], optionalNull: boolean): JsonObject {
  const properties: JsonObject = {};
  const required: string[] = [];
  for (const field of fields) {
    const nullable = optionalNull && !field.required;
    setOwn(properties, field.name, shapeSchema(field, nullable, optionalNull));
    // Once defaults are filled in, all required fields must be there; a model may leave out what has one.
    const hasDefault = field.default !== undefined || field.defaultValue !== undefined;
    if (field.required && (optionalNull || !hasDefault)) required.push(field.name);
  }
  return { type: "object", properties, required, additionalProperties: false };
}

function shapeSchema(shape: FieldShape, nullable: boolean, optionalNull: boolean): Json {
  const schema: JsonObject = {};
  if (shape.type !== "any") schema["type"] = nullable ? [shape.type, "null"] : shape.type;
  if (shape.description !== undefined) schema["description"] = shape.description;
  if (shape.enum !== undefined)
    schema["enum"] = nullable && !shape.enum.includes(null) ? [...shape.enum, null] : shape.enum;
  if (shape.pattern !== undefined) schema["pattern"] = shape.pattern;
  if (shape.default !== undefined) schema["default"] = shape.default;
  const bounds = BOUNDS[shape.type];
  if (bounds !== undefined) {
    if (shape.min !== undefined) schema[bounds[0]] = shape.min;
    if (shape.max !== undefined) schema[bounds[1]] = shape.max;
  }
  if (shape.items !== undefined) schema["items"] = shapeSchema(shape.items, false, optionalNull);
  if (shape.fields !== undefined) Object.assign(schema, { ...objectSchema(shape.fields, optionalNull), ...schema });
  return schema;
}

const BOUNDS: { readonly [type: string]: readonly [string, string] | undefined } = {
  integer: ["minimum", "maximum"],
  number: ["minimum", "maximum"],
  string: ["minLength", "maxLength"],
  array: ["minItems", "maxItems"],
};
