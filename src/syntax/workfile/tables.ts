/**
 * The grammar of a Workfile as data: which keys a construct has, which of them it needs, which modifiers go with
 * which subject. The parser reads these tables, and so do the generators of JSON Schemas and reference pages.
 */

export const TOP_KEYS = [
  "workfile",
  "name",
  "description",
  "inputs",
  "consts",
  "triggers",
  "on",
  "single",
  "overlap",
  "limits",
  "steps",
  "outputs",
  "cleanup",
] as const;
export const TOP_REQUIRED = ["workfile", "name", "steps"] as const;

export const LIMIT_KEYS = ["deadline", "steps", "depth", "concurrency"] as const;
export const OVERLAPS = ["skip", "queue"] as const;

export const TRIGGER_KINDS = ["schedule", "webhook"] as const;
export const SCHEDULE_KEYS = ["every", "cron", "zone", "when", "with"] as const;
export const WEBHOOK_KEYS = ["path", "body", "headers", "when", "with", "reply"] as const;
export const REPLIES = ["accepted", "outputs"] as const;

export const FIELD_KEYS = [
  "type",
  "required",
  "default",
  "description",
  "enum",
  "pattern",
  "min",
  "max",
  "items",
  "fields",
  "sensitive",
] as const;

/** Ids that no step, loop item or input may bind, since expressions read something else by these names. */
export const RESERVED_IDS = [
  "inputs",
  "trigger",
  "run",
  "error",
  "consts",
  "settings",
  "index",
  "prev",
  "ask",
] as const;
export const NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;
export const MAX_ID = 64;

/** Connector names that belong to the engine. */
export const TAKEN_CONNECTORS = ["wf", "internal", "goal", "introspection"] as const;

export const LANGUAGES = ["python", "javascript"] as const;
/** Bytes of UTF-8 (SB-43). */
export const MAX_CODE_BYTES = 262_144;
export const MAX_CONCURRENCY = 8;

export const BUDGET_KEYS = ["steps", "tokens", "duration"] as const;
export const RETRY_KEYS = ["attempts", "backoff"] as const;
export const CATCH_KEYS = ["codes", "if", "steps", "value"] as const;
export const CLEANUP_KEYS = ["on", "steps"] as const;
export const CLEANUP_MOMENTS = ["always", "failure"] as const;
export const RECONCILE_KEYS = ["action", "with", "succeeded", "failed", "value"] as const;
export const REPEAT_KEYS = ["max", "from"] as const;
export const FAIL_KEYS = ["code", "message"] as const;
export const WAIT_KEYS = ["until"] as const;
export const APPROVER_KEYS = ["not", "count"] as const;

export const ACTION_ON_UNKNOWN = ["abort", "fail", "halt", "reconcile"] as const;
export const AGENT_ON_UNKNOWN = ["abort", "fail", "halt"] as const;

export const MODIFIERS = ["if", "timeout", "retry", "catch", "on_unknown", "reconcile", "cleanup"] as const;
export type Modifier = (typeof MODIFIERS)[number];

export const SUBJECTS = [
  "action",
  "agent",
  "code",
  "let",
  "if",
  "switch",
  "each",
  "repeat",
  "parallel",
  "call",
  "wait",
  "ask",
  "notify",
  "stop",
  "fail",
] as const;
export type Subject = (typeof SUBJECTS)[number];

export interface SubjectRow {
  /** The subject keys; none for an action, whose key is its name. */
  keys: readonly string[];
  /** How messages call it. */
  title: string;
  config: readonly string[];
  required: readonly string[];
  modifiers: readonly Modifier[];
}

const FLOW: readonly Modifier[] = ["if", "timeout", "catch", "cleanup"];

export const SUBJECT_TABLE: { readonly [S in Subject]: SubjectRow } = {
  action: {
    keys: [],
    title: "an action",
    config: [],
    required: [],
    modifiers: ["if", "timeout", "retry", "catch", "on_unknown", "reconcile", "cleanup"],
  },
  agent: {
    keys: ["wf.agent", "agent"],
    title: "wf.agent",
    config: ["goal", "with", "tools", "returns", "budget", "on_exhausted"],
    required: ["goal", "returns", "budget"],
    modifiers: ["if", "timeout", "catch", "on_unknown", "cleanup"],
  },
  code: {
    keys: ["wf.run", "run"],
    title: "wf.run",
    config: ["code", "network", "with"],
    required: ["code"],
    modifiers: FLOW,
  },
  let: { keys: ["wf.let"], title: "wf.let", config: [], required: [], modifiers: ["if", "catch"] },
  if: { keys: ["wf.if"], title: "wf.if", config: ["then", "else"], required: [], modifiers: FLOW },
  switch: {
    keys: ["wf.switch"],
    title: "wf.switch",
    config: ["cases", "default"],
    required: ["cases"],
    modifiers: FLOW,
  },
  each: {
    keys: ["wf.each"],
    title: "wf.each",
    config: ["as", "steps", "max", "concurrency", "until", "yield", "on_item_failure"],
    required: ["steps"],
    modifiers: FLOW,
  },
  repeat: {
    keys: ["wf.repeat"],
    title: "wf.repeat",
    config: ["until", "while", "steps", "yield", "on_max"],
    required: ["steps"],
    modifiers: FLOW,
  },
  parallel: {
    keys: ["wf.parallel"],
    title: "wf.parallel",
    config: ["concurrency"],
    required: [],
    modifiers: FLOW,
  },
  call: { keys: ["wf.call"], title: "wf.call", config: ["with"], required: [], modifiers: FLOW },
  wait: { keys: ["wf.wait"], title: "wf.wait", config: [], required: [], modifiers: ["if", "catch"] },
  ask: {
    keys: ["wf.ask"],
    title: "wf.ask",
    config: ["returns", "expires", "on_expired", "asked", "assignees", "approvers"],
    required: [],
    modifiers: ["if", "catch", "cleanup"],
  },
  notify: { keys: ["wf.notify"], title: "wf.notify", config: [], required: [], modifiers: ["if", "catch"] },
  stop: { keys: ["wf.stop"], title: "wf.stop", config: [], required: [], modifiers: ["if"] },
  fail: { keys: ["wf.fail"], title: "wf.fail", config: [], required: [], modifiers: ["if"] },
};

/** Why a modifier is refused where it stands, beyond "it has no place here". */
export const MODIFIER_HINTS: { readonly [place: string]: string } = {
  "agent.retry": "An agent is not retried: put it into a wf.repeat with a bound, or a second agent into `catch`.",
  "agent.reconcile": "Only an action can be reconciled: use on_unknown abort, fail or halt.",
  "code.retry": "Code ends the same way each time: change it, or handle its failure with `catch`.",
  "stop.catch": "wf.stop ends the run: nothing can handle it.",
  "fail.catch": "wf.fail ends the run: put `if` on it instead.",
};

/** Every subject key but those of actions. */
export const SUBJECT_KEYS: ReadonlyMap<string, Subject> = new Map(
  SUBJECTS.flatMap((subject) => SUBJECT_TABLE[subject].keys.map((key) => [key, subject] as const)),
);

export const ON_MAX = ["fail", "truncate"] as const;
export const ON_ITEM_FAILURE = ["fail", "skip"] as const;
