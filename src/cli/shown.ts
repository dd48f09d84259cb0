import { isObject, type Json } from "../base/json.ts";

/** Records hold `{"$sensitive": true}` and `{"$suppressed": true}`; people are shown a word. */
export function shown(value: Json): Json {
  if (Array.isArray(value)) return value.map(shown);
  if (!isObject(value)) return value;
  if (value["$sensitive"] === true && Object.keys(value).length === 1) return "[sensitive]";
  if (value["$suppressed"] === true && Object.keys(value).length === 1) return "[suppressed]";
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shown(item as Json)]));
}

/** A value as part of a sentence: a text as it is, anything else as JSON. Not yet safe for a terminal. */
export function shownText(value: Json): string {
  const clear = shown(value);
  return typeof clear === "string" ? clear : JSON.stringify(clear);
}
