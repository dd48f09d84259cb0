import { pathToFileURL } from "node:url";
import { findNotJson, isObject, type Json } from "../../base/json.ts";
import type { Manifest } from "../../catalog/manifest.ts";
import { type ManifestPlace, readManifest } from "../../catalog/read-manifest.ts";
import { type Diagnostic, diagnostic } from "../../errors/diagnostic.ts";
import { SourceText, type TreeNode } from "../../text/tree.ts";
import { parseYaml } from "../../text/yaml.ts";
import { readTextFile } from "./text-file.ts";

export interface FoundManifest {
  manifest: Manifest | null;
  diagnostics: Diagnostic[];
}

export function manifestInline(source: SourceText, node: TreeNode, place: ManifestPlace): FoundManifest {
  return readManifest(source, node, place);
}

export function manifestFromFile(file: string, connector: string): FoundManifest | { problem: string } {
  const read = readTextFile(file);
  if ("problem" in read) return read;
  if (read.root === null) return { manifest: null, diagnostics: read.diagnostics };
  const { manifest, diagnostics } = readManifest(read.source, read.root, { connector });
  return { manifest, diagnostics: [...read.diagnostics, ...diagnostics] };
}

/** The manifest that a module connector brings along. Loading the module runs its top level, nothing else. */
export async function manifestFromModule(file: string, connector: string): Promise<FoundManifest> {
  const { loadConnectorModule } = await import("../../host/connectors/load-module.ts");
  const loaded = await loadConnectorModule(pathToFileURL(file).href);
  const refuse = (message: string): FoundManifest => ({
    manifest: null,
    diagnostics: [diagnostic("catalog.invalid_manifest", message, { file })],
  });
  if (!loaded.ok) return refuse(loaded.message);
  const declared: unknown = loaded.definition.manifest;
  if (!isObject(declared)) return refuse(`The module has no manifest, and ambit.yaml names none for ${connector}.`);
  const whole: { [key: string]: unknown } = { connector, ...declared };
  if (findNotJson(whole) !== null) return refuse("The module's manifest is no plain JSON.");
  const source = new SourceText(file, JSON.stringify(whole as Json, null, 2));
  const { root, diagnostics } = parseYaml(source);
  if (root === null) return { manifest: null, diagnostics };
  return readManifest(source, root, { connector });
}
