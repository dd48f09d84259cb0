import { readFileSync, statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import type { Diagnostic } from "../errors/diagnostic.ts";
import { Fault } from "../errors/fault.ts";
import type { Plan } from "../plan/plan.ts";
import { diagnose } from "../syntax/diagnose.ts";
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
}

/** Reads and checks a workflow. Refuses (exit 2) what is no readable file. */
export function readWorkflow(shown: string, cwd: string): WorkflowFile {
  const path = resolve(cwd, shown);
  return diagnoseWorkflow(shown, basename(path), dirname(path), readText(path, shown));
}

/** The same for a text that came from elsewhere, e.g. standard input. */
export function diagnoseWorkflow(shown: string, name: string, folder: string, text: string): WorkflowFile {
  const { plan, diagnostics } = diagnose(text, shown);
  return { shown, name, folder, text, plan, diagnostics };
}

function readText(path: string, shown: string): string {
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) throw unreadable(shown, "it is a folder");
    if (stat.size > MAX_BYTES) throw unreadable(shown, "it is larger than 16 MiB");
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Refused) throw error;
    const code = (error as { code?: unknown }).code;
    throw unreadable(shown, code === "ENOENT" ? "there is no such file" : String(code ?? "it cannot be read"));
  }
}

function unreadable(shown: string, why: string): Refused {
  return new Refused(2, new Fault("input.invalid", "", `${shown} cannot be read: ${why}.`, { file: shown }));
}
