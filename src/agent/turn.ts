/**
 * What the engine says to each proposal of a turn, before anything is dispatched.
 *
 * I1: only exact declared names are tools; everything else is refused, whatever it looks like.
 * I2: a proposal refused for its name or for a reserved input takes no position and no attempt (D3); one
 *     whose arguments do not fit has taken its position and is neither dispatched nor counted.
 * I3: proposals are taken in order up to the budget, the rest refused (D4), whatever their arguments; a
 *     refusal for the budget exhausts the step.
 * I4: a typed result offered together with calls counts, and the calls are refused.
 * I5: a refusal names what is wrong, and never more than the agent's own words and the tool's schema.
 */
import { invariant } from "../base/invariant.ts";
import { isObject, type Json } from "../base/json.ts";
import type { TurnCall } from "../journal/bodies.ts";
import type { Val } from "../plan/marked.ts";
import { auxPosition, indexedPosition, type Position } from "../plan/position.ts";
import { checkArguments } from "../run/dispatch.ts";
import { agentKey } from "../run/keys.ts";
import type { Meter } from "../run/meter.ts";
import type { Proposal } from "./model.ts";
import { type AgentTool, reservedInputs, withFixed } from "./tools.ts";

export const MAX_PROPOSALS = 64;
const MAX_NAME = 200;
const MAX_ARGS_TEXT = 65_536;

export type Verdict =
  | { is: "accepted"; call: AcceptedCall }
  | { is: "refused"; id: string; tool: string; code: string; message: string; details: Json; forBudget: boolean };

export interface AcceptedCall {
  id: string;
  tool: AgentTool;
  name: string;
  /** With what the policy fixes, without the key. */
  args: { [name: string]: Val };
  n: number;
  key: string | null;
  position: Position;
}

export interface TurnState {
  run: string;
  step: Position;
  tools: ReadonlyMap<string, AgentTool>;
  denied(action: string): boolean;
  meter: Meter;
  /** Positions taken so far. */
  nextN: number;
  /** Accepted calls by tool, for a policy's `max`. */
  accepted: Map<string, number>;
}

/** A proposal as its turn records it: with what the agent is told of a refusal, so that a resumed run says the same. */
export type JudgedCall = Omit<TurnCall, "args"> & { id: string; args: Val; message?: string; details?: Json };

/** Judges the proposals of one turn in order. `state` is moved on: hand over a copy (see {@link copyState}). */
export function judgeProposals(
  state: TurnState,
  proposals: readonly Proposal[],
  resultOffered: boolean,
  budgetSpent: boolean,
): JudgedCall[] {
  const calls: JudgedCall[] = [];
  for (const [i, proposal] of proposals.slice(0, MAX_PROPOSALS).entries()) {
    const { verdict, n } = judgeOne(state, proposal, resultOffered, budgetSpent, i);
    calls.push(judgedCall(proposal, verdict, n));
  }
  const rest = proposals.length - MAX_PROPOSALS;
  if (rest > 0) {
    const first = proposals[MAX_PROPOSALS];
    calls.push({
      id: first?.id ?? "",
      tool: first?.tool.slice(0, MAX_NAME) ?? "",
      args: null,
      verdict: "refused",
      code: "agent.too_many_calls",
      n: null,
      key: null,
      message: `More than ${MAX_PROPOSALS} calls in one turn: the last ${rest} were not looked at.`,
    });
  }
  return calls;
}

/** A copy to judge on: what counts is moved by {@link takeCalls} from the record alone. */
export function copyState(state: TurnState): TurnState {
  return { ...state, meter: state.meter.copy(), accepted: new Map(state.accepted) };
}

/** Reads a turn's calls back from its record, moves `state` on, and says what to dispatch and what to answer. */
export function takeCalls(
  state: TurnState,
  calls: readonly JudgedCall[],
): { accepted: AcceptedCall[]; refused: JudgedCall[]; forBudget: boolean } {
  const accepted: AcceptedCall[] = [];
  const refused: JudgedCall[] = [];
  let forBudget = false;
  for (const call of calls) {
    if (call.n !== null) state.nextN = Math.max(state.nextN, call.n + 1);
    const tool = state.tools.get(call.tool);
    if (call.verdict !== "accepted" || tool === undefined || call.n === null || !isObject(call.args)) {
      refused.push(call);
      if (call.code === "agent.budget_exhausted") forBudget = true;
      continue;
    }
    state.meter.take();
    state.accepted.set(call.tool, (state.accepted.get(call.tool) ?? 0) + 1);
    accepted.push({
      id: call.id,
      tool,
      name: call.tool,
      args: call.args as { [name: string]: Val },
      n: call.n,
      key: call.key,
      position: indexedPosition(auxPosition(state.step, "tools"), call.n),
    });
  }
  return { accepted, refused, forBudget };
}

function judgeOne(
  state: TurnState,
  proposal: Proposal,
  resultOffered: boolean,
  budgetSpent: boolean,
  index: number,
): { verdict: Verdict; n: number | null } {
  const id = proposal.id === "" ? `call-${index}` : proposal.id;
  const refuse = (
    code: string,
    message: string,
    details: Json = null,
    forBudget = false,
  ): { verdict: Verdict; n: null } => ({
    verdict: refusal(id, proposal.tool, code, message, details, forBudget),
    n: null,
  });
  const tool = state.tools.get(proposal.tool);
  if (tool === undefined) {
    const names = [...state.tools.keys()];
    return refuse(
      "agent.undeclared_tool",
      names.length === 0
        ? `There is no tool ${quote(proposal.tool)}: this step has no tools.`
        : `There is no tool ${quote(proposal.tool)}. The tools are: ${names.join(", ")}.`,
    );
  }
  const reserved = reservedInputs(tool).filter(
    (name) => proposal.args !== undefined && Object.hasOwn(proposal.args, name),
  );
  if (reserved.length > 0) {
    return refuse(
      "agent.reserved_key",
      `${proposal.tool} does not take ${reserved.map(quote).join(", ")} from you: the engine supplies it. Leave it out.`,
      { fields: reserved },
    );
  }
  const n = state.nextN++;
  const late = (code: string, message: string, forBudget: boolean): { verdict: Verdict; n: number } => ({
    verdict: refusal(id, proposal.tool, code, message, null, forBudget),
    n,
  });
  if (resultOffered) {
    return late("agent.result_given", "The result was given in the same turn: nothing more is called.", false);
  }
  if (budgetSpent) return late("agent.budget_exhausted", "The budget of this step is spent.", true);
  // Before the arguments are looked at: what comes after the last attempt is no work any more, whatever it holds.
  if (!state.meter.copy().take()) {
    return late("agent.budget_exhausted", "The budget of this step has no attempt left.", true);
  }
  if (state.denied(proposal.tool)) {
    return late("tool_not_authorized", `The deployment's policy does not allow ${proposal.tool}.`, false);
  }
  const position = indexedPosition(auxPosition(state.step, "tools"), n);
  if (proposal.args === undefined) {
    const message = `The arguments of ${proposal.tool} are no JSON object.`;
    return { verdict: refusal(id, proposal.tool, "action.invalid_input", message), n };
  }
  const { manifest } = tool.action;
  const key = manifest.idempotency.kind === "keyed" ? agentKey(state.run, state.step, n) : null;
  const args = withFixed(tool, proposal.args);
  const bad = checkArguments(manifest, args, key, position);
  if (bad) {
    return { verdict: refusal(id, proposal.tool, bad.code, bad.message, bad.details["problems"] ?? null), n };
  }
  const used = state.accepted.get(proposal.tool) ?? 0;
  if (tool.max !== null && used >= tool.max) {
    const message = `The deployment's policy allows ${tool.max} calls of ${proposal.tool} in this step.`;
    return { verdict: refusal(id, proposal.tool, "tool_not_authorized", message), n };
  }
  invariant(state.meter.take(), "an attempt that was free is gone");
  state.accepted.set(proposal.tool, used + 1);
  return { verdict: { is: "accepted", call: { id, tool, name: proposal.tool, args, n, key, position } }, n };
}

function refusal(
  id: string,
  tool: string,
  code: string,
  message: string,
  details: Json = null,
  forBudget = false,
): Verdict {
  return { is: "refused", id, tool: tool.slice(0, MAX_NAME), code, message, details, forBudget };
}

function judgedCall(proposal: Proposal, verdict: Verdict, n: number | null): JudgedCall {
  return {
    id: verdict.is === "accepted" ? verdict.call.id : verdict.id,
    tool: proposal.tool.slice(0, MAX_NAME),
    args: verdict.is === "accepted" ? verdict.call.args : (proposal.args ?? null),
    ...(proposal.argsText === undefined ? {} : { args_text: proposal.argsText.slice(0, MAX_ARGS_TEXT) }),
    verdict: verdict.is,
    code: verdict.is === "refused" ? verdict.code : null,
    n,
    key: verdict.is === "accepted" ? verdict.call.key : null,
    ...(verdict.is === "refused" ? { message: verdict.message } : {}),
    ...(verdict.is === "refused" && verdict.details !== null ? { details: verdict.details } : {}),
  };
}

function quote(name: string): string {
  return JSON.stringify(name.slice(0, MAX_NAME).toWellFormed());
}
