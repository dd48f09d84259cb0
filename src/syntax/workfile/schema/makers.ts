/** What the schemas of all parts of a Workfile are made of. */
import { invariant } from "../../../base/invariant.ts";
import { integer, open, reference, type Schema, text, type Words } from "../../../text/schema.ts";
import { MAX_ID, NAME, RESERVED_IDS, TAKEN_CONNECTORS } from "../tables.ts";

export const EXPRESSION = "\\{\\{";
export const LITERAL = `^(?![\\s\\S]*${EXPRESSION})`;
export const NAME_PATTERN = NAME.source;
export const ID_PATTERN = `^(?!(?:${RESERVED_IDS.join("|")})$)${NAME.source.slice(1)}`;
const ID_WANTED = `An id has letters, digits, "_" and "-", begins with a letter or "_" and is none of ${RESERVED_IDS.join(", ")}.`;
export const NAME_PART = "[A-Za-z_][A-Za-z0-9_-]*";
/** `connector.action`, the engine's own names left out. */
export const ACTION_PATTERN = `^(?!(?:${TAKEN_CONNECTORS.join("|")})\\.)(?!${NAME_PART}__)${NAME_PART}\\.${NAME_PART}$`;

export type Make = (words: Words) => Schema;
export type Makes = { readonly [key: string]: Make };

/** The schemas of keys of the grammar; one that nobody describes is a bug. */
export function keysOf(keys: readonly string[], makes: Makes, words: { readonly [key: string]: Words }) {
  const schemas: { [key: string]: Schema } = {};
  for (const key of keys) {
    const make = makes[key];
    invariant(make !== undefined, `the key ${key} has no schema`);
    schemas[key] = make(words[key] ?? {});
  }
  return schemas;
}

export const ref =
  (name: string): Make =>
  (words) =>
    reference(name, words);
export const steps: Make = ref("steps");
export const fields: Make = ref("fields");
export const condition: Make = (words) => ({
  ...text(words, EXPRESSION, 'A condition is an expression in quotes ("{{ ... }}"), or true or false.'),
  type: ["boolean", "string"],
});
export const expression: Make = (words) => text(words, EXPRESSION, 'This is an expression in quotes: "{{ ... }}".');
export const literal: Make = (words) => text(words, LITERAL, "This is literal: no expression can stand here.");
export const values: Make = (words) => open({}, null, words);
export const name: Make = (words) => ({
  ...text(words, NAME_PATTERN, 'A name has letters, digits, "_" and "-", and begins with a letter or "_".'),
  maxLength: MAX_ID,
});
export const id: Make = (words) => ({ ...text(words, ID_PATTERN, ID_WANTED), maxLength: MAX_ID });
export const action: Make = (words) => text(words, ACTION_PATTERN, "This is an action: connector.action.");

export const count: Make = (words) => integer({ min: 1 }, words);
