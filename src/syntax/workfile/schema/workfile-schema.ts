import { FIELD_TYPES } from "../../../plan/field.ts";
import {
  anything,
  boolean,
  closed,
  duration,
  list,
  mapOr,
  number,
  oneOf,
  open,
  reference,
  type Schema,
  text,
} from "../../../text/schema.ts";
import {
  CATCH_KEYS,
  FIELD_KEYS,
  LIMIT_KEYS,
  OVERLAPS,
  REPLIES,
  SCHEDULE_KEYS,
  SUBJECT_KEYS,
  TOP_KEYS,
  TOP_REQUIRED,
  TRIGGER_KINDS,
  WEBHOOK_KEYS,
} from "../tables.ts";
import { condition, count, fields, keysOf, literal, type Makes, name, ref, steps, values } from "./makers.ts";
import { body, branch, cleanupItem, handler, step } from "./step-schema.ts";
import { FIELD_WORDS, LIMIT_WORDS, TOP_WORDS, TRIGGER_WORDS } from "./words.ts";

/** The JSON Schema of a Workfile (draft-07), made of the tables that the parser reads. */
export function workfileSchema(): Schema {
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Workfile",
    description: "A workflow of Ambit. What a schema cannot say (names in scope, unique ids), ambit check says.",
    ...closed(keysOf(TOP_KEYS, TOP_SCHEMAS, TOP_WORDS), TOP_REQUIRED),
    dependencies: { overlap: ["single"] },
    definitions: definitions(),
  };
}

const TOP_SCHEMAS: Makes = {
  workfile: (words) => oneOf(["1"], words),
  name: (words) => ({ ...name(words), maxLength: 128 }),
  description: (words) => text(words),
  inputs: (words) => open(reference("field"), name({}), words),
  consts: values,
  triggers: ref("triggers"),
  on: ref("triggers"),
  single: (words) => text(words),
  overlap: (words) => oneOf(OVERLAPS, words),
  limits: (words) => closed(keysOf(LIMIT_KEYS, LIMIT_SCHEMAS, LIMIT_WORDS), [], words),
  steps,
  outputs: values,
  cleanup: ref("cleanup"),
};

const LIMIT_SCHEMAS: Makes = { deadline: duration, steps: count, depth: count, concurrency: count };

const TRIGGER_SCHEMAS: Makes = {
  schedule: (words) => closed(keysOf(SCHEDULE_KEYS, START_SCHEMAS, TRIGGER_WORDS), [], words),
  webhook: (words) => closed(keysOf(WEBHOOK_KEYS, START_SCHEMAS, TRIGGER_WORDS), ["path"], words),
};

const START_SCHEMAS: Makes = {
  every: duration,
  cron: literal,
  zone: literal,
  when: condition,
  with: values,
  path: literal,
  body: fields,
  headers: (words) => list(text({}, "^[^A-Z{]+$", "The name of a header, in lower case."), words),
  reply: (words) => oneOf(REPLIES, words),
};

const FIELD_SCHEMAS: Makes = {
  type: (words) => oneOf(FIELD_TYPES, words),
  required: boolean,
  default: anything,
  description: (words) => text(words),
  enum: (words) => ({ ...list({}, words), minItems: 1 }),
  pattern: (words) => text(words),
  min: (words) => number({}, words),
  max: (words) => number({}, words),
  items: ref("field"),
  fields,
  sensitive: boolean,
};

function definitions(): { [name: string]: Schema } {
  const all: { [name: string]: Schema } = {
    steps: list(reference("step")),
    step: step(),
    body: body(),
    cleanup: list(cleanupItem()),
    catch: list(handler(CATCH_KEYS, "A handler needs `steps`, `value` or both.")),
    "agent-catch": list(handler(["codes", "if", "steps"], "A handler of an agent needs `steps`.")),
    field: mapOr(closed(keysOf(FIELD_KEYS, FIELD_SCHEMAS, FIELD_WORDS), ["type"]), oneOf(FIELD_TYPES)),
    fields: open(reference("field")),
    triggers: list({
      ...closed(keysOf(TRIGGER_KINDS, TRIGGER_SCHEMAS, TRIGGER_WORDS)),
      minProperties: 1,
      maxProperties: 1,
    }),
  };
  for (const [key, subject] of SUBJECT_KEYS) all[`step-${key}`] = branch(subject, key);
  all["step-action"] = branch("action", null);
  return all;
}
