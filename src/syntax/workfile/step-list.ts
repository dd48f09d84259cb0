import type { Shape } from "../../expression/shape.ts";
import { ANY } from "../../expression/shape.ts";
import type { Step } from "../../plan/step.ts";
import { itemPath, keyPath } from "../../text/path.ts";
import type { MapEntry, TreeNode } from "../../text/tree.ts";
import { checkId, isSubjectKey, stepEntry } from "./ids.ts";
import type { Names } from "./names.ts";
import { NULL } from "./shapes.ts";
import { readStep } from "./step.ts";
import type { ListPlace, StepList, WorkfileReader } from "./workfile-reader.ts";

/** An ordered list of single-key maps `id: body`, in a scope of its own. */
export function readStepList(
  r: WorkfileReader,
  node: TreeNode,
  path: string,
  what: string,
  outer: Names,
  place: ListPlace = {},
): StepList {
  const items = r.list(node, path, what) ?? [];
  const later = new Set(
    items.flatMap((item) => (item.kind === "map" ? item.entries.slice(0, 1).map((entry) => entry.key) : [])),
  );
  const hints = place.handlerOf === undefined ? { later } : { later, handlerOf: place.handlerOf };
  const names = outer.child(place.own ?? {}, hints);
  const taken = new Map<string, MapEntry>();
  const steps: Step[] = [];
  let last: Shape = NULL;
  for (const [i, item] of items.entries()) {
    const entry = stepEntry(r, item, itemPath(path, i));
    if (entry === null) continue;
    const at = keyPath(itemPath(path, i), entry.key);
    const bindable = checkId(r, entry, at, taken);
    // An action where the id belongs, reported as such: its arguments are no body. (`agent` is a name like any other.)
    if (isSubjectKey(entry.key) && !bindable) continue;
    names.read(entry.key);
    const read = readStep(r, entry, at, names);
    names.read("");
    if (bindable) names.bind(entry.key, read?.shape ?? ANY);
    last = read?.shape ?? ANY;
    if (read !== null) steps.push(read.step);
  }
  for (const id of taken.keys()) if (place.holder !== undefined) r.inner.set(id, place.holder);
  return { steps, names, last };
}
