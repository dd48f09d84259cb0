import { describe, expect, it, vi } from "vitest";
import { manualClock } from "../../../test/contracts/model-clock.ts";
import { SourceText } from "../../text/tree.ts";
import { createModel, type ModelConfig } from "./create-model.ts";
import { readScripted } from "./read-scripted.ts";

const loaded = vi.hoisted((): string[] => []);
for (const name of ["@ai-sdk/anthropic", "@ai-sdk/openai", "@ai-sdk/openai-compatible", "@ai-sdk/google"]) {
  vi.doMock(name, () => {
    loaded.push(name);
    throw new Error("not in this test");
  });
}

const base = { maxOutputTokens: 8_192, tools: true, stall: 120_000, retries: 2 };
const claude: ModelConfig = { ...base, provider: "anthropic", model: "claude-sonnet-4-6" };
const parts = { clock: manualClock(), apiKey: async () => "sk-secret", script: null };
const scriptOf = (text: string) => readScripted(new SourceText("x", text)).script;

const request = {
  run: "run-1",
  step: "resolve",
  agent: "triage",
  turn: 0,
  messages: [],
  tools: [],
  result: {},
  maxOutputTokens: null,
};

describe("making a model", () => {
  it("loads a provider's package with the first turn, not before, and that one only", async () => {
    const { port } = createModel(claude, parts);
    expect(loaded).toEqual([]);
    expect(await port.turn(request, new AbortController().signal)).toMatchObject({ is: "failed" });
    expect(loaded).toEqual(["@ai-sdk/anthropic"]);
  });

  it("names what affects behaviour, and any change of it changes the record (WX-05)", () => {
    const { provider, model, protocol, settings } = createModel(claude, parts);
    expect({ provider, model, protocol }).toEqual({
      provider: "anthropic",
      model: "claude-sonnet-4-6",
      protocol: expect.stringMatching(/^anthropic-messages/),
    });
    const changes: Partial<ModelConfig>[] = [
      { temperature: 0.2 },
      { effort: "high" },
      { baseUrl: "http://127.0.0.1:1/v1" },
      { maxOutputTokens: 1 },
      { tools: false },
      { stall: 1 },
      { retries: 0 },
    ];
    const seen = [settings, ...changes.map((change) => createModel({ ...claude, ...change }, parts).settings)];
    expect(new Set(seen.map((entry) => JSON.stringify(entry))).size).toBe(changes.length + 1);
    expect(JSON.stringify(seen)).not.toContain("sk-secret");
  });

  it("takes a script for a scripted agent: another script is another agent", () => {
    const config: ModelConfig = { ...base, provider: "scripted", model: "" };
    const one = createModel(config, { ...parts, script: scriptOf("agents: { a: [] }") });
    const two = createModel(config, { ...parts, script: scriptOf("agents: { b: [] }") });
    expect(one.protocol).toBe("scripted/1");
    expect(one.settings).not.toEqual(two.settings);
    expect(() => createModel(config, parts)).toThrow(expect.objectContaining({ code: "deployment.invalid" }));
  });
});
