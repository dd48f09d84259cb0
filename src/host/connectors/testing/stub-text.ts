import type { Diagnostic } from "../../../errors/diagnostic.ts";
import type { SourceText } from "../../../text/tree.ts";
import { parseYaml } from "../../../text/yaml.ts";
import { readStubNode, type StubScript } from "../read-stub.ts";

/** The script of a whole stub file; a text that is no YAML is a fault of the test. */
export function stubOf(source: SourceText, folder: string): { script: StubScript; diagnostics: Diagnostic[] } {
  const { root, diagnostics } = parseYaml(source);
  if (root === null) throw new Error(`no YAML: ${diagnostics[0]?.message}`);
  const read = readStubNode(source, root, folder);
  return { script: read.script, diagnostics: [...diagnostics, ...read.diagnostics] };
}
