import type { Json, JsonObject } from "../base/json.ts";
import type { Span } from "../base/span.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Code } from "../errors/codes.ts";
import type { Diagnostic, Severity } from "../errors/diagnostic.ts";
import { diagnostic } from "../errors/diagnostic.ts";
import type { Plan } from "../plan/plan.ts";
import type { Step } from "../plan/step.ts";
import type { AdmittedAction, AgentIdentity, RunLimits } from "./admitted-plan.ts";
import type { AgentConfig, PolicyConfig } from "./deployment.ts";

/** What admission gets, all as values: it opens no file and no connection. */
export interface AdmissionInput {
  plan: Plan;
  /** Texts by name, the workflow's own first; its name stands in diagnostics. */
  files: { [name: string]: string };
  file: string;
  catalog: Catalog;
  agents: { [name: string]: AgentConfig[] };
  /** `--agent NAME=ID`. */
  chosenAgents: { [name: string]: string };
  /** What a model's adapter says of a configuration: its tool protocol and the settings that affect behaviour. */
  describeAgent: (config: AgentConfig) => { protocol: string; settings: JsonObject };
  settings: Json;
  notify: { action: string; with: JsonObject } | null;
  /** Secret references by connector, in words (`env CRM_TOKEN`). */
  secrets: { [connector: string]: string[] };
  policy: PolicyConfig;
  limits: RunLimits;
  /** Capabilities that this executor has and the deployment has not taken away. */
  capabilities: ReadonlySet<string>;
}

/** The state of one admission: what the rules resolve and what they find. */
export interface Admission {
  readonly input: AdmissionInput;
  readonly diagnostics: Diagnostic[];
  readonly manifests: { [name: string]: AdmittedAction };
  readonly agents: { [name: string]: AgentIdentity };
  /** Limits in force: the deployment's, lowered by the file's. */
  limits: RunLimits;
}

export interface Finding {
  code: Code;
  message: string;
  span: Span;
  path?: string;
  help?: string;
  severity?: Severity;
}

export function find(admission: Admission, finding: Finding): void {
  const { code, message, span, path, help, severity } = finding;
  const place = {
    file: admission.input.file,
    span,
    ...(path === undefined ? {} : { path }),
    ...(help === undefined ? {} : { help }),
  };
  admission.diagnostics.push(diagnostic(code, message, place, severity ?? "error"));
}

/** How a step is called in messages. */
export function stepName(step: Step): string {
  return step.id === undefined ? `a step of kind ${step.kind}` : `step ${step.id}`;
}
