/**
 * The only door to a run: text has become a Plan, and here it is held against the catalog, the deployment, its
 * policy and its limits. Everything resolves before the first effect, or nothing runs.
 */
import { hashJson } from "../base/hash.ts";
import { canonical, deepFreeze, emptyObject, type Json, type JsonObject } from "../base/json.ts";
import { type Diagnostic, hasErrors, sortDiagnostics } from "../errors/diagnostic.ts";
import { allPlans, everyStep, type Plan } from "../plan/plan.ts";
import { actionsOf } from "./actions-of.ts";
import type { Admission, AdmissionInput, StepPlaces } from "./admission.ts";
import {
  type AdmissionReport,
  type AdmittedPlan,
  type Definition,
  QUESTIONS_EXPIRE,
  type RunLimits,
} from "./admitted-plan.ts";
import { proveBounds } from "./bounds.ts";
import type { PolicyConfig } from "./deployment.ts";
import { covers } from "./policy-match.ts";
import { notifies, resolveActions } from "./rules/actions.ts";
import { resolveAgents } from "./rules/agents.ts";
import { checkApprovals } from "./rules/approvals.ts";
import { checkStepArguments } from "./rules/arguments.ts";
import { checkCalls, checkDepth } from "./rules/calls.ts";
import { checkCapabilities, requiredCapabilities } from "./rules/capabilities.ts";
import { checkCeiling } from "./rules/ceiling.ts";
import { checkCodes } from "./rules/codes.ts";
import { warnOfDenied } from "./rules/denied.ts";
import { checkDurations } from "./rules/durations.ts";
import { checkSettings, settingAt } from "./rules/settings.ts";
import { checkTools, hintUnkeyedWrites } from "./rules/tools.ts";

export type AdmissionResult = {
  /** Null if refused. */
  admitted: AdmittedPlan | null;
  report: AdmissionReport;
  diagnostics: Diagnostic[];
};

export function admit(input: AdmissionInput): AdmissionResult {
  const admission: Admission = {
    input,
    diagnostics: [],
    manifests: {},
    agents: {},
    limits: lowered(input.limits, input.plan),
  };
  for (const part of [input, ...calledBy(input)]) {
    // What is found in a file that is called stands in that file.
    const inFile: Admission = {
      ...admission,
      input: { ...input, plan: part.plan, file: part.file, ...placesOf(part) },
    };
    for (const rule of RULES) rule(inFile);
  }
  const proved = proveBounds(input.plan, admission.manifests, admission.limits, input.notify, input.policy.agents);
  checkDepth(admission, proved.bounds.depth);
  checkCeiling(admission, proved);
  const report = reportOf(admission, proved.bounds);
  const diagnostics = withUndeployed(sortDiagnostics(admission.diagnostics), input.undeployed);
  if (hasErrors(diagnostics)) return { admitted: null, report, diagnostics };
  const definition: Definition = {
    plan: input.plan,
    files: input.files,
    manifests: admission.manifests,
    agents: admission.agents,
    policy: input.policy,
    limits: admission.limits,
    settings: pinnedSettings(input.settings, settingsOf(input.plan)),
    notify: input.notify !== null && notifies(input.plan) ? input.notify : null,
    flags: [...(asks(input.plan) ? [QUESTIONS_EXPIRE] : []), `zone-data:${process.versions["tz"] ?? "none"}`],
  };
  return { admitted: brand(definition, report), report, diagnostics };
}

const OF_DEPLOYMENT: readonly string[] = ["agent.unresolved", "catalog.unknown_action", "deployment.missing_setting"];

/** That there is no deployment explains most of what is missing: it is said once, at the first of it. */
function withUndeployed(diagnostics: Diagnostic[], undeployed: string | undefined): Diagnostic[] {
  const first = diagnostics.find((entry) => OF_DEPLOYMENT.includes(entry.code));
  if (undeployed === undefined || first === undefined) return diagnostics;
  return diagnostics.map((entry) =>
    entry === first ? { ...entry, help: `${entry.help} ${undeployed}`.trim() } : entry,
  );
}

/** In the order in which their findings build on each other. */
const RULES = [
  checkCapabilities,
  resolveActions,
  resolveAgents,
  checkStepArguments,
  checkTools,
  hintUnkeyedWrites,
  checkApprovals,
  warnOfDenied,
  checkCodes,
  checkDurations,
  checkSettings,
  checkCalls,
];

function calledBy(input: AdmissionInput): NonNullable<AdmissionInput["callees"]> {
  const { callees, file, plan } = input;
  return callees ?? [...allPlans(plan)].slice(1).map((called) => ({ plan: called, file }));
}

function placesOf(part: { places?: StepPlaces }): { places?: StepPlaces } {
  return part.places === undefined ? {} : { places: part.places };
}

/** The plan that a run has pinned, for `resume` and `replay`: what was admitted once stays admitted (DU-03). */
export function readmit(definition: Definition, report: AdmissionReport): AdmittedPlan {
  return brand(definition, report);
}

function brand(definition: Definition, report: AdmissionReport): AdmittedPlan {
  // Through its canonical text, so that a first run and a resumed one hold the very same object order.
  const pinned = JSON.parse(canonical(definition as unknown as JsonObject)) as Definition;
  return deepFreeze({ definition: pinned, def: hashJson(pinned as unknown as Json), report }) as AdmittedPlan;
}

function lowered(limits: RunLimits, plan: Plan): RunLimits {
  const lower = (own: number | undefined, theirs: number): number => Math.min(own ?? theirs, theirs);
  return {
    ...limits,
    deadline: lower(plan.limits.deadline, limits.deadline),
    steps: lower(plan.limits.steps, limits.steps),
    depth: lower(plan.limits.depth, limits.depth),
    concurrency: lower(plan.limits.concurrency, limits.concurrency),
  };
}

/** The settings that a plan and what it calls read, each once. */
function settingsOf(plan: Plan): string[] {
  return [...new Set([...allPlans(plan)].flatMap((part) => part.settings))];
}

function pinnedSettings(settings: Json, paths: readonly string[]): Json {
  const out: JsonObject = {};
  for (const path of paths) {
    const value = settingAt(settings, path);
    if (value === undefined) continue;
    const keys = path.split(".");
    let at = out;
    for (const key of keys.slice(0, -1)) {
      const next = at[key];
      if (typeof next === "object" && next !== null && !Array.isArray(next)) at = next;
      else {
        const made: JsonObject = {};
        at[key] = made;
        at = made;
      }
    }
    at[keys[keys.length - 1] ?? ""] = value;
  }
  return out;
}

function reportOf(admission: Admission, bounds: AdmissionReport["bounds"]): AdmissionReport {
  const { input, manifests, agents, limits } = admission;
  const users = new Map<string, Set<string>>();
  const agentRows: AdmissionReport["agents"] = [];
  for (const step of everyStep(input.plan)) {
    const id = step.id ?? step.kind;
    const by = step.kind === "agent" ? `agent ${step.agent} (${id})` : id;
    for (const action of actionsOf(step, input.notify)) use(users, action, by);
    if (step.kind !== "agent" || step.tools === "deployment") continue;
    const identity = agents[step.agent];
    if (!identity) continue;
    agentRows.push({
      step: id,
      agent: step.agent,
      provider: identity.provider,
      model: identity.model,
      token_method: identity.tokenMethod,
      tools: step.tools,
      policy: policyOf(input.policy.agents[step.agent] ?? {}, step.tools),
      digest: identity.digest,
    });
  }
  const tools = Object.keys(manifests)
    .sort()
    .flatMap((name) => {
      const action = manifests[name];
      if (!action) return [];
      const { manifest, connector, connection } = action;
      const idempotency =
        manifest.idempotency.kind === "keyed" ? `keyed: ${manifest.idempotency.field}` : manifest.idempotency.kind;
      return {
        action: name,
        effects: manifest.effects,
        idempotency,
        connector,
        connection,
        by: [...(users.get(name) ?? [])],
      };
    });
  const settings: AdmissionReport["settings"] = {};
  for (const path of settingsOf(input.plan)) {
    const value = settingAt(input.settings, path);
    if (value !== undefined) settings[path] = value;
  }
  return {
    capabilities: requiredCapabilities(input.plan),
    agents: agentRows,
    tools,
    secrets: ofConnectors(tools, input.secrets),
    hosts: ofConnectors(tools, input.hosts),
    commands: ofConnectors(tools, input.commands),
    approvals: tools.map((tool) => tool.action).filter((name) => covers(input.policy.approve, name)),
    settings,
    bounds,
    limits,
    reach: reachOf(tools, agentRows),
  };
}

/** What the policy narrows of the tools that a step has. */
function policyOf(rules: PolicyConfig["agents"][string], tools: readonly string[]): PolicyConfig["agents"][string] {
  const own = emptyObject<PolicyConfig["agents"][string][string]>();
  for (const name of tools) if (Object.hasOwn(rules, name)) own[name] = rules[name] ?? {};
  return own;
}

function asks(plan: Plan): boolean {
  for (const step of everyStep(plan)) if (step.kind === "ask") return true;
  return false;
}

function ofConnectors(tools: AdmissionReport["tools"], lists: { [connector: string]: string[] }): string[] {
  return [...new Set(tools.flatMap((tool) => lists[tool.connector] ?? []))].sort();
}

function use(users: Map<string, Set<string>>, action: string, by: string): void {
  const set = users.get(action) ?? new Set();
  set.add(by);
  users.set(action, set);
}

function narrowed({ max, fix = {} }: PolicyConfig["agents"][string][string] = {}): string {
  const parts = [
    ...(max === undefined ? [] : [`at most ${max} ${max === 1 ? "call" : "calls"} in one execution`]),
    ...Object.keys(fix).map((name) => `${name} always ${JSON.stringify(fix[name])}`),
  ];
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`;
}

function reachOf(tools: AdmissionReport["tools"], agents: AdmissionReport["agents"]): string[] {
  const said = (action: string): string => {
    const tool = tools.find((entry) => entry.action === action);
    const verb = { none: "compute with", read: "read through", write: "write through", destructive: "destroy through" };
    const effects = (tool?.effects ?? "write") as keyof typeof verb;
    return `${verb[effects]} ${action} (connection ${tool?.connection ?? "?"})`;
  };
  const sentences = agents.map((row) =>
    row.tools.length === 0
      ? `In ${row.step}, the agent ${row.agent} reaches no tool.`
      : `In ${row.step}, the agent ${row.agent} can ${row.tools.map((name) => said(name) + narrowed(row.policy[name])).join(", ")}, and nothing else.`,
  );
  const own = tools.filter((tool) => tool.by.some((by) => !by.startsWith("agent ")));
  if (own.length > 0) sentences.push(`The file's own steps ${own.map((tool) => said(tool.action)).join(", ")}.`);
  return sentences;
}
