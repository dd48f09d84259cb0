import { userInfo } from "node:os";
import type { EngineOptions } from "../app/engine.ts";
import { parseDuration } from "../base/duration.ts";
import { parseGivenJson } from "../base/given-json.ts";
import { emptyObject, type Json, type JsonObject } from "../base/json.ts";
import { didYouMean } from "../base/nearest.ts";
import type { Field } from "../plan/field.ts";
import { setOwn } from "../plan/marked.ts";
import { allSteps, type Plan } from "../plan/plan.ts";
import { MAX_TEXT_BYTES, readNamed } from "./named-file.ts";
import { type ColorChoice, processTerminal, safeText, type Terminal } from "./terminal.ts";
import { usage } from "./usage.ts";

export { usage };

/** Options that every command takes. */
export interface CommonOptions {
  config?: string;
  store?: string;
  json?: boolean;
  color?: string;
}

export function terminalOf(options: CommonOptions): Terminal {
  const color = options.color ?? "auto";
  const choice: ColorChoice = color === "always" || color === "never" ? color : "auto";
  return processTerminal(choice, options.json === true);
}

/** The user's name: what records show of who did something on the command line. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "user";
  }
}

export function engineOptions(options: CommonOptions, terminal: Terminal, label: string): EngineOptions {
  return {
    ...(options.config === undefined ? {} : { deployment: options.config }),
    ...(options.store === undefined ? {} : { store: options.store }),
    identity: userName(),
    label,
    // Lines of servers and modules, among others.
    say: (line) => terminal.say(safeText(line)),
  };
}

/**
 * Inputs from `k=v` words and `--input @file|-|JSON`: for a string input the text itself, for any other type
 * the text read as JSON, or `@file.json`. Unknown names are kept, so that they are reported with all others.
 */
export function readInputs(fields: readonly Field[], pairs: readonly string[], whole: readonly string[]): JsonObject {
  const inputs: JsonObject = {};
  for (const text of whole) {
    const document = readDocument(text, "--input");
    if (typeof document !== "object" || document === null || Array.isArray(document))
      throw usage("--input takes a JSON object.");
    for (const [name, value] of Object.entries(document)) setOwn(inputs, name, value);
  }
  for (const pair of pairs) {
    const equals = pair.indexOf("=");
    if (equals < 1) throw usage(`An input is written name=value, not ${JSON.stringify(pair)}.`);
    const name = pair.slice(0, equals);
    setOwn(
      inputs,
      name,
      readValue(
        fields.find((field) => field.name === name),
        name,
        pair.slice(equals + 1),
      ),
    );
  }
  return inputs;
}

function readValue(field: Field | undefined, name: string, text: string): Json {
  if (field === undefined || field.type === "string") return text;
  if (text.startsWith("@")) return readDocument(text, `the input ${name}`);
  const parsed = parseGivenJson(text);
  if (parsed.ok) return parsed.value;
  if (parsed.isJson) throw usage(`The input ${name} cannot be taken: ${parsed.message}.`);
  if (field.type === "any") return text;
  throw usage(`The input ${name} is of type ${field.type}: its value must be JSON, or @file.json.`);
}

/** JSON from `@file`, from standard input (`-`), or as it is written. */
export function readDocument(text: string, what: string): Json {
  const isNamed = text === "-" || text.startsWith("@");
  const source = isNamed ? readNamed(text === "-" ? text : text.slice(1), MAX_TEXT_BYTES) : text;
  const parsed = parseGivenJson(source);
  if (!parsed.ok) throw usage(`${what} ${parsed.isJson ? "cannot be taken" : "is no JSON"}: ${parsed.message}.`);
  return parsed.value;
}

export function readDurationOption(text: string, option: string): number {
  const parsed = parseDuration(text);
  if (!parsed.ok || parsed.ms < 1) throw usage(`${option}: ${parsed.ok ? "at least 1ms" : parsed.message}.`);
  return parsed.ms;
}

/** A choice for an agent that the workflow does not have would be ignored: it is refused. */
export function checkAgentChoices(plan: Plan | null, chosen: { readonly [name: string]: string }): void {
  if (plan === null) return;
  const names = new Set<string>();
  for (const step of allSteps(plan)) if (step.kind === "agent") names.add(step.agent);
  for (const name of Object.keys(chosen)) {
    if (names.has(name)) continue;
    const has = names.size === 0 ? "It has no agent step." : `It has: ${[...names].sort().join(", ")}.`;
    throw usage(
      `--agent: no step of ${plan.name} uses an agent ${JSON.stringify(name)}. ${didYouMean(name, names)} ${has}`.replace(
        "  ",
        " ",
      ),
    );
  }
}

export function readAgentChoices(pairs: readonly string[]): { [name: string]: string } {
  const chosen = emptyObject<string>();
  for (const pair of pairs) {
    const equals = pair.indexOf("=");
    if (equals < 1) throw usage(`--agent is written NAME=ID, not ${JSON.stringify(pair)}.`);
    chosen[pair.slice(0, equals)] = pair.slice(equals + 1);
  }
  return chosen;
}
