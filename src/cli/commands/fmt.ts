import { readWorkflow } from "../../app/workflow-file.ts";
import type { Diagnostic } from "../../errors/diagnostic.ts";
import { type Formatted, format } from "../../syntax/format.ts";
import { MAX_TEXT_BYTES, readNamed } from "../named-file.ts";
import { namedWorkflows } from "../named-workflows.ts";
import { type CommonOptions, terminalOf } from "../options.ts";
import { printDiagnostics, printRefusal } from "../refusal.ts";
import { rewriteFile } from "../rewrite-file.ts";
import { jsonText, safeText } from "../terminal.ts";

export interface FmtOptions extends CommonOptions {
  check?: boolean;
}

type Status = "changed" | "unchanged" | "refused";

interface Entry {
  file: string;
  status: Status;
  /** What standard input became, with `--json`. */
  text?: string;
}

/**
 * Rewrites workflows in their one form, or with `--check` only says which would change (exit 1). Standard input goes
 * to standard output. A file with errors is left alone, and its errors are shown (exit 3).
 */
export async function fmtCommand(files: string[], options: FmtOptions): Promise<number> {
  const terminal = terminalOf(options);
  const check = options.check === true;
  try {
    const names = namedWorkflows(files);
    const entries: Entry[] = [];
    const diagnostics: Diagnostic[] = [];
    for (const name of names) {
      const before = name === "-" ? readNamed("-", MAX_TEXT_BYTES) : readWorkflow(name, process.cwd()).text;
      const after = format(before, name === "-" ? "<stdin>" : name);
      entries.push(entryOf(name, before, after, terminal.json));
      if (after.text === null) {
        diagnostics.push(...after.diagnostics);
      } else if (name === "-") {
        if (!check && !terminal.json) terminal.out(after.text);
      } else if (after.text !== before) {
        if (!check) rewriteFile(name, before, after.text);
        if (!terminal.json) terminal.err(`${safeText(name)}: ${check ? "would change" : "formatted"}\n`);
      }
    }
    const some = (status: Status): boolean => entries.some((entry) => entry.status === status);
    const exit = some("refused") ? 3 : check && some("changed") ? 1 : 0;
    if (terminal.json) terminal.out(`${jsonText({ ok: exit === 0, files: entries, diagnostics })}\n`);
    else if (diagnostics.length > 0) printDiagnostics(terminal, diagnostics);
    return exit;
  } catch (error) {
    return printRefusal(terminal, error);
  }
}

function entryOf(file: string, before: string, after: Formatted, json: boolean): Entry {
  if (after.text === null) return { file, status: "refused" };
  const status = after.text === before ? "unchanged" : "changed";
  return file === "-" && json ? { file, status, text: after.text } : { file, status };
}
