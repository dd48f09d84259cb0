import type { RunResult } from "../journal/result.ts";
import { type DryRunLine, dryRunReport } from "../view/dry-run.ts";
import { shown } from "./shown.ts";
import { jsonText, oneLine, type Paint, safeText } from "./terminal.ts";

const MAX_DETAIL = 200;

/** The report of a dry run, a line an entry; none for any other run. */
export function dryRunLines(result: RunResult, color: Paint): string[] {
  if (!result.dry_run) return [];
  const { wouldDo, open } = dryRunReport(result);
  const title = wouldDo.length + open.length === 0 ? "A real run would do nothing more than this one." : "A real run:";
  return [color.bold(title), ...wouldDo.map((line) => entry(line, color)), ...open.map((line) => entry(line, color))];
}

function entry({ position, text, detail }: DryRunLine, color: Paint): string {
  const more = detail === null ? "" : ` ${color.dim(oneLine(jsonText(shown(detail)), MAX_DETAIL))}`;
  return `  ${oneLine(position, 80)}  ${safeText(text)}${more}`;
}
