import { basename, dirname, join, resolve } from "node:path";
import type { Diagnostic } from "../errors/diagnostic.ts";
import { Fault } from "../errors/fault.ts";
import { readRegularFile } from "../host/files/regular-file.ts";
import type { Plan } from "../plan/plan.ts";
import { diagnose } from "../syntax/diagnose.ts";
import type { StepPlaces } from "../syntax/workfile/step-places.ts";
import { type CalleeFile, loadCallees, type Offers } from "./callees.ts";
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
  /** The files that it calls, and those that they call. */
  callees: CalleeFile[];
}

/** Reads and checks a workflow. Refuses (exit 2) what is no readable file. */
export function readWorkflow(shown: string, cwd: string): WorkflowFile {
  const path = resolve(cwd, shown);
  return diagnoseWorkflow(shown, basename(path), dirname(path), readText(path, shown));
}

/** The workflow with what a deployment offers to it as actions; the same where nothing is offered. */
export function withOffers(workflow: WorkflowFile, offers: Offers): WorkflowFile {
  const { shown, name, folder, text } = workflow;
  return offers.size === 0 ? workflow : diagnoseWorkflow(shown, name, folder, text, offers);
}

/** The same for a text that came from elsewhere, e.g. standard input. */
export function diagnoseWorkflow(
  shown: string,
  name: string,
  folder: string,
  text: string,
  offers: Offers = new Map(),
): WorkflowFile {
  const { plan, diagnostics, places } = diagnose(text, shown);
  const own = { shown, name, folder, text, places };
  if (plan === null) return { ...own, plan, diagnostics, callees: [] };
  const called = loadCallees({ plan, shown, path: join(folder, name), places }, offers);
  return { ...own, plan: called.plan, diagnostics: [...diagnostics, ...called.diagnostics], callees: called.files };
}

function readText(path: string, shown: string): string {
  const read = readRegularFile(path, MAX_BYTES);
  if (!read.ok) throw unreadable(shown, read.why);
  return read.text;
}

function unreadable(shown: string, why: string): Refused {
  return new Refused(2, new Fault("input.invalid", "", `${shown} cannot be read: ${why}.`, { file: shown }));
}

/** Texts by name, as a run pins them: the workflow's own first, then those that it calls. */
export function filesOf(workflow: WorkflowFile): { [name: string]: string } {
  const called = workflow.callees.map(({ name, text }) => [name, text] as const);
  return { [workflow.name]: workflow.text, ...Object.fromEntries(called) };
}
