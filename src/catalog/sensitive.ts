import { canonical, emptyObject, isObject, type Json } from "../base/json.ts";
import { Marked, mark, SENSITIVE, setOwn, type Val } from "../plan/marked.ts";
import { itemPath, keyPath } from "../text/path.ts";
import type { JsonSchema } from "./manifest.ts";
import { elementSchemas, facetsOf, fieldSchemas } from "./schema-walk.ts";

const MARK = "x-sensitive";
const MAX_PATHS = 1_000;
const MAX_DEPTH = 64;
/** A schema that refers to its parts over and over unfolds without end. */
const MAX_VISITS = 20_000;

const asks = new WeakMap<object, boolean>();

/** Whether a schema marks anything at all: most do not, and their values need no walk. */
function marksAnything(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  let known = asks.get(schema);
  if (known === undefined) {
    known = canonical(schema as Json).includes(`"${MARK}":true`);
    asks.set(schema, known);
  }
  return known;
}

/**
 * The value with every part that the schema calls sensitive (`x-sensitive: true`) marked. In doubt it marks:
 * alternatives count all, and where a reference cannot be followed the whole value is marked.
 */
export function markSensitive(value: Val, schema: JsonSchema | boolean): Val {
  if (!marksAnything(schema)) return value;
  return walk(value, schema, [schema], MAX_DEPTH);
}

function walk(value: Val, root: unknown, schemas: readonly unknown[], left: number): Val {
  if (value instanceof Marked) return mark(walk(value.value, root, schemas, left), value.marks);
  const facets: { [key: string]: unknown }[] = [];
  for (const schema of schemas) {
    const found = facetsOf(root, schema);
    if (found.lost) return mark(value, SENSITIVE);
    facets.push(...found.facets);
  }
  if (facets.some((facet) => facet[MARK] === true)) return mark(value, SENSITIVE);
  if (facets.length === 0 || typeof value !== "object" || value === null) return value;
  if (left === 0) return mark(value, SENSITIVE);
  if (Array.isArray(value)) {
    return value.map((item, index) => walk(item, root, elementSchemas(facets, index), left - 1));
  }
  const out: { [key: string]: Val } = {};
  for (const key of Object.keys(value)) {
    setOwn(out, key, walk(value[key] as Val, root, fieldSchemas(facets, key), left - 1));
  }
  return out;
}

/**
 * The places that a schema calls sensitive, as paths from the root: `token`, `accounts[].iban`, `*.secret`
 * below a map with any keys, "" for the whole value (also where the schema unfolds too far). At most 1,000.
 */
export function sensitivePaths(schema: JsonSchema | boolean): string[] {
  if (!marksAnything(schema)) return [];
  const paths = new Set<string>();
  const open = new Set<unknown>();
  let visits = 0;
  const visit = (part: unknown, path: string, left: number): void => {
    if (!isObject(part) || open.has(part) || left === 0 || paths.size >= MAX_PATHS) return;
    if (++visits > MAX_VISITS) {
      paths.add("");
      return;
    }
    open.add(part);
    const { facets, lost } = facetsOf(schema, part);
    if (lost || facets.some((facet) => facet[MARK] === true)) {
      paths.add(path);
    } else {
      for (const facet of facets) {
        const properties = isObject(facet["properties"]) ? facet["properties"] : emptyObject<unknown>();
        for (const key of Object.keys(properties)) visit(properties[key], keyPath(path, key), left - 1);
        const any = path === "" ? "*" : `${path}.*`;
        visit(facet["additionalProperties"], any, left - 1);
        visit(facet["unevaluatedProperties"], any, left - 1);
        if (isObject(facet["patternProperties"])) {
          for (const inner of Object.values(facet["patternProperties"])) visit(inner, any, left - 1);
        }
        for (const key of ["items", "prefixItems", "additionalItems", "contains", "unevaluatedItems"]) {
          const items = facet[key];
          if (Array.isArray(items)) {
            for (const [i, item] of items.entries()) visit(item, itemPath(path, i), left - 1);
          } else visit(items, `${path}[]`, left - 1);
        }
      }
    }
    open.delete(part);
  };
  visit(schema, "", MAX_DEPTH);
  return [...paths].sort();
}
