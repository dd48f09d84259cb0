import type { ConnectorConfig } from "../../admit/deployment.ts";
import { type ConnectorFinding, checkConnectors, importManifest } from "../../app/connector-tools.ts";
import type { LoadedDeployment } from "../../app/deployment.ts";
import { notFoundText } from "../../app/deployments.ts";
import { driftText, findDrift, repinText } from "../../app/drift.ts";
import { createEngine } from "../../app/engine.ts";
import type { JsonObject } from "../../base/json.ts";
import { type CommonOptions, engineOptions, terminalOf } from "../options.ts";
import { printRefusal } from "../refusal.ts";
import { jsonText, oneLine, safeText } from "../terminal.ts";

/** What may be called, by connector; contacts nothing. */
export async function connectorsListCommand(options: CommonOptions): Promise<number> {
  const terminal = terminalOf(options);
  const engine = await createEngine(engineOptions(options, terminal, "ambit connectors list"));
  try {
    const deployment = await engine.deployment(engine.cwd);
    const connectors = Object.values(deployment.connectors).map((config) => ({
      name: config.name,
      kind: config.how.kind,
      version: config.manifest.version,
      connections: config.connections.map((connection) => ({ name: connection.name, default: connection.isDefault })),
      actions: Object.values(config.manifest.actions).map((action) => ({
        name: action.name,
        description: action.description,
        ...(config.how.kind === "workflows"
          ? { workflow: config.how.files[action.name.slice(config.name.length + 1)] ?? null }
          : { effects: action.effects, idempotency: action.idempotency.kind }),
      })),
    }));
    if (terminal.json) {
      terminal.out(`${jsonText({ config: deployment.file, connectors })}\n`);
      return 0;
    }
    for (const connector of connectors) {
      const where = whereOf(deployment.connectors[connector.name]);
      terminal.out(`${terminal.color.bold(connector.name)}  ${terminal.color.dim(oneLine(where, 400))}\n`);
      if (connector.actions.length === 0)
        terminal.out(
          `  no actions: ambit connectors import ${connector.name} > manifests/${connector.name}.yaml writes a manifest\n`,
        );
      for (const action of connector.actions) {
        const does = "effects" in action ? `${action.effects}, ${REPEATS[action.idempotency]}` : "a call of its file";
        terminal.out(`  ${action.name.padEnd(28)} ${does}  ${terminal.color.dim(oneLine(action.description, 80))}\n`);
      }
    }
    if (deployment.file === null) terminal.err(`${notFoundText([engine.cwd])} These are the built-in connectors.\n`);
    return 0;
  } catch (error) {
    return printRefusal(terminal, error);
  } finally {
    await engine.close();
  }
}

/** What a second call of an action does, in words. */
const REPEATS = { none: "not repeatable", natural: "repeatable", keyed: "repeatable by key" } as const;

/** What stands behind a connector, in words. */
function whereOf(config: ConnectorConfig | undefined): string {
  const how = config?.how;
  switch (how?.kind) {
    case "mcp":
      return `MCP server: ${[how.command, ...how.args].join(" ")}`;
    case "mcp-http":
      return `MCP server at ${how.url}`;
    case "module":
      return `module ${how.path}`;
    case "workflows":
      return "workflows of this deployment, for steps and never for agents";
    case "stub":
      return `scripted answers of ${how.path}`;
    case "builtin":
      return `built in, ${builtinText(config?.name ?? "", how.settings)}`;
    default:
      return "";
  }
}

function builtinText(name: string, settings: JsonObject): string {
  if (name === "files") {
    const { root, write } = settings;
    if (typeof root !== "string") return "off: no folder is shared; set connectors.files.root in ambit.yaml";
    return `${write === true ? "reads and writes" : "reads, and writes nothing (connectors.files.write is false),"} below ${root}`;
  }
  if (name === "messaging")
    return settings["webhook"] === undefined ? "prints on standard error" : "posts to a webhook";
  return "as it is";
}

/** Writes a manifest from an MCP server's tool list on stdout, for a person to review. */
export async function connectorsImportCommand(name: string, options: CommonOptions): Promise<number> {
  const terminal = terminalOf(options);
  const engine = await createEngine(engineOptions(options, terminal, "ambit connectors import"));
  try {
    const deployment = await engine.deploymentOfConnector(name);
    const manifest = await importManifest(deployment, name, process.env);
    terminal.out(terminal.json ? `${jsonText({ type: "manifest", connector: name, manifest })}\n` : manifest);
    terminal.err(
      terminal.color.dim(
        `Review effects and idempotency, save it as manifests/${oneLine(name)}.yaml, and name it in ambit.yaml as the manifest of ${oneLine(name)}.\n`,
      ),
    );
    return 0;
  } catch (error) {
    return printRefusal(terminal, error);
  } finally {
    await engine.close();
  }
}

/** Connects every connector and compares what it offers with its manifest. Exit 1 for a finding. */
export async function connectorsCheckCommand(options: CommonOptions): Promise<number> {
  const terminal = terminalOf(options);
  const engine = await createEngine(engineOptions(options, terminal, "ambit connectors check"));
  try {
    const deployment = await engine.deployment(engine.cwd);
    const findings = await checkConnectors(deployment, process.env, (line) => terminal.err(`${safeText(line)}\n`));
    for (const finding of findings) if (!finding.ok) await addDrift(finding, deployment);
    if (terminal.json) terminal.out(`${jsonText({ ok: findings.every((entry) => entry.ok), connectors: findings })}\n`);
    else {
      if (findings.length === 0)
        terminal.err("Nothing to check: only built-in connectors here, which need no connection.\n");
      for (const finding of findings) {
        terminal.out(
          `${finding.ok ? terminal.color.green("✓") : terminal.color.red("✗")} ${finding.connector}${finding.problems.length === 0 ? "" : `: ${finding.problems.map((text) => oneLine(text, 300)).join("; ")}`}\n`,
        );
      }
    }
    return findings.every((entry) => entry.ok) ? 0 : 1;
  } catch (error) {
    return printRefusal(terminal, error);
  } finally {
    await engine.close();
  }
}

/** In place of the mere fact that a definition is another one: what has changed, and how it is pinned again. */
async function addDrift(finding: ConnectorFinding, deployment: LoadedDeployment): Promise<void> {
  const config = deployment.connectors[finding.connector];
  if (config === undefined) return;
  const drifts = await findDrift(config, process.env, new AbortController().signal).catch(() => []);
  if (drifts.length === 0) return;
  const drifted = new Set(drifts.map((drift) => drift.action));
  const others = finding.problems.filter((problem) => !drifted.has(problem.slice(0, problem.indexOf(" "))));
  finding.problems = [...others, ...drifts.map(driftText), repinText(finding.connector)];
}
