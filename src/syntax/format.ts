import { type Diagnostic, hasErrors } from "../errors/diagnostic.ts";
import { SourceText } from "../text/tree.ts";
import { diagnose, notationOf } from "./diagnose.ts";
import { formatWorkfile } from "./workfile/print/format.ts";

export interface Formatted {
  /** Null exactly if the text has errors, or its notation has no form of its own yet. */
  text: string | null;
  diagnostics: Diagnostic[];
}

/**
 * A text in the one form of its notation (`ambit fmt`): comments, order and spellings stay, formatting twice changes
 * nothing, and the Plan is the same but for its spans. `file` tells the notation, as in `diagnose`.
 */
export function format(text: string, file: string): Formatted {
  if (notationOf(text, file) === "workfile") return formatWorkfile(new SourceText(file, text));
  const { diagnostics } = diagnose(text, file);
  return { text: hasErrors(diagnostics) ? null : text, diagnostics };
}
