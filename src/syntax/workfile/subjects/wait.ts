import { parseTimestamp } from "../../../expression/times.ts";
import { keyPath } from "../../../text/path.ts";
import { NULL } from "../shapes.ts";
import type { Body } from "../step.ts";
import { WAIT_KEYS } from "../tables.ts";
import type { WorkfileReader } from "../workfile-reader.ts";
import type { SubjectStep } from "./subject.ts";

/** `wf.wait: duration`, or `{ until: timestamp }`. */
export function readWait(r: WorkfileReader, body: Body): SubjectStep | null {
  const { head, headPath, names } = body;
  const node = head.value;
  if (node.kind !== "map") {
    const pause = r.durationOrExpr(node, headPath, "a wait", names, 0);
    return pause === null ? null : { step: { kind: "wait", for: pause }, shape: NULL };
  }
  const event = node.entries.find((entry) => entry.key === "event");
  if (event) {
    const at = { start: event.keyStart, end: event.keyEnd };
    const message = "Waiting for an event is not in this version.";
    r.report(
      "workfile.not_supported",
      at,
      keyPath(headPath, "event"),
      message,
      "Wait for a time, or poll with wf.repeat and a read action.",
    );
    return null;
  }
  const until = r.closed(node, headPath, "wf.wait", WAIT_KEYS, WAIT_KEYS)?.get("until");
  if (until === undefined) return null;
  const path = keyPath(headPath, "until");
  if (until.value.kind === "scalar" && typeof until.value.value === "string" && !until.value.value.includes("{{")) {
    if (parseTimestamp(until.value.value) === null) {
      const message = `"${until.value.value.slice(0, 60)}" is no timestamp.`;
      r.report("workfile.bad_value", until.value, path, message, "Write it like 2026-03-04T08:00:00Z.");
      return null;
    }
    return { step: { kind: "wait", until: { lit: until.value.value } }, shape: NULL };
  }
  const found = r.whole(until.value, path, "the time to wait for", names);
  return found === null ? null : { step: { kind: "wait", until: { expr: found.expr } }, shape: NULL };
}
