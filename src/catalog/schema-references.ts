/**
 * Where the references of a schema lead, and whether a check of a value comes to an end.
 *
 * I1: a reference that comes back to itself without having gone into the value (a field, an element) is refused:
 *     checking it would never end.
 * I2: what is looked at once for a value is bounded: references that fan out and meet again multiply.
 * I3: a schema that answers later (`$async`) is refused: a promise is no verdict.
 * I4: in doubt there is an edge: too many are found rather than too few.
 */
import { isObject } from "../base/json.ts";

type Schema = { readonly [key: string]: unknown };

/** Schemas that may be looked at for one value without going into it. */
const MAX_LOOKS = 100_000;
/** References and branches one inside the other, for one value. */
const MAX_CHAIN = 200;
/** A base for relative identifiers; no schema can be meant by it. */
const BASE = "ambit://schema/";
const LANGUAGE = /^https?:\/\/json-schema\.org\//;

const LISTS = ["allOf", "anyOf", "oneOf"];
const SAME_VALUE = ["not", "if", "then", "else"];
const SAME_VALUE_MAPS = ["dependentSchemas", "dependencies"];
const INNER = [
  "additionalProperties",
  "unevaluatedProperties",
  "propertyNames",
  "items",
  "prefixItems",
  "additionalItems",
  "unevaluatedItems",
  "contains",
];
const INNER_MAPS = ["properties", "patternProperties", "$defs", "definitions"];
const REFERENCES = ["$ref", "$dynamicRef", "$recursiveRef"];

/** What makes a schema unusable, as the end of a sentence; null for nothing. */
export function referenceProblem(root: Schema): string | null {
  try {
    new References(root).check();
    return null;
  } catch (error) {
    if (error instanceof SchemaProblem) return error.message;
    throw error;
  }
}

class SchemaProblem extends Error {}

class References {
  readonly #root: Schema;
  readonly #base = new Map<Schema, string>();
  readonly #parent = new Map<Schema, Schema>();
  /** By whole identifier; several may claim one. */
  readonly #named = new Map<string, Schema[]>();
  readonly #dynamic = new Map<string, Schema[]>();
  readonly #targets = new Set<Schema>();
  readonly #looks = new Map<Schema, { looks: number; chain: number }>();
  readonly #open = new Set<Schema>();

  constructor(root: Schema) {
    this.#root = root;
    this.#targets.add(root);
    this.#collect(root, BASE, null);
  }

  check(): void {
    const seen = new Set<Schema>([this.#root]);
    const due: Schema[] = [this.#root];
    const all: Schema[] = [];
    for (let next = due.pop(); next !== undefined; next = due.pop()) {
      all.push(next);
      if (Object.hasOwn(next, "$async")) throw new SchemaProblem("$async is not supported: a check answers at once");
      for (const key of REFERENCES) for (const target of this.#refer(next, key)) this.#targets.add(target);
      for (const inner of [...this.#sameValue(next), ...inside(next)]) {
        if (seen.has(inner)) continue;
        seen.add(inner);
        due.push(inner);
      }
    }
    // Only now all targets are known, by which dynamic references are followed.
    for (const schema of all) this.#measure(schema, 0);
  }

  /** Names, bases and parents of everything, whether it stands at a place for schemas or not (I4). */
  #collect(value: unknown, base: string, parent: Schema | null): void {
    if (Array.isArray(value)) {
      for (const item of value) this.#collect(item, base, parent);
      return;
    }
    if (!isObject(value)) return;
    let own = base;
    if (typeof value["$id"] === "string") {
      const whole = resolved(value["$id"], base);
      if (whole !== null) {
        add(this.#named, withoutEmptyFragment(whole), value);
        own = whole.split("#")[0] ?? whole;
      }
    } else if (parent === null) {
      add(this.#named, BASE, value);
    }
    if (parent === null && typeof value["$id"] === "string") add(this.#named, BASE, value);
    for (const key of ["$anchor", "$dynamicAnchor"]) {
      const name = value[key];
      if (typeof name === "string") add(this.#named, `${own}#${name}`, value);
    }
    if (typeof value["$dynamicAnchor"] === "string") add(this.#dynamic, value["$dynamicAnchor"], value);
    if (value["$recursiveAnchor"] === true) add(this.#dynamic, "", value);
    this.#base.set(value, own);
    if (parent !== null) this.#parent.set(value, parent);
    for (const item of Object.values(value)) this.#collect(item, own, value);
  }

  /** The schemas that are looked at for the same value as `schema`. */
  #sameValue(schema: Schema): Schema[] {
    const found: unknown[] = [];
    for (const key of LISTS) if (Array.isArray(schema[key])) found.push(...(schema[key] as unknown[]));
    for (const key of SAME_VALUE) found.push(schema[key]);
    for (const key of SAME_VALUE_MAPS) if (isObject(schema[key])) found.push(...Object.values(schema[key]));
    for (const key of REFERENCES) found.push(...this.#refer(schema, key));
    return found.filter(isObject);
  }

  #refer(schema: Schema, key: string): Schema[] {
    if (!Object.hasOwn(schema, key)) return [];
    const ref = schema[key];
    // No text: the validator itself refuses it.
    if (typeof ref !== "string") return [];
    if (key === "$ref") return this.#static(schema, ref);
    const name = ref.startsWith("#") ? ref.slice(1) : null;
    const anchored = name === null ? [] : (this.#dynamic.get(name) ?? []);
    if (anchored.length === 0 && ref !== "#") throw outside(ref);
    // The validator takes the schema that it is in where no anchor is in force.
    const around: Schema[] = [];
    for (let at: Schema | undefined = schema; at !== undefined; at = this.#parent.get(at)) {
      if (this.#targets.has(at)) around.push(at);
    }
    return [...anchored, ...around];
  }

  #static(schema: Schema, ref: string): Schema[] {
    const whole = resolved(ref, this.#base.get(schema) ?? BASE);
    if (whole === null) throw outside(ref);
    const named = this.#named.get(withoutEmptyFragment(whole));
    if (named) return named;
    const hash = whole.indexOf("#");
    const fragment = hash < 0 ? "" : whole.slice(hash + 1);
    const owners = this.#named.get(hash < 0 ? whole : whole.slice(0, hash)) ?? [];
    const found = fragment.startsWith("/") ? owners.flatMap((owner) => atPointer(owner, fragment)) : [];
    if (found.length > 0) return found.filter(isObject);
    // The language's own schemas come with the validator, and go into the value wherever they repeat.
    if (LANGUAGE.test(whole)) return [];
    throw outside(ref);
  }

  /** I1, I2: how many schemas are looked at for one value, this one included. */
  #measure(schema: Schema, depth: number): { looks: number; chain: number } {
    const known = this.#looks.get(schema);
    if (known) return known;
    if (this.#open.has(schema)) {
      throw new SchemaProblem("a reference comes back to itself without going into the value");
    }
    if (depth > MAX_CHAIN) throw new SchemaProblem(`more than ${MAX_CHAIN} references follow one another`);
    this.#open.add(schema);
    let looks = 1;
    let chain = 0;
    for (const next of this.#sameValue(schema)) {
      const inner = this.#measure(next, depth + 1);
      looks += inner.looks;
      chain = Math.max(chain, inner.chain + 1);
    }
    this.#open.delete(schema);
    if (looks > MAX_LOOKS) throw new SchemaProblem("its references multiply: a single check would take too long");
    if (chain > MAX_CHAIN) throw new SchemaProblem(`more than ${MAX_CHAIN} references follow one another`);
    const measured = { looks, chain };
    this.#looks.set(schema, measured);
    return measured;
  }
}

/** The schemas for parts of the value, and those that only wait to be referred to. */
function inside(schema: Schema): Schema[] {
  const found: unknown[] = [];
  for (const key of INNER) {
    const inner = schema[key];
    if (Array.isArray(inner)) found.push(...inner);
    else found.push(inner);
  }
  for (const key of INNER_MAPS) if (isObject(schema[key])) found.push(...Object.values(schema[key]));
  return found.filter(isObject);
}

function atPointer(owner: unknown, fragment: string): unknown[] {
  let at: unknown = owner;
  let pointer: string;
  try {
    pointer = decodeURIComponent(fragment);
  } catch {
    return [];
  }
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(at)) at = at[Number(key)];
    else if (isObject(at) && Object.hasOwn(at, key)) at = at[key];
    else return [];
  }
  return at === undefined ? [] : [at];
}

function resolved(ref: string, base: string): string | null {
  try {
    return new URL(ref, base).href;
  } catch {
    return null;
  }
}

function withoutEmptyFragment(whole: string): string {
  return whole.endsWith("#") ? whole.slice(0, -1) : whole;
}

function add(map: Map<string, Schema[]>, key: string, schema: Schema): void {
  const list = map.get(key);
  if (list) list.push(schema);
  else map.set(key, [schema]);
}

function outside(ref: string): SchemaProblem {
  return new SchemaProblem(`the reference ${JSON.stringify(ref.slice(0, 200))} leads out of the schema`);
}
