import { emptyObject, type Json } from "../../../base/json.ts";
import { didYouMean } from "../../../base/nearest.ts";
import type { Shape } from "../../../expression/shape.ts";
import type { Step } from "../../../plan/step.ts";
import { keyPath } from "../../../text/path.ts";
import { clip } from "../../../text/reader.ts";
import type { MapEntry } from "../../../text/tree.ts";
import { checkName } from "../ids.ts";
import { joined, NULL, object } from "../shapes.ts";
import type { Body } from "../step.ts";
import { MAX_CONCURRENCY, MAX_ID, NAME } from "../tables.ts";
import type { WorkfileReader } from "../workfile-reader.ts";
import type { SubjectStep } from "./subject.ts";

/** `wf.if: condition` with `then` and `else`. */
export function readIf(r: WorkfileReader, body: Body): SubjectStep | null {
  const { head, headPath } = body;
  const subject = r.condition(head.value, headPath, "the condition of wf.if", body.names);
  const then = listAt(r, body, "then");
  const otherwise = listAt(r, body, "else");
  if (!body.keys.has("then") && !body.keys.has("else")) {
    const at = { start: head.keyStart, end: head.keyEnd };
    r.report("workfile.missing_key", at, body.path, "wf.if needs `then`, `else` or both.");
  }
  if (subject === null) return null;
  const literal = subject.source === "true" ? true : subject.source === "false" ? false : subject;
  return {
    step: { kind: "branch", subject: literal, arms: [{ is: true, steps: then.steps }], else: otherwise.steps },
    shape: joined([then.last, otherwise.last]),
  };
}

function listAt(r: WorkfileReader, body: Body, key: string): { steps: Step[]; last: Shape } {
  const entry = body.keys.get(key);
  if (entry === undefined) return { steps: [], last: NULL };
  return r.steps(entry.value, keyPath(body.path, key), `"${key}"`, body.names, { holder: body.id });
}

/** `wf.switch: expression` with `cases` by text and `default`. */
export function readSwitch(r: WorkfileReader, body: Body): SubjectStep | null {
  const found = r.whole(body.head.value, body.headPath, "the subject of wf.switch", body.names);
  const casesEntry = body.keys.get("cases");
  const path = keyPath(body.path, "cases");
  const entries = casesEntry ? (r.open(casesEntry.value, path, "cases") ?? []) : [];
  if (casesEntry && casesEntry.value.kind === "map" && entries.length === 0) {
    r.report("workfile.bad_value", casesEntry.value, path, "wf.switch needs at least one case.");
  }
  const lasts: Shape[] = [];
  const arms = entries.map((entry) => {
    const what = `the case "${clip(entry.key)}"`;
    const list = r.steps(entry.value, keyPath(path, entry.key), what, body.names, { holder: body.id });
    lasts.push(list.last);
    return { is: entry.key, steps: list.steps };
  });
  const otherwise = listAt(r, body, "default");
  if (body.keys.has("default")) lasts.push(otherwise.last);
  if (found === null) return null;
  checkCoverage(r, body, found.expr.source, found.shape, entries, path);
  return { step: { kind: "branch", subject: found.expr, arms, else: otherwise.steps }, shape: joined(lasts) };
}

/** The values that a path to a field can have, as case texts; null if they are not a closed set. */
function possibleCases(source: string, shape: Shape): { texts: string[]; nullable: boolean } | null {
  if (!/^[A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*)+$/.test(source)) return null;
  const nullable = "nullable" in shape && shape.nullable === true;
  if (shape.kind === "boolean") return { texts: ["true", "false"], nullable };
  if ((shape.kind === "string" || shape.kind === "number") && shape.enum !== undefined) {
    return {
      texts: shape.enum.filter((value) => value !== null).map(caseText),
      nullable: nullable || shape.enum.includes(null),
    };
  }
  return null;
}

function caseText(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function checkCoverage(
  r: WorkfileReader,
  body: Body,
  source: string,
  shape: Shape,
  entries: readonly MapEntry[],
  path: string,
): void {
  const possible = possibleCases(source, shape);
  for (const entry of possible === null ? [] : entries) {
    const { texts } = possible as { texts: string[] };
    if (texts.includes(entry.key)) continue;
    const near = didYouMean(entry.key, texts);
    const all = `Values: ${texts.slice(0, 40).join(", ")}.`;
    const at = { start: entry.keyStart, end: entry.keyEnd };
    const message = `\`${clip(source)}\` is never "${clip(entry.key)}".`;
    r.report("workfile.bad_value", at, keyPath(path, entry.key), message, near === "" ? all : `${near} ${all}`);
  }
  if (body.keys.has("default")) return;
  const missing = possible?.texts.filter((text) => !entries.some((entry) => entry.key === text)) ?? [];
  if (possible !== null && missing.length === 0 && !possible.nullable) return;
  const help =
    possible === null
      ? "Add `default:` with steps, or `default: []`."
      : missing.length > 0
        ? `No case for: ${missing.slice(0, 40).join(", ")}. Add them, or \`default: []\`.`
        : "The value may be null: add `default: []`.";
  const at = { start: body.head.keyStart, end: body.head.keyEnd };
  r.report("workfile.missing_key", at, body.path, "wf.switch needs a `default` here.", help);
}

/** `wf.parallel: { branch: steps }`. */
export function readParallel(r: WorkfileReader, body: Body): SubjectStep | null {
  const { head, headPath } = body;
  const limit = body.keys.get("concurrency");
  const concurrency = limit ? readConcurrency(r, limit, keyPath(body.path, "concurrency")) : MAX_CONCURRENCY;
  const entries = r.open(head.value, headPath, "wf.parallel");
  if (entries === null) return null;
  if (entries.length === 0)
    r.report("workfile.bad_value", head.value, headPath, "wf.parallel needs at least one branch.");
  const shapes = emptyObject<Shape>();
  const branches = entries.map((entry) => {
    const at = keyPath(headPath, entry.key);
    // A branch's name is a part of positions and a field of the value, so the reserved names are free for it.
    if (!NAME.test(entry.key) || entry.key.length > MAX_ID) {
      checkName(r, entry.key, { start: entry.keyStart, end: entry.keyEnd }, at, "a branch");
    }
    const what = `the branch "${clip(entry.key)}"`;
    const list = r.steps(entry.value, at, what, body.names, { holder: body.id });
    shapes[entry.key] = list.last;
    return { name: entry.key, steps: list.steps };
  });
  return { step: { kind: "parallel", branches, concurrency: concurrency ?? 1 }, shape: object(shapes) };
}

/** `concurrency` of a loop or of branches: literal, 1 to 8. */
export function readConcurrency(r: WorkfileReader, entry: MapEntry, path: string): number | null {
  if (!r.refuseExpression(entry.value, path, "the concurrency")) return null;
  return r.integer(entry.value, path, "the concurrency", { min: 1, max: MAX_CONCURRENCY });
}
