/** Reads case folders: what may stand in `case.json` and `expect.json` is a closed set, so that a slip is no silence. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isObject, type Json, type JsonObject } from "../../src/base/json.ts";

export const STAGES = ["parse", "admit", "run", "replay"] as const;
export type Stage = (typeof STAGES)[number];

/** `expect.json`: every key is optional, and what is given must fit. */
export type Expectation = { [key: string]: Json };

export interface Variant {
  name: string;
  /** Of the folder, e.g. `workflow.yaml`. */
  file: string;
  /** Each text must stand in the file exactly once. */
  replace: { [old: string]: string };
  /** In place of the case's own expectation; absent: the same one. */
  expect?: Expectation;
  /** False: it is about the spelling itself, and is not run a second time in the older one. */
  older: boolean;
}

/** A further command on the run, judged by an expectation of its own. */
export interface Then {
  command: ThenCommand;
  expect: Expectation;
}
export const THEN_COMMANDS = ["resume", "replay"] as const;
export type ThenCommand = (typeof THEN_COMMANDS)[number];

/** `case.json`. */
export interface CaseSettings {
  inputs?: JsonObject;
  trigger?: Json;
  run_id?: string;
  /** Milliseconds since 1970 of the start of simulated time, or the machine's clock. */
  clock: { simulated: number } | "real";
  settings?: JsonObject;
  state?: JsonObject;
  answers?: JsonObject;
  covers: string[];
  variants: Variant[];
  /** A duration from the start, or a position. */
  cancel_at?: string;
  /** A position, or the number of a record. */
  kill_at?: string | number;
  dry_run?: boolean;
  followUps: Then[];
}

export interface Case {
  /** Of the folder. */
  name: string;
  folder: string;
  workflow: string;
  settings: CaseSettings;
  expect: Expectation;
}

/** One test: a case, or one variant of it, in the newer or the older spelling. */
export interface Trial {
  /** `FOLDER`, `FOLDER/variant`. */
  name: string;
  case: Case;
  variant: Variant | null;
  olderSpelling: boolean;
}

export const WORKFLOWS = ["workflow.yaml", "workflow.workfile.yaml", "workflow.awl", "request.json"];

const CASE_KEYS = [
  "inputs",
  "trigger",
  "run_id",
  "clock",
  "settings",
  "state",
  "answers",
  "covers",
  "variants",
  "cancel_at",
  "kill_at",
  "dry_run",
  "then",
];

/** Keys that the runner has rules of its own for. */
const RULED_KEYS = [
  "stage",
  "diagnostics",
  "exit",
  "calls",
  "events",
  "notices",
  "asks",
  "any_order",
  "never",
  "replay",
] as const;
/** Keys of the result of a run and of its steps. */
const RESULT_KEYS = [
  "run",
  "status",
  "outputs",
  "error",
  "digest",
  "duration_ms",
  "counts",
  "forgiven",
  "skipped",
  "truncated",
  "unknown",
  "cleanup",
  "waiting",
  "dry_run",
  "suppressed",
  "undetermined",
  "steps",
  "success",
  "tasks",
  "children",
] as const;
/** Keys of `plan --json`. */
export const PLAN_KEYS = [
  "ok",
  "capabilities",
  "agents",
  "tools",
  "hosts",
  "commands",
  "approvals",
  "secrets",
  "settings",
  "bounds",
  "limits",
] as const;
export const RESULT_KEY_SET: ReadonlySet<string> = new Set(RESULT_KEYS);
const EXPECT_KEYS: ReadonlySet<string> = new Set([...RULED_KEYS, ...RESULT_KEYS, ...PLAN_KEYS]);

/** 2026-01-01T00:00:00Z: where simulated time starts unless a case says otherwise. */
const DEFAULT_START = Date.UTC(2026, 0, 1);

/** Something is wrong with the case itself. */
export class CaseError extends Error {}

/** The folders below `root` that hold a workflow, by name. */
export function listCases(root: string): Case[] {
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => readCase(join(root, entry.name), entry.name))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

export function readCase(folder: string, name: string): Case {
  const workflows = WORKFLOWS.filter((file) => existsSync(join(folder, file)));
  const [workflow] = workflows;
  if (workflow === undefined || workflows.length > 1) {
    throw new CaseError(`${name} needs exactly one of ${WORKFLOWS.join(", ")}; it has ${workflows.length}.`);
  }
  return {
    name,
    folder,
    workflow,
    settings: readSettings(readJson(folder, "case.json"), name),
    expect: readExpectation(readJson(folder, "expect.json"), `${name}/expect.json`),
  };
}

/** All tests of a case: itself and its variants. Those that use the newer spelling come a second time in the older one. */
export function trialsOf(found: Case): Trial[] {
  const text = readFileSync(join(found.folder, found.workflow), "utf8");
  return [null, ...found.settings.variants].flatMap((variant): Trial[] => {
    const trial = {
      name: variant === null ? found.name : `${found.name}/${variant.name}`,
      case: found,
      variant,
      olderSpelling: false,
    };
    const uses = usesNewerSpelling(variant?.file === found.workflow ? replaceOnce(text, variant, found.name) : text);
    const again = uses && found.workflow.endsWith(".yaml") && variant?.older !== false;
    return again ? [trial, { ...trial, olderSpelling: true }] : [trial];
  });
}

/** The text of a file with the replacements of a variant; each must hit exactly once. */
export function replaceOnce(text: string, variant: Variant, name: string): string {
  let result = text;
  for (const [old, replacement] of Object.entries(variant.replace)) {
    const hits = result.split(old).length - 1;
    if (hits !== 1) {
      throw new CaseError(`${name}/${variant.name}: ${JSON.stringify(old)} stands ${hits} times in ${variant.file}.`);
    }
    result = result.replace(old, () => replacement);
  }
  return result;
}

const NEWER_KEY = /(^|[\s{,])(["']?)wf\.(agent|run)\2(?=\s*:(\s|$))/gm;

export function usesNewerSpelling(text: string): boolean {
  return text.search(NEWER_KEY) !== -1;
}

/** `wf.agent` and `wf.run` as keys, written as seed 002 has them. */
export function toOlderSpelling(text: string): string {
  return text.replace(NEWER_KEY, "$1$2$3$2");
}

/**
 * The expectation for the older spelling: places in a line behind a key that has become shorter move to the left,
 * and paths name the older key.
 */
export function expectOlderSpelling(expectation: Expectation, newer: string): Expectation {
  const { diagnostics } = expectation;
  if (!Array.isArray(diagnostics)) return expectation;
  const lines = newer.split("\n");
  return { ...expectation, diagnostics: diagnostics.map((entry) => (isObject(entry) ? shifted(entry, lines) : entry)) };
}

function shifted(entry: { [key: string]: unknown }, lines: readonly string[]): Json {
  const result: { [key: string]: unknown } = { ...entry };
  for (const [lineKey, columnKey] of [
    ["line", "column"],
    ["endLine", "endColumn"],
  ] as const) {
    const line = entry[lineKey];
    const column = entry[columnKey];
    if (typeof line !== "number" || typeof column !== "number") continue;
    const before = [...(lines[line - 1] ?? "")].slice(0, column - 1).join("");
    result[columnKey] = column - 3 * [...before.matchAll(NEWER_KEY_BEFORE)].length;
  }
  const { path } = entry;
  if (typeof path === "string") result["path"] = path.replace(/\["wf\.(agent|run)"\]/g, ".$1");
  return result as Json;
}

/** As above, where the line may have been cut off behind the key. */
const NEWER_KEY_BEFORE = /(^|[\s{,])(["']?)wf\.(agent|run)\2(?=\s*:|$)/g;

function readJson(folder: string, file: string): JsonObject {
  const path = join(folder, file);
  if (!existsSync(path)) return {};
  const value = JSON.parse(readFileSync(path, "utf8")) as unknown;
  if (!isObject(value)) throw new CaseError(`${path} must hold a map.`);
  return value as JsonObject;
}

function readExpectation(value: JsonObject, where: string): Expectation {
  for (const key of Object.keys(value)) {
    if (!EXPECT_KEYS.has(key)) throw new CaseError(`${where}: there is no key ${JSON.stringify(key)}.`);
  }
  const { stage } = value;
  if (stage !== undefined && !(STAGES as readonly unknown[]).includes(stage)) {
    throw new CaseError(`${where}: the stage is one of ${STAGES.join(", ")}.`);
  }
  return value;
}

function readSettings(value: JsonObject, name: string): CaseSettings {
  for (const key of Object.keys(value)) {
    if (!CASE_KEYS.includes(key)) throw new CaseError(`${name}/case.json: there is no key ${JSON.stringify(key)}.`);
  }
  const { clock, covers, variants, then, ...rest } = value;
  return {
    ...(rest as Partial<CaseSettings>),
    clock: readClock(clock, name),
    covers: (covers ?? []) as string[],
    variants: ((variants ?? []) as JsonObject[]).map((entry) => readVariant(entry, name)),
    followUps: ((then ?? []) as Json[]).map((entry) => readThen(entry, name)),
  };
}

function readClock(clock: Json | undefined, name: string): CaseSettings["clock"] {
  if (clock === "real") return "real";
  if (clock === undefined || clock === "simulated") return { simulated: DEFAULT_START };
  const start = isObject(clock) ? clock["start"] : null;
  const at = typeof start === "string" ? Date.parse(start) : Number.NaN;
  if (Number.isNaN(at)) throw new CaseError(`${name}/case.json: clock is real, simulated or { start: TIME }.`);
  return { simulated: at };
}

function readVariant(entry: JsonObject, name: string): Variant {
  const unknown = Object.keys(entry).find((key) => !["name", "file", "replace", "expect", "older"].includes(key));
  const { name: own, file, replace, expect } = entry;
  if (unknown !== undefined || typeof own !== "string" || typeof file !== "string" || !isObject(replace)) {
    throw new CaseError(`${name}/case.json: a variant is { name, file, replace, expect, older }.`);
  }
  return {
    name: own,
    file,
    replace: replace as { [old: string]: string },
    older: entry["older"] !== false,
    ...(expect === undefined ? {} : { expect: readExpectation(expect as JsonObject, `${name}/${own}`) }),
  };
}

function readThen(entry: Json, name: string): Then {
  const command = isObject(entry) ? entry["command"] : entry;
  const expect = isObject(entry) ? entry["expect"] : undefined;
  if (!(THEN_COMMANDS as readonly unknown[]).includes(command)) {
    throw new CaseError(`${name}/case.json: then knows ${THEN_COMMANDS.join(" and ")}, as { command, expect }.`);
  }
  return {
    command: command as ThenCommand,
    expect: readExpectation((expect ?? {}) as JsonObject, `${name}, then ${String(command)}`),
  };
}
