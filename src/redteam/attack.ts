import type { AdmittedAction } from "../admit/admitted-plan.ts";
import type { TurnOutcome, TurnRequest } from "../agent/model.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { CallResult } from "../catalog/connector.ts";
import type { ActionManifest } from "../catalog/manifest.ts";
import type { AgentEnd } from "../journal/bodies.ts";

/** What an attacker may know: all of the deployment's names. None of its secrets is ever read. */
export interface World {
  /** Of the whole catalog, by name. */
  actions: ReadonlyMap<string, ActionManifest>;
  /** That the plan uses. */
  admitted: { readonly [name: string]: AdmittedAction };
  agents: readonly string[];
  inputs: readonly string[];
  /** Inputs of a tool that the policy supplies for an agent. */
  fixed(agent: string, tool: string): JsonObject;
}

/** One turn of an attacked agent. */
export interface Scene {
  request: TurnRequest;
  world: World;
}

export type Said = Partial<Extract<TurnOutcome, { is: "turn" }>>;

/** One way to misbehave. The agent has no state of its own: what it says follows from the scene. */
export interface Attack {
  /** Lower case with `-`. */
  id: string;
  /** What the agent, or a tool, does: "proposes ...". */
  title: string;
  /** The rules that it is held against. */
  rules: readonly string[];
  /** `silence`: it never answers, whatever its signal says. */
  says(scene: Scene): Said | "silence";
  /** What tools answer the agent; absent: a fitting result whose texts are hostile. */
  answers?(manifest: ActionManifest, fitting: Json | null): CallResult | "silence";
  /** How an execution may end beside the ends that the plan's own limits make. */
  ends: readonly AgentEnd[];
}

/** Ends that belong to the plan, whatever an agent does: its bounds, its timeouts, what happens beside it. */
export const ENDS_OF_THE_PLAN: readonly AgentEnd[] = ["exhausted", "timeout", "cancelled", "aborted"];
