import { hashJson } from "../../base/hash.ts";
import type { JsonObject } from "../../base/json.ts";
import { didYouMean } from "../../base/nearest.ts";
import { allSteps } from "../../plan/plan.ts";
import type { AgentStep } from "../../plan/step.ts";
import { type Admission, find, type StepWord, stepName } from "../admission.ts";
import type { AgentIdentity } from "../admitted-plan.ts";
import type { AgentConfig } from "../deployment.ts";

const MAX_LISTED = 20;

/** Exactly one agent configuration per name, and one that fits its step, before anything runs (WX-04). */
export function resolveAgents(admission: Admission): void {
  for (const step of allSteps(admission.input.plan)) if (step.kind === "agent") resolveAgent(admission, step);
}

function resolveAgent(admission: Admission, step: AgentStep): void {
  const config = choose(admission, step);
  if (config === null) return;
  const refuse = (message: string, help: string, key: string): void =>
    find(admission, { code: "agent.unresolved", message, at: [step, { is: "key", name: key }], help });
  if (step.tools !== "deployment" && step.tools.length > 0 && !config.tools) {
    refuse(
      `The agent ${step.agent} has a model that calls no tools, and ${stepName(step)} lists some.`,
      "Choose a model that calls tools, or leave the tools out.",
      "tools",
    );
  }
  if (step.budget.tokens !== undefined && config.tokenMethod === "none") {
    refuse(
      `The agent ${step.agent} has no token counting method, and ${stepName(step)} has a budget of tokens.`,
      "Bound the step by steps or duration, or give the agent token_method: reported.",
      "budget.tokens",
    );
  }
  admission.agents[step.agent] ??= identityOf(config, admission.input.describeAgent(config));
}

function choose(admission: Admission, step: AgentStep): AgentConfig | null {
  const { agents, chosenAgents } = admission.input;
  const refuse = (message: string, help: string): null => {
    find(admission, { code: "agent.unresolved", message, at: [step, NAME], help });
    return null;
  };
  const wanted = Object.hasOwn(chosenAgents, step.agent) ? chosenAgents[step.agent] : undefined;
  const own = Object.hasOwn(agents, step.agent) ? (agents[step.agent] ?? []) : [];
  if (wanted !== undefined) {
    const all = Object.values(agents).flat();
    const chosen =
      own.find((entry) => entry.id === wanted) ?? all.find((entry) => entry.id === wanted || entry.name === wanted);
    return (
      chosen ??
      refuse(
        `There is no agent configuration ${wanted} for ${step.agent}.`,
        `${didYouMean(wanted, known(all))} --agent NAME=ID takes an id or an entry of ambit.yaml: ${listed(known(all))}.`.trim(),
      )
    );
  }
  if (own.length === 0) {
    const names = Object.keys(agents).sort();
    return refuse(
      `No agent configuration is called ${step.agent}, which ${stepName(step)} needs.`,
      names.length === 0
        ? "Add it under agents in ambit.yaml."
        : `${didYouMean(step.agent, names)} The deployment has: ${listed(names)}.`.trim(),
    );
  }
  const [first] = own;
  if (own.length === 1 && first) return first;
  const defaults = own.filter((entry) => entry.isDefault);
  const [only] = defaults;
  if (defaults.length === 1 && only) return only;
  return refuse(
    `${own.length} configurations are called ${step.agent}, and none of them is the one to take.`,
    "Give exactly one of them default: true, or choose with --agent NAME=ID.",
  );
}

const NAME: StepWord = { is: "subject" };

function known(configs: readonly AgentConfig[]): string[] {
  return [...new Set(configs.flatMap((config) => [config.name, config.id]))].sort();
}

function listed(names: readonly string[]): string {
  if (names.length === 0) return "none";
  return names.slice(0, MAX_LISTED).join(", ") + (names.length > MAX_LISTED ? ", ..." : "");
}

function identityOf(config: AgentConfig, described: { protocol: string; settings: JsonObject }): AgentIdentity {
  const identity = {
    name: config.name,
    id: config.id,
    provider: config.provider,
    model: config.model,
    protocol: described.protocol,
    settings: described.settings,
    tokenMethod: config.tokenMethod,
  };
  return { ...identity, digest: hashJson(identity) };
}
