import type { Diagnostic } from "../../errors/diagnostic.ts";
import { readRegularFile } from "../../host/files/regular-file.ts";
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
  const read = readRegularFile(file, MAX_FILE_BYTES);
  if (!read.ok) {
    return { problem: read.code === "ENOENT" ? `${file} does not exist` : `${file} cannot be read: ${read.why}` };
  }
  const source = new SourceText(name, read.text);
  return { source, ...parseYaml(source) };
}
