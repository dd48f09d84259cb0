import type { Json } from "../../../base/json.ts";
import {
  anything,
  closed,
  duration,
  durationOrExpression,
  integer,
  list,
  listOr,
  mapOr,
  oneOf,
  open,
  reference,
  type Schema,
  text,
  type Words,
  when,
} from "../../../text/schema.ts";
import {
  ACTION_ON_UNKNOWN,
  AGENT_ON_UNKNOWN,
  APPROVER_KEYS,
  BUDGET_KEYS,
  CLEANUP_KEYS,
  CLEANUP_MOMENTS,
  FAIL_KEYS,
  LANGUAGES,
  MAX_CONCURRENCY,
  MODIFIERS,
  type Modifier,
  ON_ITEM_FAILURE,
  ON_MAX,
  RECONCILE_KEYS,
  REPEAT_KEYS,
  RETRY_KEYS,
  SUBJECT_KEYS,
  SUBJECT_TABLE,
  type Subject,
  WAIT_KEYS,
} from "../tables.ts";
import {
  ACTION_PATTERN,
  action,
  condition,
  count,
  expression,
  fields,
  ID_PATTERN,
  id,
  keysOf,
  literal,
  type Make,
  type Makes,
  NAME_PART,
  name,
  ref,
  steps,
  values,
} from "./makers.ts";
import { CONFIG_WORDS, MODIFIER_WORDS, SUBJECT_WORDS } from "./words.ts";

/** What stands behind a subject's own key. */
const HEAD_SCHEMAS: { readonly [S in Subject]: Make } = {
  action: (words) => ({ type: ["object", "null"], ...only(words) }),
  agent: (words) => text(words, "^(?![\\s\\S]*\\{\\{)[\\s\\S]*\\S", "The name of an agent is literal and not empty."),
  code: (words) => oneOf(LANGUAGES, words),
  let: values,
  if: condition,
  switch: expression,
  each: (words) => listOr({ type: "array" }, expression({}), words),
  repeat: (words) => closed(keysOf(REPEAT_KEYS, REPEAT_SCHEMAS, {}), ["max"], words),
  parallel: (words) => ({ ...open(reference("steps"), name({}), words), minProperties: 1 }),
  call: literal,
  wait: (words) => mapOr(closed(keysOf(WAIT_KEYS, WAIT_SCHEMAS, {}), WAIT_KEYS), durationOrExpression(), words),
  ask: (words) => text(words),
  notify: (words) => text(words),
  stop: (words) => ({ type: ["object", "null"], ...only(words) }),
  fail: (words) => closed(keysOf(FAIL_KEYS, FAIL_SCHEMAS, {}), FAIL_KEYS, words),
};

const REPEAT_SCHEMAS: Makes = {
  max: () => count({ description: "Most rounds." }),
  from: () => anything({ description: "What the first round reads as prev." }),
};
const WAIT_SCHEMAS: Makes = {
  until: () => text({ description: "A time like 2026-03-04T08:00:00Z, or an expression." }),
};
const FAIL_SCHEMAS: Makes = {
  code: () =>
    text(
      { description: "family.name, of the author's own." },
      `^${NAME_PART}(?:\\.${NAME_PART})+$`,
      "A code is family.name.",
    ),
  message: () => text({ description: "What went wrong, for people." }),
};

const concurrency: Make = (words) => integer({ min: 1, max: MAX_CONCURRENCY }, words);

const CONFIG_SCHEMAS: { readonly [S in Subject]?: Makes } = {
  agent: {
    goal: (words) => text(words),
    with: values,
    tools: (words) => ({ ...list(action({}), words), uniqueItems: true }),
    returns: fields,
    budget: (words) => ({ ...closed(keysOf(BUDGET_KEYS, BUDGET_SCHEMAS, {}), [], words), minProperties: 1 }),
    on_exhausted: steps,
  },
  code: {
    code: (words) => text(words),
    network: (words) => list(literal({}), words),
    with: (words) => open({}, name({}), words),
  },
  if: {
    // biome-ignore lint/suspicious/noThenProperty: a key of the grammar
    then: steps,
    else: steps,
  },
  switch: {
    cases: (words) => ({ ...open(reference("steps"), null, words), minProperties: 1 }),
    default: steps,
  },
  each: {
    as: id,
    steps: steps,
    max: count,
    concurrency: concurrency,
    until: condition,
    yield: anything,
    on_item_failure: (words) => mapOr(closed({ yield: {} }, ["yield"]), oneOf(ON_ITEM_FAILURE), words),
  },
  repeat: {
    until: condition,
    while: condition,
    steps: steps,
    yield: anything,
    on_max: (words) => oneOf(ON_MAX, words),
  },
  parallel: {
    concurrency: concurrency,
  },
  call: {
    with: values,
  },
  ask: {
    returns: fields,
    expires: durationOrExpression,
    on_expired: steps,
    asked: steps,
    assignees: (words) => listOr(list(text()), expression({}), words),
    approvers: (words) => ({ ...closed(keysOf(APPROVER_KEYS, APPROVER_SCHEMAS, {}), [], words), minProperties: 1 }),
  },
};

const BUDGET_SCHEMAS: Makes = {
  steps: () => count({ description: "Most attempts of tools." }),
  tokens: () => count({ description: "Most tokens." }),
  duration: () => duration({ description: "Longest duration." }),
};
const APPROVER_SCHEMAS: Makes = {
  not: () => oneOf(["initiator"], { description: "Not whoever started the run." }),
  count: () => integer({ min: 1, max: 100 }, { description: "How many different people must say `approved: true`." }),
};

const MODIFIER_SCHEMAS: { readonly [M in Modifier]: Make } = {
  if: condition,
  timeout: durationOrExpression,
  retry: (words) => ({ ...closed(keysOf(RETRY_KEYS, RETRY_SCHEMAS, {}), [], words), minProperties: 1 }),
  catch: ref("catch"),
  on_unknown: (words) => oneOf(ACTION_ON_UNKNOWN, words),
  reconcile: (words) => closed(keysOf(RECONCILE_KEYS, RECONCILE_SCHEMAS, {}), ["action", "succeeded", "failed"], words),
  cleanup: ref("cleanup"),
};

/** What is narrower for one subject. */
const NARROWER: { readonly [S in Subject]?: { readonly [M in Modifier]?: Make } } = {
  agent: {
    on_unknown: (words) => oneOf(AGENT_ON_UNKNOWN, words),
    catch: ref("agent-catch"),
  },
};

const RETRY_SCHEMAS: Makes = {
  attempts: () => integer({ min: 1, max: 100 }, { description: "Attempts, the first included." }),
  backoff: () => durationOrExpression({ description: "The pause before the second one." }),
};
const RECONCILE_SCHEMAS: Makes = {
  action: () => action({ description: "A reading action." }),
  with: () => open({}, null, { description: "Its arguments." }),
  succeeded: () => condition({ description: "True if the effect took place; reads result." }),
  failed: () => condition({ description: "True if it did not; reads result." }),
  value: () => anything({ description: "The value of the step if it did." }),
};
const CATCH_SCHEMAS: Makes = {
  codes: () => ({
    ...list(
      text(
        {},
        `^(?:\\*|${NAME_PART}(?:\\.${NAME_PART})*(?:\\.\\*)?)$`,
        "A code (flow.timeout), a family (flow.*) or *.",
      ),
      {
        description: "Which failures: codes, families like flow.*, or * for any.",
        examples: [["flow.timeout"], ["*"]],
      },
    ),
    minItems: 1,
  }),
  if: () => condition({ description: "Only where this is true; reads error." }),
  steps: () => reference("steps", { description: "Steps that handle it; they read error." }),
  value: () => anything({ description: "The value of the step then; null without it." }),
};

/** A map of one key, the id. What is in it is looked at once that much is right. */
export function step(): Schema {
  const once = when({ propertyNames: { pattern: ID_PATTERN } }, { additionalProperties: reference("body") });
  return {
    type: "object",
    minProperties: 1,
    maxProperties: 1,
    ...when({ maxProperties: 1 }, { propertyNames: id({}), ...once }),
  };
}

export function cleanupItem(): Schema {
  const entry = closed(
    {
      on: oneOf(CLEANUP_MOMENTS, {
        description: "always, or failure: what is to be given back when a later step fails.",
      }),
      steps: reference("steps"),
    },
    CLEANUP_KEYS,
  );
  const one = (key: string): Json => ({ required: [key] });
  return when({ anyOf: CLEANUP_KEYS.map(one) }, entry, reference("step"));
}

export function handler(keys: readonly string[], wanted: string): Schema {
  const needs = (alternatives: string[]): Schema => ({ anyOf: alternatives.map((key) => ({ required: [key] })) });
  const whole = closed(keysOf(keys, CATCH_SCHEMAS, {}), ["codes"]);
  const does = keys.filter((key) => key === "steps" || key === "value");
  return {
    ...whole,
    ...when(
      { propertyNames: { enum: [...keys] } },
      {
        required: ["codes"],
        ...when(needs(does), {}, { required: ["steps"], errorMessage: wanted }),
      },
    ),
  };
}

/** Which branch it is the subject's key says; without one it says what is missing. */
export function body(): Schema {
  const isAction: Schema = { not: { propertyNames: { not: { pattern: ACTION_PATTERN } } } };
  let chain = when(isAction, reference("step-action"), noSubject());
  for (const [key] of [...SUBJECT_KEYS].reverse()) {
    chain = when({ required: [key] }, reference(`step-${key}`), chain);
  }
  return mapOr(chain, { type: "object", errorMessage: "A step is a map that says what it does." });
}

function noSubject(): Schema {
  const properties: { [key: string]: Schema } = {};
  for (const [key, subject] of SUBJECT_KEYS) properties[key] = only(SUBJECT_WORDS[subject]);
  for (const modifier of MODIFIERS) properties[modifier] = only(MODIFIER_WORDS[modifier]);
  // Known, so that only what is misspelt is unknown; nothing to propose before the step says what it does.
  for (const key of Object.values(SUBJECT_TABLE).flatMap((row) => row.config))
    properties[key] ??= { doNotSuggest: true };
  const heads = Object.values(SUBJECT_TABLE).flatMap((row) => row.keys.slice(0, 1));
  return {
    properties,
    additionalProperties: false,
    ...when(
      { propertyNames: { enum: Object.keys(properties) } },
      {
        required: [heads[0] ?? ""],
        errorMessage: `The step does not say what it does: an action (connector.action), or one of ${heads.join(", ")}.`,
      },
    ),
  };
}

export function branch(subject: Subject, key: string | null): Schema {
  const row = SUBJECT_TABLE[subject];
  const words = SUBJECT_WORDS[subject];
  const head = HEAD_SCHEMAS[subject](words.description === undefined ? {} : { description: words.description });
  const properties: { [key: string]: Schema } = key === null ? {} : { [key]: head };
  Object.assign(properties, keysOf(row.config, CONFIG_SCHEMAS[subject] ?? {}, CONFIG_WORDS[subject] ?? {}));
  for (const modifier of row.modifiers) {
    const make = NARROWER[subject]?.[modifier] ?? MODIFIER_SCHEMAS[modifier];
    properties[modifier] = make(MODIFIER_WORDS[modifier]);
  }
  const required = key === null ? [] : [key, ...row.required];
  const whole = closed(properties, required, words);
  if (key !== null) return whole;
  return { ...whole, patternProperties: { [ACTION_PATTERN]: head } };
}

function only({ title, description, examples }: Words): Schema {
  return anything({
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(examples === undefined ? {} : { examples }),
  });
}
