import type { ModelPort } from "../../agent/model.ts";
import type { Clock } from "../../base/clock.ts";
import type { JsonObject } from "../../base/json.ts";
import { Refusal } from "../../errors/fault.ts";
import type { ProviderName } from "./provider-sdk.ts";
import { createProviderModel, type ProviderSettings, providerIdentity } from "./providers.ts";
import type { Script } from "./script.ts";
import { createScriptedModel } from "./scripted.ts";

/** An agent configuration, in the names of the deployment. */
export interface ModelConfig {
  provider: ProviderName | "scripted";
  /** "" for scripted. */
  model: string;
  baseUrl?: string;
  effort?: string;
  temperature?: number;
  maxOutputTokens: number;
  tools: boolean;
  /** Milliseconds. */
  stall: number;
  retries: number;
}

export interface ModelParts {
  clock: Clock;
  /** The API key; asked for at each model call of a provider. */
  apiKey: () => Promise<string>;
  /** What a scripted agent plays. */
  script: Script | null;
}

/** A model and what records say of it. */
export interface Model {
  port: ModelPort;
  provider: string;
  model: string;
  /** Version of the tool protocol that the adapter speaks. */
  protocol: string;
  /** The settings that affect behaviour. */
  settings: JsonObject;
}

export const SCRIPTED_PROTOCOL = "scripted/1";

/** Makes the model of an agent configuration; nothing of a provider is loaded yet. `deployment.invalid` without a script. */
export function createModel(config: ModelConfig, parts: ModelParts): Model {
  if (config.provider !== "scripted") {
    const settings: ProviderSettings = { ...config, provider: config.provider };
    const port = createProviderModel({ ...settings, apiKey: parts.apiKey, clock: parts.clock });
    return { port, provider: config.provider, model: config.model, ...providerIdentity(settings) };
  }
  if (parts.script === null) throw new Refusal("deployment.invalid", "A scripted agent needs a `script`.");
  return {
    port: createScriptedModel(parts.script, { clock: parts.clock, stall: config.stall }),
    provider: "scripted",
    model: config.model,
    protocol: SCRIPTED_PROTOCOL,
    settings: { script: parts.script.digest, stall: config.stall },
  };
}
