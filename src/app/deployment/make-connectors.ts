import { dirname } from "node:path";
import type { ConnectorConfig, SecretRef } from "../../admit/deployment.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { systemIds } from "../../base/ids.ts";
import { isObject, type Json, type JsonObject } from "../../base/json.ts";
import type { Connector } from "../../catalog/connector.ts";
import { toolDefinitionPin } from "../../catalog/tool-definition.ts";
import { Refusal } from "../../errors/fault.ts";
import type { DeclaredCommand } from "../../host/connectors/command-line.ts";
import type { ConnectionSettings } from "../../host/connectors/connection.ts";
import { FilesConnector } from "../../host/connectors/files.ts";
import { HttpConnector } from "../../host/connectors/http.ts";
import { HostList } from "../../host/connectors/http-hosts.ts";
import { McpConnector, type McpOptions } from "../../host/connectors/mcp.ts";
import { MessagingConnector } from "../../host/connectors/messaging.ts";
import { ModuleConnector } from "../../host/connectors/module.ts";
import { OpenApiConnector } from "../../host/connectors/openapi.ts";
import { readStubNode, type StubScript } from "../../host/connectors/read-stub.ts";
import { ShellConnector } from "../../host/connectors/shell.ts";
import { StateConnector } from "../../host/connectors/state.ts";
import type { StateStore } from "../../host/connectors/state-store.ts";
import { StubConnector } from "../../host/connectors/stub.ts";
import type { Position } from "../../plan/position.ts";
import { secretResolver } from "./secrets.ts";
import type { Environment } from "./section.ts";
import { readTextFile } from "./text-file.ts";

export interface ConnectorContext {
  env: Environment;
  clock?: Clock;
  /** Takes messages of `messaging.post` to the console; our standard error by default. */
  say?: (line: string) => void;
  /** What `state.*` keeps things in; without it they cannot be used. */
  state?: () => Promise<StateStore>;
  /** The name of the workflow in whose file the step at a position stands. */
  workflowAt?: (position: Position) => string;
}

/**
 * Makes the connector of a configuration; nothing is started, contacted or resolved before `connect`. Refuses
 * with `deployment.invalid` where a stub file is broken.
 */
export function makeConnector(config: ConnectorConfig, context: ConnectorContext): Connector {
  const resolveSecret = secretResolver(context.env);
  const clock = context.clock ?? systemClock;
  const { name, how, connections } = config;
  switch (how.kind) {
    case "stub":
      return new StubConnector({
        name,
        actions: Object.keys(config.manifest.actions),
        script: loadStub(how.path),
        connections,
        resolveSecret,
        clock,
      });
    case "module":
      return new ModuleConnector({ name, module: how.path, connections, resolveSecret, clock });
    case "mcp":
    case "mcp-http":
      return new McpConnector({
        name,
        ...serverOf(how),
        ...(config.manifest.protocol === undefined ? {} : { protocol: config.manifest.protocol }),
        actions: Object.entries(config.manifest.actions).map(([action, { tool }]) =>
          tool === undefined ? { name: action } : { name: action, tool },
        ),
        connections,
        resolveSecret,
        pinOf: toolDefinitionPin,
        clock,
      });
    case "http":
      return new OpenApiConnector({
        name,
        file: how.openapi,
        baseUrl: how.baseUrl,
        hosts: how.hosts,
        actions: Object.entries(config.manifest.actions).map(([action, { tool }]) =>
          tool === undefined ? { name: action } : { name: action, tool },
        ),
        connections,
        resolveSecret,
        clock,
      });
    case "workflows":
      // Steps that name its actions have become calls: nothing is dispatched to it.
      throw new Refusal("catalog.unavailable", `${name} offers workflows, which only a step of its own can call.`, {
        connector: name,
      });
    case "builtin":
      return makeBuiltin(name, how.settings, context);
  }
}

/** How the server of an MCP connector is reached, and what it is given beside a connection. */
export function serverOf(
  how: Extract<ConnectorConfig["how"], { kind: "mcp" | "mcp-http" }>,
): Pick<McpOptions, "server" | "env" | "headers"> {
  if (how.kind === "mcp-http") return { server: { kind: "http", url: how.url }, env: {}, headers: how.headers };
  const { command, args, cwd, env } = how;
  return { server: { kind: "stdio", command, args, cwd }, env, headers: {} };
}

function makeBuiltin(name: string, settings: JsonObject, context: ConnectorContext): Connector {
  const resolveSecret = secretResolver(context.env);
  const clock = context.clock ?? systemClock;
  switch (name) {
    case "messaging": {
      const { webhook } = settings;
      const say = context.say ?? ((line: string) => void process.stderr.write(`${line}\n`));
      const post = isObject(webhook)
        ? ({ to: "webhook", url: webhook as unknown as SecretRef } as const)
        : ({ to: "console", say } as const);
      return new MessagingConnector({ name, post, resolveSecret });
    }
    case "files": {
      const { root, write } = settings;
      return new FilesConnector({
        name,
        root: typeof root === "string" ? root : null,
        write: write === true,
        ids: systemIds,
      });
    }
    case "http": {
      const { hosts, private_hosts: privateHosts, headers } = settings;
      return new HttpConnector({
        name,
        hosts: new HostList(textsOf(hosts), textsOf(privateHosts)),
        headers: (isObject(headers) ? headers : {}) as unknown as { [host: string]: ConnectionSettings["headers"] },
        resolveSecret,
        clock,
      });
    }
    case "shell": {
      const { commands, cwd } = settings;
      return new ShellConnector({
        name,
        commands: (Array.isArray(commands) ? commands : []) as unknown as DeclaredCommand[],
        cwd: typeof cwd === "string" ? cwd : process.cwd(),
        path: context.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
        clock,
      });
    }
    case "state": {
      const { state, workflowAt } = context;
      if (state !== undefined && workflowAt !== undefined)
        return new StateConnector({ name, store: state, workflowAt });
      throw new Refusal("catalog.unavailable", "There is no store for state here.", { connector: name });
    }
    default:
      throw new Refusal("catalog.unavailable", `The built-in connector ${name} is not in this version.`, {
        connector: name,
      });
  }
}

function textsOf(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** Reads a stub file; refuses with its first finding. */
function loadStub(file: string): StubScript {
  const read = readTextFile(file);
  if ("problem" in read) throw new Refusal("deployment.invalid", `The stub file ${read.problem}.`, { file });
  const made = read.root ? readStubNode(read.source, read.root, dirname(file)) : null;
  const diagnostics = [...read.diagnostics, ...(made?.diagnostics ?? [])];
  const first = diagnostics.find((entry) => entry.severity === "error");
  if (first) {
    const where = `${first.file}:${first.line}:${first.column}`;
    throw new Refusal("deployment.invalid", `${where}: ${first.message}`, { file });
  }
  if (!made) throw new Refusal("deployment.invalid", `The stub file ${file} is empty.`, { file });
  return made.script;
}
