import { type FixtureOpts, type FixtureResponse, LLMock } from "@copilotkit/aimock";
import { afterAll } from "vitest";
import { createProviderModel, type ProviderOptions } from "../../src/host/models/providers.ts";
import { modelContract, type Reply } from "./model.ts";
import { manualClock, until } from "./model-clock.ts";

const STALL = 10_000;
/** Longer than any test: the mock is stopped before it is over. */
const SILENCE_MS = 25_000;

/** The reply as the mock writes it in the form of whatever service it is asked for. */
function asResponse(reply: Reply): FixtureResponse {
  if (reply.error !== undefined) {
    const [status, type] = {
      rate_limited: [429, "rate_limit_error"] as const,
      unavailable: [500, "api_error"] as const,
      invalid_request: [400, "invalid_request_error"] as const,
    }[reply.error];
    return { error: { message: "no", type }, status };
  }
  const toolCalls = (reply.calls ?? []).map(({ tool, args, argsText }) => ({
    name: tool.replace(".", "__"),
    arguments: argsText ?? JSON.stringify(args),
  }));
  if (reply.result !== undefined) toolCalls.push({ name: "return_result", arguments: JSON.stringify(reply.result) });
  if (reply.giveUp !== undefined)
    toolCalls.push({ name: "give_up", arguments: JSON.stringify({ reason: reply.giveUp }) });
  const { input = 0, output = 0 } = reply.usage ?? {};
  const usage = {
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      input_tokens: input,
      output_tokens: output,
      promptTokenCount: input,
      candidatesTokenCount: output,
    },
  };
  const counted = reply.usage === undefined ? {} : usage;
  if (toolCalls.length === 0) return { content: reply.text ?? "", ...counted };
  return reply.text === undefined ? { toolCalls, ...counted } : { content: reply.text, toolCalls, ...counted };
}

const MODELS = [
  { provider: "anthropic", model: "claude-sonnet-4-6", path: "/v1", brokenArguments: false },
  { provider: "openai", model: "gpt-5.2", path: "/v1", brokenArguments: true },
  { provider: "openai-compatible", model: "llama3.3", path: "/v1", brokenArguments: true },
  { provider: "google", model: "gemini-3-pro-preview", path: "/v1beta", brokenArguments: false },
] as const;

const mock = new LLMock({ port: 0, chunkSize: 8 });
const started = mock.start();
afterAll(() => mock.stop());

for (const { provider, model, path, brokenArguments } of MODELS) {
  modelContract(`${provider} over HTTP`, {
    brokenArguments,
    missingUsage: false,
    async make(reply) {
      await started;
      mock.reset();
      const options: FixtureOpts = reply.silent ? { latency: SILENCE_MS } : {};
      mock.on({ predicate: () => true }, asResponse(reply), options);
      const clock = manualClock();
      const settings: ProviderOptions = {
        provider,
        model,
        baseUrl: `${mock.url}${path}`,
        apiKey: async () => "sk-test",
        maxOutputTokens: 8_192,
        stall: STALL,
        retries: 0,
        clock,
      };
      return {
        port: createProviderModel(settings),
        clock,
        stall: STALL,
        waits: () => until(() => mock.getRequests().length > 0),
      };
    },
    close: async () => {},
  });
}
