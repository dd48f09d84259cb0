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

/**
 * A word of a step: what it does (the agent's name, else the key that says what it does), one of its tools, an
 * argument of its action, or a key of it (`budget.tokens`: below one another).
 */
export type StepWord =
  | { is: "subject" }
  | { is: "tool"; name: string }
  | { is: "argument"; name: string }
  | { is: "key"; name: string };

/** Where the words of steps stand in their text: the step's id where one is not found, null for a step of no text. */
export interface StepPlaces {
  find(step: Step, word: StepWord | null): { span: Span; path: string } | null;
}

/** What admission gets, all as values: it opens no file and no connection. */
export interface AdmissionInput {
  plan: Plan;
  /** Texts by name, the workflow's own first; its name stands in diagnostics. */
  files: { [name: string]: string };
  file: string;
  /** The plans that it calls, each with the name of its file and where its words stand. */
  callees?: { plan: Plan; file: string; places?: StepPlaces }[];
  /** Absent: findings stand at the step. */
  places?: StepPlaces;
  /** Where no deployment was found: a sentence that says so and what to do. */
  undeployed?: string;
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
  /** Hosts and command lines that the deployment declares, by connector. */
  hosts: { [connector: string]: string[] };
  commands: { [connector: string]: string[] };
  policy: PolicyConfig;
  limits: RunLimits;
  /** Whether runs outlive this process (the Durable Execution Profile); absent: they do. */
  durable?: boolean;
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
  /** A place in the text, or a step and the word of it that is meant. */
  at: Span | Step | [step: Step, word: StepWord];
  help?: string;
  severity?: Severity;
}

export function find(admission: Admission, finding: Finding): void {
  const { code, message, at, help, severity } = finding;
  const place = { file: admission.input.file, ...placeOf(admission, at), ...(help === undefined ? {} : { help }) };
  const sentence = message.charAt(0).toUpperCase() + message.slice(1);
  const starts = message.startsWith("step ") || message.startsWith("a step ");
  admission.diagnostics.push(diagnostic(code, starts ? sentence : message, place, severity ?? "error"));
}

function placeOf(admission: Admission, at: Finding["at"]): { span: Span; path?: string } {
  const [step, word] = Array.isArray(at) ? at : "kind" in at ? [at, null] : [null, null];
  if (step === null) return { span: at as Span };
  return admission.input.places?.find(step, word) ?? { span: step.span };
}

/** The word by which a step may dispatch an action: its own key, a tool, the action of its reconciliation. */
export function wordOf(step: Step, action: string): StepWord {
  if (step.kind === "agent") return { is: "tool", name: action };
  if (step.kind === "action" && step.action !== action) return { is: "key", name: "reconcile.action" };
  return { is: "subject" };
}

/** How a step is called in messages. */
export function stepName(step: Step): string {
  return step.id === undefined ? `a step of kind ${step.kind}` : `step ${step.id}`;
}
