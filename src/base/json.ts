import { invariant } from "./invariant.ts";

export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [key: string]: Json };

export function isObject(value: unknown): value is { [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A map without a prototype: `__proto__` and `constructor` are ordinary keys in it. */
export function emptyObject<T = Json>(): { [key: string]: T } {
  return Object.create(null) as { [key: string]: T };
}

export const MAX_JSON_DEPTH = 64;

export interface NotJson {
  /** Keys and indexes from the root, e.g. `accounts[0].id`; empty for the root itself. */
  path: string;
  reason: string;
}

/**
 * Says where `value` is no JSON: functions, symbols, BigInt, NaN, infinities, undefined, holes, cycles
 * (seen as too deep), objects of a class, lone surrogates are refused. Returns null if it is JSON.
 */
export function findNotJson(value: unknown, maxDepth = MAX_JSON_DEPTH): NotJson | null {
  return walk(value, "", maxDepth);
}

function walk(value: unknown, path: string, left: number): NotJson | null {
  if (value === null || typeof value === "boolean") return null;
  if (typeof value === "string") return value.isWellFormed() ? null : { path, reason: "text with a lone surrogate" };
  if (typeof value === "number") return Number.isFinite(value) ? null : { path, reason: `the number ${value}` };
  if (typeof value !== "object") return { path, reason: `a value of type ${typeof value}` };
  if (left === 0) return { path, reason: "nested too deeply" };
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const bad = walk(value[i], `${path}[${i}]`, left - 1);
      if (bad) return bad;
    }
    return null;
  }
  const proto = Object.getPrototypeOf(value);
  if (proto !== null && proto !== Object.prototype) return { path, reason: "an object of a class" };
  for (const key of Object.keys(value)) {
    if (!key.isWellFormed()) return { path, reason: "a key with a lone surrogate" };
    const bad = walk((value as { [k: string]: unknown })[key], path === "" ? key : `${path}.${key}`, left - 1);
    if (bad) return bad;
  }
  return null;
}

/**
 * RFC 8785 text of a JSON value: keys sorted by their UTF-16 units, texts and numbers as ECMAScript writes them.
 * The caller has made sure that it is JSON. Held against the `canonicalize` package by a property test; every
 * record is hashed several times, and this form takes a third of its time.
 */
export function canonical(value: Json): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number") {
    invariant(Number.isFinite(value), "canonical JSON of a number that is no JSON");
    return value === 0 ? "0" : String(value);
  }
  if (value === null || typeof value === "boolean") return String(value);
  invariant(typeof value === "object", "canonical JSON of a value that is no JSON");
  if (Array.isArray(value)) {
    let text = "[";
    for (let i = 0; i < value.length; i++) text += (i === 0 ? "" : ",") + canonical(value[i] as Json);
    return `${text}]`;
  }
  const keys = Object.keys(value);
  if (!isSorted(keys)) keys.sort();
  let text = "{";
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    text += `${i === 0 ? "" : ","}${quoted(key)}:${canonical(value[key] as Json)}`;
  }
  return `${text}}`;
}

/** Longer texts are quicker through `JSON.stringify`, which looks at each unit once. */
const PLAIN_UNITS = 64;
const PLAIN = /^[ !#-[\]-~]*$/;

/** A JSON text. Most keys and texts are short and need no escape. */
function quoted(text: string): string {
  return text.length <= PLAIN_UNITS && PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

function isSorted(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++) if ((keys[i - 1] as string) > (keys[i] as string)) return false;
  return true;
}

/**
 * Parses text that must be JSON as the rest of the engine has it: a number that is out of range (`1e999`), a lone
 * surrogate or a nesting beyond `maxDepth` is refused here and not where it is hashed.
 */
export function parseJson(
  text: string,
  maxDepth = MAX_JSON_DEPTH,
): { ok: true; value: Json } | { ok: false; message: string } {
  try {
    const value = JSON.parse(text) as Json;
    const bad = findNotJson(value, maxDepth);
    return bad === null ? { ok: true, value } : { ok: false, message: `${bad.path || "the value"} is ${bad.reason}` };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : "no JSON" };
  }
}

export function jsonEqual(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, i) => jsonEqual(item, b[i] as Json))
    );
  }
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && jsonEqual(a[key] as Json, b[key] as Json))
  );
}

export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const item of Object.values(value)) deepFreeze(item);
  }
  return value;
}

/** UTF-8 bytes of a text. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text, "utf8");
}
