import type { Json, JsonObject } from "../../base/json.ts";
import type { Schema } from "../schema.ts";

/** No key of any file. */
export const STRANGER = "zz_stranger";

/** A closed map of a schema: a document that holds a key there which nobody knows, and the keys that the schema knows. */
export interface ClosedMap {
  /** For the name of a test: the keys that lead there. */
  at: string;
  document: Json;
  keys: string[];
}

/**
 * What has to stand beside a key so that a reader comes as far as that: by the definition that the map is in ("" for
 * the schema itself) and the key.
 */
export type Beside = (definition: string, key: string) => JsonObject;

/** All closed maps of a schema; each definition once, where it is met first. */
export function closedMaps(schema: Schema, beside: Beside = () => ({})): ClosedMap[] {
  const found: ClosedMap[] = [];
  const met = new Set<string>();
  const walk = (node: Json, at: string[], around: (inner: Json) => Json, definition: string, own: boolean): void => {
    if (typeof node !== "object" || node === null || Array.isArray(node)) return;
    const ref = typeof node["$ref"] === "string" ? node["$ref"].replace("#/definitions/", "") : null;
    if (ref !== null) {
      if (met.has(ref)) return;
      met.add(ref);
      walk((schema["definitions"] as JsonObject)[ref] ?? null, at, around, ref, true);
      return;
    }
    const map = (key: string, inner: Json): Json => around({ ...(own ? beside(definition, key) : {}), [key]: inner });
    const properties = (node["properties"] ?? {}) as JsonObject;
    if (node["additionalProperties"] === false) {
      found.push({ at: at.join("."), document: map(STRANGER, 1), keys: Object.keys(properties) });
    }
    for (const part of ["then", "else"]) walk(node[part] ?? null, at, around, definition, own);
    for (const part of (node["allOf"] ?? []) as Json[]) walk(part, at, around, definition, own);
    for (const [key, value] of Object.entries(properties)) {
      walk(value, [...at, key], (inner) => map(key, inner), definition, false);
    }
    const name = (node["propertyNames"] as { examples?: string[] } | undefined)?.examples?.[0] ?? "some";
    const inMap = (inner: Json): Json => around({ [name]: inner });
    walk(node["additionalProperties"] ?? null, [...at, name], inMap, definition, false);
    walk(node["items"] ?? null, [...at, "0"], (inner) => around([inner]), definition, own);
  };
  walk(schema, [], (inner) => inner, "", true);
  return found;
}
