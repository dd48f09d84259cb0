/**
 * The only door to a run: text has become a Plan, and here it is held against the catalog, the deployment, its
 * policy and its limits. Everything resolves before the first effect, or nothing runs.
 */
import { hashJson } from "../base/hash.ts";
import { canonical, deepFreeze, type Json, type JsonObject } from "../base/json.ts";
import { type Diagnostic, hasErrors, sortDiagnostics } from "../errors/diagnostic.ts";
import { allSteps, type Plan } from "../plan/plan.ts";
import { actionsOf } from "./actions-of.ts";
import type { Admission, AdmissionInput } from "./admission.ts";
import type { AdmissionReport, AdmittedPlan, Definition, RunLimits } from "./admitted-plan.ts";
import { proveBounds } from "./bounds.ts";
import { covers } from "./policy-match.ts";
import { notifies, resolveActions } from "./rules/actions.ts";
import { resolveAgents } from "./rules/agents.ts";
import { checkApprovals } from "./rules/approvals.ts";
import { checkStepArguments } from "./rules/arguments.ts";
import { checkCapabilities, requiredCapabilities } from "./rules/capabilities.ts";
import { checkCeiling } from "./rules/ceiling.ts";
import { checkCodes } from "./rules/codes.ts";
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
  checkCapabilities(admission);
  resolveActions(admission);
  resolveAgents(admission);
  checkStepArguments(admission);
  checkTools(admission);
  hintUnkeyedWrites(admission);
  checkApprovals(admission);
  checkCodes(admission);
  checkDurations(admission);
  checkSettings(admission);
  const proved = proveBounds(
    [...input.plan.steps, ...input.plan.cleanup.flatMap((entry) => entry.steps)],
    admission.manifests,
    admission.limits,
    input.notify,
  );
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
    settings: pinnedSettings(input.settings, input.plan),
    notify: input.notify !== null && notifies(input.plan) ? input.notify : null,
    flags: [`zone-data:${process.versions["tz"] ?? "none"}`],
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

function pinnedSettings(settings: Json, plan: Plan): Json {
  const out: JsonObject = {};
  for (const path of plan.settings) {
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
  for (const step of allSteps(input.plan)) {
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
  for (const path of input.plan.settings) {
    const value = settingAt(input.settings, path);
    if (value !== undefined) settings[path] = value;
  }
  return {
    capabilities: requiredCapabilities(input.plan),
    agents: agentRows,
    tools,
    secrets: [...new Set(tools.flatMap((tool) => input.secrets[tool.connector] ?? []))].sort(),
    approvals: tools.map((tool) => tool.action).filter((name) => covers(input.policy.approve, name)),
    settings,
    bounds,
    limits,
    reach: reachOf(tools, agentRows),
  };
}

function use(users: Map<string, Set<string>>, action: string, by: string): void {
  const set = users.get(action) ?? new Set();
  set.add(by);
  users.set(action, set);
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
      : `In ${row.step}, the agent ${row.agent} can ${row.tools.map(said).join(", ")}, and nothing else.`,
  );
  const own = tools.filter((tool) => tool.by.some((by) => !by.startsWith("agent ")));
  if (own.length > 0) sentences.push(`The file's own steps ${own.map((tool) => said(tool.action)).join(", ")}.`);
  return sentences;
}
