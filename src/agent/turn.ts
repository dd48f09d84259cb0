/**
 * What the engine says to each proposal of a turn, before anything is dispatched.
 *
 * I1: only exact declared names are tools; everything else is refused, whatever it looks like.
 * I2: a proposal refused for its name or for a reserved input takes no position and no attempt (D3); one
 *     whose arguments do not fit has taken its position and is neither dispatched nor counted.
 * I3: proposals are taken in order up to the budget, the rest refused (D4), whatever their arguments; a
 *     refusal for the budget exhausts the step.
 * I4: a typed result offered together with calls counts, and the calls are refused; so are calls beside a
 *     giving up.
 * I5: a refusal names what is wrong, and never more than the agent's own words and the tool's schema.
 * I6: every call of a turn has an id of its own, the same one in all that is recorded and told of it.
 * I7: a record is no authority: a call that it calls accepted is judged again, by the same rules and on the state
 *     that its own history gives, and one that would be refused does not fit (`history.mismatch`). Two things
 *     are taken as they stand: the key (WX-55), and arguments that the history holds masked.
 */
import { invariant } from "../base/invariant.ts";
import { isObject, type Json, jsonEqual } from "../base/json.ts";
import type { SecretTexts } from "../base/secret-texts.ts";
import type { TurnCall } from "../journal/bodies.ts";
import { marksIn, peel, readSuppressed, reveal, setOwn, type Val } from "../plan/marked.ts";
import { auxPosition, indexedPosition, type Position } from "../plan/position.ts";
import { checkArguments } from "../run/dispatch.ts";
import { hideText } from "../run/hide.ts";
import { HistoryMismatch } from "../run/history.ts";
import { agentKey } from "../run/keys.ts";
import type { Meter } from "../run/meter.ts";
import type { Proposal } from "./model.ts";
import { type AgentTool, reservedInputs, withFixed } from "./tools.ts";

export const MAX_PROPOSALS = 64;
const MAX_NAME = 200;
const MAX_ID = 200;

type Verdict = { is: "accepted"; args: Val; key: string | null } | { is: "refused"; refusal: Refusal };

interface Refusal {
  code: string;
  message: string;
  details: Json;
}

export interface AcceptedCall {
  /** Which of the turn's calls it is, from 0. */
  index: number;
  id: string;
  tool: AgentTool;
  name: string;
  /** With what the policy fixes, without the key. */
  args: Val;
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
  /** In a dry run a proposal may hand on what it was shown in the place of a result. */
  dryRun: boolean;
  /** Turns so far that came without a count of their tokens. */
  uncounted: number;
}

/** What a turn's calls are judged by beside the state. */
export interface Round {
  resultOffered: boolean;
  gaveUp: boolean;
  budgetSpent: boolean;
}

/** A proposal as its turn records it: with what the agent is told of a refusal, so that a resumed run says the same. */
export type JudgedCall = Omit<TurnCall, "args"> & { id: string; args: Val; message?: string; details?: Json };

/** What is judged: a proposal, or a recorded call seen as the proposal that it was. */
interface Candidate {
  tool: string;
  /** Without what the policy fixes; undefined where it was no JSON object. */
  args: Val | undefined;
}

/**
 * The proposals of one turn with ids of their own (I6): an empty or repeated one is replaced, and one that says
 * a sensitive text loses it, since ids stand in records. So does a name that is no tool's, which refusals quote.
 */
export function identified(
  proposals: readonly Proposal[],
  texts: SecretTexts,
  tools: ReadonlyMap<string, unknown>,
): Proposal[] {
  const looked = proposals.slice(0, MAX_PROPOSALS + 1);
  const given = looked.map(({ id }) => hideText(id, texts, MAX_ID));
  const taken = new Set<string>();
  const free = (i: number): string => {
    for (let k = 0; ; k++) {
      const id = k === 0 ? `call-${i}` : `call-${i}-${k}`;
      if (!taken.has(id) && !given.includes(id)) return id;
    }
  };
  const own = looked.map((proposal, i) => {
    const wish = given[i] ?? "";
    const id = wish === "" || taken.has(wish) ? free(i) : wish;
    taken.add(id);
    const tool = tools.has(proposal.tool) ? proposal.tool : otherName(hideText(proposal.tool, texts));
    return { ...proposal, id, tool };
  });
  return [...own, ...proposals.slice(MAX_PROPOSALS + 1)];
}

/** A name that is no tool's, short, and no tool's either when it has been cut (I1). */
function otherName(name: string): string {
  return name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME - 1).toWellFormed()}…`;
}

/** Judges the proposals of one turn in order. `state` is moved on: hand over a copy (see {@link copyState}). */
export function judgeProposals(state: TurnState, proposals: readonly Proposal[], round: Round): JudgedCall[] {
  const calls: JudgedCall[] = [];
  for (const proposal of proposals.slice(0, MAX_PROPOSALS)) {
    const { verdict, n } = judgeOne(state, proposal, round, keyOf(state));
    calls.push(judgedCall(proposal, verdict, n));
  }
  const rest = proposals.length - MAX_PROPOSALS;
  if (rest > 0) {
    const first = proposals[MAX_PROPOSALS];
    calls.push({
      id: first?.id ?? "",
      tool: first?.tool ?? "",
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

export interface TakenCalls {
  accepted: AcceptedCall[];
  refused: { index: number; call: JudgedCall }[];
  /** One was refused because the budget was spent. */
  forBudget: boolean;
}

/**
 * Reads a turn's calls back from its record, moves `state` on, and says what to dispatch and what to answer.
 * Throws {@link HistoryMismatch} where the record says what the engine would not have said (I7).
 */
export function takeCalls(state: TurnState, calls: readonly JudgedCall[], round: Round): TakenCalls {
  const taken: TakenCalls = { accepted: [], refused: [], forBudget: false };
  for (const [index, call] of calls.entries()) {
    if (call.verdict === "accepted") {
      taken.accepted.push(takeAccepted(state, call, round, index));
      continue;
    }
    if (call.verdict !== "refused") {
      throw unfit(state, call, "accepted or refused", call.verdict);
    }
    if (call.n !== null) {
      if (call.n !== state.nextN) throw unfit(state, call, `position ${state.nextN}`, `position ${call.n}`);
      state.nextN++;
    }
    taken.refused.push({ index, call });
    if (call.code === "agent.budget_exhausted") taken.forBudget = true;
  }
  return taken;
}

function takeAccepted(state: TurnState, call: JudgedCall, round: Round, index: number): AcceptedCall {
  const tool = state.tools.get(call.tool);
  const refuse = (code: string): HistoryMismatch => unfit(state, call, code, "accepted");
  if (tool === undefined) throw refuse("agent.undeclared_tool");
  if (index >= MAX_PROPOSALS) throw refuse("agent.too_many_calls");
  const args = proposedArgs(tool, call.args);
  if (args === undefined) throw refuse("agent.reserved_key");
  const { verdict, n } = judgeOne(state, { tool: call.tool, args }, round, () => call.key);
  if (verdict.is === "refused") throw refuse(verdict.refusal.code);
  if (n === null || n !== call.n) throw unfit(state, call, `position ${n}`, `position ${call.n}`);
  const keyed = tool.action.manifest.idempotency.kind === "keyed";
  if (keyed !== (call.key !== null)) throw unfit(state, call, keyed ? "a key" : "no key", call.key);
  return { index, id: call.id, tool, name: call.tool, args: call.args, n, key: call.key, position: place(state, n) };
}

/** Recorded arguments without what the policy fixes; undefined if one of these differs from what is fixed. */
export function proposedArgs(tool: AgentTool, args: Val): Val | undefined {
  const { value } = peel(args);
  if (!isObject(value)) return args;
  const out: { [name: string]: Val } = {};
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(tool.fixed, name)) setOwn(out, name, value[name] as Val);
  }
  for (const name of Object.keys(tool.fixed)) {
    if (!Object.hasOwn(value, name)) return undefined;
    const found = value[name] as Val;
    if (!marksIn(found).redacted && !jsonEqual(reveal(found), tool.fixed[name] as Json)) return undefined;
  }
  return out;
}

function unfit(state: TurnState, call: JudgedCall, expected: string, recorded: string | null): HistoryMismatch {
  const at = place(state, call.n ?? state.nextN);
  return new HistoryMismatch(at, `the call at ${at} is recorded otherwise than it is judged now`, {
    kind: "agent.turn",
    tool: call.tool,
    expected,
    recorded,
  });
}

function place(state: TurnState, n: number): Position {
  return indexedPosition(auxPosition(state.step, "tools"), n);
}

function keyOf(state: TurnState): (tool: AgentTool, n: number) => string | null {
  return (tool, n) => (tool.action.manifest.idempotency.kind === "keyed" ? agentKey(state.run, state.step, n) : null);
}

function judgeOne(
  state: TurnState,
  proposal: Candidate | Proposal,
  round: Round,
  key: (tool: AgentTool, n: number) => string | null,
): { verdict: Verdict; n: number | null } {
  const refused = (
    code: string,
    message: string,
    details: Json,
    n: number | null,
  ): { verdict: Verdict; n: number | null } => ({
    verdict: { is: "refused", refusal: { code, message, details } },
    n,
  });
  const tool = state.tools.get(proposal.tool);
  if (tool === undefined) {
    const names = [...state.tools.keys()];
    const message =
      names.length === 0
        ? `There is no tool ${quote(proposal.tool)}: this step has no tools.`
        : `There is no tool ${quote(proposal.tool)}. The tools are: ${names.join(", ")}.`;
    return refused("agent.undeclared_tool", message, null, null);
  }
  const given = peel(proposal.args ?? null).value;
  const reserved = reservedInputs(tool).filter((name) => isObject(given) && Object.hasOwn(given, name));
  if (reserved.length > 0) {
    const message = `${proposal.tool} does not take ${reserved.map(quote).join(", ")} from you: the engine supplies it. Leave it out.`;
    return refused("agent.reserved_key", message, { fields: reserved }, null);
  }
  const n = state.nextN++;
  const late = (code: string, message: string, details: Json = null): { verdict: Verdict; n: number | null } =>
    refused(code, message, details, n);
  if (round.resultOffered) {
    return late("agent.result_given", "The result was given in the same turn: nothing more is called.");
  }
  if (round.gaveUp) return late("agent.gave_up", "You gave up in the same turn: nothing more is called.");
  if (round.budgetSpent) return late("agent.budget_exhausted", "The budget of this step is spent.");
  // Before the arguments are looked at: what comes after the last attempt is no work any more, whatever it holds.
  if (state.meter.free < 1) return late("agent.budget_exhausted", "The budget of this step has no attempt left.");
  if (state.denied(proposal.tool)) {
    return late("tool_not_authorized", `The deployment's policy does not allow ${proposal.tool}.`);
  }
  if (proposal.args === undefined) {
    return late("action.invalid_input", `The arguments of ${proposal.tool} are no JSON object.`);
  }
  const said = state.dryRun ? readSuppressed(proposal.args) : proposal.args;
  const args = withFixed(tool, said);
  const known = key(tool, n);
  const bad = checkArguments(tool.action.manifest, args, known, place(state, n));
  if (bad) return late(bad.code, bad.message, bad.details["problems"] ?? null);
  const used = state.accepted.get(proposal.tool) ?? 0;
  if (tool.max !== null && used >= tool.max) {
    const message = `The deployment's policy allows ${tool.max} calls of ${proposal.tool} in this step.`;
    return late("tool_not_authorized", message);
  }
  invariant(state.meter.take(), "an attempt that was free is gone");
  state.accepted.set(proposal.tool, used + 1);
  return { verdict: { is: "accepted", args, key: known }, n };
}

function judgedCall(proposal: Proposal, verdict: Verdict, n: number | null): JudgedCall {
  const head = { id: proposal.id, tool: proposal.tool };
  const said = proposal.argsText === undefined ? {} : { args_text: proposal.argsText };
  if (verdict.is === "accepted") {
    return { ...head, args: verdict.args, ...said, verdict: "accepted", code: null, n, key: verdict.key };
  }
  const { code, message, details } = verdict.refusal;
  const args = proposal.args ?? null;
  const told = details === null ? { message } : { message, details };
  return { ...head, args, ...said, verdict: "refused", code, n, key: null, ...told };
}

function quote(name: string): string {
  return JSON.stringify(name.toWellFormed());
}
