import { clip } from "../../text/reader.ts";
import type { MapEntry, TreeNode } from "../../text/tree.ts";
import { MAX_ID, NAME, RESERVED_IDS, SUBJECT_KEYS } from "./tables.ts";
import type { WorkfileReader } from "./workfile-reader.ts";

/** The one entry of an element of a step list; null, and reported, if it is no such thing. */
export function stepEntry(r: WorkfileReader, item: TreeNode, path: string): MapEntry | null {
  if (item.kind !== "map")
    return r.wrong(item, path, "a step", "a map of one key, its id", "Write: - my_step: { connector.action: { ... } }");
  const [first, second] = item.entries;
  if (first === undefined) return r.wrong(item, path, "a step", "a map of one key, its id", "It is empty.");
  if (second === undefined) return first;
  const flat = first.value.kind === "scalar" && first.value.value === null;
  const noId = isSubjectKey(first.key);
  const help = flat
    ? `Indent the lines below "${clip(first.key)}:" further than it, so that they belong to the step.`
    : noId
      ? `Give the step an id and put these keys below it: - my_step: { ${clip(first.key)}: ... }`
      : "Begin each step with a dash of its own, and indent what belongs to it.";
  const at = { start: second.keyStart, end: second.keyEnd };
  const message = `A step is a map of one key, its id, and here is a second one: "${clip(second.key)}".`;
  r.report("workfile.wrong_type", at, path, message, help);
  return flat && NAME.test(first.key) ? { ...first, value: { ...item, entries: item.entries.slice(1) } } : null;
}

export function isSubjectKey(key: string): boolean {
  return SUBJECT_KEYS.has(key) || key.includes(".");
}

/** Grammar, uniqueness and reserved names of an id; `taken` gets it. Whether it can be bound at all. */
export function checkId(r: WorkfileReader, entry: MapEntry, path: string, taken: Map<string, MapEntry>): boolean {
  const at = { start: entry.keyStart, end: entry.keyEnd };
  const { key } = entry;
  const before = taken.get(key);
  if (before !== undefined) {
    const line = r.span({ start: before.keyStart, end: before.keyEnd }).line;
    const message = `The id "${clip(key)}" stands twice in this list.`;
    r.report(
      "workfile.duplicate_id",
      at,
      path,
      message,
      `The first one is in line ${line}. Call one of them differently.`,
    );
    return true;
  }
  taken.set(key, entry);
  return checkName(r, key, at, path, "a step");
}

/** Whether a name can be bound: grammar, length, not reserved. */
export function checkName(
  r: WorkfileReader,
  name: string,
  at: { start: number; end: number },
  path: string,
  what: string,
): boolean {
  if (!NAME.test(name) || name.length > MAX_ID) {
    const help = isSubjectKey(name)
      ? "A step begins with its id; what it does stands below: - my_step: { connector.action: { ... } }"
      : `A name has letters, digits, "_" and "-", at most ${MAX_ID}, and begins with a letter or "_".`;
    r.report("workfile.bad_value", at, path, `"${clip(name)}" cannot be the name of ${what}.`, help);
    return false;
  }
  if ((RESERVED_IDS as readonly string[]).includes(name)) {
    const message = `"${name}" is reserved: expressions read something else by this name.`;
    r.report("workfile.reserved_id", at, path, message, `Reserved: ${RESERVED_IDS.join(", ")}. Try "${name}_".`);
    return false;
  }
  return true;
}
