import { describe, expect, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import { Refusal } from "../errors/fault.ts";
import { openMemoryJournal } from "../host/stores/memory.ts";
import { action, admitted, agent, each, expr, manifest, plan } from "./testing/plan.ts";
import { FakeConnector, runPlan, turns } from "./testing/runner.ts";

const ok = (): { is: "ok"; value: { n: number } } => ({ is: "ok", value: { n: 1 } });

describe("a run of ordinary steps", () => {
  test("binds results by id, gives outputs, and replays equal", async () => {
    const flow = plan(
      [
        action("first", "crm.search", { lit: { query: "a" } }),
        action("second", "crm.search", { map: { query: { expr: expr("string(first.n + 1)") } } }),
      ],
      { map: { n: { expr: expr("second.n") } } },
    );
    const crm = new FakeConnector("crm", ok);
    const { ended, records, replayed } = await runPlan(admitted(flow, [manifest("crm.search")]), { connectors: [crm] });
    expect(ended).toMatchObject({ status: "completed", outputs: { n: 1 }, error: null });
    expect(crm.calls.map((call) => call.args)).toEqual([{ query: "a" }, { query: "2" }]);
    expect(records.map((record) => record.kind)).toEqual([
      "run.accepted",
      "run.started",
      "call.ended",
      "call.ended",
      "run.ended",
    ]);
    expect(replayed).toMatchObject({ is: "equal", digest: ended.digest });
  });

  test("retries what the manifest says, under one position and rising attempts", async () => {
    let n = 0;
    const crm = new FakeConnector("crm", () =>
      ++n < 3 ? { is: "failed", code: "action.unavailable", message: "later" } : ok(),
    );
    const flow = plan([action("a", "crm.search")]);
    const retry = { attempts: 3, backoff: 1, on: ["action.unavailable"] };
    const { ended, records, replayed } = await runPlan(admitted(flow, [manifest("crm.search", { retry })]), {
      connectors: [crm],
    });
    expect(ended.status).toBe("completed");
    expect(
      records
        .filter((record) => record.kind === "call.ended")
        .map((record) => [record.position, record.attempt, record.body["retry"]]),
    ).toEqual([
      ["a", 1, true],
      ["a", 2, true],
      ["a", 3, false],
    ]);
    expect(replayed.is).toBe("equal");
  });

  test("a loop runs items side by side, in item order, and skips a failed one by name", async () => {
    const crm = new FakeConnector("crm", async (request) => {
      const { n } = request.args as { n: number };
      if (n === 2) return { is: "failed", code: "crm.gone", message: "gone" };
      await new Promise((resolve) => setTimeout(resolve, 20 - n * 4));
      return { is: "ok", value: n * 10 };
    });
    const flow = plan(
      [
        each("items", { lit: [1, 2, 3, 4, 5] }, [action("a", "crm.search", { map: { n: { expr: expr("item") } } })], {
          concurrency: 3,
          max: 4,
          onItemFailure: "skip",
        }),
      ],
      { map: { list: { expr: expr("items") } } },
    );
    const { ended, replayed } = await runPlan(admitted(flow, [manifest("crm.search")]), { connectors: [crm] });
    expect(ended).toMatchObject({
      status: "completed",
      outputs: { list: [10, null, 30, 40] },
      skipped: [{ at: "items[1]", cause: "failure", step: "items[1].a" }],
      truncated: [{ at: "items", cause: "max", done: 4, left: 1 }],
    });
    expect(replayed).toMatchObject({ is: "equal", digest: ended.digest });
  });

  test("a failed item stops its siblings, which are named as stopped because of it", async () => {
    const crm = new FakeConnector("crm", async (request, signal) => {
      if ((request.args as { n: number }).n === 1) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        return { is: "failed", code: "crm.gone", message: "gone" };
      }
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      return { is: "failed", code: "action.failed", message: "told to stop" };
    });
    const flow = plan([
      each("items", { lit: [1, 2, 3] }, [action("a", "crm.search", { map: { n: { expr: expr("item") } } })], {
        concurrency: 3,
      }),
    ]);
    const { ended, records, replayed } = await runPlan(admitted(flow, [manifest("crm.search", { timeout: 20_000 })]), {
      connectors: [crm],
    });
    expect(ended).toMatchObject({ status: "failed", error: { code: "crm.gone", position: "items[0].a" } });
    expect(
      records.filter((record) => record.kind === "stop.decided").map((record) => [record.position, record.body]),
    ).toEqual([
      ["items[1]", { cause: "sibling_failed", because: { position: "items[0].a", code: "crm.gone" } }],
      ["items[2]", { cause: "sibling_failed", because: { position: "items[0].a", code: "crm.gone" } }],
    ]);
    expect(replayed.is).toBe("equal");
  });

  test("a timeout reaches the tool that runs; catch gives the step its value", async () => {
    let aborted = false;
    const crm = new FakeConnector("crm", async (_request, signal) => {
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      aborted = true;
      return { is: "failed", code: "action.failed", message: "told to stop" };
    });
    const flow = plan(
      [
        action(
          "slow",
          "crm.search",
          { lit: {} },
          { timeout: 20, catch: [{ codes: ["flow.*"], steps: [], value: { expr: expr("error.code") } }] },
        ),
      ],
      { map: { code: { expr: expr("slow") } } },
    );
    const { ended, replayed } = await runPlan(admitted(flow, [manifest("crm.search", { timeout: 20_000 })]), {
      connectors: [crm],
    });
    expect(aborted).toBe(true);
    expect(ended).toMatchObject({
      status: "completed",
      outputs: { code: "flow.timeout" },
      forgiven: [{ at: "slow", code: "flow.timeout" }],
    });
    expect(replayed.is).toBe("equal");
  });

  test("a cancel stops the run and the tool, and is no failure", async () => {
    const crm = new FakeConnector("crm", async (_request, signal) => {
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      return { is: "ambiguous", code: "connection_lost", message: "stopped" };
    });
    const flow = plan([
      action("slow", "crm.search", { lit: {} }, { catch: [{ codes: ["*"], steps: [] }] }),
      action("next", "crm.search"),
    ]);
    const { ended, replayed } = await runPlan(admitted(flow, [manifest("crm.search", { timeout: 20_000 })]), {
      connectors: [crm],
      during: (run) => setTimeout(() => run.cancel("ana"), 10),
    });
    expect(ended).toMatchObject({ status: "cancelled", error: null });
    expect(crm.calls).toHaveLength(1);
    expect(replayed.is).toBe("equal");
  });

  test("an effect without key that is lost is unknown and ends the run", async () => {
    const mail = new FakeConnector("mail", () => ({ is: "ambiguous", code: "connection_lost", message: "gone" }));
    const send = manifest("mail.send", { effects: "write", idempotency: { kind: "none" } });
    const flow = plan([action("send", "mail.send", { lit: {} }, { catch: [{ codes: ["*"], steps: [] }] })]);
    const { ended, records, replayed } = await runPlan(admitted(flow, [send]), { connectors: [mail] });
    expect(ended).toMatchObject({
      status: "failed",
      error: { code: "flow.action_ambiguous", position: "send" },
      unknown: [{ position: "send", action: "mail.send", code: "connection_lost" }],
    });
    expect(records.map((record) => record.kind)).toEqual([
      "run.accepted",
      "run.started",
      "call.intent",
      "call.ended",
      "stop.decided",
      "run.ended",
    ]);
    expect(replayed.is).toBe("equal");
  });
});

describe("an agent step", () => {
  const search = manifest("crm.search", {
    input: {
      type: "object",
      required: ["query"],
      additionalProperties: false,
      properties: { query: { type: "string" } },
    },
  });
  const call = (tool: string, args: { [key: string]: string | number }, id = "c") => ({ id, tool, args });

  test("HO-02: of five proposals in one turn exactly three are dispatched", async () => {
    const crm = new FakeConnector("crm", ok);
    const model = turns({ calls: [1, 2, 3, 4, 5].map((n) => call("crm.search", { query: `q${n}` }, `c${n}`)) });
    const flow = plan([agent("resolve", ["crm.search"], { budget: { steps: 3 } })]);
    const { ended, records, replayed } = await runPlan(admitted(flow, [search]), { connectors: [crm], model });
    expect(crm.calls.map((entry) => entry.args)).toEqual([{ query: "q1" }, { query: "q2" }, { query: "q3" }]);
    expect(ended).toMatchObject({ status: "failed", error: { code: "agent.budget_exhausted", position: "resolve" } });
    const turn = records.find((record) => record.kind === "agent.turn");
    const spent = { verdict: "refused", code: "agent.budget_exhausted" };
    expect(turn?.body["calls"]).toMatchObject([{ code: null }, { code: null }, { code: null }, spent, spent]);
    expect(replayed.is).toBe("equal");
  });

  test("HO-01: exhaustion runs its handler once and fails the step all the same", async () => {
    const crm = new FakeConnector("crm", ok);
    const mail = new FakeConnector("mail", ok);
    const model = turns({ calls: [call("crm.search", { query: "a" })] });
    const flow = plan([
      agent("resolve", ["crm.search"], { budget: { steps: 2 }, onExhausted: [action("tell", "mail.send")] }),
      action("after", "mail.send"),
    ]);
    const { ended, records, replayed } = await runPlan(admitted(flow, [search, manifest("mail.send")]), {
      connectors: [crm, mail],
      model,
    });
    expect(crm.calls).toHaveLength(2);
    expect(mail.calls.map((entry) => entry.position)).toEqual(["resolve.(on_exhausted).tell"]);
    expect(ended.error?.code).toBe("agent.budget_exhausted");
    expect(records.find((record) => record.kind === "agent.ended")?.body).toMatchObject({
      reason: "exhausted",
      observed: { steps: 2 },
    });
    expect(replayed.is).toBe("equal");
  });

  test("HO-03: refused arguments name the fields, and cost no attempt", async () => {
    const crm = new FakeConnector("crm", ok);
    const model = turns(
      { calls: [{ id: "a", tool: "crm.search", args: { items: [1] } }] },
      { calls: [call("crm.search", { query: "a" })] },
      { results: [{ answer: "yes" }] },
    );
    const flow = plan([agent("resolve", ["crm.search"])], { map: { answer: { expr: expr("resolve.answer") } } });
    const { ended, replayed } = await runPlan(admitted(flow, [search]), { connectors: [crm], model });
    expect(ended).toMatchObject({
      status: "completed",
      outputs: { answer: "yes" },
      counts: { tool_attempts: 1, agent_turns: 3 },
    });
    const told = JSON.stringify(model.requests[1]?.messages.at(-1));
    expect(told).toContain("query");
    expect(told).toContain("items");
    expect(told).toContain("string");
    expect(crm.calls[0]?.position).toBe("resolve.(tools)[1]");
    expect(replayed.is).toBe("equal");
  });

  test("HO-11: a key is the engine's; one that the agent supplies is refused before dispatch", async () => {
    const billing = new FakeConnector("billing", ok);
    const charge = manifest("billing.charge", {
      effects: "write",
      idempotency: { kind: "keyed", field: "idempotency_key" },
      input: {
        type: "object",
        required: ["amount", "idempotency_key"],
        additionalProperties: false,
        properties: { amount: { type: "number" }, idempotency_key: { type: "string" } },
      },
    });
    const model = turns(
      { calls: [call("billing.charge", { amount: 1, idempotency_key: "mine" })] },
      { calls: [call("billing.charge", { amount: 1 }), call("billing.charge", { amount: 2 }, "d")] },
      { results: [{ answer: "paid" }] },
    );
    const flow = plan([agent("resolve", ["billing.charge"])]);
    const { ended, records, replayed } = await runPlan(admitted(flow, [charge]), { connectors: [billing], model });
    expect(ended.status).toBe("completed");
    expect(JSON.stringify(model.requests[0]?.tools)).not.toContain("idempotency_key");
    expect(
      billing.calls.map((entry) => [
        entry.position,
        entry.key === (entry.args as { idempotency_key?: string }).idempotency_key,
      ]),
    ).toEqual([
      ["resolve.(tools)[0]", true],
      ["resolve.(tools)[1]", true],
    ]);
    expect(new Set(billing.calls.map((entry) => entry.key)).size).toBe(2);
    const verdicts = records
      .filter((record) => record.kind === "agent.turn")
      .flatMap((record) => record.body["calls"] as { code: string | null; n: number | null }[]);
    expect(verdicts.map((entry) => [entry.code, entry.n])).toEqual([
      ["agent.reserved_key", null],
      [null, 0],
      [null, 1],
    ]);
    expect(replayed.is).toBe("equal");
  });

  test("an agent that only proposes undeclared tools ends by itself", async () => {
    const crm = new FakeConnector("crm", ok);
    const model = turns({ calls: [call("crm.delete", { query: "a" })] });
    const { ended, records, replayed } = await runPlan(admitted(plan([agent("resolve", ["crm.search"])]), [search]), {
      connectors: [crm],
      model,
    });
    expect(crm.calls).toHaveLength(0);
    expect(ended.error?.code).toBe("agent.no_progress");
    const first = records.find((record) => record.kind === "agent.turn")?.body["calls"];
    expect(first).toMatchObject([{ verdict: "refused", code: "agent.undeclared_tool", n: null }]);
    expect(replayed.is).toBe("equal");
  });

  test("a duration that is spent stops a model that thinks on", async () => {
    const model = {
      turn: (_request: unknown, signal: AbortSignal) =>
        new Promise<never>((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true }),
        ),
    };
    const { ended, replayed } = await runPlan(
      admitted(plan([agent("resolve", [], { budget: { duration: 20 } })]), []),
      { model },
    );
    expect(ended.error?.code).toBe("agent.budget_exhausted");
    expect(replayed.is).toBe("equal");
  });
});

describe("a sensitive value", () => {
  test("is in no record, and a replay that has to decide by it stops by name", async () => {
    const crm = new FakeConnector("crm", () => ({ is: "ok", value: { token: "canary-1", n: 1 } }));
    const output = { type: "object", properties: { token: { type: "string", "x-sensitive": true } } };
    const input = { type: "object", properties: { t: { type: "string" } } };
    const search = manifest("crm.search", { input, output });
    const hand = plan([
      action("a", "crm.search"),
      action("b", "crm.search", { map: { t: { expr: expr("a.token") } } }),
    ]);
    const handed = await runPlan(admitted(hand, [search]), { connectors: [crm] });
    expect(handed.ended.status).toBe("completed");
    expect(crm.calls[1]?.args).toEqual({ t: "canary-1" });
    expect(JSON.stringify(handed.records)).not.toContain("canary-1");
    expect(handed.replayed).toMatchObject({ is: "equal", digest: handed.ended.digest });
    const decide = plan([
      action("a", "crm.search"),
      action("b", "crm.search", { lit: {} }, { guard: expr("size(a.token) > 3") }),
    ]);
    await expect(runPlan(admitted(decide, [search]), { connectors: [crm] })).rejects.toMatchObject({
      code: "history.redacted",
    });
  });
});

describe("DU-11: the servers of a run", () => {
  test("nothing is dispatched before the list of them is on disk", async () => {
    const crm = new FakeConnector("crm", ok);
    crm.processes = () => [{ pid: 7, startTime: "1" }];
    const journal = openMemoryJournal({ clock: systemClock });
    const { setProcesses } = journal;
    let listed = 0;
    journal.setProcesses = async (...given) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(crm.calls).toEqual([]);
      listed++;
      await setProcesses.apply(journal, given);
    };
    const flow = admitted(plan([action("a", "crm.search")]), [manifest("crm.search")]);
    const { ended } = await runPlan(flow, { connectors: [crm], journal });
    expect([ended.status, listed, crm.calls.length]).toEqual(["completed", 1, 1]);
  });

  test("a store that refuses the list ends the run, and nothing is dispatched", async () => {
    const crm = new FakeConnector("crm", ok);
    crm.processes = () => [{ pid: 7, startTime: "1" }];
    const journal = openMemoryJournal({ clock: systemClock });
    journal.setProcesses = () => Promise.reject(new Refusal("store.unavailable", "The store is gone."));
    const flow = admitted(plan([action("a", "crm.search")]), [manifest("crm.search")]);
    await expect(runPlan(flow, { connectors: [crm], journal })).rejects.toMatchObject({ code: "store.unavailable" });
    expect(crm.calls).toEqual([]);
  });
});
