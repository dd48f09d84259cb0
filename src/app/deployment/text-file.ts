import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import type { Diagnostic } from "../../errors/diagnostic.ts";
import { SourceText, type TreeNode } from "../../text/tree.ts";
import { parseYaml } from "../../text/yaml.ts";

/** The pre-scan of YAML refuses at 1 MiB; nothing larger is even read. */
const MAX_FILE_BYTES = 2 * 1024 * 1024;

export type TextFile =
  | { source: SourceText; root: TreeNode | null; diagnostics: Diagnostic[] }
  /** `cannot be read: ...`: the end of a sentence about the file. */
  | { problem: string };

/** Reads and parses a YAML or JSON file. `name` is what diagnostics call it: the path itself by default. */
export function readTextFile(file: string, name = file): TextFile {
  let text: string;
  try {
    const handle = openSync(file, "r");
    try {
      const stat = fstatSync(handle);
      if (!stat.isFile()) return { problem: `${file} is no file` };
      if (stat.size > MAX_FILE_BYTES) return { problem: `${file} is larger than 2 MiB` };
      text = readFileSync(handle, "utf8");
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    return { problem: code === "ENOENT" ? `${file} does not exist` : `${file} cannot be read (${code})` };
  }
  const source = new SourceText(name, text);
  return { source, ...parseYaml(source) };
}
