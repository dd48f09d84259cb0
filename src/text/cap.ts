import { type Diagnostic, diagnostic, sortDiagnostics } from "../errors/diagnostic.ts";

/** More findings at once help nobody, and a hostile text could make millions. */
export const MAX_DIAGNOSTICS = 100;

/** The findings in the order of the text, each once; behind the first hundred one that says how many are not shown. */
export function capDiagnostics(diagnostics: readonly Diagnostic[], most = MAX_DIAGNOSTICS): Diagnostic[] {
  const sorted = sortDiagnostics(diagnostics);
  if (sorted.length <= most) return sorted;
  const shown = sorted.slice(0, most);
  const left = sorted.slice(most).filter((entry) => entry.code !== "text.more_findings");
  const first = left[0];
  if (first === undefined) return shown;
  const span = { line: first.line, column: first.column, endLine: first.endLine, endColumn: first.endColumn };
  const severity = left.some((entry) => entry.severity === "error") ? "error" : first.severity;
  const message = `${left.length} further findings are not shown.`;
  const help = "Put the first ones right and check again.";
  return [...shown, diagnostic("text.more_findings", message, { file: first.file, span, help }, severity)];
}
