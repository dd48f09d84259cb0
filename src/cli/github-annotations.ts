import type { Diagnostic } from "../errors/diagnostic.ts";
import { safeText } from "./terminal.ts";

const LEVELS = { error: "error", warning: "warning", hint: "notice" } as const;

/** Findings as workflow commands of GitHub Actions, one a line: they become annotations on the changed lines. */
export function githubAnnotations(diagnostics: readonly Diagnostic[]): string {
  return diagnostics.map((entry) => `${annotation(entry)}\n`).join("");
}

function annotation(entry: Diagnostic): string {
  const { severity, file, line, column, endLine, endColumn, code, message, help } = entry;
  // A column range is shown for one line only.
  const columns = line === endLine ? { col: column, endColumn } : { col: column };
  const properties = Object.entries({ file, line, endLine, ...columns, title: code })
    .map(([key, value]) => `${key}=${property(String(value))}`)
    .join(",");
  return `::${LEVELS[severity]} ${properties}::${data(help === "" ? message : `${message}\n${help}`)}`;
}

/** A message that could end its line could begin another command. */
function data(text: string): string {
  return safeText(text).replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
