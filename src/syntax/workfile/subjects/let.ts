import { emptyObject } from "../../../base/json.ts";
import type { Shape } from "../../../expression/shape.ts";
import type { Value } from "../../../plan/expression.ts";
import { keyPath } from "../../../text/path.ts";
import { object } from "../shapes.ts";
import type { Body } from "../step.ts";
import type { WorkfileReader } from "../workfile-reader.ts";
import type { SubjectStep } from "./subject.ts";

/** `wf.let: { name: value }`: one map under the step's id. */
export function readLet(r: WorkfileReader, body: Body): SubjectStep | null {
  const entries = r.open(body.head.value, body.headPath, "wf.let");
  if (entries === null) return null;
  const values = emptyObject<Value>();
  const shapes = emptyObject<Shape>();
  for (const entry of entries) {
    const found = r.value(entry.value, keyPath(body.headPath, entry.key), body.names);
    values[entry.key] = found.value;
    shapes[entry.key] = found.shape;
  }
  return { step: { kind: "assign", values }, shape: object(shapes) };
}
