import type { Diagnostic } from "../errors/diagnostic.ts";
import { columnsOf, type Paint, safeText } from "./terminal.ts";

const MAX_LINE = 160;

/**
 * A finding with the line it is about:
 *
 *     file:line:col: error[CODE]: message
 *       9 |   on_exhuasted:
 *         |   ^^^^^^^^^^^^
 *       help: ...
 *
 * A finding without a place in the text stands with the name of its file and its place in the tree.
 */
export function codeFrame(finding: Diagnostic, text: string | null, color: Paint): string {
  const hasSpan = finding.line !== finding.endLine || finding.column !== finding.endColumn;
  const place = hasSpan ? `${finding.file}:${finding.line}:${finding.column}` : placeOf(finding);
  const tint = finding.severity === "error" ? color.red : finding.severity === "warning" ? color.yellow : color.cyan;
  const head = `${color.bold(safeText(place))}: ${tint(`${finding.severity}[${finding.code}]`)}: ${safeText(finding.message)}`;
  const lines = [head];
  const source = text === null || !hasSpan ? null : sourceLine(text, finding.line);
  if (source !== null) lines.push(...excerpt(source, finding, color, tint));
  if (finding.help !== "") {
    const [first = "", ...rest] = safeText(finding.help).split("\n");
    lines.push(`  ${color.cyan("help")}: ${first}`, ...rest.map((line) => `        ${line}`));
  }
  return `${lines.join("\n")}\n`;
}

function placeOf({ file, path, line, column }: Diagnostic): string {
  if (line !== 1 || column !== 1) return `${file}:${line}:${column}`;
  return path === "" ? file : `${file} (${path})`;
}

/** Walks to the line: of a large text many findings are shown, and none needs all of its lines. */
function sourceLine(text: string, line: number): string | null {
  const breaks = /\r\n|\n|\r/g;
  let start = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  for (let at = 1; ; at++) {
    const end = breaks.exec(text);
    if (at === line) return text.slice(start, end?.index);
    if (end === null) return null;
    start = breaks.lastIndex;
  }
}

function excerpt(source: string, finding: Diagnostic, color: Paint, tint: (text: string) => string): string[] {
  const chars = [...source];
  const from = finding.column - 1;
  const to = finding.endLine === finding.line ? Math.max(from + 1, finding.endColumn - 1) : chars.length;
  // A long line is shown around the place, not from its start.
  const start = from > MAX_LINE / 2 ? from - Math.floor(MAX_LINE / 2) : 0;
  const shown = chars.slice(start, start + MAX_LINE);
  const marked = shown.slice(Math.max(from - start, 0), Math.min(to - start, MAX_LINE));
  const width = Math.max(
    1,
    marked.map(columnsOf).reduce((sum, columns) => sum + columns, 0),
  );
  const gutter = String(finding.line);
  const pad = " ".repeat(gutter.length);
  const lead = start > 0 ? "…" : "";
  const tail = start + MAX_LINE < chars.length ? "…" : "";
  const before = shown
    .slice(0, from - start)
    .map((char) => (char === "\t" ? "\t" : " ".repeat(columnsOf(char))))
    .join("");
  return [
    `  ${color.dim(`${gutter} |`)} ${lead}${safeText(shown.join(""))}${tail}`,
    `  ${color.dim(`${pad} |`)} ${lead === "" ? "" : " "}${before}${tint("^".repeat(width))}`,
  ];
}
