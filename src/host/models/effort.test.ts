import { describe, expect, it } from "vitest";
import { providerOptions } from "./effort.ts";
import type { ProviderName } from "./provider-sdk.ts";

const ALWAYS = { anthropic: { toolStreaming: false }, openai: { store: false } };

describe("the options that effort becomes", () => {
  it.each([
    ["anthropic", "claude-sonnet-4-6", "max", { anthropic: { toolStreaming: false, effort: "max" } }],
    ["openai", "gpt-5.2", "xhigh", { openai: { store: false, reasoningEffort: "xhigh" } }],
    ["openai-compatible", "qwen3", "low", { compatible: { reasoningEffort: "low" } }],
    ["openai-compatible", "qwen3", "max", { compatible: { reasoningEffort: "high" } }],
    ["google", "gemini-3-pro-preview", "xhigh", { google: { thinkingConfig: { thinkingLevel: "high" } } }],
    ["google", "models/gemini-2.5-pro", "low", { google: { thinkingConfig: { thinkingBudget: 1_024 } } }],
    ["google", "gemini-2.0-flash", "low", {}],
    ["google", "gemma-3", "low", {}],
  ] as [ProviderName, string, string, object][])("%s %s %s", (provider, model, effort, options) => {
    expect(providerOptions(provider, model, effort)).toEqual(options);
  });

  it.each(["no", undefined, "hard", "__proto__"])("sends nothing for %s", (effort) => {
    expect(providerOptions("anthropic", "m", effort)).toEqual({ anthropic: ALWAYS.anthropic });
    expect(providerOptions("openai", "m", effort)).toEqual({ openai: ALWAYS.openai });
    expect(providerOptions("openai-compatible", "m", effort)).toEqual({});
    expect(providerOptions("google", "gemini-3-pro", effort)).toEqual({});
  });
});
