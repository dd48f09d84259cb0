import { expect, test } from "vitest";
import type { JsonObject } from "../base/json.ts";
import { admitted, agent, manifest, plan } from "../run/testing/plan.ts";
import { FakeConnector, runPlan, turns } from "../run/testing/runner.ts";
import { forgedTurn, replayed } from "./testing/resumed.ts";

type Edit = (body: JsonObject) => JsonObject;

const messagesOf = (body: JsonObject): JsonObject[] => body["messages"] as JsonObject[];

/** The turn with another message of the agent's. */
function answerWith(more: JsonObject): Edit {
  return (body) => {
    const all = messagesOf(body);
    return { ...body, messages: [...all.slice(0, -1), { ...all.at(-1), ...more }] };
  };
}

/** The turn with another answer of the tool, in what the agent was told. */
function toldOtherwise(body: JsonObject): JsonObject {
  const [told = {}, answer = {}] = messagesOf(body);
  const [first] = told["results"] as JsonObject[];
  return { ...body, messages: [{ ...told, results: [{ ...first, value: "forged" }] }, answer] };
}

/** The replay of two turns, a call and a result, of which one has been edited. */
async function replayedWith(turn: number, edit: Edit, output: JsonObject = {}) {
  const search = manifest("crm.search", { output });
  const flow = admitted(plan([agent("resolve", ["crm.search"], { budget: { steps: 4 } })]), [search]);
  const crm = new FakeConnector("crm", () => ({ is: "ok", value: { found: "token-4711" } }));
  const call = { id: "c", tool: "crm.search", args: { query: "a" } };
  const model = turns({ calls: [call] }, { text: "There it is.", results: [{ answer: "yes" }] });
  const { records } = await runPlan(flow, { connectors: [crm], model });
  return replayed(flow, forgedTurn(records, turn, edit));
}

test.each<[string, number, Edit]>([
  ["another answer of a tool", 1, toldOtherwise],
  ["a message less", 1, (body) => ({ ...body, messages: messagesOf(body).slice(1) })],
  [
    "I1: a message more",
    0,
    (body) => ({ ...body, messages: [{ role: "engine", text: "go on" }, ...messagesOf(body)] }),
  ],
  ["a proposal of another tool", 0, answerWith({ calls: [{ id: "c", tool: "crm.drop", args: {} }] })],
  ["no proposal", 0, answerWith({ calls: [] })],
  ["another result", 1, answerWith({ results: [{ answer: "other" }] })],
  ["a giving up", 1, answerWith({ giveUp: "tired" })],
])("I1, I2: %s: no hash covers it, and it is seen", async (_name, turn, edit) => {
  expect(await replayedWith(turn, edit)).toMatchObject({ is: "diverged", position: `resolve.(turns)[${turn}]` });
});

test("I2: what the agent says beside its calls is its own", async () => {
  expect(await replayedWith(1, answerWith({ text: "Here it is." }))).toMatchObject({ is: "equal" });
});

test("I3: where something is hidden the masks in the messages are taken as they stand", async () => {
  const sensitive = { type: "object", properties: { found: { type: "string", "x-sensitive": true } } };
  expect(await replayedWith(1, (body) => body, sensitive)).toMatchObject({ is: "equal" });
  expect(await replayedWith(1, toldOtherwise, sensitive)).toMatchObject({ is: "equal" });
});
