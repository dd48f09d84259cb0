import { type Span, START_OF_TEXT } from "../base/span.ts";
import type { Code } from "./codes.ts";

export type Severity = "error" | "warning" | "hint";

/**
 * Something to say about a text. Returned, never thrown; several at once. Lines and columns start at 1 and
 * count Unicode characters. `path` is the place in the tree (`steps[0].resolve.budget`), "" where there is none.
 */
export interface Diagnostic extends Span {
  code: Code;
  severity: Severity;
  file: string;
  path: string;
  message: string;
  help: string;
  /** There if one text alone can have been meant (`check --fix`). */
  fix?: Fix;
}

/** What belongs in the place of a stretch of the text, the end exclusive. */
export interface Fix extends Span {
  text: string;
}

export interface DiagnosticPlace {
  file: string;
  span?: Span;
  path?: string;
  help?: string;
  fix?: Fix;
}

export function diagnostic(
  code: Code,
  message: string,
  place: DiagnosticPlace,
  severity: Severity = "error",
): Diagnostic {
  const span = place.span ?? START_OF_TEXT;
  return {
    code,
    severity,
    file: place.file,
    line: span.line,
    column: span.column,
    endLine: span.endLine,
    endColumn: span.endColumn,
    path: place.path ?? "",
    message,
    help: place.help ?? "",
    ...(place.fix === undefined ? {} : { fix: place.fix }),
  };
}

export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((entry) => entry.severity === "error");
}

/** In the order of the text, each finding once. */
export function sortDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const seen = new Set<string>();
  return [...diagnostics]
    .sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line || a.column - b.column))
    .filter((entry) => {
      const key = `${entry.file}:${entry.line}:${entry.column}:${entry.code}:${entry.message}`;
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    });
}
