import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { type AgentConfig, DEFAULT_LIMITS, type Deployment } from "../admit/deployment.ts";
import { emptyObject, type Json } from "../base/json.ts";
import { splitActionName } from "../catalog/names.ts";
import { type Diagnostic, diagnostic, hasErrors, sortDiagnostics } from "../errors/diagnostic.ts";
import { clip } from "../text/reader.ts";
import { type SourceText, type TreeNode, toJson } from "../text/tree.ts";
import { checkAgentPolicies, warnOfPolicyLists } from "./deployment/agent-policy.ts";
import { readAgents, readModels } from "./deployment/agents.ts";
import { builtinConnectors, type ConnectorLimits, readConnectors } from "./deployment/connectors.ts";
import { readDeniedCapabilities } from "./deployment/denied-capabilities.ts";
import { checkLaterSections } from "./deployment/later-sections.ts";
import { readLimits, readPolicy } from "./deployment/policy.ts";
import { type Environment, type Keys, Section } from "./deployment/section.ts";
import { readTextFile } from "./deployment/text-file.ts";

const DEPLOYMENT_FILE = "ambit.yaml";
const DEFAULT_WORKFLOWS = ["**/*.workfile.yaml", "**/*.awl"];

const DEPLOYMENT_KEYS = [
  "version",
  "workflows",
  "agents",
  "models",
  "mcpServers",
  "connectors",
  "settings",
  "policy",
  "capabilities",
  "limits",
  "store",
  "notify",
  "sandbox",
  "coordinate",
  "awl",
  "serve",
] as const;

/** A deployment with the parts that admission has no use for. */
export interface LoadedDeployment extends Deployment {
  /** AWL levels: model ids with their suffix as written, or whole configurations. */
  models: { [level: string]: string | AgentConfig };
  /** By connector; absent is no limit. */
  connectorLimits: { [connector: string]: ConnectorLimits };
  /** What is to be said of the file although it can be used. */
  warnings: Diagnostic[];
}

export interface DeploymentOutcome {
  /** Null where a diagnostic is an error. */
  deployment: LoadedDeployment | null;
  diagnostics: Diagnostic[];
  /** Of a deployment that cannot be used: its store all the same. */
  store?: Deployment["store"];
}

/**
 * The file that applies: the override, else the first `ambit.yaml` on the way up from the first start folder,
 * then from the next (the workflow's, the working folder). Null if there is none.
 */
export function findDeployment(startFolders: readonly string[], override?: string): string | null {
  if (override !== undefined) return resolve(override);
  for (const start of startFolders) {
    for (let folder = resolve(start); ; folder = dirname(folder)) {
      const file = resolve(folder, DEPLOYMENT_FILE);
      if (existsSync(file)) return file;
      if (folder === dirname(folder)) break;
    }
  }
  return null;
}

/**
 * Loads a deployment file with its manifests; null is a deployment of the built-in connectors alone. Nothing
 * is contacted and no secret is read. Diagnostics: `deployment.invalid`, `catalog.invalid_manifest`, `yaml.*`.
 */
export async function loadDeployment(file: string | null, env: Environment): Promise<DeploymentOutcome> {
  if (file === null) return { deployment: withoutFile(), diagnostics: [] };
  const read = readTextFile(file);
  if ("problem" in read) {
    return {
      deployment: null,
      diagnostics: [diagnostic("deployment.invalid", `The deployment ${read.problem}.`, { file })],
    };
  }
  if (read.root === null) {
    const empty = read.diagnostics.length === 0;
    return {
      deployment: empty ? { ...withoutFile(), file, folder: dirname(file) } : null,
      diagnostics: read.diagnostics,
    };
  }
  const outcome = await readDeployment(read.source, read.root, { file, folder: dirname(file) }, env);
  const diagnostics = [...read.diagnostics, ...outcome.diagnostics];
  return { ...outcome, deployment: hasErrors(diagnostics) ? null : outcome.deployment, diagnostics };
}

/** The same from a tree; relative paths start from `folder`. */
export async function readDeployment(
  source: SourceText,
  root: TreeNode,
  place: { file: string | null; folder: string },
  env: Environment,
): Promise<DeploymentOutcome> {
  const section = new Section(source, place.folder);
  const keys = section.reader.closed(root, "", "the deployment", DEPLOYMENT_KEYS);
  if (!keys) return { deployment: null, diagnostics: section.reader.diagnostics };
  const version = keys.get("version");
  if (version) section.oneOf(keys, "", "version", ["1"] as const);
  const workflows = section.texts(keys, "", "workflows") ?? [...DEFAULT_WORKFLOWS];
  const agents = readAgents(section, keys);
  const models = readModels(section, keys);
  const { connectors, limits: connectorLimits, diagnostics: elsewhere } = await readConnectors(section, keys, env);
  const settings = section.jsonMap(keys, "", "settings") ?? {};
  const policy = readPolicy(section, keys);
  checkAgentPolicies(section, keys, { agents, connectors });
  warnOfPolicyLists(section, keys, connectors);
  const deniedCapabilities = readDeniedCapabilities(section, keys);
  const limits = readLimits(section, keys);
  const store = readStore(section, keys);
  const notify = readNotify(section, keys);
  checkLaterSections(section, keys);
  const diagnostics = sortDiagnostics([...section.reader.diagnostics, ...elsewhere]);
  if (hasErrors(diagnostics)) return { deployment: null, store, diagnostics };
  const deployment: LoadedDeployment = {
    ...place,
    workflows,
    agents,
    models,
    connectors,
    connectorLimits,
    warnings: diagnostics,
    settings,
    policy,
    deniedCapabilities,
    limits,
    store,
    notify,
  };
  return { deployment, diagnostics };
}

function withoutFile(): LoadedDeployment {
  return {
    file: null,
    folder: process.cwd(),
    workflows: [...DEFAULT_WORKFLOWS],
    agents: emptyObject(),
    models: {},
    connectors: builtinConnectors(),
    connectorLimits: {},
    warnings: [],
    settings: {},
    policy: { deny: [], approve: [], agents: {}, ceiling: {} },
    deniedCapabilities: [],
    limits: { ...DEFAULT_LIMITS },
    store: { path: null, durability: "full" },
    notify: null,
  };
}

/** A path, `memory`, or `{ path, durability, retention, key }`. */
function readStore(section: Section, top: Keys): Deployment["store"] {
  const entry = top.get("store");
  if (!entry) return { path: null, durability: "full" };
  if (entry.value.kind !== "map") {
    const text = section.text(top, "", "store");
    return { path: storePath(section, text), durability: "full" };
  }
  const keys = section.map(top, "", "store", ["path", "durability", "retention", "key"]);
  if (!keys) return { path: null, durability: "full" };
  const retention = keys.get("retention")?.value;
  if (retention && toJson(retention) !== "none") {
    section.duration(keys, "store", "retention", { min: 1 });
    section.withoutEffect(keys, "store", "retention");
  }
  const key = section.secret(keys, "store", "key");
  return {
    ...(key === undefined ? {} : { key }),
    path: storePath(section, section.text(keys, "store", "path")),
    durability: section.oneOf(keys, "store", "durability", ["full", "process"] as const) ?? "full",
  };
}

function storePath(section: Section, text: string | undefined): string | null {
  if (text === undefined) return null;
  return text === "memory" ? text : resolve(section.folder, text);
}

function readNotify(section: Section, top: Keys): { action: string; with: Json } | null {
  const keys = section.map(top, "", "notify", ["action", "with"], ["action"]);
  const action = keys && section.text(keys, "notify", "action");
  const entry = keys?.get("action");
  if (!keys || action === undefined || !entry) return null;
  if (!splitActionName(action)) {
    section.bad(entry.value, "notify.action", `"${clip(action)}" names no action.`, "Write connector.action.");
  }
  return { action, with: section.jsonMap(keys, "notify", "with") ?? {} };
}
