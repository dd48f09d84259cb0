import { hashJson } from "../base/hash.ts";
import { findNotJson, isObject, type Json, type JsonObject } from "../base/json.ts";
import { setOwn } from "../plan/marked.ts";

/**
 * The pin of a tool as its server describes it: `sha256:` and the hex SHA-256 of the canonical JSON of the
 * whole definition, `_meta` left out, which is the transport's. Null if it is no JSON object.
 */
export function toolDefinitionPin(tool: unknown): string | null {
  if (!isObject(tool) || findNotJson(tool) !== null) return null;
  const definition: JsonObject = {};
  for (const key of Object.keys(tool)) {
    if (key !== "_meta") setOwn(definition, key, tool[key] as Json);
  }
  return `sha256:${hashJson(definition)}`;
}
