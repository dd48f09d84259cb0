import type { Shape } from "../../expression/shape.ts";
import { ANY } from "../../expression/shape.ts";
import type { Duration, Expr, Value } from "../../plan/expression.ts";
import type { Catch, Cleanup, OnUnknown, Reconcile } from "../../plan/step.ts";
import { itemPath, keyPath } from "../../text/path.ts";
import { clip, standsMisspelt } from "../../text/reader.ts";
import type { MapEntry, TreeNode } from "../../text/tree.ts";
import { readCleanup } from "./cleanup.ts";
import { checkReference } from "./references.ts";
import { ERROR, NULL, nullable } from "./shapes.ts";
import type { Body } from "./step.ts";
import { ACTION_ON_UNKNOWN, AGENT_ON_UNKNOWN, CATCH_KEYS, RECONCILE_KEYS, RETRY_KEYS } from "./tables.ts";
import type { WorkfileReader } from "./workfile-reader.ts";

export interface Modifiers {
  guard?: Expr;
  timeout?: Duration;
  catch: Catch[];
  cleanup: Cleanup[];
  onUnknown: OnUnknown;
  /** Of actions only. */
  attempts?: number;
  backoff?: Duration;
  reconcile?: Reconcile;
  /** What the step may have as its value when a handler took its failure. */
  valueShapes: Shape[];
}

/** A code in `catch`: a whole code, a family, or any. */
const CODE_PATTERN = /^(?:\*|[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z_][A-Za-z0-9_-]*)*(?:\.\*)?)$/;

/** The modifiers of a step. `own` is what is known of its value, which its cleanups may read. */
export function readModifiers(r: WorkfileReader, body: Body, own: Shape | null): Modifiers {
  const { keys, path, names } = body;
  const modifiers: Modifiers = { catch: [], cleanup: [], onUnknown: "abort", valueShapes: [] };
  const at = (key: string): string => keyPath(path, key);
  const guard = keys.get("if");
  if (guard) {
    const expr = r.condition(guard.value, at("if"), "a condition", names);
    // `if: true` guards nothing.
    if (expr !== null && expr.source !== "true") modifiers.guard = expr;
  }
  const timeout = keys.get("timeout");
  if (timeout) {
    const duration = r.durationOrExpr(timeout.value, at("timeout"), "the timeout", names, 1);
    if (duration !== null) modifiers.timeout = duration;
  }
  const retry = keys.get("retry");
  if (retry) readRetry(r, retry.value, at("retry"), body, modifiers);
  const unknown = keys.get("on_unknown");
  if (unknown) modifiers.onUnknown = readOnUnknown(r, unknown.value, at("on_unknown"), body) ?? "abort";
  readReconcile(r, body, modifiers);
  const handlers = keys.get("catch");
  if (handlers) readCatch(r, handlers.value, at("catch"), body, modifiers);
  const cleanup = keys.get("cleanup");
  if (cleanup) {
    const inside = names.child({ [body.id]: nullable(own ?? ANY) });
    modifiers.cleanup = readCleanup(r, cleanup.value, at("cleanup"), inside, body.id);
  }
  return modifiers;
}

function readRetry(r: WorkfileReader, node: TreeNode, path: string, body: Body, out: Modifiers): void {
  const keys = r.closed(node, path, "retry", RETRY_KEYS);
  if (keys === null) return;
  const attempts = keys.get("attempts");
  const backoff = keys.get("backoff");
  if (!attempts && !backoff) {
    r.report("workfile.missing_key", node, path, "Retry needs attempts, backoff or both.");
  }
  if (attempts) {
    const at = keyPath(path, "attempts");
    const count = r.refuseExpression(attempts.value, at, "the attempts")
      ? r.integer(attempts.value, at, "the attempts", { min: 1, max: 100 })
      : null;
    if (count !== null) out.attempts = count;
  }
  if (backoff) {
    const pause = r.durationOrExpr(backoff.value, keyPath(path, "backoff"), "the backoff", body.names, 1);
    if (pause !== null) out.backoff = pause;
  }
}

function readOnUnknown(r: WorkfileReader, node: TreeNode, path: string, body: Body): OnUnknown | null {
  if (body.subject === "action") return r.oneOf(node, path, "on_unknown", ACTION_ON_UNKNOWN);
  if (node.kind === "scalar" && node.value === "reconcile") {
    const message = "An agent's tools cannot be reconciled: `reconcile` belongs to actions.";
    r.report("workfile.bad_value", node, path, message, `Legal values: ${AGENT_ON_UNKNOWN.join(", ")}.`);
    return null;
  }
  return r.oneOf(node, path, "on_unknown of an agent", AGENT_ON_UNKNOWN);
}

function readReconcile(r: WorkfileReader, body: Body, out: Modifiers): void {
  const entry = body.keys.get("reconcile");
  const wanted = out.onUnknown === "reconcile";
  const path = keyPath(body.path, "reconcile");
  if (entry === undefined) {
    const unknown = body.keys.get("on_unknown");
    if (wanted && unknown) {
      const message = "on_unknown: reconcile needs a `reconcile` map beside it.";
      r.report(
        "workfile.missing_key",
        unknown.value,
        keyPath(body.path, "on_unknown"),
        message,
        `Its keys: ${RECONCILE_KEYS.join(", ")}.`,
      );
    }
    return;
  }
  if (!wanted) {
    const at = { start: entry.keyStart, end: entry.keyEnd };
    r.report(
      "workfile.bad_value",
      at,
      path,
      "`reconcile` is used only with on_unknown: reconcile.",
      "Add on_unknown: reconcile.",
    );
  }
  const keys = r.closed(entry.value, path, "reconcile", RECONCILE_KEYS, ["action", "succeeded", "failed"]);
  if (keys === null) return;
  const action = keys.get("action");
  const name = action ? r.literal(action.value, keyPath(path, "action"), "the action") : null;
  const known = action && name !== null && checkReference(r, name, action.value, keyPath(path, "action"), "The action");
  const args = readArguments(r, keys.get("with"), keyPath(path, "with"), body);
  // What the reading action gave stands under `result`.
  const names = body.names.child({ result: name === null ? ANY : r.results(name) });
  const condition = (key: string): Expr | null => {
    const found = keys.get(key);
    return found ? r.condition(found.value, keyPath(path, key), `"${key}"`, names) : null;
  };
  const succeeded = condition("succeeded");
  const failed = condition("failed");
  const value = keys.get("value");
  const bound = value ? r.value(value.value, keyPath(path, "value"), names).value : null;
  if (!known || name === null || args === null || succeeded === null || failed === null) return;
  out.reconcile = { action: name, with: args, succeeded, failed, ...(bound === null ? {} : { value: bound }) };
}

function readArguments(r: WorkfileReader, entry: MapEntry | undefined, path: string, body: Body): Value | null {
  if (entry === undefined) return { lit: {} };
  const entries = r.open(entry.value, path, "the arguments");
  return entries === null ? null : r.map(entries, path, body.names).value;
}

function readCatch(r: WorkfileReader, node: TreeNode, path: string, body: Body, out: Modifiers): void {
  const items = r.list(node, path, "catch") ?? [];
  for (const [i, item] of items.entries()) readHandler(r, item, itemPath(path, i), body, out);
}

function readHandler(r: WorkfileReader, node: TreeNode, path: string, body: Body, out: Modifiers): void {
  const keys = r.closed(node, path, "a handler", CATCH_KEYS, ["codes"]);
  if (keys === null) return;
  const codes = keys.get("codes");
  const patterns = codes ? readCodes(r, codes.value, keyPath(path, "codes")) : [];
  const stepsEntry = keys.get("steps");
  const valueEntry = keys.get("value");
  const entries = node.kind === "map" ? node.entries : [];
  const isMeant = ["steps", "value"].some((key) => standsMisspelt(key, entries, CATCH_KEYS));
  if (!stepsEntry && !valueEntry && !isMeant) {
    const head = { start: node.start, end: node.start + 1 };
    r.report(
      "workfile.missing_key",
      head,
      path,
      "A handler needs `steps`, `value` or both.",
      "steps: [] handles the failure and does nothing.",
    );
  }
  const names = body.names.child({ error: ERROR }, { handlerOf: body.id });
  const guardEntry = keys.get("if");
  const guard = guardEntry ? r.condition(guardEntry.value, keyPath(path, "if"), "a condition", names) : null;
  const list = stepsEntry
    ? r.steps(stepsEntry.value, keyPath(path, "steps"), "the steps of a handler", names, { holder: body.id })
    : null;
  const handler: Catch = { codes: patterns, steps: list?.steps ?? [] };
  if (guard !== null && guard.source !== "true") handler.guard = guard;
  if (valueEntry && body.subject === "agent") {
    const at = { start: valueEntry.keyStart, end: valueEntry.keyEnd };
    const message = "A handler of an agent gives no value: what fails has no result.";
    r.report(
      "workfile.unknown_key",
      at,
      keyPath(path, "value"),
      message,
      "Later steps read the agent as null: test it with has(), or use default().",
    );
  } else if (valueEntry) {
    const found = r.value(valueEntry.value, keyPath(path, "value"), list?.names ?? names);
    handler.value = found.value;
    out.valueShapes.push(found.shape);
  }
  if (handler.value === undefined) out.valueShapes.push(NULL);
  out.catch.push(handler);
}

function readCodes(r: WorkfileReader, node: TreeNode, path: string): string[] {
  const items = r.list(node, path, "codes");
  if (items === null) return [];
  if (items.length === 0)
    r.report("workfile.bad_value", node, path, "codes needs at least one code.", 'Write "*" for any failure.');
  const codes: string[] = [];
  for (const [i, item] of items.entries()) {
    const code = r.literal(item, itemPath(path, i), "a code");
    if (code === null) continue;
    if (CODE_PATTERN.test(code)) codes.push(code);
    else {
      r.report(
        "workfile.bad_value",
        item,
        itemPath(path, i),
        `"${clip(code)}" is no code.`,
        "Write a code (flow.timeout), a family (flow.*) or *.",
      );
    }
  }
  return codes;
}
