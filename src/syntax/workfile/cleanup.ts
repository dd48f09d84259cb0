import type { Cleanup } from "../../plan/step.ts";
import { itemPath, keyPath } from "../../text/path.ts";
import type { MapEntry, MapNode, TreeNode } from "../../text/tree.ts";
import { checkId, stepEntry } from "./ids.ts";
import type { Names } from "./names.ts";
import { ERROR, nullable } from "./shapes.ts";
import { CLEANUP_KEYS, CLEANUP_MOMENTS } from "./tables.ts";
import type { WorkfileReader } from "./workfile-reader.ts";

/**
 * `cleanup` of a step or of the file: plain steps, which are `always`, and entries `{ on, steps }`. Plain steps in a
 * row are one entry, so that they run in their order. Ids are unique in the whole of it.
 */
export function readCleanup(r: WorkfileReader, node: TreeNode, path: string, names: Names, holder?: string): Cleanup[] {
  const items = r.list(node, path, "cleanup") ?? [];
  const entries: Cleanup[] = [];
  const taken = new Map<string, MapEntry>();
  const place = holder === undefined ? {} : { holder };
  let plain: { cleanup: Cleanup; names: Names } | null = null;
  for (const [i, item] of items.entries()) {
    const at = itemPath(path, i);
    if (item.kind === "map" && item.entries.some((entry) => (CLEANUP_KEYS as readonly string[]).includes(entry.key))) {
      plain = null;
      const keys = r.closed(item, at, "an entry of cleanup", CLEANUP_KEYS, CLEANUP_KEYS);
      const onNode = keys?.get("on")?.value;
      const stepsNode = keys?.get("steps")?.value;
      const on = onNode ? r.oneOf(onNode, keyPath(at, "on"), '"on"', CLEANUP_MOMENTS) : null;
      if (!stepsNode) continue;
      // Of a list that ended well there is no failure to read.
      const error = on === "failure" ? ERROR : nullable(ERROR);
      const own = { ...place, own: { error } };
      const { steps } = r.steps(stepsNode, keyPath(at, "steps"), "the steps of cleanup", names, own);
      if (stepsNode.kind === "list") checkSharedIds(r, stepsNode.items, keyPath(at, "steps"), taken);
      if (on !== null) entries.push({ on, steps });
      continue;
    }
    const entry = stepEntry(r, item, at);
    if (entry === null) continue;
    if (plain === null) {
      plain = { cleanup: { on: "always", steps: [] }, names: names.child({ error: nullable(ERROR) }) };
      entries.push(plain.cleanup);
    }
    const stepPath = keyPath(at, entry.key);
    checkId(r, entry, stepPath, taken);
    const read = r.step(entry, stepPath, plain.names);
    if (read === null) continue;
    plain.names.bind(entry.key, read.shape);
    plain.cleanup.steps.push(read.step);
  }
  return entries;
}

/** Within its own list an id was checked; here only against the other entries. */
function checkSharedIds(
  r: WorkfileReader,
  items: readonly TreeNode[],
  path: string,
  taken: Map<string, MapEntry>,
): void {
  const own = new Map<string, MapEntry>();
  for (const [i, item] of items.entries()) {
    const entry = (item as MapNode).entries?.[0];
    if (entry === undefined || own.has(entry.key)) continue;
    own.set(entry.key, entry);
    const before = taken.get(entry.key);
    if (before === undefined) continue;
    const line = r.span({ start: before.keyStart, end: before.keyEnd }).line;
    r.report(
      "workfile.duplicate_id",
      { start: entry.keyStart, end: entry.keyEnd },
      keyPath(itemPath(path, i), entry.key),
      `The id "${entry.key}" stands twice in this cleanup.`,
      `The first one is in line ${line}. Call one of them differently.`,
    );
  }
  for (const [id, entry] of own) taken.set(id, entry);
}
