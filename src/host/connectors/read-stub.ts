import { isAbsolute, resolve } from "node:path";
import { isObject, type Json, type JsonObject } from "../../base/json.ts";
import { isRegistered } from "../../errors/codes.ts";
import type { Diagnostic } from "../../errors/diagnostic.ts";
import { itemPath, keyPath } from "../../text/path.ts";
import { clip, Reader } from "../../text/reader.ts";
import { type MapEntry, type SourceText, type TreeNode, toJson } from "../../text/tree.ts";
import { compileTemplate, type Template } from "./template.ts";

/** `tools.yaml`: scripted answers (interfaces.md 9). */
export interface StubScript {
  /** Absolute path of the call log. */
  log: string | null;
  /** By the action's full name. */
  actions: ReadonlyMap<string, readonly StubEntry[]>;
  /** By connector. */
  offers: ReadonlyMap<string, StubOffer>;
}

export interface StubEntry {
  /** Part of the arguments; null fits any. */
  when: JsonObject | null;
  /** How often the entry (or its `kill`) may be used; null is always. */
  times: number | null;
  /** Milliseconds before the effect. */
  delay: number;
  kill: "before" | "after" | null;
  answer: StubAnswer;
}

export type StubAnswer =
  | { is: "return"; value: Template }
  | { is: "fail"; code: string; message: Template; details: Template | null; retryAfter: number | null }
  | { is: "ambiguous"; code: string; done: boolean }
  | { is: "raw"; text: string }
  | { is: "hang"; late: null | { ignoreSignal: number; value: Template } };

export type StubOffer =
  | { is: "listed"; actions: readonly string[] }
  | { is: "dropping"; after: number; drop: readonly string[] }
  | { is: "unreachable" };

const ANSWERS = ["return", "fail", "ambiguous", "raw", "hang"] as const;
const ENTRY_KEYS = ["when", "times", "delay", "kill", "done", ...ANSWERS] as const;
const MAX_ENTRIES = 10_000;
const ACTION = /^[A-Za-z_][A-Za-z0-9_-]*\.[A-Za-z_][A-Za-z0-9_-]*$/;

const EMPTY_STUB: StubScript = { log: null, actions: new Map(), offers: new Map() };

/**
 * Reads a stub file, or a part of one, e.g. `tools` of a test; `path` says where it stands. Paths in it start from
 * `folder`. Findings are `deployment.invalid`.
 */
export function readStubNode(
  source: SourceText,
  node: TreeNode,
  folder: string,
  path = "",
): { script: StubScript; diagnostics: Diagnostic[] } {
  const code = "deployment.invalid";
  const reader = new Reader(source, { unknownKey: code, missingKey: code, wrongType: code, badValue: code });
  const script = new StubReader(reader, folder).read(node, path);
  return { script, diagnostics: reader.diagnostics };
}

class StubReader {
  readonly #reader: Reader;
  readonly #folder: string;

  constructor(reader: Reader, folder: string) {
    this.#reader = reader;
    this.#folder = folder;
  }

  read(node: TreeNode, base: string): StubScript {
    const reader = this.#reader;
    const keys = reader.closed(node, base, "the stub file", ["log", "actions", "offers"]);
    if (!keys) return EMPTY_STUB;
    const logEntry = keys.get("log");
    const log = logEntry ? reader.text(logEntry.value, keyPath(base, "log"), "log") : null;
    const actions = new Map<string, StubEntry[]>();
    const actionsEntry = keys.get("actions");
    const actionsPath = keyPath(base, "actions");
    for (const entry of actionsEntry ? (reader.open(actionsEntry.value, actionsPath, "the actions") ?? []) : []) {
      const path = keyPath(actionsPath, entry.key);
      if (!ACTION.test(entry.key)) {
        this.#bad(keySpan(entry), path, `"${clip(entry.key)}" is no action name.`, "Write connector.action.");
      }
      actions.set(entry.key, this.#entries(entry, path));
    }
    const offers = new Map<string, StubOffer>();
    const offersEntry = keys.get("offers");
    const offersPath = keyPath(base, "offers");
    for (const entry of offersEntry ? (reader.open(offersEntry.value, offersPath, "the offers") ?? []) : []) {
      const offer = this.#offer(entry.value, keyPath(offersPath, entry.key));
      if (offer) offers.set(entry.key, offer);
    }
    return { log: log === null ? null : isAbsolute(log) ? log : resolve(this.#folder, log), actions, offers };
  }

  #entries(entry: MapEntry, path: string): StubEntry[] {
    const reader = this.#reader;
    const items = reader.list(entry.value, path, "the answers") ?? [];
    if (items.length > MAX_ENTRIES) {
      this.#bad(entry.value, path, `At most ${MAX_ENTRIES} answers.`);
      return [];
    }
    return items.flatMap((item, i) => this.#entry(item, itemPath(path, i), entry.key.split(".")[0] ?? "") ?? []);
  }

  #entry(node: TreeNode, path: string, connector: string): StubEntry | null {
    const reader = this.#reader;
    const keys = reader.closed(node, path, "the answer", ENTRY_KEYS);
    if (!keys) return null;
    const given = ANSWERS.filter((key) => keys.has(key));
    const lateReturn = given.length === 2 && given[0] === "return" && given[1] === "hang";
    if (given.length !== 1 && !lateReturn) {
      this.#bad(headOf(node), path, "An answer says exactly one of return, fail, ambiguous, raw and hang.");
      return null;
    }
    const answer = this.#answer(keys, path, connector);
    const when = keys.get("when");
    const times = keys.get("times");
    const delay = keys.get("delay");
    const kill = keys.get("kill");
    return (
      answer && {
        when: when ? this.#map(when.value, keyPath(path, "when"), "when") : null,
        times: times ? reader.integer(times.value, keyPath(path, "times"), "times", { min: 1 }) : null,
        delay: (delay && reader.duration(delay.value, keyPath(path, "delay"), "the delay")) ?? 0,
        kill: kill ? reader.oneOf(kill.value, keyPath(path, "kill"), "kill", ["before", "after"] as const) : null,
        answer,
      }
    );
  }

  #answer(keys: Map<string, MapEntry>, path: string, connector: string): StubAnswer | null {
    const reader = this.#reader;
    const done = keys.get("done");
    if (done && !keys.has("ambiguous")) this.#bad(keySpan(done), keyPath(path, "done"), "done goes with ambiguous.");
    const hang = keys.get("hang");
    const returned = keys.get("return");
    if (hang) return this.#hang(hang, returned, path);
    if (returned) {
      const value = this.#template(returned.value, keyPath(path, "return"));
      return value && { is: "return", value };
    }
    const fail = keys.get("fail");
    if (fail) return this.#fail(fail, keyPath(path, "fail"), connector);
    const ambiguous = keys.get("ambiguous");
    if (ambiguous) {
      const code = reader.text(ambiguous.value, keyPath(path, "ambiguous"), "the ambiguity code");
      const happened = done ? reader.boolean(done.value, keyPath(path, "done"), "done") : false;
      return code === null ? null : { is: "ambiguous", code, done: happened === true };
    }
    const raw = keys.get("raw");
    const text = raw ? reader.text(raw.value, keyPath(path, "raw"), "raw") : null;
    return text === null ? null : { is: "raw", text };
  }

  #hang(hang: MapEntry, returned: MapEntry | undefined, path: string): StubAnswer | null {
    const reader = this.#reader;
    const at = keyPath(path, "hang");
    if (hang.value.kind !== "map") {
      const set = reader.boolean(hang.value, at, "hang");
      if (set === false) this.#bad(hang.value, at, "hang is true, or { ignore_signal: 500ms } with return.");
      if (returned) this.#bad(keySpan(returned), path, "return goes with hang: { ignore_signal: ... } only.");
      return { is: "hang", late: null };
    }
    const keys = reader.closed(hang.value, at, "hang", ["ignore_signal"], ["ignore_signal"]);
    const late = keys?.get("ignore_signal");
    const ignoreSignal = late && reader.duration(late.value, keyPath(at, "ignore_signal"), "ignore_signal");
    const value = returned ? this.#template(returned.value, keyPath(path, "return")) : LITERAL_NULL;
    return typeof ignoreSignal === "number" && value ? { is: "hang", late: { ignoreSignal, value } } : null;
  }

  #fail(fail: MapEntry, path: string, connector: string): StubAnswer | null {
    const reader = this.#reader;
    const keys = reader.closed(fail.value, path, "fail", ["code", "message", "retry_after", "details"], ["code"]);
    const code = keys?.get("code");
    const text = code && reader.text(code.value, keyPath(path, "code"), "the code");
    if (!keys || typeof text !== "string") return null;
    const message = keys.get("message");
    const details = keys.get("details");
    const retryAfter = keys.get("retry_after");
    const said = message && reader.text(message.value, keyPath(path, "message"), "the message");
    return {
      is: "fail",
      code: fullCode(text, connector),
      message: (message && said !== null && this.#template(message.value, keyPath(path, "message"))) || scripted(text),
      details: details ? this.#template(details.value, keyPath(path, "details")) : null,
      retryAfter:
        (retryAfter && reader.duration(retryAfter.value, keyPath(path, "retry_after"), "retry_after")) ?? null,
    };
  }

  #offer(node: TreeNode, path: string): StubOffer | null {
    const reader = this.#reader;
    if (node.kind === "list") return { is: "listed", actions: this.#names(node, path) };
    if (node.kind === "map") {
      const keys = reader.closed(node, path, "the offer", ["after", "drop"], ["after", "drop"]);
      const after = keys?.get("after");
      const drop = keys?.get("drop");
      if (!after || !drop) return null;
      const calls = reader.integer(after.value, keyPath(path, "after"), "after", { min: 0 });
      return { is: "dropping", after: calls ?? 0, drop: this.#names(drop.value, keyPath(path, "drop")) };
    }
    return reader.oneOf(node, path, "the offer", ["unreachable"] as const) === null ? null : { is: "unreachable" };
  }

  #names(node: TreeNode, path: string): string[] {
    const items = this.#reader.list(node, path, "the action names") ?? [];
    return items.flatMap((item, i) => this.#reader.text(item, itemPath(path, i), "an action name") ?? []);
  }

  #map(node: TreeNode, path: string, what: string): JsonObject | null {
    if (node.kind !== "map") return this.#reader.wrong(node, path, what, "a map");
    return toJson(node) as JsonObject;
  }

  #template(node: TreeNode, path: string): Template | null {
    const made = compileTemplate(toJson(node));
    if (made.ok) return made.template;
    this.#bad(headOf(node), path, `A template cannot be read: ${made.message}`);
    return null;
  }

  #bad(at: { start: number; end: number }, path: string, message: string, help = ""): void {
    this.#reader.report("deployment.invalid", at, path, message, help);
  }
}

const LITERAL_NULL: Template = { render: () => ({ ok: true, value: null }) };

function scripted(code: string): Template {
  return { render: () => ({ ok: true, value: `scripted failure ${code}` }) };
}

function keySpan(entry: MapEntry): { start: number; end: number } {
  return { start: entry.keyStart, end: entry.keyEnd };
}

function headOf(node: TreeNode): { start: number; end: number } {
  return node.kind === "scalar" ? node : { start: node.start, end: Math.min(node.start + 1, node.end) };
}

/** Whether `part` is found in `whole`: maps by the keys they give, lists in full, all else equal. */
export function isPartOf(part: Json, whole: Json | undefined): boolean {
  if (whole === undefined) return false;
  if (isObject(part)) {
    return (
      isObject(whole) &&
      Object.keys(part).every((key) => Object.hasOwn(whole, key) && isPartOf(part[key] as Json, whole[key] as Json))
    );
  }
  if (Array.isArray(part)) {
    return (
      Array.isArray(whole) && part.length === whole.length && part.every((item, i) => isPartOf(item, whole[i] as Json))
    );
  }
  return part === whole;
}

/** Codes as in manifests: a short registered one is `action.*`, another short one the connector's own. */
function fullCode(code: string, connector: string): string {
  if (code.includes(".")) return code;
  return isRegistered(`action.${code}`) ? `action.${code}` : `${connector}.${code}`;
}
