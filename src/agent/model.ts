import type { Json, JsonObject } from "../base/json.ts";
import type { Position } from "../plan/position.ts";

/** What the agent has been told and has said, in order; the provider adapter writes it in its own form. */
export type Message =
  | { role: "task"; goal: string; context: Json; bounds: JsonObject }
  | { role: "agent"; text: string; calls: Proposal[]; results: Json[]; giveUp?: string }
  | { role: "results"; results: ToolAnswer[] }
  /** From the engine: a request for the result, a refusal of a result. */
  | { role: "engine"; text: string };

/** A proposed tool call. `args` is absent where what the model sent is no JSON object: then `argsText` has it. */
export interface Proposal {
  id: string;
  tool: string;
  args?: JsonObject;
  argsText?: string;
}

/** The answer to the proposal of that id: a value, or an error that names what is wrong. */
export type ToolAnswer =
  | { id: string; tool: string; ok: true; value: Json; truncated?: { bytes: number } }
  | { id: string; tool: string; ok: false; error: { code: string; message: string; details?: Json } };

export interface ToolSpec {
  /** `connector.action`; the adapter translates it for the wire and back. */
  name: string;
  description: string;
  input: JsonObject;
}

export interface TurnRequest {
  run: string;
  /** Of the agent step. */
  step: Position;
  agent: string;
  /** From 0. */
  turn: number;
  messages: readonly Message[];
  tools: readonly ToolSpec[];
  /** JSON Schema of the typed result. */
  result: JsonObject;
  /** Tokens that are left, where there is a bound. */
  maxOutputTokens: number | null;
}

export type TurnOutcome =
  | {
      is: "turn";
      text: string;
      calls: Proposal[];
      /** Typed results offered; the first counts. */
      results: Json[];
      giveUp: string | null;
      /** Null: the provider reported none. */
      usage: { input: number; output: number } | null;
      finish: string;
    }
  /** `agent.unavailable`, `agent.rejected`, `agent.stalled`. */
  | { is: "failed"; code: string; message: string; details?: JsonObject };

/** One turn of one model. The engine owns the loop: a port neither loops nor executes tools. */
export interface ModelPort {
  turn(request: TurnRequest, signal: AbortSignal): Promise<TurnOutcome>;
}
