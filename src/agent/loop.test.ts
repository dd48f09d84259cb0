import { describe, expect, test } from "vitest";
import type { AdmittedPlan } from "../admit/admitted-plan.ts";
import type { JsonObject } from "../base/json.ts";
import type { RunRecord } from "../journal/event.ts";
import type { AgentStep, Step } from "../plan/step.ts";
import { action, admitted, agent, expr, manifest, plan } from "../run/testing/plan.ts";
import { FakeConnector, type Ran, runPlan, turns } from "../run/testing/runner.ts";
import type { ModelPort, Proposal, TurnRequest } from "./model.ts";
import { forgedTurn, replayed, resumed, untilTurn } from "./testing/resumed.ts";

const text = { type: "string" };
const search = manifest("crm.search", {
  input: { type: "object", required: ["query"], additionalProperties: false, properties: { query: text } },
});
const call = (query: string | number, id = "c"): Proposal => ({ id, tool: "crm.search", args: { query } });
const echo = (): FakeConnector => new FakeConnector("crm", ({ args }) => ({ is: "ok", value: { said: args } }));
const DONE = { results: [{ answer: "yes" }] };

function flowOf(more: Partial<AgentStep> = {}, before: Step[] = []): AdmittedPlan {
  return admitted(plan([...before, agent("resolve", ["crm.search"], more)]), [search]);
}

function ofKind(records: readonly RunRecord[], kind: string): JsonObject[] {
  return records.filter((record) => record.kind === kind).map(({ body }) => body);
}

/** How the step ended, by its one record. */
function endOf({ records }: Pick<Ran, "records">): JsonObject {
  const ends = ofKind(records, "agent.ended");
  expect(ends).toHaveLength(1);
  return ends[0] ?? {};
}

describe("the loop", () => {
  test("I1: the agent is given goal, context, tools, result and bounds, and nothing else of the run", async () => {
    const model = turns(DONE);
    const flow = flowOf({ goal: { lit: "Find it." }, with: { lit: { who: "ana" } } }, [
      action("canary", "crm.search", { lit: { query: "canary-7" } }),
    ]);
    await runPlan(flow, { connectors: [echo()], model });
    const [request] = model.requests;
    expect(request?.messages).toEqual([
      { role: "task", goal: "Find it.", context: { who: "ana" }, bounds: { steps: 8 } },
    ]);
    expect(Object.keys(request ?? {}).sort()).toEqual(
      ["agent", "maxOutputTokens", "messages", "result", "run", "step", "tools", "turn"].sort(),
    );
    expect(JSON.stringify(request)).not.toContain("canary");
  });

  test("I2: a turn with its verdicts is on disk before any of its calls is dispatched", async () => {
    const script = [{ calls: [call("a")] }, DONE];
    const flow = flowOf();
    const { records } = await runPlan(flow, { connectors: [echo()], model: turns(...script) });
    expect(ofKind(records, "agent.turn")[0]?.["calls"]).toMatchObject([{ verdict: "accepted", n: 0 }]);
    const kinds = records.map(({ kind }) => kind);
    expect(kinds.indexOf("agent.turn")).toBeLessThan(kinds.indexOf("call.ended"));
    // Whoever dies before the turn is on disk has dispatched nothing: the model is asked again.
    const again = turns(...script);
    const crm = echo();
    await resumed(flow, records.slice(0, kinds.indexOf("agent.turn")), [crm], again);
    expect(again.requests.map(({ turn }) => turn)).toEqual([0, 1]);
    expect(crm.calls).toHaveLength(1);
  });

  test("I3: a process that dies behind any turn is gone on with as if it had not", async () => {
    const flow = flowOf({ budget: { steps: 3 } });
    const script = [{ calls: [call("a"), call(7), call("b")] }, { calls: [call("c"), call("d")] }, DONE];
    const whole = await runPlan(flow, { connectors: [echo()], model: turns(...script) });
    for (const nth of [0, 1]) {
      const crm = echo();
      const { ended } = await resumed(flow, untilTurn(whole.records, nth), [crm], turns(...script));
      expect(ended.digest).toBe(whole.ended.digest);
    }
    expect(whole.replayed.is).toBe("equal");
  });

  test("I4: nothing is accepted after the bound, and a typed result still counts", async () => {
    const crm = echo();
    const late = await runPlan(flowOf({ budget: { steps: 1 } }), {
      connectors: [crm],
      model: turns({ calls: [call("a")] }, DONE),
    });
    expect(late.ended.status).toBe("completed");
    const more = await runPlan(flowOf({ budget: { steps: 1 } }), {
      connectors: [crm],
      model: turns({ calls: [call("a")] }, { calls: [call("b")] }, DONE),
    });
    expect(more.ended.error?.code).toBe("agent.budget_exhausted");
    expect(crm.calls).toHaveLength(2);
  });

  test("I5: every way out is one record with its reason and what was observed", async () => {
    const ways: [Parameters<typeof turns>, string][] = [
      [[DONE], "result"],
      [[{ results: [{ wrong: 1 }] }], "invalid_result"],
      [[{ giveUp: "no such account" }], "gave_up"],
      [[{}], "no_result"],
      [[{ calls: [{ id: "c", tool: "no", args: {} }] }], "no_progress"],
      [[{ calls: [call("a")] }], "exhausted"],
    ];
    for (const [script, reason] of ways) {
      const ran = await runPlan(flowOf({ budget: { steps: 1 } }), { connectors: [echo()], model: turns(...script) });
      expect(endOf(ran)).toMatchObject({ reason, observed: { tokens: 0, duration_ms: expect.any(Number) } });
      expect(endOf(ran)["observed"]).not.toHaveProperty("unreported");
      expect(ran.replayed.is).toBe("equal");
    }
  });

  test("I6: what is sensitive and said again stands in no record", async () => {
    const crm = new FakeConnector("crm", ({ position, args }) => ({
      is: "ok",
      value: position === "login" ? { token: "hunter2-x" } : { said: (args as { query?: string }).query ?? null },
    }));
    const token = { type: "string", "x-sensitive": true };
    const login = manifest("crm.login", { output: { type: "object", properties: { token } } });
    const said = "I have hunter2-x";
    const model = turns(
      {
        text: said,
        calls: [
          call("hunter2-x", "hunter2-x"),
          { id: "2", tool: said, args: { [said]: said } },
          { id: "3", tool: "crm.search", argsText: said },
          { id: "4", tool: "crm.open", args: { [said]: [{ [said]: 1 }] } },
        ],
      },
      { results: [{ [said]: said }] },
    );
    const step = agent("resolve", ["crm.search", "crm.open"], {
      reads: ["login"],
      with: { map: { token: { expr: expr("login.token") } } },
    });
    const flow = admitted(plan([action("login", "crm.login"), step]), [login, search, manifest("crm.open")]);
    const ran = await runPlan(flow, { connectors: [crm], model });
    expect(model.requests[0]?.messages[0]).toMatchObject({ context: { token: "hunter2-x" } });
    expect(crm.calls.slice(1).map(({ args }) => args)).toEqual([{ query: "hunter2-x" }, { [said]: [{ [said]: 1 }] }]);
    expect(JSON.stringify(ran.records)).not.toContain("hunter2-x");
    expect(ran.replayed.is).toBe("equal");
  });

  test("I6: no part of it stands in front of where a text is cut", async () => {
    const pin = { type: "string", "x-sensitive": true };
    const pay = manifest("crm.pay", { input: { type: "object", properties: { pin } } });
    const secret = "canary-7-and-more";
    const long = (most: number): string => `${"x".repeat(most - 4)}${secret}`;
    const model = turns(
      {
        text: long(65_536),
        calls: [
          { id: long(200), tool: "crm.pay", args: { pin: secret } },
          { id: "2", tool: long(200), args: { a: 1 } },
          { id: "3", tool: "crm.search", argsText: long(65_536) },
          { id: "4", tool: "crm.search", args: { query: `\ud800${long(65_524)}` } },
        ],
      },
      { giveUp: long(65_536) },
    );
    const ran = await runPlan(admitted(plan([agent("resolve", ["crm.pay", "crm.search"])]), [pay, search]), {
      connectors: [echo()],
      model,
    });
    const [turn, last] = ran.records
      .filter(({ kind }) => kind === "agent.turn")
      .map(({ body }) => JSON.stringify(body));
    for (const said of [turn, last]) {
      expect(said).toContain("xxxx");
      expect(said).not.toContain("xcan");
    }
    expect(ran.replayed.is).toBe("equal");
  });

  test("I6: so is what a tool calls sensitive in its inputs, from the call on", async () => {
    const crm = new FakeConnector("crm", ({ args }) => ({ is: "ok", value: { got: (args as { pin: string }).pin } }));
    const pin = { type: "string", "x-sensitive": true };
    const pay = manifest("crm.pay", { input: { type: "object", properties: { pin, to: { type: "string" } } } });
    const model = turns(
      {
        text: "I pay with 4711-0815",
        calls: [
          { id: "1", tool: "crm.pay", args: { pin: "4711-0815", to: "ana" } },
          { id: "2", tool: "crm.pay", argsText: '{"pin": "6666-7777"' },
          { id: "3", tool: "crm.pay", args: { pin: "8888-9999", to: 7 } },
        ],
      },
      {
        text: "Paid with 4711-0815.",
        calls: [{ id: "4", tool: "crm.pay", args: { pin: "5555-4444", to: "4711-0815" } }],
      },
      DONE,
    );
    const ran = await runPlan(admitted(plan([agent("resolve", ["crm.pay"])]), [pay]), { connectors: [crm], model });
    expect(ran.ended.status).toBe("completed");
    expect(crm.calls.map(({ args }) => args)).toEqual([
      { pin: "4711-0815", to: "ana" },
      { pin: "5555-4444", to: "4711-0815" },
    ]);
    const said = JSON.stringify(ran.records);
    for (const secret of ["4711-0815", "6666-7777", "8888-9999", "5555-4444"]) expect(said).not.toContain(secret);
    const [turn] = ran.records.filter(({ kind }) => kind === "agent.turn");
    expect(turn?.body["calls"]).toMatchObject([
      { args: { pin: { $sensitive: true }, to: "ana" }, verdict: "accepted" },
      { args: null, args_text: "[sensitive]", verdict: "refused" },
      { args: { pin: { $sensitive: true }, to: 7 }, verdict: "refused" },
    ]);
    expect(ran.replayed.is).toBe("equal");
  });

  test("I6: arguments that are sensitive as a whole stand nowhere either", async () => {
    const crm = new FakeConnector("crm", () => ({ is: "ok", value: null }));
    const pay = manifest("crm.pay", { input: { type: "object", "x-sensitive": true } });
    const model = turns({ calls: [{ id: "1", tool: "crm.pay", args: { pin: "4711-0815" } }] }, DONE);
    const ran = await runPlan(admitted(plan([agent("resolve", ["crm.pay"])]), [pay]), { connectors: [crm], model });
    expect(crm.calls.map(({ args }) => args)).toEqual([{ pin: "4711-0815" }]);
    expect(JSON.stringify(ran.records)).not.toContain("4711-0815");
    expect(ran.replayed.is).toBe("equal");
  });

  test("calls beside a giving up are refused, and nothing is recorded that was not done", async () => {
    const crm = echo();
    const ran = await runPlan(flowOf(), {
      connectors: [crm],
      model: turns({ giveUp: "no such account", calls: [call("a")] }),
    });
    expect(endOf(ran)).toMatchObject({ reason: "gave_up", observed: { steps: 0 } });
    expect(crm.calls).toEqual([]);
    const [turn] = ran.records.filter(({ kind }) => kind === "agent.turn");
    expect(turn?.body["calls"]).toMatchObject([{ verdict: "refused", code: "agent.gave_up", n: 0 }]);
    expect(ran.replayed.is).toBe("equal");
  });

  test("I7: turns without an end have one", async () => {
    const crm = echo();
    const usage = { input: 0, output: 0 };
    const turn = {
      is: "turn",
      text: "",
      calls: [call("a")],
      results: [],
      giveUp: null,
      usage,
      finish: "stop",
    } as const;
    const model: ModelPort = { turn: async () => ({ ...turn, calls: [...turn.calls], results: [] }) };
    const ran = await runPlan(flowOf({ budget: { duration: 3_600_000 } }), { connectors: [crm], model });
    expect(endOf(ran)["reason"]).toBe("no_progress");
    expect(crm.calls).toHaveLength(1_000);
  });
});

describe("a goal", () => {
  const found = new FakeConnector("crm", () => ({ is: "ok", value: { map: { a: 1 }, n: 5, text: "Find it." } }));
  const lookup = manifest("crm.lookup");

  test.each([
    ["crm.map", "a map"],
    ["crm.n", "a number"],
    ["[crm.n]", "a list"],
    ["null", "null"],
    ["true", "a boolean"],
  ])("WX-12: that comes out as %s fails the step before the agent is contacted", async (source, what) => {
    const model = turns(DONE);
    const step = agent("resolve", [], { goal: { expr: expr(source) } });
    const flow = admitted(plan([action("crm", "crm.lookup"), step]), [lookup]);
    const ran = await runPlan(flow, { connectors: [found], model });
    expect(ran.ended.error).toMatchObject({ code: "expression.failed", position: "resolve", details: { source } });
    expect(ran.ended.error?.message).toContain(what);
    expect(model.requests).toEqual([]);
    expect(ofKind(ran.records, "agent.started")).toEqual([]);
    expect(ran.replayed.is).toBe("equal");
  });

  test("WX-12: that comes out as a text is given as it is", async () => {
    const model = turns(DONE);
    const step = agent("resolve", [], { goal: { expr: expr("crm.text") } });
    await runPlan(admitted(plan([action("crm", "crm.lookup"), step]), [lookup]), { connectors: [found], model });
    expect(model.requests[0]?.messages[0]).toMatchObject({ goal: "Find it." });
  });
});

describe("I4: a token bound without counts", () => {
  const uncounted = (query: string): Parameters<typeof turns>[0] => ({ calls: [call(query)], usage: null });

  test("is reached by the first turn that has none: nothing is accepted after it", async () => {
    const crm = echo();
    const ran = await runPlan(flowOf({ budget: { tokens: 10 } }), { connectors: [crm], model: turns(uncounted("a")) });
    expect(crm.calls).toHaveLength(1);
    expect(ran.ended.error).toMatchObject({
      code: "agent.budget_exhausted",
      details: { bound: "tokens", limit: 10 },
    });
    expect(ran.ended.error?.message).toContain("without a count");
    expect(ofKind(ran.records, "agent.turn")[1]?.["calls"]).toMatchObject([{ code: "agent.budget_exhausted" }]);
    expect(endOf(ran)).toMatchObject({ reason: "exhausted", observed: { steps: 1, tokens: 0, unreported: 2 } });
    expect(ran.replayed.is).toBe("equal");
  });

  test.each([
    { input: Number.NaN, output: 1 },
    { input: -5, output: 1 },
    { input: 0.5, output: 1 },
  ])("is reached by what is no count: %o", async (usage) => {
    const crm = echo();
    const model = turns({ calls: [call("a")], usage });
    const ran = await runPlan(flowOf({ budget: { tokens: 10 } }), { connectors: [crm], model });
    expect(crm.calls).toHaveLength(1);
    expect(endOf(ran)).toMatchObject({ reason: "exhausted", observed: { tokens: 0, unreported: 2 } });
  });

  test("leaves one further turn for the typed result, whatever that one reports", async () => {
    const model = turns(uncounted("a"), { ...DONE, usage: null });
    const ran = await runPlan(flowOf({ budget: { tokens: 10 } }), { connectors: [echo()], model });
    expect(ran.ended.status).toBe("completed");
    expect(endOf(ran)).toMatchObject({ reason: "result", observed: { tokens: 0, unreported: 2 } });
    const silent = await runPlan(flowOf({ budget: { tokens: 10 } }), { model: turns({ usage: null }) });
    expect(ofKind(silent.records, "agent.turn")).toHaveLength(2);
    expect(endOf(silent)["reason"]).toBe("exhausted");
  });

  test("other bounds are not touched by it, and the count is said to be a lower one", async () => {
    const crm = echo();
    const model = turns(uncounted("a"), { calls: [call("b")], usage: { input: 3, output: 4 } }, DONE);
    const ran = await runPlan(flowOf(), { connectors: [crm], model });
    expect(crm.calls).toHaveLength(2);
    expect(endOf(ran)).toMatchObject({ reason: "result", observed: { tokens: 7, unreported: 1 } });
  });
});

describe("two calls with one id, or none", () => {
  test("each has its own answer, under the id that the agent's message has", async () => {
    const model = turns({ calls: [call("a", "x"), call("b", "x"), call("d", ""), call(7, "x")] }, DONE);
    const ran = await runPlan(flowOf(), { connectors: [echo()], model });
    const [said, told] = (model.requests[1]?.messages ?? []).slice(1);
    const ids = said?.role === "agent" ? said.calls.map(({ id }) => id) : [];
    const answers = told?.role === "results" ? told.results : [];
    expect(new Set(ids).size).toBe(4);
    expect(ids).not.toContain("");
    expect(answers.map(({ id }) => id)).toEqual(ids);
    expect(answers.map((answer) => (answer.ok ? answer.value : answer.error.code))).toEqual([
      { said: { query: "a" } },
      { said: { query: "b" } },
      { said: { query: "d" } },
      "action.invalid_input",
    ]);
    expect(ofKind(ran.records, "agent.turn")[0]?.["calls"]).toMatchObject(ids.map((id) => ({ id })));
  });
});

describe("I5: a turn that its stop overtakes", () => {
  const stopping: ModelPort = {
    turn: (_request: TurnRequest, signal: AbortSignal) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () =>
          resolve({
            is: "turn",
            text: "",
            calls: [call("late")],
            results: [{ answer: "late" }],
            giveUp: null,
            usage: { input: 30, output: 12 },
            finish: "stop",
          }),
        );
      }),
  };

  test.each<[string, Partial<AgentStep>, string]>([
    ["duration", { budget: { duration: 15 } }, "exhausted"],
    ["timeout", { timeout: 15 }, "timeout"],
  ])("by %s is counted and not taken", async (_name, more, reason) => {
    const crm = echo();
    const ran = await runPlan(flowOf(more), { connectors: [crm], model: stopping });
    expect(crm.calls).toEqual([]);
    expect(endOf(ran)).toMatchObject({ reason, observed: { tokens: 42 } });
    expect(ran.ended.counts.tokens).toBe(42);
    expect(ran.replayed.is).toBe("equal");
  });

  test("by a cancel is counted and not taken", async () => {
    const during = (run: { cancel(by: string): void }): void => {
      setTimeout(() => run.cancel("ana"), 10);
    };
    const ran = await runPlan(flowOf(), { connectors: [echo()], model: stopping, during });
    expect(endOf(ran)).toMatchObject({ reason: "cancelled", observed: { tokens: 42 } });
    expect(ran.replayed.is).toBe("equal");
  });
});

describe("a history that somebody has changed", () => {
  const budget = { steps: 1 };
  const accepted = (body: JsonObject, n: number, args: JsonObject): JsonObject => {
    const [first] = body["calls"] as JsonObject[];
    return { ...first, id: `x${n}`, args, n, verdict: "accepted", code: null };
  };

  /** A run of one good call, changed and cut behind its turn. */
  async function changed(change: (body: JsonObject) => JsonObject) {
    const flow = flowOf({ budget });
    const whole = await runPlan(flow, { connectors: [echo()], model: turns({ calls: [call("a")] }, DONE) });
    const records = forgedTurn(whole.records, 0, change);
    return { flow, records, kept: untilTurn(records, 0) };
  }

  test.each<[string, (body: JsonObject) => JsonObject, string]>([
    [
      "three calls on one attempt, with arguments that break a closed schema",
      (body) => ({ ...body, calls: [0, 1, 2].map((n) => accepted(body, n, { all: n })) }),
      "resolve.(tools)[0]",
    ],
    [
      "a second call on one attempt",
      (body) => ({ ...body, calls: [0, 1].map((n) => accepted(body, n, { query: "a" })) }),
      "resolve.(tools)[1]",
    ],
    [
      "a result that does not fit, in the messages as well",
      (body) => {
        const [answer] = body["messages"] as JsonObject[];
        const messages = [{ ...answer, calls: [], results: [{ wrong: 1 }] }];
        return { ...body, calls: [], result: { wrong: 1 }, messages };
      },
      "resolve.(turns)[0]",
    ],
  ])("%s: nothing goes out, and the place is named", async (_name, change, position) => {
    const { flow, records, kept } = await changed(change);
    const crm = echo();
    await expect(resumed(flow, kept, [crm], turns(DONE))).rejects.toMatchObject({
      fault: { code: "history.mismatch", details: { position } },
    });
    expect(crm.calls).toEqual([]);
    expect(await replayed(flow, records)).toMatchObject({ is: "diverged", position });
  });

  test.each<[string, (body: JsonObject) => JsonObject]>([
    ["what is no call", (body) => ({ ...body, calls: ["run it"] })],
    ["what is no list", (body) => ({ ...body, calls: { "0": 1 } })],
    ["a usage below nothing", (body) => ({ ...body, usage: { input: -1_000_000, output: 0 } })],
  ])("%s: the record is refused by name, by a resume as by a replay", async (_name, change) => {
    const { flow, records, kept } = await changed(change);
    const crm = echo();
    const refusal = { fault: { code: "journal.corrupt", details: { position: "resolve.(turns)[0]" } } };
    await expect(resumed(flow, kept, [crm], turns(DONE))).rejects.toMatchObject(refusal);
    expect(crm.calls).toEqual([]);
    await expect(replayed(flow, records)).rejects.toMatchObject(refusal);
  });

  test("a value whose hash is of another is refused before anything goes out", async () => {
    const { flow, kept } = await changed((body) => body);
    const crm = echo();
    const last = kept.at(-1) as RunRecord;
    const forged = [...kept.slice(0, -1), { ...last, body: { ...last.body, calls: [] } }];
    await expect(resumed(flow, forged, [crm], turns(DONE))).rejects.toMatchObject({
      fault: { code: "journal.corrupt" },
    });
    expect(crm.calls).toEqual([]);
  });

  test("unchanged it is gone on with", async () => {
    const { flow, kept } = await changed((body) => body);
    const crm = echo();
    expect((await resumed(flow, kept, [crm], turns({}, DONE))).ended.status).toBe("completed");
    expect(crm.calls.map(({ args }) => args)).toEqual([{ query: "a" }]);
  });
});
