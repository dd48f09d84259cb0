/** WX-05, WX-26: what stands in the port's request and in the recorded identity, key by key. */
import { describe, expect, test, vi } from "vitest";
import type { TurnRequest } from "../../src/agent/model.ts";
import { play } from "./played.ts";

const requests: TurnRequest[] = [];

vi.mock("../../src/host/models/create-model.ts", async (original) => {
  const actual = await original<typeof import("../../src/host/models/create-model.ts")>();
  return {
    ...actual,
    createModel: (...given: Parameters<typeof actual.createModel>) => {
      const model = actual.createModel(...given);
      const turn: typeof model.port.turn = (request, signal) => {
        requests.push(structuredClone(request));
        return model.port.turn(request, signal);
      };
      return { ...model, port: { turn } };
    },
  };
});

describe("what an agent is given", () => {
  test("WX-26: goal, projection, tools, result and bounds, and nothing beside them", async () => {
    requests.length = 0;
    const played = await play("WX-23-example-of-the-seed");
    await played.end();
    const [first, second] = requests;
    expect(first).toEqual({
      run: played.run,
      step: "resolve",
      agent: "triage_assistant",
      turn: 0,
      messages: [
        {
          role: "task",
          goal: "Find the account for ana@example.org; it could belong to a parent organization.",
          context: { sender: "ana@example.org" },
          bounds: { steps: 8, tokens: 20000 },
        },
      ],
      tools: [
        { name: "crm.search", description: "Find accounts by text.", input: expect.any(Object) },
        { name: "billing.lookup", description: "Look an account up.", input: expect.any(Object) },
      ],
      result: {
        type: "object",
        properties: { account_id: { type: "string" } },
        required: ["account_id"],
        additionalProperties: false,
      },
      maxOutputTokens: 20000,
    });
    expect(second?.messages.slice(1)).toEqual([
      { role: "agent", text: "", calls: [expect.objectContaining({ tool: "crm.search" })], results: [] },
      {
        role: "results",
        results: [{ id: expect.any(String), tool: "crm.search", ok: true, value: { accounts: [{ id: "a-1" }] } }],
      },
    ]);
  });

  test("WX-05: a setting that changes what a model does changes the recorded identity", async () => {
    const provider = (more: string): string =>
      `agents:\n  helper: { provider: openai-compatible, base_url: "http://127.0.0.1:1/v1", model: small-1${more} }\n`;
    const identities = [];
    for (const more of ["", ", temperature: 0.2", ", temperature: 0.7", ", effort: low", ", max_output_tokens: 9"]) {
      const played = await play("WX-05-identity-is-recorded");
      played.folder.write("ambit.yaml", provider(more));
      const { admission } = await played.engine.plan("workflow.yaml");
      identities.push(admission.admitted?.definition.agents["helper"]);
      await played.end();
    }
    expect(identities[1]).toMatchObject({
      provider: "openai-compatible",
      model: "small-1",
      protocol: expect.any(String),
      settings: { temperature: 0.2 },
      tokenMethod: "reported",
    });
    expect(new Set(identities.map((identity) => JSON.stringify(identity?.settings))).size).toBe(5);
    expect(new Set(identities.map((identity) => identity?.digest)).size).toBe(5);
  });
});
