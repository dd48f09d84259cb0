import { ANY } from "../../../expression/shape.ts";
import type { Value } from "../../../plan/expression.ts";
import { keyPath } from "../../../text/path.ts";
import { checkCalleePath } from "../callees.ts";
import type { Body } from "../step.ts";
import type { WorkfileReader } from "../workfile-reader.ts";
import type { SubjectStep } from "./subject.ts";

/** `wf.call: ./other.workfile.yaml` with `with`. What the file gives is known only once it is loaded. */
export function readCall(r: WorkfileReader, body: Body): SubjectStep | null {
  const { head, headPath, names } = body;
  const callee = r.literal(head.value, headPath, "the file of wf.call");
  const entry = body.keys.get("with");
  let inputs: Value = { lit: {} };
  if (entry) {
    const entries = r.open(entry.value, keyPath(body.path, "with"), '"with"');
    if (entries === null) return null;
    inputs = r.map(entries, keyPath(body.path, "with"), names).value;
  }
  if (callee === null) return null;
  const problem = checkCalleePath(callee, r.source.file);
  if (problem !== null) {
    r.report("workfile.bad_value", head.value, headPath, problem, "Write a relative path like ./other.workfile.yaml.");
    return null;
  }
  return { step: { kind: "call", callee, with: inputs }, shape: ANY };
}
