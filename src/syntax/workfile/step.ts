import { didYouMean } from "../../base/nearest.ts";
import type { Common, Step } from "../../plan/step.ts";
import { keyPath } from "../../text/path.ts";
import { clip, standsMisspelt } from "../../text/reader.ts";
import type { MapEntry } from "../../text/tree.ts";
import { readModifiers } from "./modifiers.ts";
import type { Names } from "./names.ts";
import { joined, nullable } from "./shapes.ts";
import { readSubject } from "./subjects/subject.ts";
import { MODIFIER_HINTS, MODIFIERS, SUBJECT_KEYS, SUBJECT_TABLE, type Subject } from "./tables.ts";
import type { ReadStep, WorkfileReader } from "./workfile-reader.ts";

/** Everything a subject's reader needs. */
export interface Body {
  id: string;
  subject: Subject;
  /** The subject key as written, and what stands behind it. */
  head: MapEntry;
  headPath: string;
  /** Configuration and modifiers by key. */
  keys: ReadonlyMap<string, MapEntry>;
  path: string;
  /** What the step itself may read: not its own value. */
  names: Names;
}

/** One step: `id: { subject, configuration, modifiers }`. Null if it is too broken to be one. */
export function readStep(r: WorkfileReader, entry: MapEntry, path: string, names: Names): ReadStep | null {
  const { result, reads } = r.collectReads(() => readParts(r, entry, path, names));
  if (result === null) return null;
  r.places.add(entry, path);
  const common: Common = {
    id: entry.key,
    span: r.span({ start: entry.keyStart, end: entry.keyEnd }),
    reads,
    writes: [entry.key],
    ...result.common,
  };
  return { step: { ...common, ...result.own } as Step, shape: result.shape };
}

function readParts(r: WorkfileReader, entry: MapEntry, path: string, names: Names) {
  const body = readBody(r, entry, path, names);
  if (body === null) return null;
  const own = readSubject(r, body);
  const modifiers = readModifiers(r, body, own?.shape ?? null);
  if (own === null) return null;
  const { valueShapes, ...common } = modifiers;
  let { shape } = own;
  if (common.catch.length > 0) shape = joined([shape, ...valueShapes]);
  return { own: own.step, common, shape: common.guard === undefined ? shape : nullable(shape) };
}

function readBody(r: WorkfileReader, entry: MapEntry, path: string, names: Names): Body | null {
  const what = `the step "${clip(entry.key)}"`;
  const node = entry.value;
  if (node.kind !== "map") {
    return r.wrong(
      node,
      path,
      what,
      "a map with what it does",
      "Write: { connector.action: { ... } } or { wf.agent: ... }",
    );
  }
  const heads = node.entries.filter((item) => SUBJECT_KEYS.has(item.key) || item.key.includes("."));
  const [head, ...others] = heads;
  if (head === undefined) {
    reportNoSubject(r, entry, node.entries, path, what);
    return null;
  }
  for (const other of others) {
    const message = `A step does one thing: ${what} has "${clip(head.key)}" and "${clip(other.key)}".`;
    r.report(
      "workfile.bad_value",
      { start: other.keyStart, end: other.keyEnd },
      keyPath(path, other.key),
      message,
      "Put the second one into a step of its own.",
    );
  }
  const subject = SUBJECT_KEYS.get(head.key) ?? (head.key.startsWith("wf.") ? null : "action");
  if (subject === null) {
    reportUnknownConstruct(r, head, path);
    return null;
  }
  if (others.length > 0) return null;
  const keys = bodyKeys(r, node.entries, head, subject, path, what);
  const row = SUBJECT_TABLE[subject];
  for (const key of row.required) {
    const entries = node.entries.filter((item) => item !== head);
    if (keys.has(key) || standsMisspelt(key, entries, [...row.config, ...row.modifiers])) continue;
    const at = { start: head.keyStart, end: head.keyEnd };
    r.report(
      "workfile.missing_key",
      at,
      path,
      `${row.title} needs the key "${key}".`,
      `Required here: ${row.required.join(", ")}.`,
    );
  }
  return { id: entry.key, subject, head, headPath: keyPath(path, head.key), keys, path, names };
}

function bodyKeys(
  r: WorkfileReader,
  entries: readonly MapEntry[],
  head: MapEntry,
  subject: Subject,
  path: string,
  what: string,
): Map<string, MapEntry> {
  const row = SUBJECT_TABLE[subject];
  const legal: readonly string[] = [...row.config, ...row.modifiers];
  const keys = new Map<string, MapEntry>();
  for (const item of entries) {
    if (item === head) continue;
    if (legal.includes(item.key)) {
      keys.set(item.key, item);
    } else if ((MODIFIERS as readonly string[]).includes(item.key)) {
      const at = { start: item.keyStart, end: item.keyEnd };
      const hint = MODIFIER_HINTS[`${subject}.${item.key}`] ?? `It goes with: ${holders(item.key)}.`;
      r.report(
        "workfile.unknown_key",
        at,
        keyPath(path, item.key),
        `"${item.key}" does not go with ${row.title}.`,
        hint,
      );
    } else {
      r.unknownKey(item, path, `${what} (${row.title})`, legal);
    }
  }
  return keys;
}

/** The subjects that take a modifier. */
function holders(modifier: string): string {
  const rows = Object.values(SUBJECT_TABLE).filter((row) => (row.modifiers as readonly string[]).includes(modifier));
  return rows.map((row) => row.title).join(", ");
}

function reportNoSubject(
  r: WorkfileReader,
  entry: MapEntry,
  entries: readonly MapEntry[],
  path: string,
  what: string,
): void {
  const all = [...SUBJECT_KEYS.keys()];
  const modifiers = MODIFIERS as readonly string[];
  let help = "";
  for (const item of entries) {
    if (modifiers.includes(item.key)) continue;
    const owner = Object.values(SUBJECT_TABLE).find((row) => row.config.includes(item.key));
    help = didYouMean(item.key, all);
    if (help !== "") break;
    if (owner !== undefined) {
      help = `The key "${item.key}" belongs to ${owner.title}.`;
      break;
    }
  }
  const rest = `It needs an action (connector.action) or one of: ${[...new Set(Object.values(SUBJECT_TABLE).flatMap((row) => row.keys.slice(0, 1)))].join(", ")}.`;
  r.report(
    "workfile.missing_key",
    { start: entry.keyStart, end: entry.keyEnd },
    path,
    `${what.charAt(0).toUpperCase()}${what.slice(1)} does not say what it does.`,
    help === "" ? rest : `${help} ${rest}`,
  );
}

function reportUnknownConstruct(r: WorkfileReader, head: MapEntry, path: string): void {
  const known = [...SUBJECT_KEYS.keys()].filter((key) => key.startsWith("wf."));
  const near = didYouMean(head.key, known);
  const list = `Constructs: ${known.join(", ")}.`;
  r.report(
    "workfile.unknown_key",
    { start: head.keyStart, end: head.keyEnd },
    keyPath(path, head.key),
    `There is no construct "${clip(head.key)}".`,
    near === "" ? list : `${near} ${list}`,
  );
}
