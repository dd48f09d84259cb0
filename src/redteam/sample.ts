import { isObject, type Json, type JsonObject } from "../base/json.ts";
import type { JsonSchema } from "../catalog/manifest.ts";
import { checkValue } from "../catalog/value-schema.ts";
import { setOwn } from "../plan/marked.ts";

const MAX_DEPTH = 12;
const MAX_PAD = 4_096;

/** Texts for formats and for patterns that are met often; the first that fits is taken. */
const TEXTS_BY_FORMAT: { [format: string]: string } = {
  "date-time": "2026-01-01T00:00:00Z",
  date: "2026-01-01",
  time: "00:00:00Z",
  email: "ana@example.org",
  uri: "https://example.org/",
  uuid: "3f2b1c9e-0000-4000-8000-000000000000",
  ipv4: "192.0.2.1",
};
const USUAL_TEXTS = ["a", "A", "0", "1", "a1", "a-1", "A-1", "abc", "en", "EUR", "ana@example.org", "2026-01-01"];

/**
 * A value that fits a JSON Schema, its texts being `text` where they may be anything; undefined where none was
 * found, which is no statement about the schema. Optional properties are filled in too if `full`.
 */
export function sample(schema: JsonSchema, text: string, full: boolean): Json | undefined {
  for (const wish of [text, "a"]) {
    const value = new Sampler(schema, wish, full).of(schema, 0);
    if (value !== undefined && checkValue(schema, value).length === 0) return value;
  }
  return undefined;
}

class Sampler {
  readonly #root: JsonSchema;
  readonly #text: string;
  readonly #full: boolean;

  constructor(root: JsonSchema, text: string, full: boolean) {
    this.#root = root;
    this.#text = text;
    this.#full = full;
  }

  of(schema: Json, depth: number): Json | undefined {
    if (depth > MAX_DEPTH || schema === false) return undefined;
    if (!isObject(schema)) return this.#text;
    const whole = this.#merged(schema as JsonObject, depth);
    const { const: only, enum: choice, type } = whole;
    if (only !== undefined) return only;
    if (Array.isArray(choice)) return choice[0];
    const kind = Array.isArray(type) ? type.find((one) => one !== "null") : (type ?? kindByKeys(whole));
    switch (kind) {
      case "string":
        return this.#string(whole);
      case "integer":
      case "number":
        return number(whole);
      case "boolean":
        return true;
      case "null":
        return null;
      case "array":
        return this.#array(whole, depth);
      case "object":
        return this.#object(whole, depth);
      default:
        return this.#text;
    }
  }

  /** With what it refers to, all of `allOf` and the first of a choice. */
  #merged(schema: JsonObject, depth: number): JsonObject {
    const { $ref, allOf, anyOf, oneOf, ...own } = schema;
    const parts: Json[] = [];
    if (typeof $ref === "string") parts.push(this.#referred($ref));
    if (Array.isArray(allOf)) parts.push(...allOf);
    for (const choice of [anyOf, oneOf]) if (Array.isArray(choice) && choice[0] !== undefined) parts.push(choice[0]);
    let whole: JsonObject = own;
    for (const part of parts) {
      if (!isObject(part) || depth > MAX_DEPTH) continue;
      const more = this.#merged(part as JsonObject, depth + 1);
      whole = {
        ...more,
        ...whole,
        ...joined("properties", more, whole),
        required: [...listIn(more, "required"), ...listIn(whole, "required")],
      };
    }
    return whole;
  }

  #referred(reference: string): Json {
    if (!reference.startsWith("#")) return {};
    let at: Json = this.#root;
    for (const part of reference.slice(1).split("/").filter(Boolean)) {
      const key = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
      if (!isObject(at) || !Object.hasOwn(at, key)) return {};
      at = at[key] as Json;
    }
    return at;
  }

  #string(schema: JsonObject): string {
    const { format, pattern, minLength, maxLength } = schema;
    const known = typeof format === "string" ? TEXTS_BY_FORMAT[format] : undefined;
    if (known !== undefined) return known;
    if (pattern !== undefined) {
      return USUAL_TEXTS.find((one) => checkValue({ ...schema, type: "string" }, one).length === 0) ?? this.#text;
    }
    const longest = typeof maxLength === "number" ? maxLength : Number.POSITIVE_INFINITY;
    const shortest = typeof minLength === "number" ? Math.min(minLength, MAX_PAD) : 0;
    return this.#text.padEnd(shortest, "a").slice(0, longest);
  }

  #array(schema: JsonObject, depth: number): Json | undefined {
    const { items, minItems, maxItems, uniqueItems } = schema;
    const wanted = typeof minItems === "number" ? minItems : this.#full ? 1 : 0;
    const count = Math.min(wanted, typeof maxItems === "number" ? maxItems : wanted, 64);
    const list: Json[] = [];
    for (let i = 0; i < count; i++) {
      const item = this.of(items ?? {}, depth + 1);
      if (item === undefined) return undefined;
      list.push(uniqueItems === true && i > 0 && typeof item === "number" ? item + i : item);
    }
    return list;
  }

  #object(schema: JsonObject, depth: number): Json | undefined {
    const { properties } = schema;
    const required = listIn(schema, "required");
    const out: JsonObject = {};
    const known = isObject(properties) ? Object.keys(properties) : [];
    for (const key of new Set([...known, ...required.filter((one) => typeof one === "string")])) {
      const needed = required.includes(key);
      if (!needed && !this.#full) continue;
      const part = isObject(properties) && Object.hasOwn(properties, key) ? (properties[key] as Json) : {};
      const value = this.of(part, depth + 1);
      if (value !== undefined) setOwn(out, key, value);
      else if (needed) return undefined;
    }
    return out;
  }
}

function kindByKeys(schema: JsonObject): string | undefined {
  if (schema["properties"] !== undefined || schema["required"] !== undefined) return "object";
  return schema["items"] === undefined ? undefined : "array";
}

function number(schema: JsonObject): number {
  const bound = (key: string): number | undefined => {
    const value = schema[key];
    return typeof value === "number" ? value : undefined;
  };
  const step = bound("multipleOf") ?? 1;
  const above = bound("exclusiveMinimum");
  const least = bound("minimum") ?? (above === undefined ? undefined : above + step);
  const most = bound("maximum") ?? bound("exclusiveMaximum");
  const wish = least ?? (most === undefined || most > 1 ? 1 : most - step);
  return Math.ceil(wish / step) * step;
}

function listIn(schema: JsonObject, key: string): Json[] {
  const value = schema[key];
  return Array.isArray(value) ? value : [];
}

function joined(key: string, a: JsonObject, b: JsonObject): JsonObject {
  const [first, second] = [a[key], b[key]];
  if (!isObject(first) || !isObject(second)) return {};
  return { [key]: { ...first, ...second } as JsonObject };
}
