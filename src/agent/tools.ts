import type { AdmittedAction } from "../admit/admitted-plan.ts";
import type { PolicyConfig } from "../admit/deployment.ts";
import { isObject, type Json, type JsonObject } from "../base/json.ts";
import type { ActionManifest } from "../catalog/manifest.ts";
import { peel, setOwn, type Val } from "../plan/marked.ts";
import type { ToolSpec } from "./model.ts";

/** A tool of one execution of an agent step: the admitted action, narrowed by the deployment's policy. */
export interface AgentTool {
  action: AdmittedAction;
  /** Inputs that the engine supplies; a proposal that names one is refused. */
  fixed: JsonObject;
  /** Calls accepted per execution of the step; null: no bound of its own. */
  max: number | null;
}

export function agentTools(
  names: readonly string[],
  manifests: { [name: string]: AdmittedAction },
  policy: PolicyConfig,
  agent: string,
): Map<string, AgentTool> {
  const tools = new Map<string, AgentTool>();
  for (const name of names) {
    const action = manifests[name];
    if (action === undefined) continue;
    const rule = policy.agents[agent]?.[name];
    tools.set(name, { action, fixed: rule?.fix ?? {}, max: rule?.max ?? null });
  }
  return tools;
}

/** The names of inputs that are the engine's alone: the reserved key and what the policy fixes. */
export function reservedInputs(tool: AgentTool): string[] {
  const { idempotency } = tool.action.manifest;
  return [...(idempotency.kind === "keyed" ? [idempotency.field] : []), ...Object.keys(tool.fixed)];
}

/** The schema that the agent sees: without what the engine supplies (workfile.md 7). */
export function toolSpec(name: string, tool: AgentTool): ToolSpec {
  return {
    name,
    description: tool.action.manifest.description,
    input: withoutFields(tool.action.manifest, reservedInputs(tool)),
  };
}

function withoutFields(manifest: ActionManifest, names: readonly string[]): JsonObject {
  if (names.length === 0) return manifest.input;
  const input: JsonObject = { ...manifest.input };
  const properties = input["properties"];
  if (isObject(properties)) {
    const left: JsonObject = {};
    for (const key of Object.keys(properties)) if (!names.includes(key)) setOwn(left, key, properties[key] as Json);
    input["properties"] = left;
  }
  const required = input["required"];
  if (Array.isArray(required)) input["required"] = required.filter((key) => !names.includes(String(key)));
  return input;
}

/** A proposal's arguments with what the policy fixes; what is no map comes back as it is. */
export function withFixed(tool: AgentTool, args: Val): Val {
  const { value } = peel(args);
  if (!isObject(value)) return args;
  const out: { [name: string]: Val } = {};
  for (const key of Object.keys(value)) setOwn(out, key, value[key] as Val);
  for (const key of Object.keys(tool.fixed)) setOwn(out, key, tool.fixed[key] as Val);
  return out;
}
