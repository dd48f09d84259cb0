import { stringify } from "yaml";
import { isObject, type Json, type JsonObject } from "../base/json.ts";
import { toolDefinitionPin } from "../catalog/tool-definition.ts";
import { Fault } from "../errors/fault.ts";
import { setOwn } from "../plan/marked.ts";
import { inspectServer } from "./deployment/inspect-server.ts";
import { makeConnector } from "./deployment/make-connectors.ts";
import type { Environment } from "./deployment/section.ts";
import type { LoadedDeployment } from "./deployment.ts";
import { diagnoseOffered, offersOf } from "./offers.ts";
import { importOpenApi } from "./openapi-manifest.ts";
import { Refused } from "./refused.ts";

const MANIFEST_HEADER = `# Written from the server's own tool list and hints: review it, nobody has checked them. An action without a hint stands as
# a write that is not idempotent. \`pin\` holds the definition that was seen; another one is refused before a run.
`;

const OPENAPI_HEADER = `# Written from the OpenAPI document: review it, nobody has checked it. Reading is what the document calls GET; PUT and
# DELETE stand as writes that may be made again. \`pin\` holds the operation that was seen; another one is refused before
# a run.
`;

/**
 * A manifest of an MCP connector's server from its tool list, or of an HTTP service from its OpenAPI document, as
 * YAML. Refuses with exit 2 for a name that is neither; `catalog.unavailable` where the server cannot be reached or
 * the document cannot be read.
 */
export async function importManifest(deployment: LoadedDeployment, name: string, env: Environment): Promise<string> {
  const config = Object.hasOwn(deployment.connectors, name) ? deployment.connectors[name] : undefined;
  if (config?.how.kind === "http") return openApiManifest(name, config.how.openapi);
  if (config === undefined || (config.how.kind !== "mcp" && config.how.kind !== "mcp-http")) {
    const known = Object.values(deployment.connectors)
      .filter((entry) => ["mcp", "mcp-http", "http"].includes(entry.how.kind))
      .map((entry) => entry.name);
    const what =
      config === undefined
        ? `The deployment has no connector ${name}.`
        : `${name} is no MCP server and no HTTP service: the manifest of a ${config.how.kind} is written by hand.`;
    const help = known.length === 0 ? "There is none to import from." : `Import from: ${known.join(", ")}.`;
    throw new Refused(2, new Fault("input.invalid", "", `${what} ${help}`));
  }
  const { protocol, tools } = await inspectServer(config, env, new AbortController().signal);
  const actions: JsonObject = {};
  for (const { name: tool, definition } of tools) setOwn(actions, freeName(actions, tool), actionOf(tool, definition));
  const manifest: JsonObject = {
    connector: name,
    version: "1.0.0",
    ...(protocol === null ? {} : { protocol }),
    actions,
  };
  return MANIFEST_HEADER + stringify(manifest, { lineWidth: 120, aliasDuplicateObjects: false });
}

function openApiManifest(name: string, file: string): string {
  const { version, operations, left } = importOpenApi(name, file);
  const actions: JsonObject = {};
  for (const { id, action } of operations) {
    const free = freeName(actions, id.slice(0, 60));
    setOwn(actions, free, free === id ? action : { ...action, tool: id });
  }
  const said = left.slice(0, 100).map((line) => `# Left out: ${line.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ")}\n`);
  const manifest: JsonObject = { connector: name, version, actions };
  return OPENAPI_HEADER + said.join("") + stringify(manifest, { lineWidth: 120, aliasDuplicateObjects: false });
}

/** A server's name as an action name: what the grammar does not take becomes `_`. */
function actionName(tool: string): string {
  const name = tool.replace(/[^A-Za-z0-9_-]/g, "_");
  return /^[A-Za-z_]/.test(name) ? name : `_${name}`;
}

/** Two tools whose names come out alike keep both: the second gets a number. */
function freeName(actions: JsonObject, tool: string): string {
  const name = actionName(tool);
  let free = name;
  for (let n = 2; Object.hasOwn(actions, free); n++) free = `${name}_${n}`;
  return free;
}

function actionOf(tool: string, given: Json): JsonObject {
  const definition: { [key: string]: unknown } = isObject(given) ? given : {};
  const hints = isObject(definition["annotations"]) ? definition["annotations"] : {};
  const readOnly = hints["readOnlyHint"] === true;
  const pin = toolDefinitionPin(definition);
  const name = actionName(tool);
  return {
    description: String(definition["description"] ?? definition["title"] ?? tool).slice(0, 1_024),
    ...(name === tool && name !== "__proto__" ? {} : { tool }),
    input: schemaOf(definition["inputSchema"]),
    output: definition["outputSchema"] === undefined ? {} : schemaOf(definition["outputSchema"]),
    effects: readOnly ? "read" : hints["destructiveHint"] === true ? "destructive" : "write",
    idempotency: readOnly || hints["idempotentHint"] === true ? "natural" : "none",
    ...(pin === null ? {} : { pin }),
  };
}

function schemaOf(schema: unknown): JsonObject {
  return isObject(schema) ? (JSON.parse(JSON.stringify(schema)) as JsonObject) : { type: "object" };
}

export interface ConnectorFinding {
  connector: string;
  ok: boolean;
  problems: string[];
}

/** Workflows are files: they are read as they would be for a run. */
function checkOffered(
  name: string,
  files: { [action: string]: string },
  deployment: LoadedDeployment,
): ConnectorFinding {
  const offers = offersOf(deployment);
  const problems = Object.entries(files).flatMap(([action, path]) => {
    try {
      const errors = diagnoseOffered(path, offers).filter((entry) => entry.severity === "error");
      return errors.map(({ line, column, message }) => `${name}.${action}: ${path}:${line}:${column}: ${message}`);
    } catch (error) {
      return [`${name}.${action}: ${error instanceof Error ? error.message : String(error)}`];
    }
  });
  return { connector: name, ok: problems.length === 0, problems };
}

/** Connects each connector of a deployment and compares what it offers with its manifest. */
export async function checkConnectors(
  deployment: LoadedDeployment,
  env: Environment,
  say: (line: string) => void,
): Promise<ConnectorFinding[]> {
  const findings: ConnectorFinding[] = [];
  for (const config of Object.values(deployment.connectors)) {
    if (config.how.kind === "builtin") continue;
    if (config.how.kind === "workflows") {
      findings.push(checkOffered(config.name, config.how.files, deployment));
      continue;
    }
    const connector = makeConnector(config, { env, say });
    const problems: string[] = [];
    try {
      const offer = await connector.connect(new AbortController().signal);
      for (const action of Object.values(config.manifest.actions)) {
        const found = offer.actions[action.name];
        if (found === undefined) problems.push(`${action.name} is not offered`);
        else if (action.pin !== undefined && found.pin !== null && found.pin !== action.pin) {
          problems.push(`${action.name} has another definition than the pinned one`);
        }
      }
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error));
    } finally {
      await connector.close();
    }
    findings.push({ connector: config.name, ok: problems.length === 0, problems });
  }
  return findings;
}
