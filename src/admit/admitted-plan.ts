import type { Json, JsonObject } from "../base/json.ts";
import type { ActionManifest } from "../catalog/manifest.ts";
import type { Plan } from "../plan/plan.ts";
import type { DeploymentLimits, PolicyConfig } from "./deployment.ts";

/** An agent configuration of the deployment, as records and reports show it (WX-05). */
export interface AgentIdentity {
  name: string;
  id: string;
  provider: string;
  model: string;
  /** Version of the tool protocol that the adapter speaks. */
  protocol: string;
  /** Behaviour-affecting settings. */
  settings: JsonObject;
  tokenMethod: "reported" | "none";
  /** Lowercase hex SHA-256 of all of the above. */
  digest: string;
}

/** An action that the plan uses, with where it goes. */
export interface AdmittedAction {
  manifest: ActionManifest;
  connector: string;
  connection: string;
}

/** The worst case proved for a plan; null where it cannot be proved, with a diagnostic that names the line. */
export interface Bounds {
  toolAttempts: number | null;
  tokens: number | null;
  /** Milliseconds. */
  duration: number | null;
  depth: number;
  width: number | null;
}

export interface AdmissionReport {
  capabilities: string[];
  agents: {
    step: string;
    agent: string;
    provider: string;
    model: string;
    /** How its tokens are counted (WX-75). */
    token_method: AgentIdentity["tokenMethod"];
    tools: string[];
    /** By tool: what the deployment's policy narrows. */
    policy: PolicyConfig["agents"][string];
    digest: string;
  }[];
  tools: {
    action: string;
    effects: string;
    idempotency: string;
    connector: string;
    connection: string;
    by: string[];
  }[];
  secrets: string[];
  /** Hosts, and command lines, that the deployment declares for the connectors of these actions. */
  hosts: string[];
  commands: string[];
  approvals: string[];
  settings: { [path: string]: Json };
  bounds: Bounds;
  limits: RunLimits;
  /** Who can reach what, in plain words. */
  reach: string[];
}

/** The deployment's limits, lowered by the file's own. */
export type RunLimits = DeploymentLimits;

/** What a run pins in its first record, and the definition hash is made of (DU-03, DU-53). */
export interface Definition {
  plan: Plan;
  /** Texts by name relative to the workflow's folder, the workflow's own first. */
  files: { [name: string]: string };
  /** Actions that the plan uses, by name, with their manifests. */
  manifests: { [name: string]: AdmittedAction };
  agents: { [name: string]: AgentIdentity };
  policy: PolicyConfig;
  limits: RunLimits;
  settings: Json;
  /** Where wf.notify also goes; its text is added to `with` as `text`. */
  notify: { action: string; with: JsonObject } | null;
  flags: string[];
  /** What the address of a question begins with, where the plan asks and something serves it. */
  askUrl?: string;
}

/** A flag of runs in which a question without `expires` stands for `limits.wait`; it stood for ever before. */
export const QUESTIONS_EXPIRE = "questions-expire:1";

/** A history that somebody else has written may hold anything in their place. */
export function hasFlag({ flags }: { flags: unknown }, flag: string): boolean {
  return Array.isArray(flags) && flags.includes(flag);
}

declare const admitted: unique symbol;

/** Only `admit()` makes one, and a run accepts nothing else. */
export interface AdmittedPlan {
  readonly [admitted]: true;
  readonly definition: Definition;
  /** Lowercase hex SHA-256 (DU-53). */
  readonly def: string;
  readonly report: AdmissionReport;
}
