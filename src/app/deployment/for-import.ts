import { dirname } from "node:path";
import { isObject, type Json, type JsonObject } from "../../base/json.ts";
import { SourceText, toJson } from "../../text/tree.ts";
import { parseYaml } from "../../text/yaml.ts";
import { type DeploymentOutcome, readDeployment } from "../deployment.ts";
import type { Environment } from "./section.ts";
import { readTextFile } from "./text-file.ts";

/**
 * The deployment as far as the import of one connector's manifest goes: that connector alone, and without its
 * manifest, which is what is going to be written. Null where the file does not have it.
 */
export async function readForImport(file: string, name: string, env: Environment): Promise<DeploymentOutcome | null> {
  const read = readTextFile(file);
  if ("problem" in read || read.root === null) return null;
  const whole = toJson(read.root);
  if (!isObject(whole)) return null;
  const configured = entryOf(whole["connectors"], name);
  const pasted = entryOf(whole["mcpServers"], name);
  if (configured === undefined && pasted === undefined) return null;
  const manifest: JsonObject = { connector: name, version: "0", actions: {} };
  const content: JsonObject = {
    connectors: { [name]: { ...(isObject(configured) ? (configured as JsonObject) : {}), manifest } },
    ...(pasted === undefined ? {} : { mcpServers: { [name]: pasted } }),
  };
  const source = new SourceText(file, JSON.stringify(content));
  const { root, diagnostics } = parseYaml(source);
  if (root === null) return { deployment: null, diagnostics };
  return readDeployment(source, root, { file, folder: dirname(file) }, env);
}

function entryOf(map: unknown, name: string): Json | undefined {
  return isObject(map) && Object.hasOwn(map, name) ? (map[name] as Json) : undefined;
}
