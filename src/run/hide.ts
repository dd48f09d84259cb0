/**
 * Keeps what a run calls sensitive out of the records of what came back (DU-09): an agent that is given such a
 * value in clear (WX-27) may say it again, an action may send back its arguments.
 *
 * I1: a text of a proposal or a result that holds a sensitive value is marked as a whole, and so is a map with a
 *     key that does: it is dispatched and bound in clear, recorded masked, and what is computed from it carries
 *     the mark.
 * I2: in messages, which are only shown and kept, the value alone is replaced.
 * I3: they are found in every spelling of base/secret-texts.ts; shorter ones than four characters are not, since
 *     they would blank out half of every text. Of more than a thousand none is looked for: everything is hidden.
 * I4: what is kept short is hidden before it is cut, or a part of a value would stand in front of the cut.
 */
import { isObject, type Json } from "../base/json.ts";
import { SecretTexts } from "../base/secret-texts.ts";
import type { Field, FieldShape } from "../plan/field.ts";
import { Marked, mark, peel, reveal, SENSITIVE, setOwn, type Val } from "../plan/marked.ts";

export const HIDDEN = "[sensitive]";

/** The sensitive texts within some values. */
export function sensitiveTexts(values: readonly Val[]): SecretTexts {
  const found = new SecretTexts();
  for (const value of values) collect(value, false, found);
  return found;
}

function collect(value: Val, sensitive: boolean, found: SecretTexts): void {
  const { value: inner, marks } = peel(value);
  const own = sensitive || marks.sensitive === true;
  if (Array.isArray(inner)) for (const item of inner) collect(item, own, found);
  else if (isObject(inner)) for (const item of Object.values(inner)) collect(item as Val, own, found);
  else if (own && (typeof inner === "string" || typeof inner === "number")) found.add(String(inner));
}

/** The text with each sensitive one replaced, and then cut to `most` characters (I4). */
export function hideText(text: string, texts: SecretTexts, most = Number.POSITIVE_INFINITY): string {
  return cut(texts.replaceIn(text, HIDDEN), most);
}

/** As {@link hideText} for words of others, who may have cut them before: what a value's cut has left goes, too. */
export function hideMessage(text: string, texts: SecretTexts, most: number): string {
  return cut(texts.replaceIn(text, HIDDEN, true), most);
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : text.slice(0, most).toWellFormed();
}

/** The value with each sensitive text in its texts and keys replaced (I2). */
export function hide(value: Json, texts: SecretTexts): Json {
  if (texts.isEmpty) return value;
  if (typeof value === "string") return hideText(value, texts);
  if (typeof value === "number") return texts.tooMany || texts.known.has(String(value)) ? HIDDEN : value;
  if (Array.isArray(value)) return value.map((item) => hide(item, texts));
  if (!isObject(value)) return value;
  const out: { [key: string]: Json } = {};
  for (const key of Object.keys(value)) setOwn(out, hideText(key, texts), hide(value[key] as Json, texts));
  return out;
}

/** The value with each text that holds a sensitive one marked, and each map that has one among its keys (I1). */
export function markTexts(value: Val, texts: SecretTexts): Val {
  if (texts.isEmpty) return value;
  if (texts.tooMany) return mark(value, SENSITIVE);
  if (value instanceof Marked) return mark(markTexts(value.value, texts), value.marks);
  if (typeof value === "string" || typeof value === "number") {
    return texts.isIn(String(value)) ? mark(value, SENSITIVE) : value;
  }
  if (Array.isArray(value)) return value.map((item) => markTexts(item, texts));
  if (!isObject(value)) return value;
  const out: { [key: string]: Val } = {};
  let said = false;
  for (const key of Object.keys(value)) {
    said ||= texts.isIn(key);
    setOwn(out, key, markTexts(value[key] as Val, texts));
  }
  return said ? mark(out, SENSITIVE) : out;
}

/** The value with what the declarations call sensitive marked, whether it fits them or not. */
export function markFields(fields: readonly Field[], value: Val): Val {
  const { value: inner, marks } = peel(value);
  if (!isObject(inner)) return fields.some(holdsSensitive) ? mark(value, SENSITIVE) : value;
  const out: { [key: string]: Val } = {};
  for (const key of Object.keys(inner)) {
    const field = fields.find((entry) => entry.name === key);
    const item = inner[key] as Val;
    setOwn(out, key, field === undefined ? item : markShape(field, item));
  }
  return mark(out, marks);
}

function markShape(shape: FieldShape, value: Val): Val {
  if (shape.sensitive) return mark(value, SENSITIVE);
  if (shape.fields !== undefined) return markFields(shape.fields, value);
  const { items } = shape;
  const { value: inner, marks } = peel(value);
  if (items === undefined || !holdsSensitive(items)) return value;
  return Array.isArray(inner)
    ? mark(
        inner.map((item) => markShape(items, item)),
        marks,
      )
    : mark(value, SENSITIVE);
}

/** Whether a declaration, or one within it, calls its value sensitive. */
export function holdsSensitive(shape: FieldShape): boolean {
  if (shape.sensitive) return true;
  if (shape.items !== undefined && holdsSensitive(shape.items)) return true;
  return shape.fields?.some(holdsSensitive) ?? false;
}

/** The value as messages keep it: what is marked, or holds a sensitive text, is replaced. */
export function hideMarked(value: Val, texts: SecretTexts): Json {
  if (value instanceof Marked) return value.marks.sensitive ? HIDDEN : hideMarked(value.value, texts);
  if (Array.isArray(value)) return value.map((item) => hideMarked(item, texts));
  if (!isObject(value)) return hide(reveal(value), texts);
  const out: { [key: string]: Json } = {};
  for (const key of Object.keys(value)) setOwn(out, hideText(key, texts), hideMarked(value[key] as Val, texts));
  return out;
}
