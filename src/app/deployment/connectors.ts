import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { ConnectionConfig, ConnectorConfig, ConnectorKind } from "../../admit/deployment.ts";
import type { JsonObject } from "../../base/json.ts";
import { BUILTIN_MANIFESTS } from "../../catalog/builtin-manifests.ts";
import type { Manifest } from "../../catalog/manifest.ts";
import { connectorNameProblem, isPlainName } from "../../catalog/names.ts";
import { type Diagnostic, diagnostic } from "../../errors/diagnostic.ts";
import { keyPath } from "../../text/path.ts";
import { clip } from "../../text/reader.ts";
import type { MapEntry, TreeNode } from "../../text/tree.ts";
import { readHttp, readHttpSettings, readShellSettings } from "./http-and-shell.ts";
import { readRate } from "./later-sections.ts";
import { manifestFromFile, manifestFromModule, manifestInline } from "./manifests.ts";
import { readMcp, readPastedServers } from "./mcp-servers.ts";
import { offeredManifest, readOffered } from "./offered-workflows.ts";
import { type Environment, type Keys, keySpan, Section } from "./section.ts";
import { readTextFile } from "./text-file.ts";

const KINDS = ["mcp", "module", "http", "workflows", "stub"] as const;
const CONNECTOR_KEYS = [...KINDS, "manifest", "knowledge", "limits", "connections"] as const;
const BUILTIN_KEYS: { readonly [name: string]: readonly string[] } = {
  messaging: ["post", "webhook", "limits"],
  files: ["root", "write", "limits"],
  http: ["hosts", "private_hosts", "headers", "limits"],
  shell: ["commands", "cwd", "limits"],
  state: ["limits"],
};

/** Calls at once and starts per second of a connector; absent is no limit. */
export interface ConnectorLimits {
  concurrency?: number;
  rate?: number;
}

export interface ReadConnectors {
  connectors: { [name: string]: ConnectorConfig };
  limits: { [name: string]: ConnectorLimits };
  /** Of other files: manifests, pasted blocks. */
  diagnostics: Diagnostic[];
}

/** `connectors` and `mcpServers`, and the built-in ones that nothing replaces. */
export async function readConnectors(section: Section, top: Keys, env: Environment): Promise<ReadConnectors> {
  const read = new ConnectorsReader(section, env);
  return read.read(top);
}

/** The connectors that are there without a configuration. */
export function builtinConnectors(): { [name: string]: ConnectorConfig } {
  const connectors: { [name: string]: ConnectorConfig } = {};
  for (const [name, manifest] of Object.entries(BUILTIN_MANIFESTS)) {
    connectors[name] = builtin(name, manifest, BUILTIN_DEFAULTS[name] ?? {});
  }
  return connectors;
}

const BUILTIN_DEFAULTS: { readonly [name: string]: JsonObject } = {
  messaging: { post: "console" },
  files: { root: null, write: false },
  shell: { commands: [] },
};

function builtin(name: string, manifest: Manifest, settings: JsonObject): ConnectorConfig {
  return { name, how: { kind: "builtin", settings }, manifest, connections: [], knowledge: false };
}

class ConnectorsReader {
  readonly #section: Section;
  readonly #env: Environment;
  readonly #diagnostics: Diagnostic[] = [];
  readonly #limits: { [name: string]: ConnectorLimits } = {};

  constructor(section: Section, env: Environment) {
    this.#section = section;
    this.#env = env;
  }

  async read(top: Keys): Promise<ReadConnectors> {
    const section = this.#section;
    const connectors = builtinConnectors();
    const pasted = new Map(this.#pasted(top).map((server) => [server.name, server]));
    for (const { entry, path } of section.entries(top, "", "connectors")) {
      const config = await this.#connector(entry, path, pasted.get(entry.key)?.how);
      if (config) connectors[config.name] = config;
      const doubled = pasted.get(entry.key);
      if (doubled && hasKey(entry.value, KINDS)) {
        section.bad(keySpan(entry), path, `The connector "${clip(entry.key)}" stands under mcpServers too.`);
      }
      pasted.delete(entry.key);
    }
    for (const server of pasted.values()) {
      if (!this.#nameFits(server.entry, keyPath("mcpServers", server.name))) continue;
      const manifest = (await this.#defaultManifest(server.name)) ?? emptyManifest(server.name);
      connectors[server.name] = { name: server.name, how: server.how, manifest, connections: [], knowledge: false };
    }
    return { connectors, limits: this.#limits, diagnostics: this.#diagnostics };
  }

  #pasted(top: Keys): { name: string; entry: MapEntry; how: ConnectorKind }[] {
    const entry = top.get("mcpServers");
    if (!entry) return [];
    if (entry.value.kind !== "scalar") return readPastedServers(this.#section, entry.value, "mcpServers", this.#env);
    const file = this.#section.path(top, "", "mcpServers");
    if (file === undefined) return [];
    const read = readTextFile(file);
    if ("problem" in read) {
      this.#section.bad(entry.value, "mcpServers", `The file of MCP servers ${read.problem}.`);
      return [];
    }
    this.#diagnostics.push(...read.diagnostics);
    if (read.root === null) return [];
    const section = new Section(read.source, this.#section.folder);
    const servers = readPastedServers(section, read.root, "", this.#env);
    this.#diagnostics.push(...section.reader.diagnostics);
    return servers;
  }

  async #connector(entry: MapEntry, path: string, pasted: ConnectorKind | undefined): Promise<ConnectorConfig | null> {
    const section = this.#section;
    const name = entry.key;
    if (!this.#nameFits(entry, path)) return null;
    const configures = BUILTIN_KEYS[name];
    if (Object.hasOwn(BUILTIN_KEYS, name) && configures && !hasKey(entry.value, [...KINDS, "manifest"])) {
      return this.#builtin(entry, path, configures);
    }
    const keys = section.reader.closed(entry.value, path, `the connector ${name}`, CONNECTOR_KEYS);
    if (!keys) return null;
    const given = KINDS.filter((kind) => keys.has(kind));
    if (given.length > 1 || (given.length === 0 && !pasted)) {
      section.bad(keySpan(entry), path, `The connector ${name} must be exactly one of ${KINDS.join(", ")}.`);
      return null;
    }
    const how = pasted ?? this.#how(keys, path);
    this.#readLimits(name, keys, path);
    if (how?.kind === "workflows") {
      const manifest = offeredManifest(name, how.files);
      return { name, how, manifest, connections: [], knowledge: section.boolean(keys, path, "knowledge") ?? false };
    }
    const manifest = await this.#manifest(name, keys, path, how);
    const connections = this.#connections(keys, path);
    const knowledge = section.boolean(keys, path, "knowledge") ?? false;
    if (knowledge) section.withoutEffect(keys, path, "knowledge");
    return how && manifest && { name, how, manifest, connections, knowledge };
  }

  #nameFits(entry: MapEntry, path: string): boolean {
    const problem = connectorNameProblem(entry.key);
    if (problem === null) return true;
    this.#section.bad(keySpan(entry), path, `"${clip(entry.key)}" cannot be a connector's name: ${problem}.`);
    return false;
  }

  #how(keys: Keys, path: string): ConnectorKind | null {
    const section = this.#section;
    const mcp = keys.get("mcp");
    if (mcp) return readMcp(section, mcp.value, keyPath(path, "mcp"), this.#env);
    for (const kind of ["module", "stub"] as const) {
      const entry = keys.get(kind);
      const file = section.path(keys, path, kind);
      if (!entry || file === undefined) continue;
      if (existsSync(file)) return { kind, path: file };
      section.bad(entry.value, keyPath(path, kind), `There is no file ${clip(file)}.`);
    }
    const http = keys.get("http");
    if (http) return readHttp(section, http.value, keyPath(path, "http"));
    return keys.has("workflows") ? readOffered(section, keys, path) : null;
  }

  async #manifest(name: string, keys: Keys, path: string, how: ConnectorKind | null): Promise<Manifest | null> {
    const entry = keys.get("manifest");
    const at = keyPath(path, "manifest");
    if (!entry) {
      const own = how?.kind === "module" ? await manifestFromModule(how.path, name) : null;
      if (own) this.#diagnostics.push(...own.diagnostics);
      if (own?.manifest) return own.manifest;
      if (own) return null;
      return (await this.#defaultManifest(name)) ?? emptyManifest(name);
    }
    if (entry.value.kind === "map") {
      const read = manifestInline(this.#section.reader.source, entry.value, { connector: name, path: at });
      this.#diagnostics.push(...read.diagnostics);
      return read.manifest;
    }
    const file = this.#section.path(keys, path, "manifest");
    if (file === undefined) return null;
    const read = manifestFromFile(file, name);
    if ("problem" in read) {
      this.#section.bad(entry.value, at, `The manifest ${read.problem}.`);
      return null;
    }
    this.#diagnostics.push(...read.diagnostics);
    return read.manifest;
  }

  /** `connectors import NAME` writes there; a connector without any manifest grants nothing. */
  async #defaultManifest(name: string): Promise<Manifest | null> {
    const file = resolve(this.#section.folder, "manifests", `${name}.yaml`);
    if (!existsSync(file)) return null;
    const read = manifestFromFile(file, name);
    if ("problem" in read) {
      this.#diagnostics.push(diagnostic("catalog.invalid_manifest", `The manifest ${read.problem}.`, { file }));
      return null;
    }
    this.#diagnostics.push(...read.diagnostics);
    return read.manifest;
  }

  #connections(keys: Keys, path: string): ConnectionConfig[] {
    const section = this.#section;
    return section.entries(keys, path, "connections").flatMap(({ entry, path: at }) => {
      if (!isPlainName(entry.key)) {
        section.bad(keySpan(entry), at, `"${clip(entry.key)}" cannot be a connection's name.`);
        return [];
      }
      const legal = ["default", "scopes", "env", "headers", "auth"];
      const inner = section.reader.closed(entry.value, at, `the connection ${entry.key}`, legal);
      if (!inner) return [];
      const scopes = section.texts(inner, at, "scopes");
      const auth = section.secret(inner, at, "auth");
      return [
        {
          name: entry.key,
          isDefault: section.boolean(inner, at, "default") ?? false,
          ...(scopes === undefined ? {} : { scopes }),
          env: section.settingsOrSecrets(inner, at, "env"),
          headers: section.settingsOrSecrets(inner, at, "headers"),
          ...(auth === undefined ? {} : { auth }),
        },
      ];
    });
  }

  #builtin(entry: MapEntry, path: string, legal: readonly string[]): ConnectorConfig | null {
    const section = this.#section;
    const name = entry.key;
    const keys = section.reader.closed(entry.value, path, `the connector ${name}`, legal);
    if (!keys) return null;
    this.#readLimits(name, keys, path);
    const settings = this.#builtinSettings(name, keys, path);
    const manifest = BUILTIN_MANIFESTS[name];
    return manifest && settings ? builtin(name, manifest, settings) : null;
  }

  #builtinSettings(name: string, keys: Keys, path: string): JsonObject | null {
    const section = this.#section;
    switch (name) {
      case "messaging": {
        const webhook = section.secret(keys, path, "webhook");
        const post = section.oneOf(keys, path, "post", ["console"] as const);
        const entry = keys.get("webhook");
        if (webhook && post && entry) section.bad(keySpan(entry), path, "Messages go to the console or to a webhook.");
        return webhook ? { webhook: { ...webhook } } : { post: "console" };
      }
      case "files": {
        const root = section.textOrNone(keys, path, "root");
        return {
          root: root === undefined ? null : resolve(section.folder, root),
          write: section.boolean(keys, path, "write") ?? false,
        };
      }
      case "http":
        return readHttpSettings(section, keys, path);
      case "shell":
        return readShellSettings(section, keys, path);
      case "state":
        return {};
      default:
        return null;
    }
  }

  #readLimits(name: string, keys: Keys, path: string): void {
    const section = this.#section;
    const limits = section.map(keys, path, "limits", ["concurrency", "rate"]);
    if (!limits) return;
    const at = keyPath(path, "limits");
    const node = limits.get("concurrency")?.value;
    const unlimited = node?.kind === "scalar" && node.value === "none";
    const concurrency = unlimited ? undefined : section.integer(limits, at, "concurrency", { min: 1, max: 10_000 });
    const rate = readRate(section, limits, at, "rate");
    this.#limits[name] = {
      ...(concurrency === undefined ? {} : { concurrency }),
      ...(rate === undefined ? {} : { rate }),
    };
  }
}

function hasKey(node: TreeNode, keys: readonly string[]): boolean {
  return node.kind === "map" && node.entries.some((entry) => keys.includes(entry.key));
}

function emptyManifest(connector: string): Manifest {
  return { connector, version: "0", actions: {} };
}
