import type { ConnectorConfig } from "../admit/deployment.ts";
import { canonical, isObject, type Json } from "../base/json.ts";
import type { ActionManifest } from "../catalog/manifest.ts";
import { splitActionName } from "../catalog/names.ts";
import { toolDefinitionPin } from "../catalog/tool-definition.ts";
import { Refusal } from "../errors/fault.ts";
import { inspectServer } from "./deployment/inspect-server.ts";
import type { Environment } from "./deployment/section.ts";

/** A tool that its server describes otherwise than the pin of its manifest says. */
export interface Drift {
  action: string;
  /** `sha256:...` of the definition that was pinned, and of the one that the server gives now. */
  pinned: string;
  found: string;
  /** The parts in which the definition and the manifest differ, in words; empty where they agree in those. */
  parts: string[];
}

/** What has drifted of an MCP connector, by asking its server; empty for other kinds. `catalog.unavailable`. */
export async function findDrift(config: ConnectorConfig, env: Environment, signal: AbortSignal): Promise<Drift[]> {
  if (config.how.kind !== "mcp" && config.how.kind !== "mcp-http") return [];
  const pinned = Object.values(config.manifest.actions).filter((action) => action.pin !== undefined);
  if (pinned.length === 0) return [];
  const { tools } = await inspectServer(config, env, signal);
  return pinned.flatMap((manifest) => {
    const tool = manifest.tool ?? splitActionName(manifest.name)?.name ?? manifest.name;
    const definition = tools.find((entry) => entry.name === tool)?.definition;
    const found = toolDefinitionPin(definition);
    if (manifest.pin === undefined || found === null || found === manifest.pin) return [];
    return [{ action: manifest.name, pinned: manifest.pin, found, parts: partsOf(manifest, tool, definition) }];
  });
}

/** The parts of a definition that a manifest holds too, where the two say different things. */
function partsOf(manifest: ActionManifest, tool: string, definition: Json | undefined): string[] {
  const given: { [key: string]: unknown } = isObject(definition) ? definition : {};
  const parts: string[] = [];
  const description = String(given["description"] ?? given["title"] ?? tool).slice(0, 1_024);
  if (description !== manifest.description) parts.push("the description");
  if (differs(given["inputSchema"], manifest.input)) parts.push("the input schema");
  if (given["outputSchema"] !== undefined && differs(given["outputSchema"], manifest.output))
    parts.push("the output schema");
  const hints = isObject(given["annotations"]) ? given["annotations"] : {};
  const readOnly = hints["readOnlyHint"];
  const reads = manifest.effects === "read" || manifest.effects === "none";
  if (typeof readOnly === "boolean" && readOnly !== reads) parts.push("the hint about effects");
  return parts;
}

function differs(schema: unknown, known: unknown): boolean {
  return canonical((schema ?? {}) as Json) !== canonical((known ?? {}) as Json);
}

/** One sentence: which pin, which definition instead, and where they differ. */
export function driftText({ action, pinned, found, parts }: Drift): string {
  const where = parts.length === 0 ? "a part that the manifest does not hold (a title or a hint)" : parts.join(", ");
  return `${action} is pinned as ${short(pinned)}, and its server describes it as ${short(found)}; the two differ in ${where}`;
}

export function repinText(connector: string): string {
  return `Review what has changed and take it over into the manifest: ambit connectors import ${connector} prints it as it would be now, pins included`;
}

/** Enough of a hash to tell two apart; details hold the whole. */
function short(pin: string): string {
  return `${pin.slice(0, "sha256:".length + 12)}…`;
}

/** A refusal for drift that says what has changed, as far as the server can be asked once more. */
export async function withDrift(
  refusal: Refusal,
  config: ConnectorConfig | undefined,
  env: Environment,
  signal: AbortSignal,
): Promise<Refusal> {
  const { details } = refusal.fault;
  const { action, pinned, found } = details;
  if (typeof action !== "string" || typeof pinned !== "string" || typeof found !== "string") return refusal;
  if (config === undefined) return refusal;
  const asked = await findDrift(config, env, signal).catch(() => []);
  const drift = asked.find((entry) => entry.action === action);
  const parts = drift?.parts ?? [];
  const said =
    drift === undefined ? `${action} is pinned as ${short(pinned)}, and ${short(found)} was found` : driftText(drift);
  return new Refusal(refusal.code, `${said}. ${repinText(config.name)}`, { ...details, parts });
}
