import { type Diagnostic, diagnostic } from "../errors/diagnostic.ts";
import type { ResultShapes } from "../expression/shape.ts";
import type { Plan } from "../plan/plan.ts";
import { SourceText } from "../text/tree.ts";
import { parseWorkfile } from "./workfile/parse.ts";
import { StepPlaces } from "./workfile/step-places.ts";

export type Notation = "workfile" | "awl" | "request";

export interface Diagnosis {
  notation: Notation;
  /** Null exactly if there are errors. */
  plan: Plan | null;
  diagnostics: Diagnostic[];
  /** Where the words of its steps stand. */
  places: StepPlaces;
}

/**
 * Everything that can be said of a text by itself: the one way from a text to a Plan for the command line, the
 * editor, the web and MCP. `file` names it in findings and by its ending tells the notation. `results` says what is known
 * of what actions give back; by the text alone nothing is. Never throws.
 */
export function diagnose(given: string, file: string, results?: ResultShapes): Diagnosis {
  // A byte order mark is no character of the first line: columns begin behind it.
  const text = given.charCodeAt(0) === 0xfeff ? given.slice(1) : given;
  const notation = notationOf(text, file);
  switch (notation) {
    case "workfile":
      return { notation, ...parseWorkfile(new SourceText(file, text), results) };
    case "awl":
      return notYet(notation, "AWL scripts", file);
    case "request":
      return notYet(notation, "Bounded requests", file);
  }
}

/** By the ending of the file; a text without one (standard input) by its first line that is no comment. */
export function notationOf(text: string, file: string): Notation {
  if (/\.awl$/i.test(file)) return "awl";
  if (/\.json$/i.test(file)) return "request";
  if (/\.ya?ml$/i.test(file)) return "workfile";
  const first = firstLine(text);
  if (first.startsWith("@start")) return "awl";
  return first.startsWith("{") ? "request" : "workfile";
}

function firstLine(text: string): string {
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  while (at < text.length) {
    const found = text.indexOf("\n", at);
    const end = found === -1 ? text.length : found;
    const line = text.slice(at, Math.min(end, at + 200)).trimStart();
    if (line.trimEnd() !== "" && !line.startsWith("#")) return line;
    at = end + 1;
  }
  return "";
}

function notYet(notation: Notation, what: string, file: string): Diagnosis {
  const message = `${what} are not in this version.`;
  const diagnostics = [diagnostic("workfile.not_supported", message, { file })];
  return { notation, plan: null, diagnostics, places: new StepPlaces(new SourceText(file, "")) };
}
