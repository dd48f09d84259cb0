import { holdsSensitive } from "../../../expression/known.ts";
import type { Shape } from "../../../expression/shape.ts";
import type { Budget } from "../../../plan/budget.ts";
import type { Value } from "../../../plan/expression.ts";
import { itemPath, keyPath } from "../../../text/path.ts";
import { clip } from "../../../text/reader.ts";
import type { MapEntry, TreeNode } from "../../../text/tree.ts";
import { readFields } from "../fields.ts";
import { checkReference } from "../references.ts";
import { ERROR, shapeOfFields } from "../shapes.ts";
import type { Body } from "../step.ts";
import { BUDGET_KEYS } from "../tables.ts";
import type { WorkfileReader } from "../workfile-reader.ts";
import type { SubjectStep } from "./subject.ts";

/** `wf.agent` (or `agent`): an opaque literal name, a goal, context, tools, a typed result, bounds. */
export function readAgent(r: WorkfileReader, body: Body): SubjectStep | null {
  const { keys, names } = body;
  const at = (key: string): string => keyPath(body.path, key);
  const name = readName(r, body);
  const withEntry = keys.get("with");
  const context = withEntry ? readContext(r, withEntry.value, at("with"), body) : { lit: {} };
  const goal = readGoal(r, body, withEntry);
  const toolsEntry = keys.get("tools");
  const tools = toolsEntry ? readTools(r, toolsEntry.value, at("tools")) : [];
  const returnsEntry = keys.get("returns");
  const returns = returnsEntry ? readFields(r, returnsEntry.value, at("returns"), "returns") : null;
  const budgetEntry = keys.get("budget");
  const budget = budgetEntry ? readBudget(r, budgetEntry.value, at("budget")) : null;
  const exhausted = keys.get("on_exhausted");
  const handler = exhausted
    ? r.steps(exhausted.value, at("on_exhausted"), "on_exhausted", names, {
        holder: body.id,
        handlerOf: body.id,
        own: { error: ERROR },
      })
    : null;
  if (name === null || goal === null || context === null || returns === null || budget === null) return null;
  const step: SubjectStep["step"] = {
    kind: "agent",
    agent: name,
    goal,
    with: context,
    tools,
    returns,
    budget,
    finish: "result",
    ...(handler === null ? {} : { onExhausted: handler.steps }),
  };
  return { step, shape: shapeOfFields(returns) };
}

function readName(r: WorkfileReader, body: Body): string | null {
  const node = body.head.value;
  const name = r.literal(node, body.headPath, "the name of an agent");
  if (name !== null && name.trim() === "") {
    r.report(
      "workfile.bad_value",
      node,
      body.headPath,
      "The name of an agent is empty.",
      "Name an agent of the deployment.",
    );
    return null;
  }
  return name;
}

function readGoal(r: WorkfileReader, body: Body, withEntry: MapEntry | undefined): Value | null {
  const entry = body.keys.get("goal");
  if (entry === undefined) return null;
  r.projected = projectedNames(withEntry);
  const path = keyPath(body.path, "goal");
  const found = r.template(entry.value, path, "the goal", body.names);
  r.projected = new Map();
  if (found !== null) warnSensitive(r, found.shape, entry, path, "goal");
  return found?.value ?? null;
}

/** The names in `with`, each with the expression that it is, or "" if it is none. */
function projectedNames(entry: MapEntry | undefined): Map<string, string> {
  const names = new Map<string, string>();
  if (entry?.value.kind !== "map") return names;
  for (const { key, value } of entry.value.entries) {
    const whole =
      value.kind === "scalar" && typeof value.value === "string" ? /^\{\{\s*([\w.]+)\s*\}\}$/.exec(value.value) : null;
    names.set(key, whole?.[1] ?? "");
  }
  return names;
}

function readContext(r: WorkfileReader, node: TreeNode, path: string, body: Body): Value | null {
  const entries = r.open(node, path, '"with"');
  if (entries === null) return null;
  const found = r.map(entries, path, body.names);
  for (const entry of entries) {
    const shape = found.shape.kind === "object" ? found.shape.fields[entry.key] : undefined;
    if (shape !== undefined) warnSensitive(r, shape, entry, keyPath(path, entry.key), "context");
  }
  return found.value;
}

function warnSensitive(r: WorkfileReader, shape: Shape, entry: MapEntry, path: string, where: string): void {
  if (!holdsSensitive(shape)) return;
  r.report(
    "workfile.sensitive_value",
    { start: entry.keyStart, end: entry.keyEnd },
    path,
    `A sensitive value is part of the agent's ${where}: "${clip(entry.key)}".`,
    "The agent reads it in clear; history and output keep it hidden. Leave it out if the agent can do without.",
    "warning",
  );
}

function readTools(r: WorkfileReader, node: TreeNode, path: string): string[] {
  const tools: string[] = [];
  for (const [i, item] of (r.list(node, path, "tools") ?? []).entries()) {
    const at = itemPath(path, i);
    const tool = r.literal(item, at, "a tool");
    if (tool === null || !checkReference(r, tool, item, at, "A tool")) continue;
    if (tools.includes(tool))
      r.report("workfile.bad_value", item, at, `The tool "${clip(tool)}" is listed twice.`, "Remove one of them.");
    else tools.push(tool);
  }
  return tools;
}

function readBudget(r: WorkfileReader, node: TreeNode, path: string): Budget | null {
  const keys = r.closed(node, path, "the budget", BUDGET_KEYS);
  if (keys === null) return null;
  if (node.kind === "map" && node.entries.length === 0) {
    const head = { start: node.start, end: node.start + 1 };
    r.report(
      "workfile.missing_key",
      head,
      path,
      "A budget has at least one bound.",
      `Bounds: ${BUDGET_KEYS.join(", ")}.`,
    );
    return null;
  }
  const budget: Budget = {};
  for (const [key, { value }] of keys) {
    const at = keyPath(path, key);
    if (!r.refuseExpression(value, at, `the bound "${key}"`)) continue;
    if (key === "duration") {
      const duration = r.duration(value, at, "the duration of a budget", { min: 1 });
      if (duration !== null) budget.duration = duration;
    } else if (key === "steps" || key === "tokens") {
      const bound = r.integer(value, at, `the bound "${key}"`, { min: 1 });
      if (bound !== null) budget[key] = bound;
    }
  }
  return budget;
}
