import { diagnoseWorkflow, readWorkflow, type WorkflowFile } from "../../app/workflow-file.ts";
import type { Diagnostic } from "../../errors/diagnostic.ts";
import { counted } from "../../view/words.ts";
import { MAX_TEXT_BYTES, readNamed } from "../named-file.ts";
import { namedWorkflows } from "../named-workflows.ts";
import { type CommonOptions, terminalOf, usage } from "../options.ts";
import { printDiagnostics, printExplain, printRefusal, summary } from "../refusal.ts";
import { jsonText, oneLine, safeText, type Terminal } from "../terminal.ts";

const FORMATS = ["text", "json", "sarif", "github"] as const;
type Format = (typeof FORMATS)[number];

export interface CheckOptions extends CommonOptions {
  format?: string;
  strict?: boolean;
  fix?: boolean;
}

/** Diagnostics only: nothing is admitted, opened or contacted. Exit 3 if a file is refused. */
export async function checkCommand(files: string[], options: CheckOptions): Promise<number> {
  const wanted = options.format ?? (options.json ? "json" : "text");
  const terminal = terminalOf({ ...options, json: wanted === "json" });
  try {
    const format = FORMATS.find((name) => name === wanted);
    if (format === undefined) throw usage("--format takes text, json, sarif or github.");
    const names = namedWorkflows(files);
    if (options.fix && names.includes("-"))
      throw usage("--fix changes files: save the text in one, or check it without --fix.");
    const fixed = options.fix ? await fixAll(names, terminal) : null;
    const checked = names.map(read);
    const diagnostics = checked.flatMap((workflow) => workflow.diagnostics);
    const refusing = diagnostics.filter(
      (entry) => entry.severity === "error" || (options.strict && entry.severity === "warning"),
    );
    const ok = refusing.length === 0;
    if (format === "json") {
      terminal.out(`${jsonText({ ok, files: names, ...(fixed === null ? {} : { fixed }), diagnostics })}\n`);
    } else if (format !== "text") {
      terminal.out(await rendered(format, diagnostics));
    } else if (diagnostics.length > 0) {
      printDiagnostics(terminal, diagnostics);
      printExplain(terminal, diagnostics);
    } else {
      terminal.err(
        `${names.length === 1 ? oneLine(names[0] ?? "") : counted(names.length, "file")}: ${summary(diagnostics satisfies Diagnostic[])}\n`,
      );
    }
    return ok ? 0 : 3;
  } catch (error) {
    return printRefusal(terminal, error);
  }
}

async function rendered(format: Exclude<Format, "text" | "json">, diagnostics: readonly Diagnostic[]): Promise<string> {
  if (format === "github") return (await import("../github-annotations.ts")).githubAnnotations(diagnostics);
  return (await import("../sarif.ts")).sarifText(diagnostics);
}

/** How many findings of each file were put right, of those with any. */
async function fixAll(names: readonly string[], terminal: Terminal): Promise<{ file: string; findings: number }[]> {
  const { fixFile } = await import("../fix-file.ts");
  const fixed = names.map((file) => ({ file, findings: fixFile(file) })).filter(({ findings }) => findings > 0);
  for (const { file, findings } of fixed) {
    terminal.err(`${safeText(file)}: ${counted(findings, "finding")} put right\n`);
  }
  return fixed;
}

function read(name: string): WorkflowFile {
  if (name !== "-") return readWorkflow(name, process.cwd());
  return diagnoseWorkflow("<stdin>", "stdin", process.cwd(), readNamed("-", MAX_TEXT_BYTES));
}
