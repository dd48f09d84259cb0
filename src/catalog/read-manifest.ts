import { MAX_BACKOFF_MS } from "../base/duration.ts";
import { isObject, type Json, type JsonObject } from "../base/json.ts";
import type { Diagnostic } from "../errors/diagnostic.ts";
import { hasErrors } from "../errors/diagnostic.ts";
import { setOwn } from "../plan/marked.ts";
import { keyPath } from "../text/path.ts";
import { clip, Reader } from "../text/reader.ts";
import { type MapEntry, type SourceText, type TreeNode, toJson } from "../text/tree.ts";
import {
  type ActionManifest,
  EFFECTS,
  type Effects,
  type Idempotency,
  type JsonSchema,
  type Manifest,
} from "./manifest.ts";
import { connectorNameProblem, fullFailureCode, isFailureCode, isPlainName } from "./names.ts";
import { sayProblems } from "./value-problem.ts";
import { compileSchema } from "./value-schema.ts";

export const MANIFEST_KEYS = ["connector", "version", "protocol", "actions"] as const;
export const ACTION_KEYS = [
  "description",
  "input",
  "output",
  "effects",
  "idempotency",
  "retry",
  "timeout",
  "dry_run",
  "scopes",
  "requires",
  "ambiguous",
  "tool",
  "pin",
] as const;

const MAX_ACTIONS = 1_000;
export const MAX_ATTEMPTS = 20;
export const DEFAULT_ACTION_TIMEOUT_MS = 60_000;
const DEFAULT_BACKOFF_MS = 200;
const DEFAULT_RETRY_ON = ["action.unavailable", "action.rate_limited"];
const PIN = /^sha256:[0-9a-f]{64}$/;

export interface ManifestPlace {
  /** The name the deployment gives the connector: the manifest must be written for it. */
  connector?: string;
  /** Where the manifest stands in its file (`connectors.crm.manifest`), for inline ones. */
  path?: string;
}

/**
 * Reads a manifest. The keys are closed, schemas must compile, a dry run's answer must fit the output. What is
 * not written: `output` any value, `idempotency: none`, no retry, `timeout: 60s`, `dry_run: execute` for
 * effects none and read, else `suppress`. Findings are `catalog.invalid_manifest`; with an error among them
 * there is no manifest.
 */
export function readManifest(
  source: SourceText,
  node: TreeNode,
  place: ManifestPlace = {},
): { manifest: Manifest | null; diagnostics: Diagnostic[] } {
  const code = "catalog.invalid_manifest";
  const reader = new Reader(source, { unknownKey: code, missingKey: code, wrongType: code, badValue: code });
  const manifest = new ManifestReader(reader).read(node, place);
  const failed = manifest === null || hasErrors(reader.diagnostics);
  return { manifest: failed ? null : manifest, diagnostics: reader.diagnostics };
}

class ManifestReader {
  readonly #reader: Reader;

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  read(node: TreeNode, place: ManifestPlace): Manifest | null {
    const reader = this.#reader;
    const base = place.path ?? "";
    const keys = reader.closed(node, base, "the manifest", MANIFEST_KEYS, ["connector", "version", "actions"]);
    if (!keys) return null;
    const connector = this.#connector(keys.get("connector"), base, place.connector);
    const version = this.#text(keys.get("version"), base, "the version");
    const protocol = this.#text(keys.get("protocol"), base, "the protocol version");
    const actionsEntry = keys.get("actions");
    if (connector === null || !actionsEntry) return null;
    const actions = this.#actions(actionsEntry, keyPath(base, "actions"), connector);
    return { connector, version: version ?? "", ...(protocol === null ? {} : { protocol }), actions };
  }

  #connector(entry: MapEntry | undefined, base: string, wanted: string | undefined): string | null {
    if (!entry) return null;
    const path = keyPath(base, "connector");
    const name = this.#reader.text(entry.value, path, "the connector name");
    if (name === null) return null;
    const problem = connectorNameProblem(name);
    if (problem !== null) {
      this.#bad(entry.value, path, `The connector name "${clip(name)}" cannot be used.`, `${upper(problem)}.`);
      return null;
    }
    if (wanted !== undefined && name !== wanted) {
      this.#bad(
        entry.value,
        path,
        `The manifest is written for the connector "${clip(name)}", the deployment calls it "${clip(wanted)}".`,
        "Use one name in both places: it is the first half of every action's name.",
      );
    }
    return name;
  }

  #actions(entry: MapEntry, path: string, connector: string): { [name: string]: ActionManifest } {
    const actions: { [name: string]: ActionManifest } = {};
    const entries = this.#reader.open(entry.value, path, "the actions") ?? [];
    if (entries.length > MAX_ACTIONS) {
      this.#bad(entry.value, path, `A manifest has at most ${MAX_ACTIONS} actions, this one has ${entries.length}.`);
      return actions;
    }
    for (const item of entries) {
      const at = keyPath(path, item.key);
      if (!isPlainName(item.key)) {
        this.#bad(
          { start: item.keyStart, end: item.keyEnd },
          at,
          `The action name "${clip(item.key)}" cannot be used.`,
          "An action name is letters, digits, _ and -, not beginning with a digit, at most 64.",
        );
        continue;
      }
      const action = this.#action(item, at, connector);
      if (action) setOwn(actions, item.key, action);
    }
    return actions;
  }

  #action(entry: MapEntry, path: string, connector: string): ActionManifest | null {
    const reader = this.#reader;
    const name = `${connector}.${entry.key}`;
    const keys = reader.closed(entry.value, path, `the action ${entry.key}`, ACTION_KEYS, ["input", "effects"]);
    if (!keys) return null;
    const input = this.#schema(keys.get("input"), keyPath(path, "input"), "the input schema", true);
    const output = this.#schema(keys.get("output"), keyPath(path, "output"), "the output schema", false);
    const effectsEntry = keys.get("effects");
    const effects: Effects =
      (effectsEntry && reader.oneOf(effectsEntry.value, keyPath(path, "effects"), "effects", EFFECTS)) ?? "write";
    const timeoutEntry = keys.get("timeout");
    const timeout =
      timeoutEntry && reader.duration(timeoutEntry.value, keyPath(path, "timeout"), "the timeout", { min: 1 });
    const tool = this.#text(keys.get("tool"), path, "the tool name");
    const pin = this.#pin(keys.get("pin"), keyPath(path, "pin"));
    return {
      name,
      description: this.#text(keys.get("description"), path, "the description", true) ?? "",
      input,
      output,
      effects,
      idempotency: this.#idempotency(keys.get("idempotency"), keyPath(path, "idempotency"), input),
      retry: this.#retry(keys.get("retry"), keyPath(path, "retry"), connector),
      timeout: timeout ?? DEFAULT_ACTION_TIMEOUT_MS,
      dryRun: this.#dryRun(keys.get("dry_run"), keyPath(path, "dry_run"), effects, output),
      scopes: this.#texts(keys.get("scopes"), keyPath(path, "scopes"), "scopes"),
      requires: this.#texts(keys.get("requires"), keyPath(path, "requires"), "requires"),
      ambiguous: this.#codes(keys.get("ambiguous"), keyPath(path, "ambiguous"), "ambiguous", connector),
      ...(tool === null ? {} : { tool }),
      ...(pin === null ? {} : { pin }),
    };
  }

  #schema(entry: MapEntry | undefined, path: string, what: string, isInput: boolean): JsonSchema {
    if (!entry) return {};
    const node = entry.value;
    if (node.kind !== "map") {
      this.#reader.wrong(node, path, what, "a JSON Schema (a map)");
      return {};
    }
    const schema = toJson(node) as JsonObject;
    const compiled = compileSchema(schema);
    if ("error" in compiled) {
      this.#bad(node, path, `${upper(what)} is no usable JSON Schema: ${compiled.error}.`);
      return {};
    }
    const type = schema["type"];
    if (isInput && type !== undefined && type !== "object") {
      this.#bad(
        node,
        path,
        "The input schema must describe an object, since arguments have names.",
        "Write type: object.",
      );
    }
    return schema;
  }

  #idempotency(entry: MapEntry | undefined, path: string, input: JsonSchema): Idempotency {
    if (!entry) return { kind: "none" };
    const node = entry.value;
    if (node.kind !== "map") {
      const kind = this.#reader.oneOf(node, path, "idempotency", ["none", "natural"] as const);
      return { kind: kind ?? "none" };
    }
    const keyed = this.#reader.closed(node, path, "idempotency", ["keyed"], ["keyed"])?.get("keyed");
    const field = keyed && this.#reader.text(keyed.value, keyPath(path, "keyed"), "the key's field");
    if (!keyed || field === undefined || field === null) return { kind: "none" };
    const properties = input["properties"];
    if (!isObject(properties) || !Object.hasOwn(properties, field)) {
      this.#bad(
        keyed.value,
        keyPath(path, "keyed"),
        `The field "${clip(field)}" that takes the key is not among the input's properties.`,
        isObject(properties) ? `Properties: ${Object.keys(properties).slice(0, 20).join(", ")}.` : "",
      );
    }
    return { kind: "keyed", field };
  }

  #retry(entry: MapEntry | undefined, path: string, connector: string): ActionManifest["retry"] {
    const none = { attempts: 1, backoff: 0, on: [] };
    if (!entry) return none;
    const reader = this.#reader;
    const keys = reader.closed(entry.value, path, "retry", ["attempts", "backoff", "on"], ["attempts"]);
    if (!keys) return none;
    const attempts = keys.get("attempts");
    const backoff = keys.get("backoff");
    const on = keys.get("on");
    const bounds = { min: 1, max: MAX_ATTEMPTS };
    return {
      attempts: (attempts && reader.integer(attempts.value, keyPath(path, "attempts"), "attempts", bounds)) ?? 1,
      backoff:
        (backoff && reader.duration(backoff.value, keyPath(path, "backoff"), "backoff", { max: MAX_BACKOFF_MS })) ??
        DEFAULT_BACKOFF_MS,
      on: on ? this.#codes(on, keyPath(path, "on"), "on", connector) : [...DEFAULT_RETRY_ON],
    };
  }

  #dryRun(entry: MapEntry | undefined, path: string, effects: Effects, output: JsonSchema): ActionManifest["dryRun"] {
    if (!entry) return { kind: effects === "none" || effects === "read" ? "execute" : "suppress" };
    const node = entry.value;
    if (node.kind !== "map") {
      return { kind: this.#reader.oneOf(node, path, "dry_run", ["execute", "suppress"] as const) ?? "suppress" };
    }
    const simulate = this.#reader.closed(node, path, "dry_run", ["simulate"], ["simulate"])?.get("simulate");
    if (!simulate) return { kind: "suppress" };
    const answer: Json = toJson(simulate.value);
    const compiled = compileSchema(output);
    const problems = "error" in compiled ? [] : compiled.check(answer);
    if (problems.length > 0) {
      this.#bad(
        simulate.value,
        keyPath(path, "simulate"),
        `The simulated answer does not fit the output schema: ${sayProblems(problems)}.`,
      );
    }
    return { kind: "simulate", output: answer };
  }

  #codes(entry: MapEntry | undefined, path: string, what: string, connector: string): string[] {
    const codes: string[] = [];
    if (!entry) return codes;
    for (const [i, item] of (this.#reader.list(entry.value, path, what) ?? []).entries()) {
      const code = this.#reader.text(item, `${path}[${i}]`, "a failure code");
      if (code === null) continue;
      const full = fullFailureCode(code, connector);
      if (isFailureCode(full)) codes.push(full);
      else
        this.#bad(item, `${path}[${i}]`, `"${clip(code)}" is no failure code.`, "Write unavailable, or family.name.");
    }
    return codes;
  }

  #texts(entry: MapEntry | undefined, path: string, what: string): string[] {
    if (!entry) return [];
    const items = this.#reader.list(entry.value, path, what) ?? [];
    return items.flatMap((item, i) => this.#reader.text(item, `${path}[${i}]`, `each of ${what}`) ?? []);
  }

  #pin(entry: MapEntry | undefined, path: string): string | null {
    const pin = entry ? this.#reader.text(entry.value, path, "the pin") : null;
    if (entry && pin !== null && !PIN.test(pin)) {
      this.#bad(
        entry.value,
        path,
        "A pin is sha256: and 64 lowercase hex digits.",
        "ambit connectors import writes it.",
      );
    }
    return pin;
  }

  #text(entry: MapEntry | undefined, base: string, what: string, mayBeEmpty = false): string | null {
    if (!entry) return null;
    const path = keyPath(base, entry.key);
    const text = this.#reader.text(entry.value, path, what);
    if (text === "" && !mayBeEmpty) this.#bad(entry.value, path, `${upper(what)} must not be empty.`);
    return text;
  }

  #bad(at: { start: number; end: number }, path: string, message: string, help = ""): void {
    this.#reader.report("catalog.invalid_manifest", at, path, message, help);
  }
}

function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
