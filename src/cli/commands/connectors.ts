import { checkConnectors, importManifest } from "../../app/connector-tools.ts";
import { createEngine } from "../../app/engine.ts";
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
        effects: action.effects,
        idempotency: action.idempotency.kind,
      })),
    }));
    if (terminal.json) {
      terminal.out(`${jsonText({ config: deployment.file, connectors })}\n`);
      return 0;
    }
    for (const connector of connectors) {
      terminal.out(`${terminal.color.bold(connector.name)}  ${connector.kind} ${oneLine(connector.version)}\n`);
      for (const action of connector.actions) {
        terminal.out(
          `  ${action.name.padEnd(28)} ${action.effects}, ${action.idempotency}  ${terminal.color.dim(oneLine(action.description, 80))}\n`,
        );
      }
    }
    return 0;
  } catch (error) {
    return printRefusal(terminal, error);
  } finally {
    await engine.close();
  }
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
    if (terminal.json) terminal.out(`${jsonText({ ok: findings.every((entry) => entry.ok), connectors: findings })}\n`);
    else {
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
