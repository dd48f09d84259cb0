/**
 * A turn as its record holds it, written and read back. Nothing sensitive stands in it, whatever the agent says
 * again (run/hide.ts): what is dispatched or bound keeps its value under a mark, what is only told loses it.
 */

import { findNotJson, isObject, type Json, type JsonObject } from "../base/json.ts";
import type { SecretTexts } from "../base/secret-texts.ts";
import { markSensitive, sensitivePaths } from "../catalog/sensitive.ts";
import { Fault } from "../errors/fault.ts";
import { peel, recorded, reveal, type Val } from "../plan/marked.ts";
import type { Position } from "../plan/position.ts";
import { HIDDEN, hide, hideMarked, hideMessage, hideText, markTexts, sensitiveTexts } from "../run/hide.ts";
import { HistoryMismatch } from "../run/history.ts";
import type { LiveBody } from "../run/scheduler.ts";
import { reportedUsage } from "../run/usage.ts";
import type { Finish } from "./finish.ts";
import type { Message, Proposal, ToolAnswer, TurnOutcome } from "./model.ts";
import { countTurn } from "./token-count.ts";
import { identified, type JudgedCall, judgeProposals, type TurnState } from "./turn.ts";

const MAX_TEXT = 65_536;
const MAX_NAME = 200;
const MAX_MESSAGE = 4_096;

/** What a turn that came back is recorded as. `state` is moved on: hand over a copy. */
export function turnRecord(
  outcome: Extract<TurnOutcome, { is: "turn" }>,
  fresh: readonly Message[],
  state: TurnState,
  finish: Finish,
  known: SecretTexts,
): LiveBody {
  const usage = reportedUsage(outcome.usage);
  const budgetSpent = countTurn(state, usage);
  const plain = outcome.calls.map(plainProposal);
  // What a tool calls sensitive is so in the whole turn: the agent may say it beside the call, too.
  const texts = withInputs(known, state, plain);
  const proposals = identified(plain, texts, state.tools);
  const offer = plainOffer(outcome.results[0]);
  const round = { resultOffered: offer !== undefined, gaveUp: outcome.giveUp !== null, budgetSpent };
  const calls = judgeProposals(state, proposals, round);
  const judged = offer === undefined ? null : finish.judge(markTexts(offer, texts));
  const giveUp = outcome.giveUp === null ? null : hideText(outcome.giveUp, texts, MAX_TEXT);
  const answer: Message = {
    role: "agent",
    text: hideText(outcome.text, texts, MAX_TEXT),
    calls: proposals.slice(0, calls.length).map((call) => hiddenProposal(call, state, texts)),
    results: judged === null ? [] : [hideMarked(judged.offer, texts)],
    ...(giveUp === null ? {} : { giveUp }),
  };
  return {
    messages: [...fresh.map((message) => hiddenMessage(message, texts)), answer] as unknown as Val,
    calls: calls.map((call) => hiddenCall(call, state, texts)) as unknown as Val,
    ...(judged === null ? {} : { result: judged.result }),
    ...(judged === null || judged.problems === null ? {} : { problems: hide(judged.problems, texts) }),
    ...(giveUp === null ? {} : { give_up: giveUp }),
    usage,
    finish: outcome.finish,
  };
}

/** An offer that is no JSON of ours is none that could be bound: null, which no result is. */
function plainOffer(offer: Json | undefined): Json | undefined {
  return offer === undefined || findNotJson(offer) === null ? offer : null;
}

/** A proposal whose arguments are no JSON of ours (out of range, too deep, ill-formed text) is one without arguments. */
function plainProposal(proposal: Proposal): Proposal {
  if (proposal.args === undefined || findNotJson(proposal.args) === null) return proposal;
  const { args, ...rest } = proposal;
  return { ...rest, argsText: proposal.argsText ?? textOf(args) };
}

/** Arguments that are no JSON of ours as text; what no text can be made of (a nesting without end) is said so. */
function textOf(args: JsonObject): string {
  try {
    return JSON.stringify(args).toWellFormed();
  } catch {
    return "(arguments that no text can be made of)";
  }
}

/** A turn that its stop overtook: nothing of it is taken, but what it has cost counts. */
export function stoppedTurn(outcome: TurnOutcome | null): LiveBody {
  return emptyTurn("stopped", outcome?.is === "turn" ? reportedUsage(outcome.usage) : null);
}

/** A turn that no model was asked for: it has cost nothing. */
export function unaskedTurn(): LiveBody {
  return emptyTurn("stopped", { input: 0, output: 0 });
}

export function failedTurn(
  failed: Omit<Extract<TurnOutcome, { is: "failed" }>, "is">,
  at: Position,
  usage: { input: number; output: number } | null,
  texts: SecretTexts,
): LiveBody {
  // Providers say again what they were sent.
  const details = hide(failed.details ?? {}, texts) as JsonObject;
  const fault = new Fault(failed.code, at, hideMessage(failed.message, texts, MAX_MESSAGE), details);
  return { ...emptyTurn("failed", usage), fault: fault.toJSON() as unknown as Val };
}

function emptyTurn(finish: string, usage: { input: number; output: number } | null): LiveBody {
  return { messages: [], calls: [], usage, finish };
}

/** The calls of a turn's record. Throws {@link HistoryMismatch} where it holds something else. */
export function callsOf(body: LiveBody, at: Position): JudgedCall[] {
  const calls = peel(body["calls"] ?? []).value;
  if (!Array.isArray(calls)) throw noCalls(at);
  return calls.map((entry) => {
    const { value } = peel(entry);
    if (!isObject(value)) throw noCalls(at);
    const { id, tool, args, verdict, code, n, key, message, details } = value as { [name: string]: Val };
    if (typeof id !== "string" || typeof tool !== "string" || typeof verdict !== "string") throw noCalls(at);
    const index = n ?? null;
    if (index !== null && !(typeof index === "number" && Number.isSafeInteger(index) && index >= 0)) throw noCalls(at);
    return {
      id,
      tool,
      args: args ?? null,
      verdict,
      code: textOrNull(code, at),
      n: index,
      key: textOrNull(key, at),
      ...(typeof message === "string" ? { message } : {}),
      ...(details === undefined ? {} : { details: recorded(details) }),
    };
  });
}

function textOrNull(value: Val | undefined, at: Position): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== "string") throw noCalls(at);
  return value;
}

function noCalls(at: Position): HistoryMismatch {
  return new HistoryMismatch(at, `the turn at ${at} holds something that is no call`, {
    kind: "agent.turn",
    expected: "calls with id, tool, args, verdict, code, n and key",
    recorded: "something else",
  });
}

/** The texts, and those that calls hand to inputs which their tools call sensitive. */
export function withInputs(
  known: SecretTexts,
  state: TurnState,
  calls: readonly { tool: string; args?: Val }[],
): SecretTexts {
  return known.with(sensitiveTexts(calls.map(({ tool, args }) => markInputs(state, tool, reveal(args ?? null)))));
}

/** Arguments with what the tool calls sensitive marked, whether they fit it or not. */
function markInputs(state: TurnState, name: string, args: Val): Val {
  const tool = state.tools.get(name);
  return tool === undefined ? args : markSensitive(args, tool.action.manifest.input);
}

/** What was no JSON object cannot be told apart: where a tool has a sensitive input, all of it is. */
function hiddenText(state: TurnState, name: string, text: string, texts: SecretTexts): string {
  const tool = state.tools.get(name);
  const hasSensitive = tool !== undefined && sensitivePaths(tool.action.manifest.input).length > 0;
  return hasSensitive ? HIDDEN : hideText(text, texts, MAX_TEXT);
}

function hiddenCall(call: JudgedCall, state: TurnState, texts: SecretTexts): JudgedCall {
  const { args_text: text, message, details } = call;
  return {
    ...call,
    args: markTexts(markInputs(state, call.tool, call.args), texts),
    ...(call.n === null ? { tool: hideText(call.tool, texts, MAX_NAME) } : {}),
    ...(text === undefined ? {} : { args_text: hiddenText(state, call.tool, text, texts) }),
    ...(message === undefined ? {} : { message: hideText(message, texts, MAX_TEXT) }),
    ...(details === undefined ? {} : { details: hide(details, texts) }),
  };
}

function hiddenProposal(call: Proposal, state: TurnState, texts: SecretTexts): Proposal {
  const { args, argsText } = call;
  const shown = args === undefined ? undefined : hideMarked(markInputs(state, call.tool, args), texts);
  return {
    ...call,
    tool: state.tools.has(call.tool) ? call.tool : hideText(call.tool, texts, MAX_NAME),
    // A proposal's arguments are a map, also where all of it is hidden.
    ...(shown === undefined ? {} : { args: isObject(shown) ? (shown as JsonObject) : { [HIDDEN]: HIDDEN } }),
    ...(argsText === undefined ? {} : { argsText: hiddenText(state, call.tool, argsText, texts) }),
  };
}

function hiddenMessage(message: Message, texts: SecretTexts): Message {
  if (message.role !== "results" || texts.isEmpty) return message;
  const results = message.results.map((answer): ToolAnswer => {
    if (answer.ok) return { ...answer, value: hide(answer.value, texts) };
    const { code, message: said, details } = answer.error;
    const shown: { details?: Json } = details === undefined ? {} : { details: hide(details, texts) };
    return { ...answer, error: { code, message: hideText(said, texts), ...shown } };
  });
  return { role: "results", results };
}
