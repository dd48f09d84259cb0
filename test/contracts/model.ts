/** What holds for every model port, whatever is behind it: run over the scripted one and the providers. */
import { afterAll, describe, expect, it } from "vitest";
import type { Message, ModelPort, TurnOutcome, TurnRequest } from "../../src/agent/model.ts";
import type { Json, JsonObject } from "../../src/base/json.ts";
import { breath, type ManualClock } from "./model-clock.ts";

/** What the model behind the port is made to say in its next turn. */
export interface Reply {
  text?: string;
  calls?: { tool: string; args?: JsonObject; argsText?: string }[];
  result?: Json;
  giveUp?: string;
  usage?: { input: number; output: number } | null;
  error?: "rate_limited" | "invalid_request" | "unavailable";
  /** Opens and says nothing. */
  silent?: true;
}

export interface Subject {
  port: ModelPort;
  clock: ManualClock;
  /** Milliseconds of silence after which the port cuts a stream. */
  stall: number;
  /** Resolves once the port waits for a silent model. */
  waits(): Promise<void>;
}

export interface Harness {
  /** A port in front of a model that says this. */
  make(reply: Reply): Promise<Subject>;
  /** Sends broken argument text as it is. */
  brokenArguments: boolean;
  /** Can leave the usage out. */
  missingUsage: boolean;
  close(): Promise<void>;
}

export const TOOLS = [
  {
    name: "crm.search",
    description: "Find accounts by text.",
    input: { type: "object", required: ["query"], properties: { query: { type: "string" } } },
  },
  { name: "billing.lookup", description: "The account behind an id.", input: { type: "object" } },
];

export const RESULT: JsonObject = {
  type: "object",
  required: ["account_id"],
  properties: { account_id: { type: "string" } },
  additionalProperties: false,
};

export function request(messages: Message[] = [], more: Partial<TurnRequest> = {}): TurnRequest {
  return {
    run: "run-0001",
    step: "resolve",
    agent: "triage",
    turn: messages.filter((message) => message.role === "agent").length,
    messages: [
      { role: "task", goal: "Find the account.", context: { sender: "ana@example.org" }, bounds: { steps: 8 } },
      ...messages,
    ],
    tools: TOOLS,
    result: RESULT,
    maxOutputTokens: null,
    ...more,
  };
}

export const never = (): AbortSignal => new AbortController().signal;

function asTurn(outcome: TurnOutcome): Extract<TurnOutcome, { is: "turn" }> {
  if (outcome.is === "failed") throw new Error(`${outcome.code}: ${outcome.message}`);
  return outcome;
}

export function modelContract(name: string, harness: Harness): void {
  describe(`the contract of a model port: ${name}`, () => {
    afterAll(() => harness.close());
    const turn = async (reply: Reply) => asTurn(await (await harness.make(reply)).port.turn(request(), never()));

    it("gives the text of a turn", async () => {
      expect(await turn({ text: "Looking for the sender." })).toMatchObject({
        text: "Looking for the sender.",
        calls: [],
        results: [],
        giveUp: null,
      });
    });

    it("gives a call by its declared name, with its arguments", async () => {
      const { calls, results } = await turn({ calls: [{ tool: "crm.search", args: { query: "ana@example.org" } }] });
      expect(calls).toMatchObject([{ tool: "crm.search", args: { query: "ana@example.org" } }]);
      expect(results).toEqual([]);
    });

    it("gives parallel calls in their order, with ids of their own", async () => {
      const { calls } = await turn({
        calls: [
          { tool: "crm.search", args: { query: "a" } },
          { tool: "crm.search", args: { query: "b" } },
          { tool: "billing.lookup", args: {} },
        ],
      });
      expect(calls.map((call) => [call.tool, call.args])).toEqual([
        ["crm.search", { query: "a" }],
        ["crm.search", { query: "b" }],
        ["billing.lookup", {}],
      ]);
      expect(new Set(calls.map((call) => call.id)).size).toBe(3);
    });

    it("gives undeclared names too: refusing them is the engine's", async () => {
      const { calls } = await turn({
        calls: [
          { tool: "erp.search", args: {} },
          { tool: "search", args: {} },
        ],
      });
      expect(calls.map((call) => call.tool)).toEqual(["erp.search", "search"]);
    });

    it.runIf(harness.brokenArguments)("gives arguments that are no JSON object as text", async () => {
      const { calls } = await turn({ calls: [{ tool: "crm.search", argsText: '{"query": "a' }] });
      expect(calls).toMatchObject([{ tool: "crm.search", argsText: '{"query": "a' }]);
      expect(calls[0]).not.toHaveProperty("args");
    });

    it("gives a typed result, alone and beside calls", async () => {
      const alone = await turn({ result: { account_id: "B-77" } });
      expect([alone.calls, alone.results]).toEqual([[], [{ account_id: "B-77" }]]);
      const both = await turn({ calls: [{ tool: "crm.search", args: {} }], result: { account_id: "B-77" } });
      expect([both.calls.length, both.results]).toEqual([1, [{ account_id: "B-77" }]]);
    });

    it("gives the reason for giving up", async () => {
      expect(await turn({ giveUp: "there is no such account" })).toMatchObject({
        giveUp: "there is no such account",
        calls: [],
        results: [],
      });
    });

    it("gives the tokens that were counted", async () => {
      const { usage } = await turn({ text: "a", usage: { input: 120, output: 30 } });
      expect(usage).toEqual({ input: 120, output: 30 });
    });

    it.runIf(harness.missingUsage)("gives null where no usage was reported", async () => {
      expect((await turn({ text: "a", usage: null })).usage).toBeNull();
    });

    it.each([
      ["rate_limited", "agent.unavailable"],
      ["unavailable", "agent.unavailable"],
      ["invalid_request", "agent.rejected"],
    ] as const)("makes %s an outcome with the code %s", async (error, code) => {
      const { port } = await harness.make({ error });
      expect(await port.turn(request(), never())).toMatchObject({ is: "failed", code });
    });

    it("cuts a silent model with agent.stalled", async () => {
      const { port, clock, stall, waits } = await harness.make({ silent: true });
      const asked = port.turn(request(), never());
      await waits();
      await clock.pass(stall);
      expect(await asked).toMatchObject({ is: "failed", code: "agent.stalled" });
      expect(clock.waiting()).toEqual([]);
    });

    it("ends at once when the signal fires, and leaves no timer", async () => {
      const { port, clock, waits } = await harness.make({ silent: true });
      const stop = new AbortController();
      const asked = port.turn(request(), stop.signal);
      await waits();
      stop.abort();
      expect(await asked).toMatchObject({ is: "failed" });
      expect(clock.waiting()).toEqual([]);
    });

    it("asks nothing when the signal has fired already", async () => {
      const { port, clock } = await harness.make({ silent: true });
      expect(await port.turn(request(), AbortSignal.abort())).toMatchObject({ is: "failed" });
      await breath();
      expect(clock.waiting()).toEqual([]);
    });
  });
}
