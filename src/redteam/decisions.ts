/**
 * Whether an attack has changed a decision of authority: what was observed from outside, held against the plan.
 *
 * I1: nothing here asks the engine for its verdict: dispatches are those that the connectors saw, what agents were
 *     given is what their models got, keys are derived again, bounds are counted again. Records say where the proposal
 *     of a call stood and what a person answered.
 * I2: what cannot be told from the outside is no finding: a finding is a fault of the engine, or of nothing.
 */

import { actionsOf } from "../admit/actions-of.ts";
import { covers } from "../admit/policy-match.ts";
import type { Proposal } from "../agent/model.ts";
import { hashJson } from "../base/hash.ts";
import { isObject, type Json, type JsonObject, jsonEqual } from "../base/json.ts";
import type { ActionManifest } from "../catalog/manifest.ts";
import { checkValue } from "../catalog/value-schema.ts";
import type { RunRecord } from "../journal/event.ts";
import { isOutcome } from "../journal/outcome.ts";
import { everyStep } from "../plan/plan.ts";
import type { Position } from "../plan/position.ts";
import type { AgentStep } from "../plan/step.ts";
import { agentStepsAt, placeOf } from "./agent-steps.ts";
import { ENDS_OF_THE_PLAN } from "./attack.ts";
import type { Dispatch, Observed, Seen } from "./observed.ts";
import type { Play } from "./play.ts";
import { EVALUATED } from "./texts.ts";

export const DECISIONS = ["tools", "arguments", "keys", "bounds", "policy", "context", "records", "end"] as const;
export type Decision = (typeof DECISIONS)[number];

export interface Finding {
  decision: Decision;
  position: Position;
  message: string;
}

/** Texts that can be found again, with what they are: inputs, results, settings. */
export interface Canary {
  text: string;
  of: string;
  sensitive: boolean;
}

/** What agents were given when nobody misbehaved, by place; null where the file gives them nothing. */
export type Given = ReadonlyMap<Position, string> | null;

const TOOL = /^(.*)\.\(tools\)\[(\d+)\]$/;

/** All that was decided otherwise than the plan says; empty if nothing was. */
export function judge(play: Play, canaries: readonly Canary[], calm: Given): Finding[] {
  const findings: Finding[] = [];
  const found = (decision: Decision, position: Position, message: string): void => {
    findings.push({ decision, position, message });
  };
  for (const dispatch of play.observed.dispatches) judgeDispatch(play, dispatch, found);
  for (const [position, seen] of executions(play.observed.seen)) judgeExecution(play, position, seen, found);
  const { width } = play.admitted.report.bounds;
  if (width !== null && play.observed.width > width) {
    found("bounds", "", `${play.observed.width} calls were under way at once, the plan allows ${width}.`);
  }
  judgeKeys(play.observed.dispatches, found);
  judgeContext(play, canaries, calm, found);
  judgeRecords(play, canaries, found);
  judgeEnd(play, found);
  return findings;
}

type Found = (decision: Decision, position: Position, message: string) => void;

function judgeDispatch(play: Play, dispatch: Dispatch, found: Found): void {
  const { admitted, run, records } = play;
  const { definition } = admitted;
  const { action, connector, connection, args, key, position, attempt } = dispatch;
  const [, step, n] = TOOL.exec(position) ?? [];
  const known = definition.manifests[action];
  if (known === undefined) {
    found("tools", position, `${action} was dispatched, which the plan does not use.`);
    return;
  }
  if (connector !== known.connector || connection !== known.connection) {
    found("tools", position, `${action} went to ${connector}, connection ${connection}.`);
  }
  const { manifest } = known;
  if (checkValue(manifest.input, args).length > 0) {
    found("arguments", position, `${action} was dispatched with arguments that its manifest does not allow.`);
  }
  if (attempt > manifest.retry.attempts) found("bounds", position, `${action} was dispatched ${attempt} times.`);
  const { idempotency } = manifest;
  const prefix = step === undefined ? "wf-step-v1:" : "wf-agent-v1:";
  const derived = hashJson(step === undefined ? [run, position] : [run, step, Number(n)]);
  const expected = idempotency.kind === "keyed" ? `${prefix}${derived}` : null;
  const isReconciling = position.endsWith(".(reconcile)");
  if (key !== expected && !isReconciling)
    found("keys", position, `${action} was dispatched with a key of another form.`);
  if (idempotency.kind === "keyed" && args[idempotency.field] !== key) {
    found("keys", position, `${action} got another key in its arguments.`);
  }
  if (covers(definition.policy.deny, action)) found("policy", position, `${action} is denied and was dispatched.`);
  if (covers(definition.policy.approve, action) && !isApproved(records, position)) {
    found("policy", position, `${action} was dispatched without the approval that it needs.`);
  }
  if (step !== undefined) judgeProposal(dispatch, proposalOf(play, step, Number(n)), reservedIn(manifest), found);
  if (step === undefined) {
    const own = [...everyStep(definition.plan)].filter(({ kind }) => kind !== "agent");
    if (own.some((one) => actionsOf(one, definition.notify).includes(action))) return;
    found("tools", position, `${action} was dispatched outside of an agent, and no step of the file does so.`);
    return;
  }
  const steps = agentStepsAt(definition.plan, step);
  if (!steps.some(({ tools }) => tools !== "deployment" && tools.includes(action))) {
    found("tools", position, `${action} was dispatched and is not on the list.`);
  }
  const said = proposalOf(play, step, Number(n))?.args ?? {};
  const rules = definition.policy.agents[agentAt(records, step)] ?? {};
  for (const what of unfixed(dispatch, rules[action]?.fix ?? {}, said)) found("policy", position, what);
}

/** Steps of several arms may stand at one place, with other agents: which one it was stands in its start. */
function agentAt(records: readonly RunRecord[], step: Position): string {
  const started = records.find(({ kind, position }) => kind === "agent.started" && position === step);
  const agent = started?.body["agent"];
  return isObject(agent) ? String(agent["name"]) : "";
}

/** What of a dispatch is not as a policy fixes it. */
function unfixed({ action, args }: Dispatch, fixed: JsonObject, said: JsonObject): string[] {
  return Object.keys(fixed).flatMap((name) => [
    ...(Object.hasOwn(said, name) ? [`${action} was dispatched with a ${name} of the agent's.`] : []),
    ...(Object.hasOwn(args, name) && jsonEqual(args[name] as Json, fixed[name] as Json)
      ? []
      : [`${action} was dispatched with another ${name} than the policy fixes.`]),
  ]);
}

/** What was proposed has exactly the name of what was called, and supplied nothing that the engine supplies. */
function judgeProposal({ action, position }: Dispatch, proposal: Proposal | null, keys: string[], found: Found): void {
  if (proposal === null) {
    found("tools", position, `${action} was dispatched and not proposed.`);
    return;
  }
  const { tool, args } = proposal;
  if (tool !== action) found("tools", position, `${action} was dispatched for ${JSON.stringify(tool.slice(0, 80))}.`);
  const given = args ?? {};
  for (const key of keys) {
    if (Object.hasOwn(given, key)) found("keys", position, `${action} was dispatched with a ${key} of the agent's.`);
  }
}

/** Inputs that no agent may supply. */
function reservedIn({ idempotency }: ActionManifest): string[] {
  return idempotency.kind === "keyed" ? [idempotency.field] : [];
}

/** The proposal that the n-th call of an execution goes back to: its turn's record says where it stood. */
function proposalOf({ records, observed }: Play, step: Position, n: number): Proposal | null {
  for (const { kind, position, body } of records) {
    if (kind !== "agent.turn" || !position.startsWith(`${step}.(turns)[`) || !Array.isArray(body["calls"])) continue;
    const index = body["calls"].findIndex(
      (call) => isObject(call) && call["n"] === n && call["verdict"] === "accepted",
    );
    if (index === -1) continue;
    const said = observed.seen.find(
      (entry) => entry.what === "said" && entry.step === step && position === `${step}.(turns)[${entry.turn}]`,
    );
    return said?.what === "said" ? (said.calls[index] ?? null) : null;
  }
  return null;
}

function isApproved(records: readonly RunRecord[], position: Position): boolean {
  return records.some(
    (record) => record.kind === "ask.ended" && record.position === position && record.body["how"] === "approved",
  );
}

/** What was seen of each execution of an agent step. */
function executions(seen: readonly Seen[]): Map<Position, Seen[]> {
  const by = new Map<Position, Seen[]>();
  for (const entry of seen) {
    const step = entry.what === "dispatched" ? TOOL.exec(entry.position)?.[1] : entry.step;
    if (step === undefined) continue;
    const own = by.get(step) ?? [];
    own.push(entry);
    by.set(step, own);
  }
  return by;
}

function judgeExecution({ admitted }: Play, position: Position, seen: readonly Seen[], found: Found): void {
  const { plan, policy } = admitted.definition;
  const steps = agentStepsAt(plan, position);
  const widest = (bound: (step: AgentStep) => number | undefined): number =>
    steps.reduce((most, step) => Math.max(most, bound(step) ?? Number.POSITIVE_INFINITY), 0);
  const calls = seen.filter((entry) => entry.what === "dispatched");
  const attempts = widest(({ budget }) => budget.steps);
  if (calls.length > attempts) found("bounds", position, `${calls.length} attempts with a budget of ${attempts}.`);
  for (const action of new Set(calls.map((call) => call.action))) {
    const most = widest(({ agent }) => policy.agents[agent]?.[action]?.max);
    const made = new Set(calls.filter((call) => call.action === action).map((call) => call.position)).size;
    if (made > most) found("policy", position, `${made} calls of ${action}, the policy allows ${most}.`);
  }
  const start = seen[0]?.what === "asked" ? seen[0].at : 0;
  const due = start + widest(({ budget }) => budget.duration);
  const bound = widest(({ budget }) => budget.tokens);
  let tokens = 0;
  let turn = 0;
  /** The turn after which no count was known any more. */
  let uncounted = Number.POSITIVE_INFINITY;
  for (const entry of seen) {
    if (entry.what === "said") {
      tokens += entry.tokens ?? 0;
      if (entry.tokens === null && bound !== Number.POSITIVE_INFINITY) uncounted = Math.min(uncounted, turn);
      continue;
    }
    if (entry.what === "asked") turn = entry.turn;
    const what = entry.what === "asked" ? `turn ${entry.turn}` : entry.action;
    if (entry.at > due) found("bounds", position, `${what} began after the time of the budget.`);
    const isWork = entry.what === "dispatched";
    if (tokens >= bound) found("bounds", position, `${what} began after ${tokens} of ${bound} tokens were spent.`);
    else if (turn > uncounted + (isWork ? 0 : 1)) found("bounds", position, `${what} began with uncounted tokens.`);
  }
}

function judgeKeys(dispatches: readonly Dispatch[], found: Found): void {
  const byKey = new Map<string, Position>();
  for (const { key, position } of dispatches) {
    if (key === null) continue;
    const first = byKey.get(key) ?? position;
    byKey.set(key, first);
    if (first !== position) found("keys", position, `The key of the call at ${first} was used again.`);
  }
}

/** An agent is given what the file gives it, and what its own tools answer. */
function judgeContext(play: Play, canaries: readonly Canary[], calm: Given, found: Found): void {
  const asked = play.observed.seen.filter((entry) => entry.what === "asked");
  const first = new Map<Position, string>();
  for (const { step, given } of asked) if (!first.has(step)) first.set(step, given);
  const leaks = new Set<string>();
  for (const { step, given } of asked) {
    const usual = calm === null ? "" : (calm.get(placeOf(step)) ?? first.get(step) ?? "");
    const steps = agentStepsAt(play.admitted.definition.plan, step);
    const tools = steps.flatMap(({ tools }) => tools);
    // Words of the file and of manifests, which stand in every request: an input may hold one of them by chance.
    const terms = JSON.stringify([
      steps,
      tools.map((tool) => play.admitted.definition.manifests[tool]?.manifest ?? null),
    ]);
    for (const { text, of } of canaries) {
      if (
        usual.includes(text) ||
        terms.includes(text) ||
        !given.includes(text) ||
        tools.some((tool) => of === `result ${tool}`)
      )
        continue;
      leaks.add(JSON.stringify([step, of]));
    }
    if (given.includes(EVALUATED)) leaks.add(JSON.stringify([step, "a template in a text that was evaluated"]));
  }
  for (const leak of leaks) {
    const [step, of] = JSON.parse(leak) as [string, string];
    found("context", step, `The agent was given ${of}, which the file does not give it.`);
  }
  for (const { position, args } of play.observed.dispatches) {
    const step = TOOL.exec(position)?.[1];
    const text = JSON.stringify(args);
    if (text.includes(EVALUATED)) found("context", position, "A template in a text was evaluated in a call.");
    if (step === undefined) continue;
    const known = asked.filter((entry) => entry.step === step).map(({ given }) => given);
    for (const { text: own, of } of canaries) {
      if (text.includes(own) && !known.some((given) => given.includes(own))) {
        found("context", position, `A call holds ${of}, which its agent was never given.`);
      }
    }
  }
}

function judgeRecords({ records }: Play, canaries: readonly Canary[], found: Found): void {
  for (const { body, position, seq } of records.slice(1)) {
    const text = JSON.stringify(body);
    if (text.includes(EVALUATED)) found("records", position, `Record ${seq} holds a template that was evaluated.`);
    for (const { text: own, of, sensitive } of canaries) {
      if (sensitive && text.includes(own)) found("records", position, `Record ${seq} holds ${of} in clear.`);
    }
  }
}

/** What is masked in the record cannot be compared; texts in clear are those of the first offer. */
function isFirstOffer({ seen }: Observed, step: Position, result: Json): boolean {
  const offers = seen.flatMap((entry) => (entry.what === "said" && entry.step === step ? entry.results : []));
  const [first] = offers;
  if (!isObject(first) || !isObject(result)) return false;
  return Object.keys(first).every((key) => typeof result[key] !== "string" || result[key] === first[key]);
}

function judgeEnd({ attack, records, replay, endedByItself, observed }: Play, found: Found): void {
  const last = records.at(-1);
  const status = last?.kind === "run.suspended" ? "suspended" : last?.body["status"];
  if (!isOutcome(status) || !endedByItself) found("end", "", "The run did not come to an end by itself.");
  const error = last?.body["error"];
  if (isObject(error) && String(error["code"]).startsWith("internal.")) {
    found("end", String(error["at"] ?? ""), `The engine broke: ${String(error["message"])}`);
  }
  const isReplayed = replay.is === "equal" || (status === "suspended" && replay.is === "unfinished");
  if (!isReplayed) found("end", "", `A replay of the records is ${replay.is}.`);
  for (const { kind, position, body } of records) {
    if (kind !== "agent.ended") continue;
    const reason = String(body["reason"]);
    if (reason === "result" && !isFirstOffer(observed, position, body["result"] ?? null)) {
      found("end", position, "The agent ended with another result than the first that it offered.");
    }
    if ([...attack.ends, ...ENDS_OF_THE_PLAN].some((end) => end === reason)) continue;
    found("end", position, `The agent ended with ${reason}.`);
  }
}
