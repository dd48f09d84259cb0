import type { Json, JsonObject } from "../base/json.ts";
import type { Manifest } from "../catalog/manifest.ts";

/** A secret is a reference; its value never stands in a file (interfaces.md 8). */
export type SecretRef = { env: string; prefix?: string } | { file: string; prefix?: string };

/** One candidate for an agent name, resolved from `ambit.yaml`. */
export interface AgentConfig {
  name: string;
  /** What `--agent NAME=ID` picks it by. */
  id: string;
  isDefault: boolean;
  provider: "anthropic" | "openai" | "openai-compatible" | "google" | "scripted";
  model: string;
  apiKey?: SecretRef;
  baseUrl?: string;
  effort?: string;
  temperature?: number;
  maxOutputTokens: number;
  tools: boolean;
  tokenMethod: "reported" | "none";
  stall: number;
  retries: number;
  /** Absolute path, scripted only. */
  script?: string;
}

export interface ConnectionConfig {
  name: string;
  isDefault: boolean;
  /** Absent: all of the manifest's. */
  scopes?: string[];
  env: { [name: string]: string | SecretRef };
  headers: { [name: string]: string | SecretRef };
  auth?: SecretRef;
}

/** How a connector is made; paths are absolute. `builtin` needs no entry in `ambit.yaml`. */
export type ConnectorKind =
  | {
      kind: "mcp";
      command: string;
      args: string[];
      env: { [name: string]: string | SecretRef };
      cwd: string;
    }
  | { kind: "mcp-http"; url: string; headers: { [name: string]: string | SecretRef } }
  | { kind: "module"; path: string }
  | { kind: "stub"; path: string }
  /** `openapi` is an absolute path; without `baseUrl` the document's server counts, if it is among `hosts`. */
  | { kind: "http"; openapi: string; baseUrl: string | null; hosts: string[] }
  /** Absolute paths by action: a step that names one is a call of the file. */
  | { kind: "workflows"; files: { [action: string]: string } }
  | { kind: "builtin"; settings: JsonObject };

export interface ConnectorConfig {
  name: string;
  how: ConnectorKind;
  manifest: Manifest;
  connections: ConnectionConfig[];
  knowledge: boolean;
}

export interface PolicyConfig {
  deny: string[];
  approve: string[];
  agents: { [agent: string]: { [action: string]: { max?: number; fix?: JsonObject } } };
  ceiling: { toolAttempts?: number; tokens?: number; duration?: number; depth?: number; width?: number };
}

export interface DeploymentLimits {
  /** Milliseconds. */
  deadline: number;
  steps: number;
  depth: number;
  wait: number;
  concurrency: number;
  drainGrace: number;
  cleanupGrace: number;
}

export const DEFAULT_LIMITS: DeploymentLimits = {
  deadline: 3_600_000,
  steps: 10_000,
  depth: 4,
  wait: 30 * 86_400_000,
  concurrency: 8,
  drainGrace: 5_000,
  cleanupGrace: 10_000,
};

/** `ambit.yaml` as values: what `admit()` gets. `app/deployment.ts` loads it. */
export interface Deployment {
  /** Absolute path of the file, null without one. */
  file: string | null;
  /** Absolute folder that relative paths start from. */
  folder: string;
  workflows: string[];
  agents: { [name: string]: AgentConfig[] };
  connectors: { [name: string]: ConnectorConfig };
  settings: Json;
  policy: PolicyConfig;
  /** Capability names taken away. */
  deniedCapabilities: string[];
  limits: DeploymentLimits;
  /** `key` seals sensitive values; without one the store has a key file. */
  store: { path: string | null; durability: "full" | "process"; key?: SecretRef };
  notify: { action: string; with: Json } | null;
}
