/**
 * I1: a scripted model has no state: what a turn says depends on the request alone (turn number and messages),
 *     so that a run that goes on in another process goes on in the script where it was.
 * I2: turn n is found by reading the list of turns from its start, each turn k against the results that were
 *     known before it.
 * I3: a turn that waits ends at once when the signal fires.
 */

import type { Message, ModelPort, Proposal, ToolAnswer, TurnOutcome, TurnRequest } from "../../agent/model.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import { formatDuration } from "../../base/duration.ts";
import { type Json, type JsonObject, parseJson } from "../../base/json.ts";
import { didYouMean } from "../../base/nearest.ts";
import {
  globMatches,
  type Script,
  type ScriptCall,
  type ScriptCondition,
  type ScriptPart,
  type ScriptTurn,
} from "./script.ts";
import { isJsonObject, renderTemplate, renderText, type ScriptScope, type ValueTemplate } from "./script-template.ts";

export interface ScriptedOptions {
  clock: Clock;
  /** Milliseconds of silence after which a stream is cut; default 120,000. */
  stall?: number;
}

export const DEFAULT_STALL_MS = 120_000;

/**
 * A model that plays a script. An agent or a step that the script has no entry for fails with `agent.unavailable`;
 * so does a turn whose template cannot be evaluated. Where the turns have run out, it says an empty text.
 */
export function createScriptedModel(script: Script, options: ScriptedOptions): ModelPort {
  return {
    async turn(request, signal) {
      const parts = script.agents.get(request.agent) ?? script.agents.get("*");
      if (parts === undefined) {
        const names = [...script.agents.keys()];
        const help = `${didYouMean(request.agent, names)} It has: ${listed(names)}.`.trim();
        return failed("agent.unavailable", `The script has no agent called ${request.agent}. ${help}`);
      }
      const part = parts.find((entry) => entry.step === null || fits(entry.step, request));
      if (part === undefined) return failed("agent.unavailable", noEntry(parts, request));
      const { turns } = part;
      const history = readHistory(request);
      try {
        const turn = turnAt(turns, history);
        if (turn === null)
          return { is: "turn", text: "", calls: [], results: [], giveUp: null, usage: NONE, finish: "stop" };
        return await play(turn, history.scope, request, options, signal);
      } catch (error) {
        if (error instanceof TemplateError) {
          return failed(
            "agent.unavailable",
            `The script of ${request.agent} cannot play turn ${request.turn + 1} of the step ${request.step}: ${error.message}`,
          );
        }
        throw error;
      }
    },
  };
}

const NONE = Object.freeze({ input: 0, output: 0 });

class TemplateError extends Error {}

function noEntry(parts: readonly ScriptPart[], request: TurnRequest): string {
  const steps = parts.flatMap((part) => part.step ?? []);
  const near = didYouMean(request.step, steps);
  const has = `${near} Its entries are for: ${listed(steps)}.`.trim();
  return `The script of ${request.agent} has no entry for the step ${request.step} (turn ${request.turn + 1}). ${has}`;
}

const MAX_LISTED = 20;

function listed(names: readonly string[]): string {
  if (names.length === 0) return "none";
  return names.slice(0, MAX_LISTED).join(", ") + (names.length > MAX_LISTED ? ", ..." : "");
}

/** A position, a glob over positions or, where the agent is AWL's, the id of a task at any depth. */
function fits(step: string, request: TurnRequest): boolean {
  if (globMatches(step, request.step)) return true;
  return (
    request.agent === "default" &&
    request.step
      .split(".")
      .at(-1)
      ?.replace(/\[\d+\]$/, "") === step
  );
}

interface History {
  scope: ScriptScope;
  /** By turn that has been played: the results that were known before it, as a count. */
  known: number[];
  answers: ToolAnswer[];
}

/** What this execution of the step has seen: everything since the last task. */
function readHistory(request: TurnRequest): History {
  const start = request.messages.findLastIndex((message) => message.role === "task");
  const task = request.messages[start];
  const answers: ToolAnswer[] = [];
  const known: number[] = [];
  let asked: readonly Proposal[] = [];
  for (const message of request.messages.slice(start + 1)) {
    if (message.role === "agent") {
      known.push(answers.length);
      asked = message.calls;
    } else if (message.role === "results") {
      answers.push(...inOrder(asked, message));
    }
  }
  const results = answers.map((answer): Json => (answer.ok ? answer.value : { error: errorOf(answer) }));
  const scope: ScriptScope = {
    context: task?.role === "task" ? task.context : {},
    goal: task?.role === "task" ? task.goal : "",
    results,
    turn: request.turn,
  };
  return { scope, known, answers };
}

function errorOf(answer: Extract<ToolAnswer, { ok: false }>): JsonObject {
  return { code: answer.error.code, message: answer.error.message };
}

/** Answers come in the order in which calls ended; results are numbered in the order of the calls. */
function inOrder(asked: readonly Proposal[], message: Extract<Message, { role: "results" }>): ToolAnswer[] {
  const place = new Map(asked.map((call, i) => [call.id, i]));
  const at = (answer: ToolAnswer): number => place.get(answer.id) ?? asked.length;
  return [...message.results].sort((a, b) => at(a) - at(b));
}

/** The turn to be played now (I2), null where the list has run out. */
function turnAt(turns: readonly ScriptTurn[], history: History): ScriptTurn | null {
  let index = 0;
  let played = 0;
  const next = (known: number, number: number): ScriptTurn | null => {
    for (; index < turns.length; index++, played = 0) {
      const turn = turns[index] as ScriptTurn;
      if (played >= turn.times) continue;
      if (turn.when === null || holds(turn.when, history, known, number)) {
        played++;
        return turn;
      }
    }
    return null;
  };
  history.known.forEach(next);
  return next(history.answers.length, history.scope.turn);
}

function holds(when: ScriptCondition, history: History, known: number, turn: number): boolean {
  const last = history.answers[known - 1];
  if (last === undefined) return false;
  const scope: ScriptScope = { ...history.scope, results: history.scope.results.slice(0, known), turn };
  if (when.tool !== null && when.tool !== last.tool) return false;
  if (when.ok !== null && when.ok !== last.ok) return false;
  if (when.error !== null) {
    if (last.ok) return false;
    const wanted = text(when.error, scope);
    if (last.error.code !== wanted && !holdsText([last.error.message, last.error.details ?? null], wanted))
      return false;
  }
  if (when.contains !== null) {
    const body: Json = last.ok ? last.value : [last.error.code, last.error.message, last.error.details ?? null];
    if (!holdsText(body, text(when.contains, scope))) return false;
  }
  return true;
}

/** Whether a piece of text stands in a value: in one of its texts, or in its JSON. */
function holdsText(value: Json, wanted: string): boolean {
  if (typeof value === "string") return value.includes(wanted);
  if (Array.isArray(value) && value.some((item) => typeof item === "string" && item.includes(wanted))) return true;
  return JSON.stringify(value).includes(wanted) || leaves(value).some((leaf) => leaf.includes(wanted));
}

function leaves(value: Json): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(leaves);
}

async function play(
  turn: ScriptTurn,
  scope: ScriptScope,
  request: TurnRequest,
  options: ScriptedOptions,
  signal: AbortSignal,
): Promise<TurnOutcome> {
  if (turn.wait > 0) await sleep(options.clock, turn.wait, signal);
  const limit = options.stall ?? DEFAULT_STALL_MS;
  if (turn.stall > 0) await sleep(options.clock, Math.min(turn.stall, limit), signal);
  if (signal.aborted) return failed("agent.unavailable", "The turn was stopped before the model answered.");
  if (turn.stall >= limit)
    return failed("agent.stalled", `The model sent nothing for ${formatDuration(limit)}.`, { stall: limit });
  if (turn.error !== null) return modelError(turn.error, scope);
  const calls = turn.calls.map((call, i) => proposal(call, `call_${request.turn}_${i}`, scope));
  const results = turn.finish.map((template) => value(template, scope));
  return {
    is: "turn",
    text: turn.say === null ? "" : text(turn.say, scope),
    calls,
    results,
    giveUp: turn.giveUp === null ? null : text(turn.giveUp, scope),
    usage: turn.tokens === null ? null : { ...turn.tokens },
    finish: calls.length + results.length > 0 || turn.giveUp !== null ? "tool-calls" : "stop",
  };
}

function proposal(call: ScriptCall, id: string, scope: ScriptScope): Proposal {
  if ("argsText" in call) {
    const read = parseJson(call.argsText);
    return read.ok && isJsonObject(read.value)
      ? { id, tool: call.tool, args: read.value }
      : { id, tool: call.tool, argsText: call.argsText };
  }
  const args = value(call.with, scope);
  return isJsonObject(args) ? { id, tool: call.tool, args } : { id, tool: call.tool, argsText: JSON.stringify(args) };
}

/** Words of providers for "this will not get better by trying again". */
const REJECTIONS = ["invalid_request", "rejected", "content_filter", "too_long"];

function modelError(error: NonNullable<ScriptTurn["error"]>, scope: ScriptScope): TurnOutcome {
  const message = error.message === null ? `The model call failed: ${error.code}.` : text(error.message, scope);
  const details: JsonObject = { reason: error.code };
  if (error.retryAfter !== null) details["retry_after"] = error.retryAfter;
  if (error.code.startsWith("agent.")) return failed(error.code, message, details);
  if (error.code === "stalled") return failed("agent.stalled", message, details);
  return failed(REJECTIONS.includes(error.code) ? "agent.rejected" : "agent.unavailable", message, details);
}

function failed(code: string, message: string, details?: JsonObject): TurnOutcome {
  return { is: "failed", code, message, ...(details === undefined ? {} : { details }) };
}

function value(template: ValueTemplate, scope: ScriptScope): Json {
  const rendered = renderTemplate(template, scope);
  if (!rendered.ok) throw new TemplateError(rendered.message);
  return rendered.value;
}

function text(template: ValueTemplate, scope: ScriptScope): string {
  const rendered = renderText(template, scope);
  if (!rendered.ok) throw new TemplateError(rendered.message);
  return rendered.value;
}
