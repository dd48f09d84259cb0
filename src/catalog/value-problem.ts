import { isObject, type Json } from "../base/json.ts";
import { itemPath, keyPath } from "../text/path.ts";

/**
 * What is wrong with one place of a value. Never holds the value itself, which may be sensitive: only kinds,
 * names of fields and what the schema says.
 */
export interface ValueProblem {
  /** Keys and indexes from the root, e.g. `accounts[0].id`; empty for the root itself. */
  path: string;
  /** A sentence that names the field and what was expected. */
  message: string;
  /** What belongs there, e.g. `string` or `one of "a", "b"`. */
  expected: string;
  /** The name of a field that is not known there. */
  unexpected?: string;
}

/** Problems of one value that are listed; the rest is only counted by the validator's own end. */
export const MAX_PROBLEMS = 20;

/** The path of a key or index below `path`. */
export function pathTo(path: string, key: string | number): string {
  return typeof key === "number" ? itemPath(path, key) : keyPath(path, key);
}

/** `object`, `list`, `text`...: the kind of a value in the words of JSON Schema. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

const MAX_SHOWN = 8;

/** What a schema asks for in a few words. */
export function describeSchema(schema: unknown): string {
  if (schema === true) return "any value";
  if (schema === false) return "nothing";
  if (!isObject(schema)) return "any value";
  if ("const" in schema) return shown(schema["const"]);
  const options = schema["enum"];
  if (Array.isArray(options)) {
    const list = options.slice(0, MAX_SHOWN).map(shown).join(", ");
    return options.length === 1 ? list : `one of ${list}${options.length > MAX_SHOWN ? ", ..." : ""}`;
  }
  const type = schema["type"];
  if (typeof type === "string") return type;
  if (Array.isArray(type)) return type.filter((entry) => typeof entry === "string").join(" or ");
  return "a value that fits the schema";
}

/** A name for a message: quoted, cut to 64 characters. */
export function quoted(name: string): string {
  const text = name.length > 64 ? `${name.slice(0, 61)}...` : name;
  return JSON.stringify(text.toWellFormed());
}

/** A problem list as one sentence for a fault's message. */
export function sayProblems(problems: readonly ValueProblem[]): string {
  const said = problems.slice(0, 5).map((problem) => problem.message);
  const rest = problems.length - said.length;
  return rest > 0 ? `${said.join("; ")}; and ${rest} more` : said.join("; ");
}

/** Problem lists as plain JSON, for the details of a fault or a tool error. */
export function problemsAsJson(problems: readonly ValueProblem[]): Json {
  return problems.map((problem) => ({ ...problem }));
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "null";
  return text.length > 64 ? `${text.slice(0, 61)}...` : text;
}
