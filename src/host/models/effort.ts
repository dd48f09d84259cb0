import { COMPATIBLE, type ProviderName, type SdkCall } from "./provider-sdk.ts";

type ProviderOptions = NonNullable<SdkCall["providerOptions"]>;

/** Levels of `effort` in the deployment; `no` is not a level: nothing is sent then. */
const LEVELS = ["low", "medium", "high", "xhigh", "max"] as const;
type Level = (typeof LEVELS)[number];

/** Thinking tokens for the Gemini models that take a number in place of a level. */
const GEMINI_2_BUDGETS: { readonly [level in Level]: number } = {
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
};

/**
 * The options of one call, per provider:
 *
 * - anthropic: `effort` as it is. Argument streaming is off, so that the service checks the JSON of a call.
 * - openai: `reasoningEffort` as it is. Nothing is stored over there.
 * - openai-compatible: `reasoning_effort` low, medium or high; the levels above high are sent as high.
 * - google: `thinkingLevel` from Gemini 3 on (above high as high), `thinkingBudget` for Gemini 2.5.
 *
 * A level that a provider or a model is not known to take is not sent.
 */
export function providerOptions(provider: ProviderName, model: string, effort: string | undefined): ProviderOptions {
  const level = LEVELS.find((known) => known === effort);
  const capped = level === "xhigh" || level === "max" ? "high" : level;
  switch (provider) {
    case "anthropic":
      return { anthropic: { toolStreaming: false, ...(level === undefined ? {} : { effort: level }) } };
    case "openai":
      return { openai: { store: false, ...(level === undefined ? {} : { reasoningEffort: level }) } };
    case "openai-compatible":
      return capped === undefined ? {} : { [COMPATIBLE]: { reasoningEffort: capped } };
    case "google": {
      if (level === undefined || capped === undefined) return {};
      const generation = Number(/^(?:models\/)?gemini-(\d+)/.exec(model)?.[1] ?? 0);
      if (generation >= 3) return { google: { thinkingConfig: { thinkingLevel: capped } } };
      if (/^(?:models\/)?gemini-2\.5/.test(model)) {
        return { google: { thinkingConfig: { thinkingBudget: GEMINI_2_BUDGETS[level] } } };
      }
      return {};
    }
  }
}
