// Schemas of an OpenAPI document as JSON Schemas that stand alone.
//
// I1: nothing outside the document is followed; what cannot be answered takes any value.
// I2: only keywords that JSON Schema has come through, so that nothing of the document reaches the validator by a
//     side door (`$id`, `$schema`, `$dynamicRef`).
// I3: the work is bounded: by nodes and by depth, whatever circles the references make.
import { isObject, type Json, type JsonObject } from "../../base/json.ts";

const MAX_NODES = 5_000;
const MAX_DEPTH = 40;
const MAX_HOPS = 16;

/** Keywords whose value is taken as it stands. */
const PLAIN = [
  "type",
  "enum",
  "const",
  "required",
  "minItems",
  "maxItems",
  "uniqueItems",
  "minLength",
  "maxLength",
  "pattern",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minProperties",
  "maxProperties",
  "dependentRequired",
  "title",
  "description",
  "default",
  "x-sensitive",
];
const ONE = ["items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else"];
const LISTS = ["allOf", "anyOf", "oneOf", "prefixItems"];
const MAPS = ["properties", "patternProperties"];
/** Formats that mean the same in JSON Schema; `byte`, `binary` and the like are notes to people. */
const FORMATS = ["date", "time", "date-time", "duration", "email", "uri", "uuid", "ipv4", "ipv6", "hostname"];

/** What a document says of its values: a request leaves out what only answers have, and the reverse. */
export type Direction = "request" | "response";

/** The target of a local reference, by own keys; undefined where there is none. */
export function lookUp(document: JsonObject, ref: string): Json | undefined {
  if (!ref.startsWith("#/")) return undefined;
  let at: Json | undefined = document;
  let parts: string[];
  try {
    parts = decodeURIComponent(ref.slice(2)).split("/");
  } catch {
    return undefined;
  }
  for (const part of parts) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (!isObject(at) || !Object.hasOwn(at, key)) return undefined;
    at = at[key] as Json;
  }
  return at;
}

/** An object of the document with the references before it followed; null where they lead nowhere, or in a circle. */
export function resolved(document: JsonObject, node: unknown): JsonObject | null {
  let at: unknown = node;
  for (let hops = 0; hops < MAX_HOPS; hops++) {
    if (!isObject(at)) return null;
    const ref = at["$ref"];
    if (typeof ref !== "string") return at as JsonObject;
    at = lookUp(document, ref);
  }
  return null;
}

/** Turns schemas into one JSON Schema with all its definitions. One for each schema that is made. */
export class SchemaWriter {
  readonly #document: JsonObject;
  readonly #direction: Direction;
  readonly #names = new Map<string, string>();
  readonly #defs: JsonObject = {};
  #left = MAX_NODES;

  constructor(document: JsonObject, direction: Direction) {
    this.#document = document;
    this.#direction = direction;
  }

  /** A part of the schema; {@link finish} puts what it refers to beside the whole. */
  write(node: unknown): Json {
    return this.#write(node, MAX_DEPTH);
  }

  finish(schema: JsonObject): JsonObject {
    return Object.keys(this.#defs).length === 0 ? schema : { ...schema, $defs: this.#defs };
  }

  #write(node: unknown, depth: number): Json {
    if (typeof node === "boolean") return node;
    if (!isObject(node) || depth === 0 || this.#left-- <= 0) return {};
    const ref = node["$ref"];
    if (typeof ref === "string") return this.#reference(ref);
    const out: JsonObject = {};
    for (const key of PLAIN) if (Object.hasOwn(node, key)) out[key] = node[key] as Json;
    for (const key of ONE) if (Object.hasOwn(node, key)) out[key] = this.#write(node[key], depth - 1);
    for (const key of LISTS) {
      const list = node[key];
      if (Array.isArray(list) && list.length > 0) out[key] = list.map((part) => this.#write(part, depth - 1));
    }
    for (const key of MAPS) {
      const map = node[key];
      if (isObject(map)) out[key] = this.#map(map, depth);
    }
    const { format } = node as { format?: unknown };
    if (typeof format === "string" && FORMATS.includes(format)) out["format"] = format;
    this.#leaveOut(node, out);
    return fromOlder(node, out);
  }

  #map(map: { [name: string]: unknown }, depth: number): JsonObject {
    const out: JsonObject = {};
    for (const name of Object.keys(map)) {
      const value = this.#write(map[name], depth - 1);
      Object.defineProperty(out, name, { value, enumerable: true, writable: true, configurable: true });
    }
    return out;
  }

  /** A field that only the other direction has is not required in this one. */
  #leaveOut(node: { [key: string]: unknown }, out: JsonObject): void {
    const { properties, required } = node as { properties?: unknown; required?: unknown };
    if (!isObject(properties) || !Array.isArray(required)) return;
    const mark = this.#direction === "request" ? "readOnly" : "writeOnly";
    const names = required.filter((name): name is string => {
      if (typeof name !== "string") return false;
      const field = Object.hasOwn(properties, name) ? resolved(this.#document, properties[name]) : null;
      return field?.[mark] !== true;
    });
    if (names.length > 0) out["required"] = names;
    else delete out["required"];
  }

  #reference(ref: string): Json {
    const known = this.#names.get(ref);
    if (known !== undefined) return { $ref: `#/$defs/${known}` };
    const target = lookUp(this.#document, ref);
    if (!isObject(target)) return {};
    const name = this.#freeName(ref);
    this.#names.set(ref, name);
    // Its place first, so that a circle finds it.
    this.#defs[name] = {};
    this.#defs[name] = this.#write(target, MAX_DEPTH);
    return { $ref: `#/$defs/${name}` };
  }

  #freeName(ref: string): string {
    const last = (ref.split("/").at(-1) ?? "").replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
    const base = last === "" || last === "__proto__" ? "part" : last;
    let name = base;
    for (let n = 2; Object.hasOwn(this.#defs, name); n++) name = `${base}_${n}`;
    return name;
  }
}

/** What version 3.0 writes otherwise: `nullable`, and bounds that are excluded by a boolean. */
function fromOlder(node: { [key: string]: unknown }, out: JsonObject): JsonObject {
  for (const [bound, exclusive] of [
    ["minimum", "exclusiveMinimum"],
    ["maximum", "exclusiveMaximum"],
  ] as const) {
    if (typeof out[exclusive] !== "boolean") continue;
    if (out[exclusive] === true && typeof out[bound] === "number") {
      out[exclusive] = out[bound];
      delete out[bound];
    } else delete out[exclusive];
  }
  if (node["nullable"] !== true) return out;
  const { type } = out;
  if (Array.isArray(out["enum"]) && !out["enum"].includes(null)) out["enum"] = [...out["enum"], null];
  if (typeof type === "string") out["type"] = [type, "null"];
  else if (type === undefined) return { anyOf: [out, { type: "null" }] };
  return out;
}
