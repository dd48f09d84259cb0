// JSON Schema on the trust path: arguments, results, inputs and typed results are checked here and nowhere else.
//
// I1: every pattern runs in linear time, and really runs: the adapter's text is unique per pattern, since the
//     validator takes two patterns of equal text for one.
// I2: a check names the place and what was expected there, never the value.
// I3: nothing is fetched: a reference that the schema itself does not answer refuses the schema.
// I4: only own keys count: `constructor` is a field like any other.
// I5: a check answers at once, with true or false, and never throws: what answers later or comes back to itself is
//     refused when it is compiled, and a check that takes too much work or goes too deep is "does not fit".
import { _, Ajv, type ErrorObject, type KeywordCxt, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { byteLength, canonical, findNotJson, isObject, type Json } from "../base/json.ts";
import type { JsonSchema } from "./manifest.ts";
import { compileSchemaPattern } from "./pattern.ts";
import { referenceProblem } from "./schema-references.ts";
import { describeSchema, kindOf, MAX_PROBLEMS, pathTo, quoted, type ValueProblem } from "./value-problem.ts";

/** A checked and compiled schema. */
export interface ValueSchema {
  /** Empty if the value fits; at most 20 problems. */
  check(value: Json): ValueProblem[];
}

const MAX_SCHEMA_BYTES = 256 * 1024;
const MAX_SCHEMA_DEPTH = 48;
/** A longer text fits no format but those without a grammar of their own. */
const MAX_FORMAT_LENGTH = 8_192;
/** Values above it get their first problem only: listing all of a large one costs more than it tells. */
const MAX_LISTED_BYTES = 256 * 1024;
const MAX_SIZED_DEPTH = 1_000;
const MAX_CACHED = 1_000;
/** Steps of one check, see {@link spend}: a second or two of work. */
const MAX_WORK = 50_000_000;
/** What going after one reference costs beside the size of the value there. */
const WORK_PER_REFERENCE = 32;

const DRAFT_07 = /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/;
const DRAFT_2020 = /^https:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;

const byObject = new WeakMap<object, ValueSchema | { error: string }>();
const byText = new Map<string, ValueSchema | { error: string }>();

/**
 * Compiles a schema once (2020-12, or draft-07 if its `$schema` says so), or says why it is none. Cached by
 * object and by content.
 */
export function compileSchema(schema: JsonSchema | boolean): ValueSchema | { error: string } {
  if (typeof schema === "boolean") return schema ? ANYTHING : NOTHING;
  const known = byObject.get(schema);
  if (known) return known;
  const bad = findNotJson(schema, MAX_SCHEMA_DEPTH);
  if (bad) return { error: `${bad.path === "" ? "the schema" : bad.path} is ${bad.reason}` };
  const text = canonical(schema);
  let made = byText.get(text);
  if (!made) {
    made = byteLength(text) > MAX_SCHEMA_BYTES ? { error: "larger than 256 KiB" } : compile(schema);
    if (byText.size >= MAX_CACHED) byText.clear();
    byText.set(text, made);
  }
  byObject.set(schema, made);
  return made;
}

/** Checks a value; a schema that is none fits nothing. */
export function checkValue(schema: JsonSchema | boolean, value: Json): ValueProblem[] {
  const compiled = compileSchema(schema);
  if ("error" in compiled)
    return [{ path: "", message: `the schema is unusable: ${compiled.error}`, expected: "nothing" }];
  return compiled.check(value);
}

const ANYTHING: ValueSchema = { check: () => [] };
const NOTHING: ValueSchema = { check: () => [{ path: "", message: "no value is allowed here", expected: "nothing" }] };

function compile(schema: JsonSchema): ValueSchema | { error: string } {
  const dialect = schema["$schema"];
  const draft07 = typeof dialect === "string" && DRAFT_07.test(dialect);
  if (dialect !== undefined && !draft07 && !(typeof dialect === "string" && DRAFT_2020.test(dialect))) {
    return { error: `$schema is neither JSON Schema 2020-12 nor draft-07` };
  }
  const id = schema["$id"];
  if (typeof id === "string" && /^https?:\/\/json-schema\.org\//i.test(id)) {
    return { error: "$id claims to be the language itself" };
  }
  const problem = referenceProblem(schema);
  if (problem !== null) return { error: problem };
  const build = (allErrors: boolean): ValidateFunction => {
    const validator = allErrors ? (draft07 ? all07() : all2020()) : draft07 ? first07() : first2020();
    // The schema itself is a value that is checked.
    workLeft = MAX_WORK;
    try {
      return validator.compile(schema);
    } finally {
      validator.removeSchema(schema);
    }
  };
  let first: ValidateFunction;
  try {
    first = build(false);
  } catch (error) {
    return { error: readable(error) };
  }
  if ("$async" in first) return { error: "$async is not supported: a check answers at once" };
  let all: ValidateFunction | undefined;
  return {
    check(value) {
      const verdict = run(first, value);
      if (verdict === true) return [];
      if (verdict !== false) return [verdict];
      const single = problemsOf(first.errors ?? []);
      if (sizeAbove(value, MAX_LISTED_BYTES)) return single;
      try {
        all ??= build(true);
      } catch {
        return single;
      }
      return run(all, value) === false ? problemsOf(all.errors ?? []) : single;
    },
  };
}

/** I5: the verdict, or why there is none. */
function run(validate: ValidateFunction, value: Json): boolean | ValueProblem {
  workLeft = MAX_WORK;
  let verdict: unknown;
  try {
    verdict = validate(value);
  } catch (error) {
    if (error instanceof TooMuchWork) return unchecked("takes too much work to check against the schema");
    if (error instanceof RangeError) return unchecked("goes deeper than can be checked against the schema");
    return unchecked("cannot be checked against the schema");
  }
  if (typeof verdict === "boolean") return verdict;
  // Whatever it is, nobody waits for it.
  if (verdict instanceof Promise) verdict.catch(() => {});
  return unchecked("cannot be checked against the schema");
}

function unchecked(why: string): ValueProblem {
  return { path: "", message: `the value ${why}`, expected: "a value that can be checked" };
}

class TooMuchWork extends Error {}

/** A check is one synchronous call, so one count is enough. */
let workLeft = 0;

function spend(work: number): void {
  workLeft -= work;
  if (workLeft < 0) throw new TooMuchWork("a check has taken too much work");
}

/** Called before each reference: only references can make a check longer than schema and value are. */
function countReference(value: unknown): void {
  let size = 0;
  if (typeof value === "string" || Array.isArray(value)) size = value.length;
  else if (isObject(value)) for (const _key in value) size++;
  spend(WORK_PER_REFERENCE + size);
}

/** The adapter of I1. */
function regExp(pattern: string): { test(text: string): boolean; toString(): string } {
  const compiled = compileSchemaPattern(pattern);
  if ("error" in compiled) throw new SchemaPatternError(`pattern ${quoted(pattern)}: ${compiled.error}`);
  const test = (text: string): boolean => {
    spend(text.length);
    return compiled.test(text);
  };
  return { test, toString: () => `linear ${JSON.stringify(pattern)}` };
}
regExp.code = "linearPattern";

class SchemaPatternError extends Error {}

function options(allErrors: boolean): Options {
  return {
    allErrors,
    verbose: true,
    strict: false,
    ownProperties: true,
    addUsedSchema: false,
    logger: false,
    validateFormats: true,
    code: { regExp },
  };
}

type Validator = Pick<Ajv, "compile" | "removeSchema">;

function lazily(make: () => Ajv | Ajv2020): () => Validator {
  let made: Validator | undefined;
  return () => {
    if (!made) {
      const ajv = make() as Ajv;
      addFormats.default(ajv);
      boundFormats(ajv);
      replaceUniqueItems(ajv);
      countReferences(ajv);
      made = ajv;
    }
    return made;
  };
}

const first07 = lazily(() => new Ajv(options(false)));
const all07 = lazily(() => new Ajv(options(true)));
const first2020 = lazily(() => new Ajv2020(options(false)));
const all2020 = lazily(() => new Ajv2020(options(true)));

const WITHOUT_GRAMMAR = new Set(["binary", "password", "int32", "int64", "float", "double"]);

/** The formats' own regular expressions are not linear on hostile texts: long texts never reach them. */
function boundFormats(ajv: Ajv): void {
  for (const [name, format] of Object.entries(ajv.formats)) {
    if (WITHOUT_GRAMMAR.has(name) || format === undefined || format === true || typeof format === "string") continue;
    const test = formatTest(format);
    if (!test) continue;
    if (name === "regex") {
      ajv.addFormat(name, { type: "string", validate: (text: string) => !("error" in compileSchemaPattern(text)) });
    } else {
      ajv.addFormat(name, {
        type: "string",
        validate: (text: string) => text.length <= MAX_FORMAT_LENGTH && test(text),
      });
    }
  }
}

function formatTest(format: unknown): ((text: string) => boolean) | undefined {
  if (format instanceof RegExp) return (text) => format.test(text);
  if (typeof format === "function") return (text) => format(text) === true;
  if (!isObject(format) || format["type"] === "number" || format["async"] === true) return undefined;
  return formatTest(format["validate"]);
}

/** The library compares each with each; this one compares canonical texts. */
function replaceUniqueItems(ajv: Ajv): void {
  ajv.removeKeyword("uniqueItems");
  ajv.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    validate: (wanted: boolean, items: Json[]) => {
      if (!wanted) return true;
      const texts = new Set<string>();
      for (const item of items) {
        const text = canonical(item);
        spend(text.length);
        texts.add(text);
      }
      return texts.size === items.length;
    },
  });
}

function countReferences(ajv: Ajv): void {
  for (const keyword of ["$ref", "$dynamicRef", "$recursiveRef"]) {
    const known = ajv.getKeyword(keyword);
    if (typeof known !== "object" || !("code" in known) || typeof known.code !== "function") continue;
    const { code } = known;
    ajv.removeKeyword(keyword);
    ajv.addKeyword({
      keyword,
      schemaType: "string",
      code(cxt: KeywordCxt) {
        cxt.gen.code(_`${cxt.gen.scopeValue("func", { ref: countReference })}(${cxt.data})`);
        code(cxt);
      },
    });
  }
}

function problemsOf(errors: readonly ErrorObject[]): ValueProblem[] {
  const problems: ValueProblem[] = [];
  const seen = new Set<string>();
  for (const error of errors) {
    if (problems.length >= MAX_PROBLEMS) break;
    const problem = problemOf(error);
    if (problem === null) continue;
    const key = `${problem.path} ${problem.message}`;
    if (seen.has(key)) continue;
    seen.add(key);
    problems.push(problem);
  }
  if (problems.length === 0)
    problems.push({ path: "", message: "the value does not fit the schema", expected: "a value that fits the schema" });
  return problems;
}

function problemOf(error: ErrorObject): ValueProblem | null {
  const path = pathOfPointer(error.instancePath);
  const where = path === "" ? "the value" : quoted(path);
  const params = error.params as { [key: string]: unknown };
  const parent: unknown = error.parentSchema;
  switch (error.keyword) {
    case "required":
    case "dependentRequired":
    case "dependencies": {
      const name = String(params["missingProperty"]);
      const expected = describeSchema(propertySchema(parent, name));
      const at = pathTo(path, name);
      return { path: at, message: `${quoted(at)} is missing, expected ${expected}`, expected };
    }
    case "additionalProperties":
    case "unevaluatedProperties": {
      const name = String(params["additionalProperty"] ?? params["unevaluatedProperty"]);
      const at = pathTo(path, name);
      const known = knownFields(parent);
      return {
        path: at,
        message: `${quoted(at)} is not a known field${known === "" ? "" : `, known are ${known}`}`,
        expected: "no such field",
        unexpected: name,
      };
    }
    case "propertyNames":
      return {
        path,
        message: `${where} has a field of a name that is not allowed: ${quoted(String(params["propertyName"]))}`,
        expected: "other names",
        unexpected: String(params["propertyName"]),
      };
    case "type": {
      const expected = describeSchema({ type: params["type"] });
      return { path, message: `${where} must be ${expected}, is ${kindOf(error.data)}`, expected };
    }
    case "enum":
    case "const": {
      const expected = describeSchema(parent);
      return { path, message: `${where} must be ${expected}`, expected };
    }
    case "pattern": {
      const expected = `a text that matches ${quoted(String(params["pattern"]))}`;
      return { path, message: `${where} must be ${expected}`, expected };
    }
    case "format": {
      const expected = `a text of the format ${String(params["format"])}`;
      return { path, message: `${where} must be ${expected}`, expected };
    }
    case "anyOf":
    case "oneOf": {
      const expected = alternatives(parent, error.keyword);
      return { path, message: `${where} must be ${expected}`, expected };
    }
    case "if":
      return null;
    case "false schema":
    case "not":
      return { path, message: `${where} is not allowed`, expected: "another value" };
    default: {
      const expected = limitText(error.keyword, params);
      return { path, message: `${where} ${expected}`, expected };
    }
  }
}

function limitText(keyword: string, params: { [key: string]: unknown }): string {
  const limit = String(params["limit"] ?? params["multipleOf"] ?? "");
  switch (keyword) {
    case "minimum":
      return `must be at least ${limit}`;
    case "maximum":
      return `must be at most ${limit}`;
    case "exclusiveMinimum":
      return `must be more than ${limit}`;
    case "exclusiveMaximum":
      return `must be less than ${limit}`;
    case "multipleOf":
      return `must be a multiple of ${limit}`;
    case "minLength":
      return `must have at least ${limit} characters`;
    case "maxLength":
      return `must have at most ${limit} characters`;
    case "minItems":
      return `must have at least ${limit} elements`;
    case "maxItems":
    case "additionalItems":
    case "unevaluatedItems":
    case "items":
      return `must have at most ${String(params["limit"] ?? params["len"] ?? "as many")} elements`;
    case "minProperties":
      return `must have at least ${limit} fields`;
    case "maxProperties":
      return `must have at most ${limit} fields`;
    case "uniqueItems":
      return "must have no element twice";
    case "contains":
      return "must have an element that fits";
    default:
      return `must fit ${quoted(keyword)} of the schema`;
  }
}

function alternatives(parent: unknown, keyword: "anyOf" | "oneOf"): string {
  const list = isObject(parent) ? parent[keyword] : undefined;
  if (!Array.isArray(list)) return "one of the alternatives of the schema";
  const said = [...new Set(list.slice(0, 6).map(describeSchema))];
  return said.join(" or ");
}

function propertySchema(parent: unknown, name: string): unknown {
  const properties = isObject(parent) ? parent["properties"] : undefined;
  return isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

function knownFields(parent: unknown): string {
  const properties = isObject(parent) ? parent["properties"] : undefined;
  if (!isObject(properties)) return "";
  const names = Object.keys(properties);
  return names.slice(0, 20).map(quoted).join(", ") + (names.length > 20 ? ", ..." : "");
}

/** A JSON pointer as a path of ours. Digits are taken for an index; a map with such keys reads a little oddly. */
function pathOfPointer(pointer: string): string {
  let path = "";
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    path = /^(?:0|[1-9]\d{0,9})$/.test(key) ? pathTo(path, Number(key)) : pathTo(path, key);
  }
  return path;
}

function readable(error: unknown): string {
  if (!(error instanceof Error)) return "it cannot be compiled";
  const unresolved = /can't resolve reference (\S+)/.exec(error.message);
  if (unresolved) return `the reference ${quoted(unresolved[1] ?? "")} leads out of the schema`;
  return error.message.slice(0, 300);
}

/** Whether a value is large; one that is deep counts as large. */
function sizeAbove(value: Json, limit: number): boolean {
  let left = limit;
  const visit = (item: Json, depth: number): boolean => {
    left -= 8;
    if (left < 0 || depth > MAX_SIZED_DEPTH) return true;
    if (typeof item === "string") {
      left -= item.length;
      return left < 0;
    }
    if (Array.isArray(item)) return item.some((inner) => visit(inner, depth + 1));
    if (isObject(item)) {
      return Object.entries(item).some(([key, inner]) => {
        left -= key.length;
        return visit(inner as Json, depth + 1);
      });
    }
    return false;
  };
  return visit(value, 0);
}
