import { statSync } from "node:fs";
import { join } from "node:path";
import { diagnoseWorkflow, readWorkflow, type WorkflowFile } from "../../app/workflow-file.ts";
import type { Diagnostic } from "../../errors/diagnostic.ts";
import { counted } from "../../view/words.ts";
import { findWorkflows } from "../find-workflows.ts";
import { MAX_TEXT_BYTES, readNamed } from "../named-file.ts";
import { type CommonOptions, terminalOf, usage } from "../options.ts";
import { printDiagnostics, printExplain, printRefusal, summary } from "../refusal.ts";
import { jsonText, oneLine } from "../terminal.ts";

export interface CheckOptions extends CommonOptions {
  format?: string;
  strict?: boolean;
}

/** Diagnostics only: nothing is admitted, opened or contacted. Exit 3 if a file is refused. */
export async function checkCommand(files: string[], options: CheckOptions): Promise<number> {
  const format = options.format ?? (options.json ? "json" : "text");
  const terminal = terminalOf({ ...options, json: format === "json" });
  try {
    if (format !== "text" && format !== "json") throw usage("--format takes text or json.");
    const names = files.length > 0 ? [...new Set(files.flatMap(workflowsAt))] : workflowsAt(".");
    const checked = names.map(read);
    const diagnostics = checked.flatMap((workflow) => workflow.diagnostics);
    const refusing = diagnostics.filter(
      (entry) => entry.severity === "error" || (options.strict && entry.severity === "warning"),
    );
    if (format === "json") {
      terminal.out(`${jsonText({ ok: refusing.length === 0, files: names, diagnostics })}\n`);
    } else if (diagnostics.length > 0) {
      printDiagnostics(terminal, diagnostics);
      printExplain(terminal, diagnostics);
    } else {
      terminal.err(
        `${names.length === 1 ? oneLine(names[0] ?? "") : counted(names.length, "file")}: ${summary(diagnostics satisfies Diagnostic[])}\n`,
      );
    }
    return refusing.length === 0 ? 0 : 3;
  } catch (error) {
    return printRefusal(terminal, error);
  }
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

function read(name: string): WorkflowFile {
  if (name !== "-") return readWorkflow(name, process.cwd());
  return diagnoseWorkflow("<stdin>", "stdin", process.cwd(), readNamed("-", MAX_TEXT_BYTES));
}
