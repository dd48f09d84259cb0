import { basename, dirname, resolve } from "node:path";
import type { Diagnostic } from "../errors/diagnostic.ts";
import { Fault } from "../errors/fault.ts";
import { readRegularFile } from "../host/files/regular-file.ts";
import type { Plan } from "../plan/plan.ts";
import { diagnose } from "../syntax/diagnose.ts";
import type { StepPlaces } from "../syntax/workfile/step-places.ts";
import { Refused } from "./refused.ts";

/** A text larger than this is no workflow; the parser's own limit is 1 MiB. */
const MAX_BYTES = 16 * 1024 * 1024;

export interface WorkflowFile {
  /** As the user wrote it: what diagnostics show. */
  shown: string;
  /** Relative to its own folder: what is pinned. */
  name: string;
  /** Absolute. */
  folder: string;
  text: string;
  /** Null if there are errors. */
  plan: Plan | null;
  diagnostics: Diagnostic[];
  /** Where the words of its steps stand. */
  places: StepPlaces;
}

/** Reads and checks a workflow. Refuses (exit 2) what is no readable file. */
export function readWorkflow(shown: string, cwd: string): WorkflowFile {
  const path = resolve(cwd, shown);
  return diagnoseWorkflow(shown, basename(path), dirname(path), readText(path, shown));
}

/** The same for a text that came from elsewhere, e.g. standard input. */
export function diagnoseWorkflow(shown: string, name: string, folder: string, text: string): WorkflowFile {
  const { plan, diagnostics, places } = diagnose(text, shown);
  return { shown, name, folder, text, plan, diagnostics, places };
}

function readText(path: string, shown: string): string {
  const read = readRegularFile(path, MAX_BYTES);
  if (!read.ok) throw unreadable(shown, read.why);
  return read.text;
}

function unreadable(shown: string, why: string): Refused {
  return new Refused(2, new Fault("input.invalid", "", `${shown} cannot be read: ${why}.`, { file: shown }));
}
