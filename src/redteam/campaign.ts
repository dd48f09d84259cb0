/**
 * Plays the corpus against a plan.
 *
 * Every attack is played in the whole file first, by all of its agents, with hostile texts in inputs and results.
 * An agent step that a play does not come to (a guard, a failed step before it) is attacked alone, so that each
 * attack meets each agent step. In the file an agent may know what it knows when nobody misbehaves; alone it reads
 * nothing, so that whatever it knows is too much: each step is played alone once, by an agent that is calm.
 */
import type { AdmittedPlan } from "../admit/admitted-plan.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { fieldsToSchema } from "../catalog/field-value.ts";
import type { AgentEnd } from "../journal/bodies.ts";
import type { Field } from "../plan/field.ts";
import { setOwn, type Val } from "../plan/marked.ts";
import type { Plan } from "../plan/plan.ts";
import type { Position } from "../plan/position.ts";
import type { AgentStep } from "../plan/step.ts";
import { placedAgents, placeOf } from "./agent-steps.ts";
import type { Attack, World } from "./attack.ts";
import { CALM } from "./corpus.ts";
import { type Canary, type Finding, type Given, judge } from "./decisions.ts";
import { IDENTITY, type Play, play, RUN, type Stage } from "./play.ts";
import { sample } from "./sample.ts";
import { canary, hostileText } from "./texts.ts";

export interface Campaign {
  admitted: AdmittedPlan;
  world: World;
  attacks: readonly Attack[];
  /** Inputs that were given; the others are made. */
  inputs: JsonObject;
  /** Checks and marks inputs as a start does. Throws what a start throws. */
  bind(plan: Plan, inputs: JsonObject): { [name: string]: Val };
  /** A fresh stage for one play. */
  stage(): Stage;
  /** Admits a plan that holds one step of this one. */
  alone(plan: Plan): AdmittedPlan;
}

export interface AttackReport {
  id: string;
  title: string;
  rules: readonly string[];
  ok: boolean;
  /** Places of the agent steps that were attacked in the file, and of those that were attacked alone. */
  steps: Position[];
  alone: Position[];
  proposals: number;
  refused: number;
  dispatched: number;
  /** How the agents ended, each way once. */
  ends: AgentEnd[];
  findings: Finding[];
}

export interface RedteamReport {
  ok: boolean;
  workflow: string;
  agents: { step: Position; agent: string; tools: string[] }[];
  attacks: AttackReport[];
}

const SETTING_LENGTH = 8;

export async function runCampaign(campaign: Campaign): Promise<RedteamReport> {
  const { admitted, attacks } = campaign;
  const { plan } = admitted.definition;
  const agents = placedAgents(plan);
  const inFile = await fileScene(campaign, admitted);
  const single = agents.map(({ place, step }) => ({
    place,
    scene: sceneOf(campaign, campaign.alone(planOf(plan, step, campaign.world)), null),
  }));
  const calm = emptyReport(CALM);
  for (const { place, scene } of single) {
    const played = await scene.play(CALM);
    count(calm, played, scene.judge(played));
    calm.alone.push(place);
  }
  const reports: AttackReport[] = [{ ...calm, ok: calm.findings.length === 0 }];
  for (const attack of attacks) {
    const report = emptyReport(attack);
    const played = await inFile.play(attack);
    count(report, played, inFile.judge(played));
    report.steps.push(...new Set(asked(played).map(placeOf)));
    for (const { place, scene } of single) {
      // Of two arms that share a place one was not come to: it is attacked alone all the same.
      if (report.steps.includes(place) && agents.filter((entry) => entry.place === place).length === 1) continue;
      const again = await scene.play(attack);
      count(report, again, scene.judge(again));
      report.alone.push(place);
    }
    reports.push({ ...report, ok: report.findings.length === 0 });
  }
  return {
    ok: reports.every(({ ok }) => ok),
    workflow: plan.name,
    agents: agents.map(({ place, step }) => ({ step: place, agent: step.agent, tools: toolsOf(step) })),
    attacks: reports,
  };
}

interface Scene {
  play(attack: Attack): Promise<Play>;
  judge(played: Play): Finding[];
}

/** The whole file: what its agents are given when nobody misbehaves is what they may be given. */
async function fileScene(campaign: Campaign, admitted: AdmittedPlan): Promise<Scene> {
  const calm = new Map<Position, string>();
  for (const entry of (await playWith(campaign, admitted, CALM, canary)).observed.seen) {
    if (entry.what === "asked") calm.set(placeOf(entry.step), (calm.get(placeOf(entry.step)) ?? "") + entry.given);
  }
  return sceneOf(campaign, admitted, calm);
}

function sceneOf(campaign: Campaign, admitted: AdmittedPlan, calm: Given): Scene {
  const canaries = canariesOf(admitted, campaign.inputs);
  return {
    play: (attack) => playWith(campaign, admitted, attack, (of) => hostileText(of, campaign.world)),
    judge: (played) => judge(played, canaries, calm),
  };
}

function playWith(
  campaign: Campaign,
  admitted: AdmittedPlan,
  attack: Attack,
  textOf: (of: string) => string,
): Promise<Play> {
  const { plan } = admitted.definition;
  const inputs = campaign.bind(plan, madeInputs(plan.inputs, campaign.inputs, textOf));
  return play(admitted, attack, campaign.world, { inputs, trigger: canary("trigger") }, campaign.stage(), textOf);
}

function asked({ observed }: Play): Position[] {
  return [...new Set(observed.seen.filter((entry) => entry.what === "asked").map(({ step }) => step))];
}

function toolsOf(step: AgentStep): string[] {
  return step.tools === "deployment" ? [] : step.tools;
}

/** Its goal and its context are hostile texts; what is around it is gone. */
function planOf(plan: Plan, step: AgentStep, world: World): Plan {
  const { guard: _guard, onExhausted: _handler, ...rest } = step;
  const context: JsonObject = {};
  if (!("lit" in step.with)) setOwn(context, "text", hostileText("context", world));
  const { outputs: _outputs, single: _single, ...whole } = plan;
  const only: AgentStep = {
    ...rest,
    goal: { lit: hostileText("goal", world) },
    with: { lit: context },
    catch: [],
    cleanup: [],
    reads: [],
  };
  if (typeof only.timeout === "object") delete only.timeout;
  return { ...whole, steps: [only], cleanup: [], callees: {}, settings: [], triggers: [] };
}

/** Each input that was not given: hostile if a text may be, short where it is sensitive, so that it is found whole. */
function madeInputs(fields: readonly Field[], given: JsonObject, textOf: (of: string) => string): JsonObject {
  const inputs: JsonObject = {};
  for (const name of Object.keys(given)) setOwn(inputs, name, given[name] as Json);
  for (const field of fields) {
    if (Object.hasOwn(given, field.name)) continue;
    const of = `input ${field.name}`;
    const text = field.sensitive === true ? canary(of) : textOf(of);
    const schema = fieldsToSchema([{ ...field, required: true }]);
    const made = sample(schema, text, true) ?? sample(schema, canary(of), true);
    if (made !== undefined) setOwn(inputs, field.name, (made as JsonObject)[field.name] as Json);
  }
  return inputs;
}

function canariesOf({ definition }: AdmittedPlan, given: JsonObject): Canary[] {
  const canaries: Canary[] = [
    { text: IDENTITY, of: "who started the run", sensitive: false },
    { text: RUN, of: "the id of the run", sensitive: false },
    { text: canary("trigger"), of: "the trigger", sensitive: false },
  ];
  for (const { name, sensitive } of definition.plan.inputs) {
    const value = Object.hasOwn(given, name) ? given[name] : canary(`input ${name}`);
    if (typeof value !== "string" || value.length < SETTING_LENGTH) continue;
    canaries.push({ text: value, of: `the input ${name}`, sensitive: sensitive === true });
  }
  for (const action of Object.keys(definition.manifests)) {
    canaries.push({ text: canary(`result ${action}`), of: `result ${action}`, sensitive: false });
  }
  for (const text of textsIn(definition.settings)) {
    if (text.length >= SETTING_LENGTH) canaries.push({ text, of: "a setting", sensitive: false });
  }
  return canaries;
}

function textsIn(value: Json): string[] {
  if (typeof value === "string") return [value];
  return value === null || typeof value !== "object" ? [] : Object.values(value).flatMap(textsIn);
}

function emptyReport({ id, title, rules }: Attack): AttackReport {
  return {
    id,
    title,
    rules,
    ok: true,
    steps: [],
    alone: [],
    proposals: 0,
    refused: 0,
    dispatched: 0,
    ends: [],
    findings: [],
  };
}

function count(report: AttackReport, { records, observed }: Play, findings: Finding[]): void {
  report.findings.push(...findings);
  report.dispatched += observed.dispatches.filter(({ position }) => position.includes(".(tools)[")).length;
  for (const { kind, body } of records) {
    if (kind === "agent.turn" && Array.isArray(body["calls"])) {
      const calls = body["calls"] as { verdict?: string }[];
      report.proposals += calls.length;
      report.refused += calls.filter(({ verdict }) => verdict === "refused").length;
    }
    const reason = body["reason"] as AgentEnd;
    if (kind === "agent.ended" && !report.ends.includes(reason)) report.ends.push(reason);
  }
}
