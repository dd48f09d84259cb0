import type { Value } from "../../../plan/expression.ts";
import type { Field } from "../../../plan/field.ts";
import type { AskStep } from "../../../plan/step.ts";
import { itemPath, keyPath } from "../../../text/path.ts";
import { clip } from "../../../text/reader.ts";
import type { TreeNode } from "../../../text/tree.ts";
import { readFields } from "../fields.ts";
import { ASK, ERROR, NULL, shapeOfFields } from "../shapes.ts";
import type { Body } from "../step.ts";
import { APPROVER_KEYS } from "../tables.ts";
import type { WorkfileReader } from "../workfile-reader.ts";
import type { SubjectStep } from "./subject.ts";

/** `wf.notify: text`. */
export function readNotify(r: WorkfileReader, body: Body): SubjectStep | null {
  const text = r.template(body.head.value, body.headPath, "the text of wf.notify", body.names);
  return text === null ? null : { step: { kind: "notify", text: text.value }, shape: NULL };
}

/** `wf.ask: text`: a question to a person with a typed answer. */
export function readAsk(r: WorkfileReader, body: Body): SubjectStep | null {
  const { keys, names } = body;
  const at = (key: string): string => keyPath(body.path, key);
  const text = r.template(body.head.value, body.headPath, "the text of wf.ask", names);
  const returnsEntry = keys.get("returns");
  const returns: Field[] | null = returnsEntry
    ? readFields(r, returnsEntry.value, at("returns"), "returns", { defaults: names })
    : [{ name: "approved", type: "boolean", required: true }];
  const expiresEntry = keys.get("expires");
  const expires = expiresEntry ? r.durationOrExpr(expiresEntry.value, at("expires"), '"expires"', names, 1) : null;
  const list = (key: string, own: { readonly [name: string]: typeof ASK }) => {
    const entry = keys.get(key);
    if (entry === undefined) return null;
    const place = { holder: body.id, handlerOf: body.id, own };
    return r.steps(entry.value, at(key), `"${key}"`, names, place).steps;
  };
  const asked = list("asked", { ask: ASK });
  const onExpired = list("on_expired", { error: ERROR });
  const assignees = readAssignees(r, body);
  const approvers = readApprovers(r, body, returns ?? []);
  if (text === null || returns === null) return null;
  const step: SubjectStep["step"] = {
    kind: "ask",
    text: text.value,
    returns,
    assignees,
    ...(expires === null ? {} : { expires }),
    ...(asked === null ? {} : { asked }),
    ...(onExpired === null ? {} : { onExpired }),
    ...(approvers === null ? {} : { approvers }),
  };
  return { step, shape: shapeOfFields(returns) };
}

function readAssignees(r: WorkfileReader, body: Body): Value {
  const entry = body.keys.get("assignees");
  const path = keyPath(body.path, "assignees");
  if (entry === undefined) return { lit: [] };
  if (entry.value.kind === "scalar") {
    const found = r.whole(entry.value, path, "assignees", body.names);
    return found === null ? { lit: [] } : { expr: found.expr };
  }
  const items = r.list(entry.value, path, "assignees") ?? [];
  const found = items.map((item, i) => r.template(item, itemPath(path, i), "an assignee", body.names));
  const values = found.map((item) => item?.value ?? { lit: null });
  if (values.every((value) => "lit" in value)) return { lit: values.map((value) => value.lit) };
  return { list: values };
}

function readApprovers(
  r: WorkfileReader,
  body: Body,
  returns: readonly Field[],
): NonNullable<AskStep["approvers"]> | null {
  const entry = body.keys.get("approvers");
  if (entry === undefined) return null;
  const path = keyPath(body.path, "approvers");
  const keys = r.closed(entry.value, path, "approvers", APPROVER_KEYS);
  if (keys === null) return null;
  if (keys.size === 0) r.report("workfile.missing_key", entry.value, path, "approvers needs `not`, `count` or both.");
  const not = keys.get("not");
  const who = not ? r.oneOf(not.value, keyPath(path, "not"), '"not"', ["initiator"]) : null;
  const countEntry = keys.get("count");
  if (countEntry) requireApproved(r, countEntry.value, keyPath(path, "count"), returns);
  const literal = countEntry ? r.refuseExpression(countEntry.value, keyPath(path, "count"), "the count") : false;
  const count =
    countEntry && literal ? r.integer(countEntry.value, keyPath(path, "count"), "the count", { min: 1, max: 100 }) : 1;
  return { notInitiator: who === "initiator", count: count ?? 1 };
}

function requireApproved(r: WorkfileReader, node: TreeNode, path: string, returns: readonly Field[]): void {
  const field = returns.find((item) => item.name === "approved");
  if (field?.type === "boolean") return;
  const message = "Answers can be counted only if `returns` has a boolean field `approved`.";
  const help = field === undefined ? "Add approved: boolean to returns." : `It is declared as ${clip(field.type)}.`;
  r.report("workfile.bad_value", node, path, message, help);
}
