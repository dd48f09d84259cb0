import { isObject } from "../base/json.ts";

const MAX_REF_HOPS = 16;

/** What a `$ref` of a schema means; null where the schema itself does not answer it. */
export function resolveRef(root: unknown, ref: unknown): unknown {
  if (typeof ref !== "string" || !ref.startsWith("#")) return null;
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return anchor(root, ref.slice(1), 64);
  let at: unknown = root;
  let parts: string[];
  try {
    parts = decodeURIComponent(ref.slice(2)).split("/");
  } catch {
    return null;
  }
  for (const part of parts) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(at)) at = at[Number(key)];
    else if (isObject(at) && Object.hasOwn(at, key)) at = at[key];
    else return null;
    if (at === undefined) return null;
  }
  return at;
}

function anchor(schema: unknown, name: string, left: number): unknown {
  if (left === 0 || typeof schema !== "object" || schema === null) return null;
  if (isObject(schema) && (schema["$anchor"] === name || schema["$dynamicAnchor"] === name)) return schema;
  for (const part of Object.values(schema)) {
    const found = anchor(part, name, left - 1);
    if (found !== null) return found;
  }
  return null;
}

/**
 * The schemas that say something about the same value: the schema itself, what it refers to, and the branches
 * of `allOf`, `anyOf`, `oneOf`, `if`. `lost` is set where a reference is not answered within the schema.
 */
export function facetsOf(root: unknown, schema: unknown): { facets: { [key: string]: unknown }[]; lost: boolean } {
  const facets: { [key: string]: unknown }[] = [];
  const seen = new Set<unknown>();
  let lost = false;
  const visit = (part: unknown, hops: number): void => {
    if (!isObject(part) || seen.has(part)) return;
    if (hops > MAX_REF_HOPS) {
      lost = true;
      return;
    }
    seen.add(part);
    facets.push(part);
    for (const key of ["$ref", "$dynamicRef"]) {
      if (part[key] === undefined) continue;
      const target = resolveRef(root, part[key]);
      if (target === null) lost = true;
      else visit(target, hops + 1);
    }
    for (const key of ["allOf", "anyOf", "oneOf"]) {
      const list = part[key];
      if (Array.isArray(list)) for (const branch of list) visit(branch, hops + 1);
    }
    for (const key of ["if", "then", "else"]) visit(part[key], hops + 1);
    for (const key of ["dependentSchemas", "dependencies"]) {
      const map = part[key];
      if (isObject(map)) for (const branch of Object.values(map)) visit(branch, hops + 1);
    }
  };
  visit(schema, 0);
  return { facets, lost };
}

/** The schemas that may say something about the field `name` of a value with these facets. */
export function fieldSchemas(facets: readonly { [key: string]: unknown }[], name: string): unknown[] {
  const found: unknown[] = [];
  for (const facet of facets) {
    const properties = facet["properties"];
    if (isObject(properties) && Object.hasOwn(properties, name)) found.push(properties[name]);
    else found.push(facet["additionalProperties"], facet["unevaluatedProperties"]);
    const patterns = facet["patternProperties"];
    // Which pattern takes the name does not matter to somebody who would rather mark too much.
    if (isObject(patterns)) found.push(...Object.values(patterns));
  }
  return found.filter((schema) => schema !== undefined);
}

/** The schemas that may say something about an element. */
export function elementSchemas(facets: readonly { [key: string]: unknown }[], index: number): unknown[] {
  const found: unknown[] = [];
  for (const facet of facets) {
    for (const key of ["items", "prefixItems"]) {
      const items = facet[key];
      if (Array.isArray(items)) found.push(items[index]);
      else found.push(items);
    }
    found.push(facet["additionalItems"], facet["contains"], facet["unevaluatedItems"]);
  }
  return found.filter((schema) => schema !== undefined);
}
