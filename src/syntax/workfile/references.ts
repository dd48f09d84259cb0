import { didYouMean } from "../../base/nearest.ts";
import { clip } from "../../text/reader.ts";
import { SUBJECT_KEYS, TAKEN_CONNECTORS } from "./tables.ts";
import type { WorkfileReader } from "./workfile-reader.ts";

const REFERENCE = /^([A-Za-z_][A-Za-z0-9_-]*)\.([A-Za-z_][A-Za-z0-9_-]*)$/;

/** Whether a text is a reference `connector.action`; if not, it is reported at `at`. */
export function checkReference(
  r: WorkfileReader,
  text: string,
  at: { start: number; end: number },
  path: string,
  what: string,
): boolean {
  const found = REFERENCE.exec(text);
  const connector = found?.[1] ?? "";
  if (text.startsWith("wf.") || SUBJECT_KEYS.has(text)) {
    const message = `${what} cannot be a construct: "${clip(text)}".`;
    r.report("workfile.bad_value", at, path, message, "Only actions of connectors can stand here.");
    return false;
  }
  if (found === null || connector.includes("__")) {
    const message = `${what} is a reference of the form connector.action, and "${clip(text)}" is none.`;
    const help = connector.includes("__")
      ? "The name of a connector holds no double underscore."
      : "Two names with one dot between, without wildcards.";
    r.report("workfile.bad_value", at, path, message, help);
    return false;
  }
  if ((TAKEN_CONNECTORS as readonly string[]).includes(connector)) {
    const message = `"${connector}" is the engine's own name: no connector can be called so.`;
    r.report("workfile.bad_value", at, path, message, didYouMean(text, SUBJECT_KEYS.keys()));
    return false;
  }
  return true;
}
