import { Refused } from "../app/refused.ts";
import { InvariantError } from "../base/invariant.ts";
import type { Diagnostic } from "../errors/diagnostic.ts";
import { Fault, Refusal } from "../errors/fault.ts";
import { readRegularFile } from "../host/files/regular-file.ts";
import { counted } from "../view/words.ts";
import { codeFrame } from "./frame.ts";
import { Interrupted } from "./interrupts.ts";
import { MAX_TEXT_BYTES } from "./named-file.ts";
import { jsonText, oneLine, safeText, type Terminal } from "./terminal.ts";

/** What is said beside a refusal of what had run: nothing at all, or the run that had begun; absent: nothing is said. */
export type Ran = { nothing: true } | { run: string };

/**
 * Prints why a command came to no end, and gives the exit code. Whatever was thrown, no stack trace reaches a user.
 * Only the commands that run something say whether anything ran.
 */
export function printRefusal(terminal: Terminal, error: unknown, ran?: Ran): number {
  if (error instanceof Interrupted) return printInterrupted(terminal, error);
  const refused = asRefused(error);
  const { fault, diagnostics, exit } = refused;
  const begun = ran !== undefined && "run" in ran ? ran.run : null;
  if (terminal.json) {
    const run = begun === null ? {} : { run: begun };
    terminal.out(`${jsonText({ type: "refused", exit, ...run, error: fault.toJSON(), diagnostics })}\n`);
    return exit;
  }
  const code = oneLine(fault.code);
  if (diagnostics.length > 0) printDiagnostics(terminal, diagnostics);
  else terminal.err(`${terminal.color.red(`error[${code}]`)}: ${safeText(fault.message)}\n`);
  const what =
    begun !== null
      ? `The run had begun and stands as far as it got: ambit runs show ${oneLine(begun)}. `
      : ran === undefined
        ? ""
        : "Nothing ran. ";
  terminal.err(terminal.color.dim(`${what}More: ambit explain ${code}\n`));
  return exit;
}

function printInterrupted(terminal: Terminal, { message, exit }: Interrupted): number {
  const error = new Fault("run.cancelled", "", message).toJSON();
  if (terminal.json) terminal.out(`${jsonText({ type: "refused", exit, error, diagnostics: [] })}\n`);
  else terminal.err(`${message}\n`);
  return exit;
}

/** Any error as a refusal; a bug is `internal.invariant` and keeps its stack for a bug report. */
export function asRefused(error: unknown): Refused {
  if (error instanceof Refused) return error;
  if (error instanceof Refusal) return Refused.from(error);
  const message = error instanceof Error ? error.message : String(error);
  const stack = error instanceof Error && error.stack !== undefined ? error.stack : "";
  const what = error instanceof InvariantError ? message : `An unexpected error: ${message}`;
  return new Refused(1, new Fault("internal.invariant", "", what, process.env["AMBIT_DEBUG"] ? { stack } : {}));
}

export function printDiagnostics(terminal: Terminal, diagnostics: readonly Diagnostic[]): void {
  const texts = new Map<string, string | null>();
  for (const finding of diagnostics.slice(0, MOST_PRINTED)) {
    if (!texts.has(finding.file)) texts.set(finding.file, textOf(finding.file));
    terminal.err(`${codeFrame(finding, texts.get(finding.file) ?? null, terminal.color)}\n`);
  }
  const left = diagnostics.slice(MOST_PRINTED);
  if (left.length > 0) {
    const files = new Set(left.map((finding) => finding.file)).size;
    terminal.err(`${counted(left.length, "further finding")} of ${counted(files, "file")} not printed here.\n`);
  }
  terminal.err(`${summary(diagnostics)}\n`);
}

/** More than a person reads at once: those of one file come with a bound of their own (text/cap.ts). */
const MOST_PRINTED = 200;

/** Where to read on about findings: the pages of their codes, the errors' first. */
export function printExplain(terminal: Terminal, diagnostics: readonly Diagnostic[]): void {
  const found = diagnostics.filter((entry) => entry.code !== MORE);
  const errors = found.filter((entry) => entry.severity === "error");
  const codes = [...new Set((errors.length > 0 ? errors : found).map((entry) => entry.code))];
  const [first, ...more] = codes;
  if (first === undefined) return;
  const others = more.length === 0 ? "" : ` (likewise ${more.slice(0, 3).join(", ")}${more.length > 3 ? ", ..." : ""})`;
  terminal.err(terminal.color.dim(`More: ambit explain ${first}${others}\n`));
}

/** Stands for findings that are not told one by one. */
const MORE = "text.more_findings";

export function summary(diagnostics: readonly Diagnostic[]): string {
  const found = diagnostics.filter((entry) => entry.code !== MORE);
  const count = (severity: string): number => found.filter((entry) => entry.severity === severity).length;
  const said = [
    [count("error"), "error"],
    [count("warning"), "warning"],
    [count("hint"), "hint"],
  ] as const;
  const parts = said.filter(([n]) => n > 0).map(([n, word]) => `${n} ${word}${n === 1 ? "" : "s"}`);
  if (parts.length === 0) return "No findings.";
  return found.length < diagnostics.length ? `${parts.join(", ")}, and more.` : `${parts.join(", ")}.`;
}

function textOf(file: string): string | null {
  const read = readRegularFile(file, MAX_TEXT_BYTES);
  return read.ok ? read.text : null;
}
