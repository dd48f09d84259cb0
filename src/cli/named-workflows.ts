import { statSync } from "node:fs";
import { join } from "node:path";
import { findWorkflows } from "./find-workflows.ts";
import { usage } from "./options.ts";

/** The workflows that a command is given: files, all below folders, `-`; none named: all below the working folder. */
export function namedWorkflows(files: readonly string[]): string[] {
  return files.length > 0 ? [...new Set(files.flatMap(workflowsAt))] : workflowsAt(".");
}

/** The file itself, or all workflows below a folder. */
function workflowsAt(name: string): string[] {
  if (name === "-" || statSync(name, { throwIfNoEntry: false })?.isDirectory() !== true) return [name];
  const found = findWorkflows(name).map((path) => join(name, path));
  if (found.length > 0) return found;
  throw usage(
    `No workflow found ${name === "." ? "here" : `below ${name}`}: name a file, or a folder with *.workfile.yaml files.`,
  );
}
