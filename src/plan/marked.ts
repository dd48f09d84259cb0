/**
 * Values as a run holds them: JSON in which a part may carry marks. A mark belongs to exactly the value it
 * wraps and to whatever is computed from it: `inputs` is a plain map in which `token` alone is marked.
 *
 * - `sensitive`: never written or printed in clear.
 * - `suppressed`: stands for what a dry run did not do. Whatever is under the mark is no value: nothing may be decided
 *   by it, and nothing dispatched with it.
 * - `redacted`: a sensitive value that a history does not give, and why not. It can be handed on and hashed, for
 *   records have every sensitive value masked; nothing may be decided by it and nothing dispatched with it.
 */
import { isObject, type Json, type JsonObject } from "../base/json.ts";

/**
 * Why a history does not give a sensitive value: nothing lies sealed beside the record; the key is not there; it was
 * sealed with another key; it was sealed for another record; it was changed.
 */
export type Redacted = "unsealed" | "no_key" | "other_key" | "moved" | "damaged";

export interface Marks {
  readonly sensitive?: true;
  readonly suppressed?: true;
  readonly redacted?: Redacted;
}

export class Marked {
  readonly value: Val;
  readonly marks: Marks;
  constructor(value: Val, marks: Marks) {
    this.value = value;
    this.marks = marks;
  }
}

export type Val = null | boolean | number | string | Val[] | { [key: string]: Val } | Marked;

export const NO_MARKS: Marks = Object.freeze({});
export const SENSITIVE: Marks = Object.freeze({ sensitive: true });
/** What a dry run has in the place of a value. */
export const SUPPRESSED: Val = new Marked(null, Object.freeze({ suppressed: true }));

export function hasMarks(marks: Marks): boolean {
  return marks.sensitive === true || marks.suppressed === true || marks.redacted !== undefined;
}

export function joinMarks(a: Marks, b: Marks): Marks {
  if (a === b || !hasMarks(b)) return a;
  if (!hasMarks(a)) return b;
  const redacted = a.redacted ?? b.redacted;
  return {
    ...(a.sensitive || b.sensitive ? { sensitive: true as const } : {}),
    ...(a.suppressed || b.suppressed ? { suppressed: true as const } : {}),
    ...(redacted === undefined ? {} : { redacted }),
  };
}

/** Marks a value; marks add up and are kept in one wrapper. */
export function mark(value: Val, marks: Marks): Val {
  if (!hasMarks(marks)) return value;
  if (value instanceof Marked) return new Marked(value.value, joinMarks(value.marks, marks));
  return new Marked(value, marks);
}

/** The outermost value and its marks; parts inside may carry further ones. */
export function peel(value: Val): { value: Exclude<Val, Marked>; marks: Marks } {
  let marks: Marks = NO_MARKS;
  let inner = value;
  while (inner instanceof Marked) {
    marks = joinMarks(marks, inner.marks);
    inner = inner.value;
  }
  return { value: inner, marks };
}

/** All marks anywhere in a value. */
export function marksIn(value: Val): Marks {
  const { value: inner, marks } = peel(value);
  let all = marks;
  if (Array.isArray(inner)) for (const item of inner) all = joinMarks(all, marksIn(item));
  else if (isObject(inner)) for (const item of Object.values(inner)) all = joinMarks(all, marksIn(item as Val));
  return all;
}

/** How a sensitive value stands in records and hashes (DU-52). */
export const SENSITIVE_JSON: JsonObject = Object.freeze({ $sensitive: true }) as JsonObject;

/** How what a dry run did not do stands in records, in results and in what an agent is told. */
const SUPPRESSED_JSON: JsonObject = Object.freeze({ $suppressed: true }) as JsonObject;

/** The value in clear, for a dispatch or a computation: never for a record, a print or a hash. */
export function reveal(value: Val): Json {
  return render(value, null);
}

/**
 * The value as records and hashes have it: each sensitive part is `{"$sensitive": true}`, each suppressed one
 * `{"$suppressed": true}`. Data that could be taken for a mask stands inside `{"$literal": ...}`, so that nobody
 * outside can forge one.
 */
export function recorded(value: Val): Json {
  return render(value, SENSITIVE_JSON);
}

function render(value: Val, sensitive: Json): Json {
  if (value instanceof Marked) {
    // There is nothing to keep secret where nothing came.
    if (sensitive !== null && value.marks.suppressed) return SUPPRESSED_JSON;
    if (sensitive !== null && value.marks.sensitive) return sensitive;
    return render(value.value, sensitive);
  }
  if (!isSpecial(value)) return value as Json;
  if (Array.isArray(value)) return value.map((item) => render(item, sensitive));
  const map = value as { [key: string]: Val };
  const out: JsonObject = {};
  for (const key of Object.keys(map)) setOwn(out, key, render(map[key] as Val, sensitive));
  return sensitive !== null && looksMasked(map) ? { $literal: out } : out;
}

/** Whether a part of it is marked, or is data that could be taken for a mask. */
function isSpecial(value: Val): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (value instanceof Marked) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (isSpecial(item)) return true;
    return false;
  }
  if (looksMasked(value)) return true;
  for (const key of Object.keys(value)) if (isSpecial(value[key] as Val)) return true;
  return false;
}

function looksMasked(map: object): boolean {
  return Object.hasOwn(map, "$sensitive") || Object.hasOwn(map, "$literal") || isSuppressedJson(map);
}

/** Exactly the mask: other data with a key of its name is what it is. */
function isSuppressedJson(map: object): boolean {
  return (map as JsonObject)["$suppressed"] === true && Object.keys(map).length === 1;
}

/** The value with each `{"$suppressed": true}` in it read as the mask: an agent says again what it was shown. */
export function readSuppressed(value: Val): Val {
  if (value instanceof Marked) return value;
  if (Array.isArray(value)) return value.map(readSuppressed);
  if (!isObject(value)) return value;
  if (isSuppressedJson(value)) return SUPPRESSED;
  const out: { [key: string]: Val } = {};
  for (const key of Object.keys(value)) setOwn(out, key, readSuppressed(value[key] as Val));
  return out;
}

/** The value as an agent is told it: what is suppressed as its mask, all else in clear. {@link readSuppressed} reads it. */
export function tellSuppressed(value: Val): Json {
  if (value instanceof Marked) return value.marks.suppressed ? SUPPRESSED_JSON : tellSuppressed(value.value);
  if (Array.isArray(value)) return value.map(tellSuppressed);
  if (!isObject(value)) return value;
  const out: JsonObject = {};
  for (const key of Object.keys(value)) setOwn(out, key, tellSuppressed(value[key] as Val));
  return out;
}

/** Sets an own key, `__proto__` included. */
export function setOwn<T>(target: { [key: string]: T }, key: string, value: T): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, enumerable: true, writable: true, configurable: true });
  } else {
    target[key] = value;
  }
}

/** What {@link recorded} masks of a value, in clear and in the order of the masks. */
export function maskedParts(value: Val): Json[] {
  const found: Json[] = [];
  collectMasked(value, found);
  return found;
}

function collectMasked(value: Val, found: Json[]): void {
  if (value instanceof Marked) {
    if (value.marks.suppressed) return;
    if (value.marks.sensitive) found.push(reveal(value.value));
    else collectMasked(value.value, found);
  } else if (Array.isArray(value)) {
    for (const item of value) collectMasked(item, found);
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) collectMasked(value[key] as Val, found);
  }
}

/** A sensitive value that a history does not give. */
export function redactedValue(why: Redacted): Val {
  return new Marked(null, { sensitive: true, redacted: why });
}

/**
 * A recorded value as a run holds it again. Each mask becomes what `unmask` gives, called in the order of
 * {@link maskedParts}; by default a marked value that cannot be read.
 */
export function rehydrate(json: Json, unmask: () => Val = () => redactedValue("unsealed")): Val {
  if (!isSpecial(json)) return json as Val;
  if (Array.isArray(json)) return json.map((item) => rehydrate(item, unmask));
  const map = json as JsonObject;
  if (map["$sensitive"] === true && Object.keys(map).length === 1) return unmask();
  if (isSuppressedJson(map)) return SUPPRESSED;
  const literal = Object.keys(map).length === 1 ? map["$literal"] : undefined;
  const held = isObject(literal) ? (literal as JsonObject) : map;
  const out: { [key: string]: Val } = {};
  for (const key of Object.keys(held)) setOwn(out, key, rehydrate(held[key] as Json, unmask));
  return out;
}
