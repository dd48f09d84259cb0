import type { Json, JsonObject } from "../base/json.ts";

export const EFFECTS = ["none", "read", "write", "destructive"] as const;
export type Effects = (typeof EFFECTS)[number];

export type Idempotency = { kind: "none" } | { kind: "natural" } | { kind: "keyed"; field: string };

/** A JSON Schema, 2020-12 unless its `$schema` says draft-07. */
export type JsonSchema = JsonObject;

export interface ActionManifest {
  /** `connector.action`. */
  name: string;
  description: string;
  input: JsonSchema;
  output: JsonSchema;
  effects: Effects;
  idempotency: Idempotency;
  /** `attempts` includes the first; `backoff` in ms; `on` are full codes (`action.unavailable`). */
  retry: { attempts: number; backoff: number; on: string[] };
  /** Milliseconds of one attempt. */
  timeout: number;
  dryRun: { kind: "execute" } | { kind: "suppress" } | { kind: "simulate"; output: Json };
  scopes: string[];
  /** Capabilities of the executor beyond wf.agent-execution. */
  requires: string[];
  /** The connector's own failure codes that mean: outcome unknown. */
  ambiguous: string[];
  /** The server's own name where it differs from the action's. */
  tool?: string;
  /** `sha256:...` of the server's tool definition. */
  pin?: string;
}

export interface Manifest {
  connector: string;
  version: string;
  /** What `connectors import` found out about an MCP server's protocol version. */
  protocol?: string;
  actions: { [name: string]: ActionManifest };
}

/** Whether doing an action twice can be told from doing it once (DU-04, DU-11). */
export function isRepeatable(action: ActionManifest): boolean {
  return action.effects === "none" || action.effects === "read" || action.idempotency.kind !== "none";
}

export function hasEffect(action: ActionManifest): boolean {
  return action.effects === "write" || action.effects === "destructive";
}
