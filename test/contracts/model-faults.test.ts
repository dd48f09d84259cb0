import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Message, TurnOutcome } from "../../src/agent/model.ts";
import { createProviderModel, type ProviderOptions } from "../../src/host/models/providers.ts";
import { never, RESULT, request } from "./model.ts";
import { type ManualClock, manualClock, until } from "./model-clock.ts";
import {
  type Answer,
  CHAT_DONE,
  chunk,
  event,
  type ModelServer,
  messageEnd,
  messageStart,
  modelServer,
  responseCall,
  textBlock,
  toolBlock,
} from "./model-server.ts";

const KEY = "sk-canary-51f0c2";
let server: ModelServer;
let clock: ManualClock;

beforeAll(async () => {
  server = await modelServer();
});
afterAll(() => server.close());
beforeEach(() => {
  clock = manualClock(Date.parse("2026-01-01T00:00:00Z"));
  server.seen.length = 0;
});

function make(provider: ProviderOptions["provider"], more: Partial<ProviderOptions> = {}) {
  return createProviderModel({
    provider,
    model: {
      anthropic: "claude-sonnet-4-6",
      openai: "gpt-5.2",
      "openai-compatible": "llama3.3",
      google: "gemini-3-pro",
    }[provider],
    baseUrl: `${server.url}/v1`,
    apiKey: async () => KEY,
    maxOutputTokens: 8_192,
    stall: 120_000,
    retries: 2,
    clock,
    ...more,
  });
}

const hello: Answer = { pieces: [messageStart(), textBlock(0, "hello"), messageEnd("end_turn")] };
const limited = (headers: Answer["headers"] = {}): Answer => ({
  status: 429,
  headers,
  pieces: [{ type: "error", error: { type: "rate_limit_error", message: "slow down" } }],
});
const overloaded: Answer = {
  status: 529,
  pieces: [{ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }],
};

/** Turns the clock until the outcome is there; gives the pauses that were waited. */
async function settle(
  asked: Promise<TurnOutcome>,
  requests: number,
): Promise<{ outcome: TurnOutcome; pauses: number[] }> {
  const pauses: number[] = [];
  let done = false;
  const outcome = asked.finally(() => {
    done = true;
  });
  for (let n = 1; n < requests; n++) {
    // A model call arms the timer of the stall; a pause is the only other thing that waits.
    await until(() => server.seen.length === n && clock.waiting().length === 1 && clock.waiting()[0] !== 120_000);
    const [pause = 0] = clock.waiting();
    pauses.push(pause);
    await clock.pass(pause);
  }
  await until(() => done);
  expect(server.seen).toHaveLength(requests);
  return { outcome: await outcome, pauses };
}

describe("providers I3: retries of a model call", () => {
  it("waits as long as the service asks for, then tries again", async () => {
    server.answer(limited({ "retry-after": "7" }), hello);
    const { outcome, pauses } = await settle(make("anthropic").turn(request(), never()), 2);
    expect(outcome).toMatchObject({ is: "turn", text: "hello" });
    expect(pauses).toEqual([7_000]);
  });

  it.each([
    ["retry-after-ms", "1500", 1_500],
    ["retry-after", "Thu, 01 Jan 2026 00:00:09 GMT", 9_000],
    ["x-none", "1", 1_000],
  ])("reads %s: %s", async (name, value, pause) => {
    server.answer(limited({ [name]: value }), hello);
    expect((await settle(make("anthropic").turn(request(), never()), 2)).pauses).toEqual([pause]);
  });

  it("gives up after the configured retries, with longer pauses each time", async () => {
    server.answer(overloaded, overloaded, overloaded);
    const { outcome, pauses } = await settle(make("anthropic").turn(request(), never()), 3);
    expect(outcome).toMatchObject({ is: "failed", code: "agent.unavailable", details: { status: 529 } });
    expect(pauses).toEqual([1_000, 2_000]);
  });

  it("does not wait for a service that asks for more than a minute", async () => {
    server.answer(limited({ "retry-after": "61" }));
    const { outcome } = await settle(make("anthropic").turn(request(), never()), 1);
    expect(outcome).toMatchObject({ code: "agent.unavailable", details: { status: 429, retry_after: 61_000 } });
  });

  it.each([
    ["a fault of the service", { status: 500, pieces: [{ error: { message: "oops" } }] }, "agent.unavailable"],
    ["a request that is not accepted", { status: 400, pieces: [{ error: { message: "too long" } }] }, "agent.rejected"],
    ["a key that is refused", { status: 401, pieces: [{ error: { message: "no" } }] }, "agent.unavailable"],
    [
      "a used-up quota",
      {
        status: 429,
        pieces: [
          { error: { message: "You exceeded your quota", type: "insufficient_quota", code: "insufficient_quota" } },
        ],
      },
      "agent.unavailable",
    ],
  ] as [string, Answer, string][])("does not repeat %s", async (_name, answer, code) => {
    server.answer(answer);
    const { outcome } = await settle(make("openai").turn(request(), never()), 1);
    expect(outcome).toMatchObject({ is: "failed", code });
  });

  it("repeats a call whose stream breaks off with an overload", async () => {
    const broken = event({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } });
    server.answer({ pieces: [messageStart(), textBlock(0, "hel"), broken] }, hello);
    const { outcome } = await settle(make("anthropic").turn(request(), never()), 2);
    expect(outcome).toMatchObject({ is: "turn", text: "hello" });
  });

  it("ends a pause at once when the signal fires", async () => {
    server.answer(limited({ "retry-after": "30" }));
    const stop = new AbortController();
    const asked = make("anthropic").turn(request(), stop.signal);
    await until(() => clock.waiting()[0] === 30_000);
    stop.abort();
    expect(await asked).toMatchObject({ is: "failed" });
    expect(clock.waiting()).toEqual([]);
    expect(server.seen).toHaveLength(1);
  });
});

describe("providers I2: streams that go wrong", () => {
  it("cuts a stream that falls silent in the middle, and hangs up", async () => {
    server.answer({ pieces: [messageStart(), textBlock(0, "hel")], after: "silence" });
    const asked = make("anthropic").turn(request(), never());
    await until(() => server.seen.length === 1);
    // Each part of the stream winds the clock up anew: some have been read.
    await until(() => clock.armed() > 3);
    await clock.pass(120_000);
    expect(await asked).toMatchObject({ is: "failed", code: "agent.stalled", details: { stall: 120_000 } });
    await until(() => server.seen[0]?.hungUp === true);
  });

  it("takes a ping for a sign of life", async () => {
    server.answer({ pieces: [messageStart()], after: "silence" });
    let outcome: TurnOutcome | null = null;
    void make("anthropic")
      .turn(request(), never())
      .then((value) => {
        outcome = value;
      });
    await until(() => server.seen.length === 1);
    for (let i = 0; i < 3; i++) {
      await until(() => clock.waiting()[0] === 120_000);
      await clock.pass(119_000);
      expect(outcome).toBeNull();
      server.push(event({ type: "ping" }));
    }
    await until(() => clock.waiting()[0] === 120_000);
    await clock.pass(120_000);
    await until(() => outcome !== null);
    expect(outcome).toMatchObject({ code: "agent.stalled" });
  });

  it("ends at once in the middle of a stream when the signal fires, and hangs up", async () => {
    server.answer({ pieces: [chunk({ role: "assistant", content: "hel" })], after: "silence" });
    const stop = new AbortController();
    const asked = make("openai-compatible").turn(request(), stop.signal);
    await until(() => server.seen.length === 1);
    stop.abort();
    expect(await asked).toMatchObject({ is: "failed", code: "agent.unavailable" });
    await until(() => server.seen[0]?.hungUp === true);
  });

  it.each([
    ["a broken connection", { pieces: [messageStart(), textBlock(0, "hel")], after: "break" }],
    ["an end without a reason", { pieces: [messageStart(), textBlock(0, "hel")] }],
    ["a body that is no stream", { pieces: ["what?\n\n"] }],
  ] as [string, Answer][])("makes %s agent.unavailable, never half an answer", async (_name, answer) => {
    server.answer(answer);
    const { outcome } = await settle(make("anthropic").turn(request(), never()), 1);
    expect(outcome).toMatchObject({ is: "failed", code: "agent.unavailable" });
  });

  it.each(["openai", "openai-compatible", "google"] as const)(
    "makes half an answer of %s agent.unavailable",
    async (provider) => {
      server.answer({
        pieces: [
          {
            openai: event({
              type: "response.output_text.delta",
              item_id: "i",
              output_index: 0,
              content_index: 0,
              delta: "hel",
            }),
            "openai-compatible": chunk({ content: "hel" }),
            google: `data: ${JSON.stringify({ candidates: [{ content: { role: "model", parts: [{ text: "hel" }] } }] })}\n\n`,
          }[provider],
        ],
      });
      expect(await make(provider).turn(request(), never())).toMatchObject({ is: "failed", code: "agent.unavailable" });
    },
  );

  it("makes an answer that the service declines to give agent.rejected", async () => {
    server.answer({ pieces: [messageStart(), textBlock(0, "I"), messageEnd("refusal")] });
    expect(await make("anthropic").turn(request(), never())).toMatchObject({ is: "failed", code: "agent.rejected" });
  });

  it("has no server to reach", async () => {
    const port = make("openai-compatible", { baseUrl: "http://127.0.0.1:1/v1" });
    expect(await port.turn(request(), never())).toMatchObject({ is: "failed", code: "agent.unavailable" });
  });
});

describe("what a model sends", () => {
  it("keeps broken arguments as text: anthropic", async () => {
    const calls = toolBlock(0, "t-1", "crm__search", '{"query": "a') + toolBlock(1, "t-2", "crm__search", '["a"]');
    server.answer({ pieces: [messageStart(), calls, messageEnd("tool_use")] });
    const outcome = await make("anthropic").turn(request(), never());
    expect(outcome).toMatchObject({
      calls: [
        { id: "t-1", tool: "crm.search", argsText: '{"query": "a' },
        { id: "t-2", tool: "crm.search", argsText: '["a"]' },
      ],
    });
  });

  it("keeps broken arguments as text: openai", async () => {
    server.answer({
      pieces: [responseCall("t-1", "crm__search", '{"query": "a', { input_tokens: 3, output_tokens: 4 })],
    });
    expect(await make("openai").turn(request(), never())).toMatchObject({
      calls: [{ id: "t-1", tool: "crm.search", argsText: '{"query": "a' }],
      usage: { input: 3, output: 4 },
    });
  });

  it("offers a result whose JSON is broken as the text that came", async () => {
    server.answer({
      pieces: [messageStart(), toolBlock(0, "t", "return_result", '{"account_id"'), messageEnd("tool_use")],
    });
    expect(await make("anthropic").turn(request(), never())).toMatchObject({ calls: [], results: ['{"account_id"'] });
  });

  it("gives calls ids of their own where the service does not", async () => {
    const tool = (index: number) => ({
      tool_calls: [{ index, id: "same", type: "function", function: { name: "crm__search", arguments: "{}" } }],
    });
    server.answer({ pieces: [chunk(tool(0)), chunk(tool(1)), chunk({}, "tool_calls"), CHAT_DONE] });
    const outcome = await make("openai-compatible").turn(request(), never());
    expect(outcome.is === "turn" && new Set(outcome.calls.map((call) => call.id)).size).toBe(2);
  });

  it.each([
    ["openai", { pieces: [responseCall("t", "crm__search", "{}", null)] }],
    ["openai-compatible", { pieces: [chunk({ content: "a" }), chunk({}, "stop"), CHAT_DONE] }],
    [
      "anthropic",
      {
        pieces: [
          messageStart({ input_tokens: 0, output_tokens: 0 }),
          textBlock(0, "a"),
          messageEnd("end_turn", { output_tokens: 0 }),
        ],
      },
    ],
  ] as [ProviderOptions["provider"], Answer][])("gives null where %s reports no usage", async (provider, answer) => {
    server.answer(answer);
    expect(await make(provider).turn(request(), never())).toMatchObject({ is: "turn", usage: null });
  });

  it("reads the result of a model without tools from its text", async () => {
    const say = (text: string): void => {
      server.answer({ pieces: [chunk({ content: text }), chunk({}, "stop"), CHAT_DONE] });
    };
    const port = make("openai-compatible", { tools: false });
    say('```json\n{"account_id": "B-77"}\n```');
    expect(await port.turn(request(), never())).toMatchObject({ text: "", results: [{ account_id: "B-77" }] });
    say('{"give_up": "no such account"}');
    expect(await port.turn(request(), never())).toMatchObject({ results: [], giveUp: "no such account" });
    say("I think it is B-77.");
    expect(await port.turn(request(), never())).toMatchObject({
      text: "I think it is B-77.",
      results: [],
      giveUp: null,
    });
    expect(server.seen[0]?.body).not.toHaveProperty("tools");
    expect(JSON.stringify(server.seen[0]?.body)).toContain("account_id");
  });
});

describe("providers I4: API keys", () => {
  it.each(["anthropic", "openai", "openai-compatible"] as const)(
    "sends the key to %s and nowhere else",
    async (provider) => {
      for (const status of [400, 401, 404, 500]) {
        server.answer({ status, pieces: [{ error: { message: `bad key ${KEY} given`, type: "x" } }] });
        const outcome = await make(provider, { retries: 0 }).turn(request(), never());
        expect(outcome.is).toBe("failed");
        expect(JSON.stringify(outcome)).not.toContain(KEY);
      }
      for (const { headers, body, url } of server.seen) {
        expect(JSON.stringify(headers)).toContain(KEY);
        expect(JSON.stringify([body, url])).not.toContain(KEY);
      }
    },
  );

  it("is asked for at each call, and a key that is not to be had is agent.unavailable", async () => {
    let asked = 0;
    const port = make("anthropic", {
      apiKey: async () => {
        asked++;
        throw new Error("ANTHROPIC_API_KEY is not set");
      },
    });
    const outcome = await port.turn(request(), never());
    expect(outcome).toMatchObject({ code: "agent.unavailable", message: expect.stringContaining("ANTHROPIC_API_KEY") });
    expect([asked, server.seen.length]).toEqual([1, 0]);
  });

  it.each(["anthropic", "openai", "openai-compatible", "google"] as const)(
    "does not follow %s elsewhere",
    async (provider) => {
      server.answer({ status: 307, headers: { location: `${server.url}/elsewhere` }, pieces: [""] });
      expect(await make(provider).turn(request(), never())).toMatchObject({ is: "failed", code: "agent.unavailable" });
      expect(server.seen).toHaveLength(1);
    },
  );

  it("does not wait for a key when the signal fires", async () => {
    const stop = new AbortController();
    const asked = make("anthropic", { apiKey: () => new Promise(() => {}) }).turn(request(), stop.signal);
    stop.abort();
    expect(await asked).toMatchObject({ is: "failed" });
    expect(clock.waiting()).toEqual([]);
  });

  it("says of a refused key that it was refused, in words that are not the service's", async () => {
    server.answer({ status: 401, pieces: [{ error: { message: "Incorrect key: sk-ca***c2" } }] });
    const outcome = await make("openai").turn(request(), never());
    expect(outcome).toMatchObject({ message: expect.stringContaining("API key"), details: { status: 401 } });
    expect(JSON.stringify(outcome)).not.toContain("sk-ca");
  });

  it("goes where the deployment says, whatever the environment says", async () => {
    const before = process.env["ANTHROPIC_BASE_URL"];
    process.env["ANTHROPIC_BASE_URL"] = "http://127.0.0.1:1";
    try {
      server.answer(hello);
      expect(await make("anthropic").turn(request(), never())).toMatchObject({ text: "hello" });
    } finally {
      if (before === undefined) delete process.env["ANTHROPIC_BASE_URL"];
      else process.env["ANTHROPIC_BASE_URL"] = before;
    }
  });
});

describe("what a model is sent", () => {
  const history: Message[] = [
    {
      role: "agent",
      text: "Looking.",
      calls: [
        { id: "t-1", tool: "crm.search", args: { query: "a" } },
        { id: "t-2", tool: "crm.search", argsText: "{broken" },
      ],
      results: [],
    },
    {
      role: "results",
      results: [
        {
          id: "t-2",
          tool: "crm.search",
          ok: false,
          error: { code: "action.invalid_input", message: "no JSON object" },
        },
        { id: "t-1", tool: "crm.search", ok: true, value: { accounts: [] }, truncated: { bytes: 99_000 } },
      ],
    },
    { role: "agent", text: "", calls: [], results: [] },
    { role: "engine", text: "Please return the result." },
    { role: "agent", text: "", calls: [], results: [{ id: 7 }] },
    { role: "engine", text: "The field account_id is missing." },
  ];

  it("writes a conversation for anthropic: every call answered, in its order, before anything else is said", async () => {
    server.answer(hello);
    const port = make("anthropic", { effort: "medium" });
    expect(await port.turn(request(history), never())).toMatchObject({ is: "turn" });
    const { body, url } = server.seen[0] as (typeof server.seen)[number];
    expect(url).toBe("/v1/messages");
    expect(body).toMatchObject({
      model: "claude-sonnet-4-6",
      max_tokens: 8_192,
      stream: true,
      output_config: { effort: "medium" },
    });
    expect(body).not.toHaveProperty("temperature");
    const messages = body["messages"] as { role: string; content: { [key: string]: unknown }[] }[];
    expect(messages.map((message) => [message.role, message.content.map((part) => part["type"])])).toEqual([
      ["user", ["text"]],
      ["assistant", ["text", "tool_use", "tool_use"]],
      ["user", ["tool_result", "tool_result"]],
      ["assistant", ["text"]],
      ["user", ["text"]],
      ["assistant", ["tool_use"]],
      ["user", ["tool_result"]],
    ]);
    expect(messages[1]?.content[2]).toMatchObject({ name: "crm__search", input: { unreadable_arguments: "{broken" } });
    expect(messages[2]?.content[0]).toMatchObject({
      tool_use_id: "t-1",
      content: expect.stringContaining("99000 bytes"),
    });
    expect(messages[2]?.content[1]).toMatchObject({
      tool_use_id: "t-2",
      is_error: true,
      content: expect.stringContaining("no JSON object"),
    });
    expect(messages[5]?.content[0]).toMatchObject({ name: "return_result", input: { id: 7 } });
    expect(messages[6]?.content[0]).toMatchObject({ is_error: true, content: "The field account_id is missing." });
  });

  it("offers the declared tools, the result and giving up, and nothing of the run beside them (WX-26)", async () => {
    server.answer({ pieces: [responseCall("t", "give_up", "{}", null)] });
    await make("openai", { effort: "high", temperature: 0.2 }).turn(request([], { maxOutputTokens: 500 }), never());
    const { body, url } = server.seen[0] as (typeof server.seen)[number];
    expect(url).toBe("/v1/responses");
    expect(body).toMatchObject({ store: false, max_output_tokens: 500, reasoning: { effort: "high" } });
    const tools = body["tools"] as { name: string; strict: boolean; parameters: object }[];
    expect(tools.map((tool) => [tool.name, tool.strict])).toEqual([
      ["crm__search", false],
      ["billing__lookup", false],
      ["return_result", false],
      ["give_up", false],
    ]);
    expect(tools[1]?.parameters).toEqual({ type: "object", properties: {} });
    expect(tools[2]?.parameters).toEqual(RESULT);
    const text = JSON.stringify(body);
    expect(text).toContain("ana@example.org");
    expect(text).toContain("Find the account.");
    for (const hidden of ["run-0001", "resolve", "triage"]) expect(text).not.toContain(hidden);
  });

  it("writes a conversation for a compatible server", async () => {
    server.answer({ pieces: [chunk({ content: "a" }), chunk({}, "stop"), CHAT_DONE] });
    await make("openai-compatible", { effort: "max" }).turn(request(history), never());
    const { body, url } = server.seen[0] as (typeof server.seen)[number];
    expect(url).toBe("/v1/chat/completions");
    expect(body).toMatchObject({ reasoning_effort: "high", stream: true });
    const messages = body["messages"] as { role: string; tool_call_id?: string; content: string }[];
    expect(messages.map((message) => message.role)).toEqual([
      "system",
      "user",
      "assistant",
      "tool",
      "tool",
      "assistant",
      "user",
      "assistant",
      "tool",
    ]);
    expect(messages[3]).toMatchObject({ tool_call_id: "t-1" });
  });

  it("asks for the least a service takes where hardly any tokens are left", async () => {
    server.answer(hello);
    await make("anthropic").turn(request([], { maxOutputTokens: 2 }), never());
    expect(server.seen[0]?.body["max_tokens"]).toBe(16);
  });
});
