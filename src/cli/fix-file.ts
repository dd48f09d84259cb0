import { readWorkflow } from "../app/workflow-file.ts";
import type { Diagnostic } from "../errors/diagnostic.ts";
import { diagnose } from "../syntax/diagnose.ts";
import { applyFixes } from "../text/fixes.ts";
import { rewriteFile } from "./rewrite-file.ts";

/** Each round may bring findings to light that others hid; a file that needs more is left to its author. */
const MAX_ROUNDS = 20;

/**
 * Puts right in a file what its findings say can be put right in one way only, and gives how many were. The text is
 * checked again after each round; one that did not get better is not kept. The file is written once, at the end.
 */
export function fixFile(shown: string): number {
  const file = readWorkflow(shown, process.cwd());
  const { text, count } = fixText(file.text, shown, file.diagnostics);
  if (count > 0) rewriteFile(shown, file.text, text);
  return count;
}

/** The same for a text; `file` tells its notation. */
export function fixText(
  before: string,
  file: string,
  found?: readonly Diagnostic[],
  check = (text: string): readonly Diagnostic[] => diagnose(text, file).diagnostics,
): { text: string; count: number } {
  let text = before;
  let diagnostics = found ?? check(before);
  let count = 0;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const next = applyFixes(
      text,
      diagnostics.flatMap(({ fix }) => fix ?? []),
    );
    if (next.applied.length === 0) break;
    const after = check(next.text);
    if (errors(after) > errors(diagnostics)) break;
    text = next.text;
    diagnostics = after;
    count += next.applied.length;
  }
  return { text, count };
}

function errors(diagnostics: readonly Diagnostic[]): number {
  return diagnostics.filter(({ severity }) => severity === "error").length;
}
