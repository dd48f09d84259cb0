import { isAbsolute, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { CODES } from "../errors/codes.ts";
import type { Diagnostic, Fix } from "../errors/diagnostic.ts";
import { jsonText } from "./terminal.ts";
import { VERSION } from "./version.ts";

const LEVELS = { error: "error", warning: "warning", hint: "note" } as const;

/** Findings as one SARIF 2.1.0 log, for code scanning and editors. Paths are relative to the working folder. */
export function sarifText(diagnostics: readonly Diagnostic[]): string {
  return `${jsonText(sarifLog(diagnostics), 2)}\n`;
}

export function sarifLog(diagnostics: readonly Diagnostic[]): object {
  const codes = [...new Set(diagnostics.map(({ code }) => code))].sort();
  return {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: { driver: { name: "ambit", semanticVersion: VERSION, rules: codes.map(rule) } },
        columnKind: "unicodeCodePoints",
        results: diagnostics.map((entry) => result(entry, codes.indexOf(entry.code))),
      },
    ],
  };
}

function rule(code: Diagnostic["code"]): object {
  const { summary, cause, fix, example } = CODES[code];
  const text = `${cause}\n${fix}\n\nExample:\n${example}`;
  return { id: code, shortDescription: { text: summary }, fullDescription: { text: cause }, help: { text } };
}

function result(entry: Diagnostic, ruleIndex: number): object {
  const { code, severity, message, help, file, fix, path } = entry;
  const artifactLocation = { uri: uriOf(file) };
  const text = help === "" ? message : `${message}\n${help}`;
  const place = { physicalLocation: { artifactLocation, region: region(entry) } };
  return {
    ruleId: code,
    ruleIndex,
    level: LEVELS[severity],
    message: { text },
    locations: [path === "" ? place : { ...place, logicalLocations: [{ fullyQualifiedName: path }] }],
    ...(fix === undefined ? {} : { fixes: [{ artifactChanges: [{ artifactLocation, replacements: [edit(fix)] }] }] }),
  };
}

function edit(fix: Fix): object {
  return { deletedRegion: region(fix), insertedContent: { text: fix.text } };
}

/** As in our spans: from 1 on, the end exclusive, counted in characters. */
function region({ line, column, endLine, endColumn }: Omit<Fix, "text">): object {
  return { startLine: line, startColumn: column, endLine, endColumn };
}

function uriOf(file: string): string {
  const path = isAbsolute(file) ? relative(process.cwd(), file) : file;
  if (isAbsolute(file) && path.startsWith("..")) return pathToFileURL(file).href;
  return path.split(sep).map(encodeURIComponent).join("/");
}
