import { readFileSync } from "node:fs";
import { Refused } from "../app/refused.ts";
import { InvariantError } from "../base/invariant.ts";
import type { Diagnostic } from "../errors/diagnostic.ts";
import { Fault, Refusal } from "../errors/fault.ts";
import { codeFrame } from "./frame.ts";
import { safeText, type Terminal } from "./terminal.ts";

/** Prints why nothing ran, and gives the exit code. Whatever was thrown, no stack trace reaches a user. */
export function printRefusal(terminal: Terminal, error: unknown): number {
  const refused = asRefused(error);
  const { fault, diagnostics, exit } = refused;
  if (terminal.json) {
    const document = { type: "refused", exit, error: fault.toJSON(), diagnostics };
    terminal.out(`${JSON.stringify(document)}\n`);
    return exit;
  }
  if (diagnostics.length > 0) printDiagnostics(terminal, diagnostics);
  else terminal.err(`${terminal.color.red(`error[${fault.code}]`)}: ${safeText(fault.message)}\n`);
  terminal.err(terminal.color.dim(`Nothing ran. More: ambit explain ${fault.code}\n`));
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
  for (const finding of diagnostics) {
    if (!texts.has(finding.file)) texts.set(finding.file, textOf(finding.file));
    terminal.err(`${codeFrame(finding, texts.get(finding.file) ?? null, terminal.color)}\n`);
  }
  terminal.err(`${summary(diagnostics)}\n`);
}

export function summary(diagnostics: readonly Diagnostic[]): string {
  const count = (severity: string): number => diagnostics.filter((entry) => entry.severity === severity).length;
  const said = [
    [count("error"), "error"],
    [count("warning"), "warning"],
    [count("hint"), "hint"],
  ] as const;
  const parts = said.filter(([n]) => n > 0).map(([n, word]) => `${n} ${word}${n === 1 ? "" : "s"}`);
  return parts.length === 0 ? "No findings." : `${parts.join(", ")}.`;
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return null;
  }
}
