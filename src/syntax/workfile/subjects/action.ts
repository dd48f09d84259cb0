import { clip } from "../../../text/reader.ts";
import { checkReference } from "../references.ts";
import type { Body } from "../step.ts";
import type { WorkfileReader } from "../workfile-reader.ts";
import type { SubjectStep } from "./subject.ts";

/** `connector.action: { arguments }`. */
export function readAction(r: WorkfileReader, body: Body): SubjectStep | null {
  const { head, headPath, names } = body;
  const at = { start: head.keyStart, end: head.keyEnd };
  const shape = r.results(head.key);
  const known = checkReference(r, head.key, at, headPath, "What a step calls");
  if (head.value.kind === "scalar" && head.value.value === null) {
    return known ? { step: { kind: "action", action: head.key, args: { lit: {} } }, shape } : null;
  }
  const entries = r.open(head.value, headPath, `the arguments of ${clip(head.key)}`);
  if (entries === null || !known) return null;
  const { value } = r.map(entries, headPath, names);
  return { step: { kind: "action", action: head.key, args: value }, shape };
}
