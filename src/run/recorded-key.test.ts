import { expect, test } from "vitest";
import { agentRunner } from "../agent/loop.ts";
import { systemClock } from "../base/clock.ts";
import type { CallRequest } from "../catalog/connector.ts";
import { openMemoryJournal } from "../host/stores/memory.ts";
import { ownOwner } from "../host/stores/process-identity.ts";
import { Cursor, pagesOfRecords } from "../journal/cursor.ts";
import type { RunRecord } from "../journal/event.ts";
import { BASIC_RUNNERS } from "./interpreter.ts";
import { Past, resumeRun } from "./run.ts";
import { admitted, agent, manifest, plan } from "./testing/plan.ts";
import { FakeConnector, runPlan, turns } from "./testing/runner.ts";

/** Another key of the right form: nothing derives it. */
const OTHER = `wf-agent-v1:${"0".repeat(64)}`;

test("WX-55: a resumed run sends the key that is recorded and derives none in its place", async () => {
  const charge = manifest("billing.charge", {
    effects: "write",
    idempotency: { kind: "keyed", field: "key" },
    retry: { attempts: 2, backoff: 1, on: ["action.unavailable"] },
  });
  const flow = admitted(plan([agent("resolve", ["billing.charge"])]), [charge]);
  const model = turns(
    { calls: [{ id: "a", tool: "billing.charge", args: { amount: 1 } }] },
    { results: [{ answer: "done" }] },
  );
  const whole = await runPlan(flow, {
    model,
    connectors: [new FakeConnector("billing", () => ({ is: "ok", value: {} }))],
  });

  // As if the process had died right after the turn, and the history held another key.
  const turn = whole.records.findIndex((record) => record.kind === "agent.turn");
  const derived = JSON.stringify(whole.records[turn]).match(/wf-agent-v1:[0-9a-f]{64}/)?.[0] ?? "";
  expect(derived).not.toBe("");
  const records = JSON.parse(
    JSON.stringify(whole.records.slice(0, turn + 1)).replaceAll(derived, OTHER),
  ) as RunRecord[];

  let attempts = 0;
  const billing = new FakeConnector("billing", () =>
    ++attempts === 1
      ? { is: "failed", code: "action.unavailable", message: "not now" }
      : { is: "ok", value: { charged: true } },
  );
  const journal = openMemoryJournal({ clock: systemClock });
  await journal.import(records);
  const owner = ownOwner("second", "a test");
  const { lease } = await journal.acquire("run-0001", owner);
  const [accepted, started] = records;
  if (!accepted || !started) throw new Error("no records");
  const active = resumeRun(
    flow,
    { inputs: {}, trigger: null, run: "run-0001", startedAt: started.at },
    [accepted, started],
    {
      clock: systemClock,
      journal,
      owner,
      connectors: new Map([["billing", billing]]),
      runners: { ...BASIC_RUNNERS, agent: agentRunner(new Map([["helper", model]])) },
      onRecord: () => {},
    },
    lease,
    new Cursor(pagesOfRecords(records.slice(2)), 3),
    new Past(),
  );
  await active.ended;

  const sent = billing.calls.map((call: CallRequest) => [call.key, (call.args as { key?: string }).key, call.attempt]);
  expect(sent).toEqual([
    [OTHER, OTHER, 1],
    [OTHER, OTHER, 2],
  ]);
  expect((await journal.read("run-0001", 1, 100)).at(-1)?.body).toMatchObject({ status: "completed" });
  await journal.close();
});
