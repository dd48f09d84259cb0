/**
 * The messages of a recorded turn, held against what the engine tells and against the rest of the record: no hash
 * covers them, and a run that goes on tells its agent what stands there.
 *
 * I1: what the engine told before the turn is computed again from the history, and stands there unchanged.
 * I2: the agent's own message holds the proposals, the result and the giving up of the record, and no others.
 *     Its text is the agent's alone.
 * I3: a step that hides something is not looked at: what a mask stands for cannot be told.
 */
import { type Json, type JsonObject, jsonEqual } from "../base/json.ts";
import { sensitivePaths } from "../catalog/sensitive.ts";
import type { Field } from "../plan/field.ts";
import { tellSuppressed, type Val } from "../plan/marked.ts";
import type { Position } from "../plan/position.ts";
import { holdsSensitive } from "../run/hide.ts";
import { HistoryMismatch } from "../run/history.ts";
import type { LiveBody } from "../run/scheduler.ts";
import type { Finish } from "./finish.ts";
import type { Message } from "./model.ts";
import type { AgentTool } from "./tools.ts";
import { type JudgedCall, MAX_PROPOSALS, proposedArgs } from "./turn.ts";

/** Throws {@link HistoryMismatch} where the messages of a turn's record are not those of this turn. */
export function checkMessages(
  body: LiveBody,
  fresh: readonly Message[],
  calls: readonly JudgedCall[],
  tools: ReadonlyMap<string, AgentTool>,
  finish: Finish,
  at: Position,
): void {
  const messages = tellSuppressed(body["messages"] ?? []) as Json[];
  fresh.forEach((message, i) => {
    const told = message as unknown as Json;
    if (!jsonEqual(messages[i] ?? null, told)) throw other(at, "what the agent was told", told, messages[i] ?? null);
  });
  const answer = messages[fresh.length] as unknown as Message | undefined;
  if (answer?.role !== "agent" || messages.length !== fresh.length + 1) {
    throw other(at, "the number of messages", fresh.length + 1, messages.length);
  }
  const said = answer.calls.map((call, i) => proposalOf(call as unknown as JsonObject, i)) as Json;
  const wanted = calls.map((call, i) => proposalOf(proposed(call, body, tools), i));
  if (!jsonEqual(said, wanted)) throw other(at, "what the agent proposed", wanted, said);
  const result = tellSuppressed(body["result"] ?? null);
  const offered =
    answer.results[0] === undefined ? null : tellSuppressed(finish.judge(answer.results[0] as Val).result);
  if (answer.results.length > 1 || !jsonEqual(offered, result)) throw other(at, "what was offered", result, offered);
  const gaveUp = tellSuppressed(body["give_up"] ?? null);
  if ((answer.giveUp ?? null) !== gaveUp) throw other(at, "the giving up", gaveUp, answer.giveUp ?? null);
}

/** Whether a tool takes or gives something sensitive, or the result holds it. */
export function callsHide(tools: ReadonlyMap<string, AgentTool>, returns: readonly Field[]): boolean {
  const schemas = [...tools.values()].flatMap(({ action: { manifest } }) => [manifest.input, manifest.output]);
  return returns.some(holdsSensitive) || schemas.some((schema) => sensitivePaths(schema).length > 0);
}

/** What was not looked at has arguments in the message alone. */
function proposalOf(call: JsonObject, index: number): JsonObject {
  return index < MAX_PROPOSALS ? call : { id: call["id"] ?? null, tool: call["tool"] ?? null };
}

/** A recorded call as the message holds it: with what was proposed, before the policy fixed anything. */
function proposed(call: JudgedCall, body: LiveBody, tools: ReadonlyMap<string, AgentTool>): JsonObject {
  const text = textOf(body, call.id);
  const tool = call.verdict === "accepted" ? tools.get(call.tool) : undefined;
  const args = tellSuppressed((tool === undefined ? call.args : proposedArgs(tool, call.args)) ?? null);
  return {
    id: call.id,
    tool: call.tool,
    ...(args === null ? {} : { args }),
    ...(text === undefined ? {} : { argsText: text }),
  };
}

function textOf(body: LiveBody, id: string): Json | undefined {
  const calls = tellSuppressed(body["calls"] ?? []) as JsonObject[];
  return calls.find((call) => call["id"] === id)?.["args_text"];
}

function other(at: Position, what: string, expected: Json, found: Json): HistoryMismatch {
  return new HistoryMismatch(at, `${what} is recorded otherwise than the rest of the history has it`, {
    kind: "agent.turn",
    expected,
    recorded: found,
  });
}
