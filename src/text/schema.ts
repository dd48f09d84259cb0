/**
 * JSON Schema (draft-07) for editors, in the terms of the reader beside this file: closed maps, durations, one of a
 * few words. Built so that one fault in a text gives one message in an editor:
 *
 * I1: What is missing in a closed map is asked for only once nothing in it is unknown: a misspelt key is one fault.
 * I2: Alternatives are told apart by `if`, never by trying each: the messages are those of the one that was meant,
 *     and the work stays linear in the depth of the text.
 */
import type { Json, JsonObject } from "../base/json.ts";

/** One (sub)schema. */
export type Schema = JsonObject;

/** What an editor shows beside a place. */
export interface Words {
  title?: string;
  description?: string;
  examples?: Json[];
}

/** A map with a fixed set of keys. */
export function closed(
  properties: { [key: string]: Schema },
  required: readonly string[] = [],
  words: Words = {},
): Schema {
  const whole = { type: "object", ...shown(words), properties, additionalProperties: false };
  if (required.length === 0) return whole;
  // I1
  return { ...whole, ...when({ propertyNames: { enum: Object.keys(properties) } }, { required: [...required] }) };
}

/** A map with any keys that `names` takes; its values are all of one kind. */
export function open(values: Schema, names: Schema | null = null, words: Words = {}): Schema {
  return {
    type: "object",
    ...shown(words),
    ...(names === null ? {} : { propertyNames: names }),
    additionalProperties: values,
  };
}

/** A list. */
export function list(items: Schema, words: Words = {}): Schema {
  return { type: "array", ...shown(words), items };
}

/** Another schema in this place, with words of its own: beside `$ref` alone nothing else would count. */
export function reference(name: string, words: Words = {}): Schema {
  const ref = { $ref: `#/definitions/${name}` };
  return Object.keys(words).length === 0 ? ref : { ...shown(words), allOf: [ref] };
}

/** One of some texts. */
export function oneOf(values: readonly string[], words: Words = {}): Schema {
  return { ...shown(words), enum: [...values] };
}

/** Any text, or one that fits a pattern; `wanted` is what an editor says of one that does not. */
export function text(words: Words = {}, pattern?: string, wanted?: string): Schema {
  return {
    type: "string",
    ...shown(words),
    ...(pattern === undefined ? {} : { pattern }),
    ...(wanted === undefined ? {} : { patternErrorMessage: wanted }),
  };
}

export function boolean(words: Words = {}): Schema {
  return { type: "boolean", ...shown(words) };
}

/** A whole number, both bounds included. */
export function integer(bounds: { min?: number; max?: number }, words: Words = {}): Schema {
  return { type: "integer", ...shown(words), ...limits(bounds) };
}

export function number(bounds: { min?: number; max?: number }, words: Words = {}): Schema {
  return { type: "number", ...shown(words), ...limits(bounds) };
}

/** Anything. */
export function anything(words: Words = {}): Schema {
  return shown(words);
}

/** Named by a variable, since an object with a method of this name would be taken for a promise. */
const THEN = "then";

/** What fits `condition` has to fit `then`, all else `otherwise`. */
export function when(condition: Schema, then: Schema, otherwise: Schema | null = null): Schema {
  return { if: condition, [THEN]: then, ...(otherwise === null ? {} : { else: otherwise }) };
}

/** `then` for maps, `otherwise` for all else (I2). */
export function mapOr(then: Schema, otherwise: Schema, words: Words = {}): Schema {
  return { ...proposed(words, otherwise), ...when({ type: "object" }, then, otherwise) };
}

/** `then` for lists, `otherwise` for all else (I2). */
export function listOr(then: Schema, otherwise: Schema, words: Words = {}): Schema {
  return { ...proposed(words, otherwise), ...when({ type: "array" }, then, otherwise) };
}

/** Editors do not look for words to propose behind `if`: they find them here. */
function proposed(words: Words, { enum: values }: Schema): Schema {
  return shown(Array.isArray(values) ? { ...words, examples: values } : words);
}

const SHORT_DURATION = "(?=\\d)(?:\\d+d)?(?:\\d+h)?(?:\\d+m(?!s))?(?:\\d+s)?(?:\\d+ms)?";
const ISO_DURATION = "P(?=\\d|T\\d)(?:\\d+D)?(?:T(?=\\d)(?:\\d+H)?(?:\\d+M)?(?:\\d+(?:\\.\\d+)?S)?)?";
/** What parseDuration reads (base/duration.ts); a test holds both together. */
export const DURATION_PATTERN = `^(?:${SHORT_DURATION}|${ISO_DURATION})$`;
const DURATION_WANTED = "A duration has units: 500ms, 30s, 5m, 1h30m, 2d.";

/** A duration as text. */
export function duration(words: Words = {}): Schema {
  return text(words, DURATION_PATTERN, DURATION_WANTED);
}

/** A duration as text, or an expression that gives one. */
export function durationOrExpression(words: Words = {}): Schema {
  return text(words, `${DURATION_PATTERN}|\\{\\{`, DURATION_WANTED);
}

function limits({ min, max }: { min?: number; max?: number }): Schema {
  return { ...(min === undefined ? {} : { minimum: min }), ...(max === undefined ? {} : { maximum: max }) };
}

function shown({ title, description, examples }: Words): Schema {
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(examples === undefined ? {} : { examples }),
  };
}
