import { deepFreeze, type Json } from "../../base/json.ts";
import { type Diagnostic, hasErrors } from "../../errors/diagnostic.ts";
import { ANY, type ResultShapes } from "../../expression/shape.ts";
import type { Value } from "../../plan/expression.ts";
import type { Field } from "../../plan/field.ts";
import type { Limits, Plan } from "../../plan/plan.ts";
import { capDiagnostics } from "../../text/cap.ts";
import { keyPath } from "../../text/path.ts";
import { clip, kindOf, standsMisspelt } from "../../text/reader.ts";
import { type MapEntry, type SourceText, type TreeNode, toJson } from "../../text/tree.ts";
import { parseYaml } from "../../text/yaml.ts";
import { readCleanup } from "./cleanup.ts";
import { literalThroughout, readFields } from "./fields.ts";
import { Names } from "./names.ts";
import { otherFile } from "./other-file.ts";
import { ERROR, nullable, RUN, shapeOfFields, shapeOfJson } from "./shapes.ts";
import { readStep } from "./step.ts";
import { readStepList } from "./step-list.ts";
import { StepPlaces } from "./step-places.ts";
import { LIMIT_KEYS, NAME, OVERLAPS, TOP_KEYS, TOP_REQUIRED } from "./tables.ts";
import { readTriggers } from "./triggers.ts";
import { WorkfileReader } from "./workfile-reader.ts";

export interface ParsedWorkfile {
  /** Deep-frozen; null exactly if there are errors. Its callees are not loaded: see `calleeRefs`. */
  plan: Plan | null;
  diagnostics: Diagnostic[];
  /** Where the words of its steps stand. */
  places: StepPlaces;
}

/**
 * Parses and checks a Workfile (workfile.md 1 and 2) as far as the text alone allows, and lowers it to a Plan.
 * Never throws on a text. Errors: `yaml.*`, `workfile.*`, `expression.*`, all of them at once, in text order.
 */
export function parseWorkfile(source: SourceText, results?: ResultShapes): ParsedWorkfile {
  const { root, diagnostics } = parseYaml(source);
  if (root === null) return { plan: null, diagnostics, places: new StepPlaces(source) };
  const r = new WorkfileReader(source, { list: readStepList, step: readStep }, results);
  const plan = readDocument(r, root);
  const all = capDiagnostics([...diagnostics, ...r.diagnostics]);
  return { plan: plan === null || hasErrors(all) ? null : deepFreeze(plan), diagnostics: all, places: r.places };
}

function readDocument(r: WorkfileReader, root: TreeNode): Plan | null {
  if (root.kind !== "map") {
    const at = { start: root.start, end: Math.min(root.start + 1, root.end) };
    r.report("yaml.not_a_map", at, "", `A Workfile is a map, not ${kindOf(root)}.`, 'It begins with: workfile: "1"');
    return null;
  }
  const other = otherFile(root);
  if (other !== null) {
    const [first] = root.entries;
    const at = first ? { start: first.keyStart, end: first.keyEnd } : root;
    r.report("workfile.not_supported", at, "", `This is no Workfile: it is ${other.is}.`, other.help);
    return null;
  }
  const keys = r.closed(root, "", "a Workfile", TOP_KEYS, TOP_REQUIRED);
  if (keys === null) return null;
  readVersion(r, keys.get("workfile")?.value);
  const name = readName(r, keys.get("name")?.value);
  const description = keys.get("description");
  const about = description ? r.text(description.value, "description", "the description") : null;
  const inputsEntry = keys.get("inputs");
  const declared = inputsEntry ? readFields(r, inputsEntry.value, "inputs", "inputs", { ids: true }) : [];
  const inputs = declared ?? [];
  const areUnknown = declared === null || (!inputsEntry && standsMisspelt("inputs", root.entries, TOP_KEYS));
  const consts = readConsts(r, keys.get("consts")?.value);
  const limitsEntry = keys.get("limits");
  const limits = limitsEntry ? readLimits(r, limitsEntry.value) : {};

  const fixed = new Names(null, { consts: shapeOfJson(consts), settings: ANY });
  const triggers = readAllTriggers(r, keys, inputs, fixed);
  const started = fixed.child({ inputs: areUnknown ? ANY : shapeOfFields(inputs), trigger: ANY });
  const single = readSingle(r, keys, started);

  const stepsNode = keys.get("steps")?.value;
  const list = stepsNode ? readStepList(r, stepsNode, "steps", "steps", started.child({ run: RUN })) : null;
  // Without steps there is no saying which names the rest may read.
  if (list === null) return null;
  const outputs = readOutputs(r, keys.get("outputs")?.value, list.names);
  const cleanupNode = keys.get("cleanup")?.value;
  // The file may have ended anywhere: a step that did not run reads as null.
  const cleanup = cleanupNode ? readCleanup(r, cleanupNode, "cleanup", afterwards(list.names, list.steps)) : [];
  if (name === null) return null;
  return {
    v: 1,
    notation: "workfile",
    name,
    ...(about === null ? {} : { description: about }),
    scope: "lexical",
    inputs,
    steps: list.steps,
    cleanup,
    ...(outputs === null ? {} : { outputs }),
    consts,
    settings: [...r.settings].sort(),
    limits,
    triggers,
    ...(single === null ? {} : { single }),
    callees: {},
  };
}

function afterwards(names: Names, steps: readonly { id?: string }[]): Names {
  const after = names.child({ error: nullable(ERROR) });
  for (const { id } of steps) if (id !== undefined) after.bind(id, nullable(names.get(id) ?? ANY));
  return after;
}

function readVersion(r: WorkfileReader, node: TreeNode | undefined): void {
  if (node === undefined) return;
  const help = 'Write workfile: "1".';
  if (node.kind !== "scalar" || typeof node.value !== "string") {
    r.wrong(node, "workfile", "the version of the format", "a text", help);
    if (node.kind === "scalar" && node.value === 1) r.offer(node, '"1"');
    return;
  }
  const version = node.value;
  if (version !== "1") {
    r.report(
      "workfile.bad_value",
      node,
      "workfile",
      `The format has no version "${clip(version)}".`,
      'Write workfile: "1".',
    );
  }
}

function readName(r: WorkfileReader, node: TreeNode | undefined): string | null {
  if (node === undefined) return null;
  const name = r.literal(node, "name", "the name of a workflow");
  if (name === null) return null;
  if (NAME.test(name) && name.length <= 128) return name;
  const help = 'It has letters, digits, "_" and "-", at most 128, and begins with a letter or "_".';
  r.report("workfile.bad_value", node, "name", `"${clip(name)}" cannot be the name of a workflow.`, help);
  return null;
}

function readConsts(r: WorkfileReader, node: TreeNode | undefined): Json {
  if (node === undefined) return {};
  if (r.open(node, "consts", "consts") === null || !literalThroughout(r, node, "consts", "a constant")) return {};
  return toJson(node);
}

function readLimits(r: WorkfileReader, node: TreeNode): Limits {
  const limits: Limits = {};
  for (const [key, { value }] of r.closed(node, "limits", "limits", LIMIT_KEYS) ?? []) {
    const path = keyPath("limits", key);
    if (!r.refuseExpression(value, path, `the limit "${key}"`)) continue;
    if (key === "deadline") {
      const deadline = r.duration(value, path, "the deadline", { min: 1 });
      if (deadline !== null) limits.deadline = deadline;
    } else {
      const bound = r.integer(value, path, `the limit "${key}"`, { min: 1 });
      if (bound !== null) limits[key as "steps" | "depth" | "concurrency"] = bound;
    }
  }
  return limits;
}

function readAllTriggers(
  r: WorkfileReader,
  keys: ReadonlyMap<string, MapEntry>,
  inputs: readonly Field[],
  names: Names,
): Plan["triggers"] {
  const entry = keys.get("triggers") ?? keys.get("on");
  const synonym = keys.get("on");
  if (keys.has("triggers") && synonym) {
    const at = { start: synonym.keyStart, end: synonym.keyEnd };
    r.report("workfile.bad_value", at, "on", "`on` is another word for `triggers`: use one of them.");
  }
  return entry ? readTriggers(r, entry.value, entry.key, inputs, names) : [];
}

function readSingle(
  r: WorkfileReader,
  keys: ReadonlyMap<string, MapEntry>,
  names: Names,
): NonNullable<Plan["single"]> | null {
  const single = keys.get("single");
  const overlapEntry = keys.get("overlap");
  const overlap = overlapEntry ? r.oneOf(overlapEntry.value, "overlap", "overlap", OVERLAPS) : null;
  if (!single) {
    if (overlapEntry) {
      const at = { start: overlapEntry.keyStart, end: overlapEntry.keyEnd };
      r.report(
        "workfile.bad_value",
        at,
        "overlap",
        "`overlap` says what `single` does, and there is none.",
        "Add `single`, or remove `overlap`.",
      );
    }
    return null;
  }
  const key = r.template(single.value, "single", '"single"', names);
  return key === null ? null : { key: key.value, overlap: overlap ?? "skip" };
}

function readOutputs(r: WorkfileReader, node: TreeNode | undefined, names: Names): Value | null {
  if (node === undefined) return null;
  const entries = r.open(node, "outputs", "outputs");
  return entries === null ? null : r.map(entries, "outputs", names).value;
}
