import { isObject } from "../base/json.ts";
import { AGENT_KEY_LENGTH, AGENT_KEY_PREFIX, admitsAllKeys } from "./key-pattern.ts";
import type { ActionManifest } from "./manifest.ts";
import { compileSchemaPattern } from "./pattern.ts";
import { resolveRef } from "./schema-walk.ts";
import { quoted } from "./value-problem.ts";
import { checkValue } from "./value-schema.ts";

/** Formats that take every key: a key reads as a URI of the scheme `wf-agent-v1`. */
const OPEN_FORMATS = ["uri", "iri", "uri-reference", "iri-reference", "password", "binary"];
const MAX_HOPS = 32;

/**
 * Why an agent cannot be given a keyed action: its reserved input refuses at least one key that the engine may
 * make (WX-52, WX-53), or that cannot be decided. Null if it takes them all, and for actions without a key.
 * The words end a sentence about the reserved input.
 */
export function keyIncompatibility(action: ActionManifest): string | null {
  if (action.idempotency.kind !== "keyed") return null;
  const { field } = action.idempotency;
  const problem = inObject(action.input, field, action.input, MAX_HOPS);
  if (problem !== null) return problem;
  // Whatever the reasoning above missed, real keys must pass.
  for (const digit of ["0", "9", "a", "f"]) {
    const key = AGENT_KEY_PREFIX + digit.repeat(AGENT_KEY_LENGTH - AGENT_KEY_PREFIX.length);
    const found = checkValue(action.input, { [field]: key }).find((entry) => entry.path === field);
    if (found) return `refuses the engine's keys (${found.message})`;
  }
  return null;
}

/** What the schema of the arguments says about the field. */
function inObject(root: unknown, field: string, schema: unknown, left: number): string | null {
  if (!isObject(schema)) return schema === false ? "is not allowed by the schema" : null;
  if (left === 0) return "cannot be decided: the schema refers to itself";
  const properties = schema["properties"];
  const patterns = schema["patternProperties"];
  const named = isObject(properties) && Object.hasOwn(properties, field);
  if (named) {
    const problem = ofField(root, properties[field], left - 1);
    if (problem !== null) return problem;
  }
  let matched = named;
  for (const [pattern, inner] of Object.entries(isObject(patterns) ? patterns : {})) {
    const compiled = compileSchemaPattern(pattern);
    if ("error" in compiled || compiled.test(field)) {
      matched = true;
      const problem = ofField(root, inner, left - 1);
      if (problem !== null) return problem;
    }
  }
  if (!matched && schema["additionalProperties"] !== undefined) {
    const problem = ofField(root, schema["additionalProperties"], left - 1);
    if (problem !== null) return problem;
  }
  for (const part of together(root, schema)) {
    if (part === null) return "cannot be decided: a reference leads out of the schema";
    const problem = inObject(root, field, part, left - 1);
    if (problem !== null) return problem;
  }
  for (const keyword of ["anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"]) {
    if (schema[keyword] !== undefined && JSON.stringify(schema[keyword]).includes(JSON.stringify(field))) {
      return `cannot be decided: ${keyword} of the input schema speaks of it`;
    }
  }
  return null;
}

/** What the field's own schema says about a key. */
function ofField(root: unknown, schema: unknown, left: number): string | null {
  if (!isObject(schema)) return schema === false ? "is not allowed by the schema" : null;
  if (left === 0) return "cannot be decided: the schema refers to itself";
  const own = ofKeywords(schema);
  if (own !== null) return own;
  for (const part of together(root, schema)) {
    if (part === null) return "cannot be decided: a reference leads out of the schema";
    const problem = ofField(root, part, left - 1);
    if (problem !== null) return problem;
  }
  const any = schema["anyOf"];
  if (Array.isArray(any)) {
    const problems = any.map((branch) => ofField(root, branch, left - 1));
    if (!problems.includes(null)) return problems[0] ?? "has no alternative";
  }
  const one = schema["oneOf"];
  if (Array.isArray(one)) {
    const texts = one.filter((branch) => takesTexts(branch));
    if (texts.length !== 1) return "cannot be decided: several of its oneOf take texts";
    const problem = ofField(root, texts[0], left - 1);
    if (problem !== null) return problem;
  }
  for (const keyword of ["not", "if"]) {
    if (schema[keyword] !== undefined) return `cannot be decided: its schema uses ${keyword}`;
  }
  return null;
}

function ofKeywords(schema: { [key: string]: unknown }): string | null {
  if (!takesTexts(schema)) return `must be ${String(schema["type"])}, and keys are texts`;
  if ("const" in schema || "enum" in schema) return "takes listed values only";
  const { minLength, maxLength, pattern, format } = schema as {
    minLength?: unknown;
    maxLength?: unknown;
    pattern?: unknown;
    format?: unknown;
  };
  if (typeof minLength === "number" && minLength > AGENT_KEY_LENGTH) {
    return `must have at least ${minLength} characters, and keys have ${AGENT_KEY_LENGTH}`;
  }
  if (typeof maxLength === "number" && maxLength < AGENT_KEY_LENGTH) {
    return `may have at most ${maxLength} characters, and keys have ${AGENT_KEY_LENGTH}`;
  }
  if (typeof format === "string" && !OPEN_FORMATS.includes(format)) return `must have the format ${format}`;
  if (typeof pattern === "string") {
    const inclusion = admitsAllKeys(pattern);
    if (inclusion.is === "not_all") return `has a pattern that refuses the key ${inclusion.example}`;
    if (inclusion.is === "undecided")
      return `has a pattern that cannot be decided (${inclusion.reason}): ${quoted(pattern)}`;
  }
  return null;
}

function takesTexts(schema: unknown): boolean {
  if (!isObject(schema)) return schema !== false;
  const type = schema["type"];
  return type === undefined || type === "string" || (Array.isArray(type) && type.includes("string"));
}

/** The schemas that must hold as well; null stands for one that cannot be found. */
function* together(root: unknown, schema: { [key: string]: unknown }): Generator<unknown> {
  for (const key of ["$ref", "$dynamicRef"]) if (schema[key] !== undefined) yield resolveRef(root, schema[key]);
  if (Array.isArray(schema["allOf"])) yield* schema["allOf"];
}
