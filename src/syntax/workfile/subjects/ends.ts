import { keyPath } from "../../../text/path.ts";
import { clip } from "../../../text/reader.ts";
import { NULL } from "../shapes.ts";
import type { Body } from "../step.ts";
import { FAIL_KEYS } from "../tables.ts";
import type { WorkfileReader } from "../workfile-reader.ts";
import type { SubjectStep } from "./subject.ts";

/** `wf.stop`: a map of outputs, or null. */
export function readStop(r: WorkfileReader, body: Body): SubjectStep | null {
  const node = body.head.value;
  if (node.kind === "scalar" && node.value === null) return { step: { kind: "exit", how: "stop" }, shape: NULL };
  const entries = r.open(node, body.headPath, "wf.stop");
  if (entries === null) return null;
  const { value } = r.map(entries, body.headPath, body.names);
  return { step: { kind: "exit", how: "stop", value }, shape: NULL };
}

const FAILURE_CODE = /^[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z_][A-Za-z0-9_-]*)+$/;

/** `wf.fail: { code, message }` with a literal code of the author's. */
export function readFail(r: WorkfileReader, body: Body): SubjectStep | null {
  const keys = r.closed(body.head.value, body.headPath, "wf.fail", FAIL_KEYS, FAIL_KEYS);
  const codeNode = keys?.get("code")?.value;
  const messageNode = keys?.get("message")?.value;
  const code = codeNode ? r.literal(codeNode, keyPath(body.headPath, "code"), "the code") : null;
  if (codeNode && code !== null && !FAILURE_CODE.test(code)) {
    const help = "A code is family.name, in letters, digits, _ and -.";
    r.report("workfile.bad_value", codeNode, keyPath(body.headPath, "code"), `"${clip(code)}" is no code.`, help);
    return null;
  }
  const text = messageNode
    ? r.template(messageNode, keyPath(body.headPath, "message"), "the message", body.names)
    : null;
  if (code === null || text === null) return null;
  return { step: { kind: "exit", how: "fail", code: { lit: code }, text: text.value }, shape: NULL };
}
