import { ANY, type Shape } from "../../../expression/shape.ts";
import type { Expr, Value } from "../../../plan/expression.ts";
import type { OnItemFailure } from "../../../plan/step.ts";
import { keyPath } from "../../../text/path.ts";
import { checkName } from "../ids.ts";
import type { Names } from "../names.ts";
import { ERROR, joined, NULL, NUMBER, nullable } from "../shapes.ts";
import type { Body } from "../step.ts";
import { ON_ITEM_FAILURE, ON_MAX, REPEAT_KEYS } from "../tables.ts";
import type { Found, StepList, WorkfileReader } from "../workfile-reader.ts";
import { readConcurrency } from "./branches.ts";
import type { SubjectStep } from "./subject.ts";

/** `wf.each: list` with `as`, `steps`, `max`, `concurrency`, `until`, `yield`, `on_item_failure`. */
export function readEach(r: WorkfileReader, body: Body): SubjectStep | null {
  const { keys, path, head, headPath } = body;
  const list = readItems(r, body);
  const item = readItemName(r, body);
  const own = { [item]: list?.item ?? ANY, index: NUMBER };
  const limit = keys.get("concurrency");
  const concurrency = (limit ? readConcurrency(r, limit, keyPath(path, "concurrency")) : null) ?? 1;
  const steps = roundSteps(r, body, own);
  const untilEntry = keys.get("until");
  const until = untilEntry ? r.condition(untilEntry.value, keyPath(path, "until"), '"until"', steps.names) : null;
  if (untilEntry && concurrency > 1) {
    const at = { start: untilEntry.keyStart, end: untilEntry.keyEnd };
    r.report(
      "workfile.bad_value",
      at,
      keyPath(path, "until"),
      "`until` needs the items one after the other.",
      "Remove `concurrency`, or `until`.",
    );
  }
  const yielded = readYield(r, body, steps.names);
  const failure = readItemFailure(r, body, body.names.child({ ...own, error: ERROR }));
  const maxEntry = keys.get("max");
  const max = maxEntry ? readMax(r, maxEntry.value, keyPath(path, "max")) : null;
  if (!maxEntry && head.value.kind !== "list" && list !== null) {
    const at = { start: head.keyStart, end: head.keyEnd };
    r.report(
      "workfile.missing_key",
      at,
      path,
      "wf.each needs `max`, since the length of its list is not known before.",
      "Add `max: 50`, for example: further items are left out and marked.",
    );
  }
  if (list === null) return null;
  const of = yielded?.shape ?? steps.last;
  const { onItemFailure, shape } = failure;
  return {
    step: {
      kind: "each",
      list: list.value,
      item,
      ...(max === null ? {} : { max }),
      concurrency,
      steps: steps.steps,
      ...(until === null ? {} : { until }),
      ...(yielded === null ? {} : { yield: yielded.value }),
      onItemFailure,
    },
    shape: { kind: "list", of: shape === null ? of : joined([of, shape]) },
  };

  function readItems(reader: WorkfileReader, { names }: Body): { value: Value; item: Shape } | null {
    if (head.value.kind === "list") {
      const found = reader.value(head.value, headPath, names);
      return { value: found.value, item: found.shape.kind === "list" ? found.shape.of : ANY };
    }
    const found = reader.whole(head.value, headPath, "the list of wf.each", names);
    if (found === null) return null;
    const known = found.shape;
    if (known.kind !== "any" && known.kind !== "list") {
      reader.reportSpan("expression.failed", found.expr.span, headPath, "The list of wf.each must be a list.", "");
    }
    return { value: { expr: found.expr }, item: known.kind === "list" ? known.of : ANY };
  }
}

function readItemName(r: WorkfileReader, body: Body): string {
  const entry = body.keys.get("as");
  if (entry === undefined) return "item";
  const path = keyPath(body.path, "as");
  const name = r.literal(entry.value, path, '"as"');
  return name !== null && checkName(r, name, entry.value, path, "an item") ? name : "item";
}

function roundSteps(r: WorkfileReader, body: Body, own: { readonly [name: string]: Shape }): StepList {
  const entry = body.keys.get("steps");
  if (entry === undefined) return { steps: [], names: body.names.child(own), last: NULL };
  return r.steps(entry.value, keyPath(body.path, "steps"), '"steps"', body.names, { holder: body.id, own });
}

function readYield(r: WorkfileReader, body: Body, names: Names): Found | null {
  const entry = body.keys.get("yield");
  return entry ? r.value(entry.value, keyPath(body.path, "yield"), names) : null;
}

function readMax(r: WorkfileReader, node: Parameters<WorkfileReader["integer"]>[0], path: string): number | null {
  return r.refuseExpression(node, path, '"max"') ? r.integer(node, path, '"max"', { min: 1 }) : null;
}

/** `fail`, `skip` or `{ yield: value }`; `shape` is what stands in the place of a failed item. */
function readItemFailure(
  r: WorkfileReader,
  body: Body,
  names: Names,
): { onItemFailure: OnItemFailure; shape: Shape | null } {
  const entry = body.keys.get("on_item_failure");
  if (entry === undefined) return { onItemFailure: "fail", shape: null };
  const path = keyPath(body.path, "on_item_failure");
  if (entry.value.kind === "map") {
    const value = r.closed(entry.value, path, "on_item_failure", ["yield"], ["yield"])?.get("yield")?.value;
    if (value === undefined) return { onItemFailure: "fail", shape: null };
    const found = r.value(value, keyPath(path, "yield"), names);
    return { onItemFailure: { yield: found.value }, shape: found.shape };
  }
  const how = r.oneOf(entry.value, path, "on_item_failure", ON_ITEM_FAILURE);
  return { onItemFailure: how ?? "fail", shape: how === "skip" ? NULL : null };
}

/** `wf.repeat: { max, from }` with `until` or `while`, `steps`, `yield`, `on_max`. */
export function readRepeat(r: WorkfileReader, body: Body): SubjectStep | null {
  const { keys, path, headPath } = body;
  const head = r.closed(body.head.value, headPath, "wf.repeat", REPEAT_KEYS, ["max"]);
  const maxEntry = head?.get("max");
  const max = maxEntry ? readMax(r, maxEntry.value, keyPath(headPath, "max")) : null;
  const fromEntry = head?.get("from");
  const from = fromEntry ? r.value(fromEntry.value, keyPath(headPath, "from"), body.names) : null;
  // What a round hands on is known only once its `yield` was read, which may itself read `prev`.
  const own = { index: NUMBER, prev: ANY };
  const whileEntry = keys.get("while");
  const untilEntry = keys.get("until");
  if (whileEntry && untilEntry) {
    const at = { start: untilEntry.keyStart, end: untilEntry.keyEnd };
    r.report("workfile.bad_value", at, keyPath(path, "until"), "A loop has `while` or `until`, not both.");
  }
  const before = whileEntry
    ? r.condition(whileEntry.value, keyPath(path, "while"), '"while"', body.names.child(own))
    : null;
  const steps = roundSteps(r, body, own);
  const after = untilEntry ? r.condition(untilEntry.value, keyPath(path, "until"), '"until"', steps.names) : null;
  const yielded = readYield(r, body, steps.names);
  const maxMode = keys.get("on_max");
  const onMax = maxMode ? r.oneOf(maxMode.value, keyPath(path, "on_max"), "on_max", ON_MAX) : null;
  if (max === null) return null;
  const of = yielded?.shape ?? steps.last;
  const test: { while: Expr } | { until: Expr } | null =
    before !== null ? { while: before } : after !== null ? { until: after } : null;
  return {
    step: {
      kind: "repeat",
      max,
      ...(from === null ? {} : { from: from.value }),
      ...(test === null ? {} : { test }),
      steps: steps.steps,
      ...(yielded === null ? {} : { yield: yielded.value }),
      onMax: onMax ?? "fail",
      onItemFailure: "fail",
    },
    shape: before === null ? of : from === null ? nullable(of) : joined([of, from.shape]),
  };
}
