import type { AnthropicProvider } from "@ai-sdk/anthropic";
import { modelFetch } from "./provider-fetch.ts";

/** The providers that are reached over the network. */
export const PROVIDERS = ["anthropic", "openai", "openai-compatible", "google"] as const;
export type ProviderName = (typeof PROVIDERS)[number];

/** The model interface that all of the provider packages have in common, by way of one of them. */
export type SdkModel = ReturnType<AnthropicProvider["languageModel"]>;
export type SdkCall = Parameters<SdkModel["doStream"]>[0];
export type SdkPrompt = SdkCall["prompt"];
export type SdkTools = NonNullable<SdkCall["tools"]>;
export type SdkStream = Awaited<ReturnType<SdkModel["doStream"]>>["stream"];
export type SdkPart = SdkStream extends ReadableStream<infer Part> ? Part : never;

/** Said always, so that no variable of the environment can send a run somewhere else. */
const BASE_URLS: { readonly [name in ProviderName]?: string } = {
  anthropic: "https://api.anthropic.com/v1",
  openai: "https://api.openai.com/v1",
  google: "https://generativelanguage.googleapis.com/v1beta",
};

/** Which environment variable holds the key where the deployment names no secret; null: no key is needed. */
export const KEY_VARIABLES: { readonly [name in ProviderName]: string | null } = {
  anthropic: "ANTHROPIC_API_KEY",
  openai: "OPENAI_API_KEY",
  "openai-compatible": null,
  google: "GOOGLE_GENERATIVE_AI_API_KEY",
};

/** What an adapter speaks, for the identity record: the wire shape and our tool convention on top of it. */
export const PROTOCOLS: { readonly [name in ProviderName]: string } = {
  anthropic: "anthropic-messages+tools/1",
  openai: "openai-responses+tools/1",
  "openai-compatible": "openai-chat+tools/1",
  google: "gemini-generate+tools/1",
};

export function baseUrlOf(provider: ProviderName, given: string | undefined): string {
  return (given ?? BASE_URLS[provider] ?? "").replace(/\/+$/, "");
}

/** Loads a provider's package (only now) and makes its model. */
export async function loadModel(
  provider: ProviderName,
  model: string,
  apiKey: string,
  baseUrl: string | undefined,
): Promise<SdkModel> {
  const baseURL = baseUrlOf(provider, baseUrl);
  switch (provider) {
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic({ apiKey, baseURL, fetch: modelFetch }).languageModel(model);
    }
    case "openai": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return createOpenAI({ apiKey, baseURL, fetch: modelFetch }).responses(model);
    }
    case "openai-compatible": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const key = apiKey === "" ? {} : { apiKey };
      return createOpenAICompatible({
        name: COMPATIBLE,
        baseURL,
        includeUsage: true,
        fetch: modelFetch,
        ...key,
      }).chatModel(model);
    }
    case "google": {
      const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
      return createGoogleGenerativeAI({ apiKey, baseURL, fetch: modelFetch }).languageModel(model);
    }
  }
}

/** The name under which the compatible package looks for its options. */
export const COMPATIBLE = "compatible";
