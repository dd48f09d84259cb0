import { ANY } from "../../expression/shape.ts";
import type { Expr, Value } from "../../plan/expression.ts";
import type { Field } from "../../plan/field.ts";
import type { Trigger } from "../../plan/plan.ts";
import { itemPath, keyPath } from "../../text/path.ts";
import { clip } from "../../text/reader.ts";
import type { MapEntry, TreeNode } from "../../text/tree.ts";
import { cronProblem, isZone } from "./cron.ts";
import { findMisfit, readFields } from "./fields.ts";
import type { Names } from "./names.ts";
import { nullable, object, shapeOfFields, TEXT } from "./shapes.ts";
import { REPLIES, SCHEDULE_KEYS, TRIGGER_KINDS, WEBHOOK_KEYS } from "./tables.ts";
import type { WorkfileReader } from "./workfile-reader.ts";

type Keys = ReadonlyMap<string, MapEntry>;

/** `triggers`: a list of `{ schedule }` and `{ webhook }`. `names` are what all of them read. */
export function readTriggers(
  r: WorkfileReader,
  node: TreeNode,
  path: string,
  inputs: readonly Field[],
  names: Names,
): Trigger[] {
  const triggers: Trigger[] = [];
  for (const [i, item] of (r.list(node, path, "triggers") ?? []).entries()) {
    const at = itemPath(path, i);
    const entry = r.closed(item, at, "a trigger", TRIGGER_KINDS)?.values().next().value;
    if (item.kind === "map" && item.entries.length > 1) {
      r.report(
        "workfile.bad_value",
        { start: item.start, end: item.start + 1 },
        at,
        "A trigger is one schedule or one webhook.",
        "Begin each with a dash of its own.",
      );
      continue;
    }
    if (entry === undefined) {
      if (item.kind === "map" && item.entries.length === 0) r.wrong(item, at, "a trigger", "a schedule or a webhook");
      continue;
    }
    const inner = keyPath(at, entry.key);
    const trigger =
      entry.key === "schedule"
        ? readSchedule(r, entry.value, inner, inputs, names)
        : readWebhook(r, entry.value, inner, inputs, names);
    if (trigger !== null) triggers.push(trigger);
  }
  return triggers;
}

function readSchedule(
  r: WorkfileReader,
  node: TreeNode,
  path: string,
  inputs: readonly Field[],
  outer: Names,
): Trigger | null {
  const keys = r.closed(node, path, "a schedule", SCHEDULE_KEYS);
  if (keys === null) return null;
  const names = outer.child({ trigger: object({ due: TEXT }) });
  const start = readStart(r, keys, path, inputs, names, node);
  const every = keys.get("every");
  const cron = keys.get("cron");
  const zoneEntry = keys.get("zone");
  if ((every === undefined) === (cron === undefined)) {
    const message = "A schedule has either `every` or `cron`.";
    r.report(
      "workfile.missing_key",
      { start: node.start, end: node.start + 1 },
      path,
      message,
      'Write every: 30m, or cron: "0 7 * * 1-5".',
    );
    return null;
  }
  if (every) {
    if (zoneEntry) {
      const at = { start: zoneEntry.keyStart, end: zoneEntry.keyEnd };
      r.report(
        "workfile.bad_value",
        at,
        keyPath(path, "zone"),
        "`zone` goes with `cron`: `every` counts absolute time.",
      );
    }
    const at = keyPath(path, "every");
    const ms = r.refuseExpression(every.value, at, '"every"')
      ? r.duration(every.value, at, '"every"', { min: 1 })
      : null;
    return ms === null ? null : { ...start, kind: "every", every: ms };
  }
  const text = cron ? r.literal(cron.value, keyPath(path, "cron"), '"cron"') : null;
  const problem = text === null ? null : cronProblem(text);
  if (cron && problem !== null) {
    const help = 'Five fields: minute hour day month weekday, like "0 7 * * 1-5".';
    r.report("workfile.bad_value", cron.value, keyPath(path, "cron"), problem, help);
  }
  const zone = zoneEntry ? r.literal(zoneEntry.value, keyPath(path, "zone"), '"zone"') : "UTC";
  if (zoneEntry && zone !== null && !isZone(zone)) {
    const message = `There is no time zone "${clip(zone)}".`;
    r.report(
      "workfile.bad_value",
      zoneEntry.value,
      keyPath(path, "zone"),
      message,
      "Use an IANA name like Europe/Paris.",
    );
  }
  return text === null || problem !== null || zone === null ? null : { ...start, kind: "cron", cron: text, zone };
}

const HOOK_PATH = /^\/?(?:[A-Za-z0-9_~-][A-Za-z0-9._~-]*)(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$/;
const HEADER = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;

function readWebhook(
  r: WorkfileReader,
  node: TreeNode,
  path: string,
  inputs: readonly Field[],
  outer: Names,
): Trigger | null {
  const keys = r.closed(node, path, "a webhook", WEBHOOK_KEYS, ["path"]);
  if (keys === null) return null;
  const pathEntry = keys.get("path");
  const hook = pathEntry ? r.literal(pathEntry.value, keyPath(path, "path"), '"path"') : null;
  if (pathEntry && hook !== null && (!HOOK_PATH.test(hook) || hook.length > 200)) {
    const message = `"${clip(hook)}" cannot be the path of a webhook.`;
    r.report(
      "workfile.bad_value",
      pathEntry.value,
      keyPath(path, "path"),
      message,
      "Write letters, digits, - _ . ~ and / between: /triage",
    );
  }
  const bodyEntry = keys.get("body");
  const body = bodyEntry ? readFields(r, bodyEntry.value, keyPath(path, "body"), "body") : null;
  const headers = readHeaders(r, keys.get("headers"), keyPath(path, "headers"));
  const known = Object.fromEntries(headers.map((name) => [name, nullable(TEXT)]));
  const names = outer.child({ trigger: body === null ? ANY : shapeOfFields(body), headers: object(known) });
  const start = readStart(r, keys, path, inputs, names, node);
  const replyEntry = keys.get("reply");
  const reply = replyEntry ? r.oneOf(replyEntry.value, keyPath(path, "reply"), '"reply"', REPLIES) : "accepted";
  if (hook === null) return null;
  return {
    ...start,
    kind: "webhook",
    path: hook,
    ...(body === null ? {} : { body }),
    headers,
    reply: reply ?? "accepted",
  };
}

function readHeaders(r: WorkfileReader, entry: MapEntry | undefined, path: string): string[] {
  const names: string[] = [];
  if (entry === undefined) return names;
  for (const [i, item] of (r.list(entry.value, path, "headers") ?? []).entries()) {
    const at = itemPath(path, i);
    const name = r.literal(item, at, "a header");
    if (name === null) continue;
    if (!HEADER.test(name)) {
      r.report(
        "workfile.bad_value",
        item,
        at,
        `"${clip(name)}" is no header name in lower case.`,
        `Write "${clip(name.toLowerCase())}".`,
      );
    } else if (names.includes(name)) {
      r.report("workfile.bad_value", item, at, `The header "${clip(name)}" is listed twice.`);
    } else {
      names.push(name);
    }
  }
  return names;
}

/** What both kinds have: `when`, and the inputs of the run in `with`. */
function readStart(
  r: WorkfileReader,
  keys: Keys,
  path: string,
  inputs: readonly Field[],
  names: Names,
  node: TreeNode,
): { with: Value; when?: Expr } {
  const whenEntry = keys.get("when");
  const when = whenEntry ? r.condition(whenEntry.value, keyPath(path, "when"), '"when"', names) : null;
  const entry = keys.get("with");
  const at = keyPath(path, "with");
  const legal = inputs.map((field) => field.name);
  const entries = entry ? (r.open(entry.value, at, '"with"') ?? []) : [];
  for (const item of entries)
    if (!legal.includes(item.key)) r.unknownKey(item, at, "the inputs of this workflow", legal);
  const known = entries.filter((item) => legal.includes(item.key));
  const { value, shape: _ } = r.map(known, at, names);
  checkLiteralInputs(r, known, at, inputs);
  const given = new Set(known.map((item) => item.key));
  for (const field of inputs) {
    if (!field.required || field.default !== undefined || given.has(field.name)) continue;
    const place = entry ? { start: entry.keyStart, end: entry.keyEnd } : { start: node.start, end: node.start + 1 };
    const message = `The input "${clip(field.name)}" is required, and this trigger does not give it.`;
    r.report("workfile.missing_key", place, at, message, `Add it to \`with\`, or give it a default.`);
  }
  return { with: value, ...(when === null || when.source === "true" ? {} : { when }) };
}

/** Literal inputs are compared with their declarations at once. */
function checkLiteralInputs(
  r: WorkfileReader,
  entries: readonly MapEntry[],
  path: string,
  inputs: readonly Field[],
): void {
  for (const { key, value } of entries) {
    const field = inputs.find((item) => item.name === key);
    if (field === undefined || value.kind !== "scalar" || String(value.value).includes("{{")) continue;
    if (value.value === null && !field.required) continue;
    const misfit = findMisfit(value.value, field);
    if (misfit !== null) {
      r.report(
        "workfile.bad_value",
        value,
        keyPath(path, key),
        `The input "${clip(key)}" does not fit its declaration: ${misfit}.`,
      );
    }
  }
}
