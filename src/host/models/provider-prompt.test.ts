import { describe, expect, it } from "vitest";
import type { Message, TurnRequest } from "../../agent/model.ts";
import { writePrompt } from "./provider-prompt.ts";
import { wireNames } from "./tool-names.ts";

function prompt(messages: Message[], tools = true) {
  const request: TurnRequest = {
    run: "run-1",
    step: "resolve",
    agent: "triage",
    turn: 0,
    messages: [{ role: "task", goal: "Find it.", context: {}, bounds: {} }, ...messages],
    tools: [],
    result: { type: "object" },
    maxOutputTokens: null,
  };
  return writePrompt(request, wireNames([]), tools).slice(2);
}

const turn = (more: Partial<Extract<Message, { role: "agent" }>>): Message => {
  return { role: "agent", text: "", calls: [], results: [], ...more };
};
const search = { id: "t-1", tool: "crm.search", args: {} };

describe("a conversation in the form of the provider packages", () => {
  it("answers a call that got no answer, so that no call stands open", () => {
    expect(prompt([turn({ calls: [search] })])[1]).toMatchObject({
      role: "tool",
      content: [{ toolCallId: "t-1", output: { type: "error-text" } }],
    });
  });

  it("answers calls and a result of one turn in one message", () => {
    const messages = prompt([
      turn({ calls: [search], results: [{ a: 1 }] }),
      { role: "results", results: [{ id: "t-1", tool: "crm.search", ok: true, value: 7 }] },
      { role: "engine", text: "The result does not fit." },
    ]);
    expect(messages.map((message) => message.role)).toEqual(["assistant", "tool"]);
    expect(messages[1]?.content).toMatchObject([
      { toolCallId: "t-1", output: { type: "json", value: 7 } },
      { toolName: "return_result", output: { type: "error-text", value: "The result does not fit." } },
    ]);
  });

  it("says what the engine says to calls alone as a message of its own", () => {
    const messages = prompt([
      turn({ calls: [search] }),
      { role: "results", results: [{ id: "t-1", tool: "crm.search", ok: true, value: null }] },
      { role: "engine", text: "Please return the result." },
    ]);
    expect(messages.map((message) => message.role)).toEqual(["assistant", "tool", "user"]);
  });

  it("keeps results that are no object as data inside one", () => {
    expect(prompt([turn({ results: ["text"], giveUp: "no" })])[0]?.content).toMatchObject([
      { toolName: "return_result", input: { unreadable_result: "text" } },
      { toolName: "give_up", input: { reason: "no" } },
    ]);
  });

  it("shows a model without tools its results as the text that it wrote", () => {
    const messages = prompt([turn({ results: [{ a: 1 }] }), { role: "engine", text: "Again." }], false);
    expect(messages).toMatchObject([
      { role: "assistant", content: [{ type: "text", text: '{"a":1}' }] },
      { role: "user" },
    ]);
  });
});
