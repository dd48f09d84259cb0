import { describe, expect, it } from "vitest";
import { breath, manualClock } from "../../../test/contracts/model-clock.ts";
import type { Message, ToolAnswer, TurnOutcome } from "../../agent/model.ts";
import type { Json } from "../../base/json.ts";
import { SourceText } from "../../text/tree.ts";
import { readScripted } from "./read-scripted.ts";
import { createScriptedModel } from "./scripted.ts";

type Turn = Extract<TurnOutcome, { is: "turn" }>;
/** What the tools answer to a turn's calls: values, or errors as `{ code, message }` under `error`. */
type Answers = Json[];

function model(yaml: string, stall?: number, clock = manualClock()) {
  const { script, diagnostics } = readScripted(new SourceText("x.scripted.yaml", yaml));
  if (script === null) throw new Error(JSON.stringify(diagnostics));
  return createScriptedModel(script, { clock, ...(stall === undefined ? {} : { stall }) });
}

/** The smallest engine: asks for turns and gives each call the next answer. */
class Conversation {
  readonly messages: Message[];
  readonly port: ReturnType<typeof model>;
  readonly agent: string;
  readonly step: string;
  turns = 0;

  constructor(
    port: ReturnType<typeof model>,
    step = "resolve",
    context: Json = {},
    agent = "triage",
    goal = "Find it.",
  ) {
    this.port = port;
    this.agent = agent;
    this.step = step;
    this.messages = [{ role: "task", goal, context, bounds: {} }];
  }

  ask(signal = new AbortController().signal): Promise<TurnOutcome> {
    return this.port.turn(
      {
        run: "run-1",
        step: this.step,
        agent: this.agent,
        turn: this.turns,
        messages: structuredClone(this.messages),
        tools: [],
        result: {},
        maxOutputTokens: null,
      },
      signal,
    );
  }

  async next(...answers: Answers): Promise<Turn> {
    const outcome = await this.ask();
    if (outcome.is === "failed") throw new Error(`${outcome.code}: ${outcome.message}`);
    this.turns++;
    this.messages.push({ role: "agent", text: outcome.text, calls: outcome.calls, results: outcome.results });
    if (outcome.calls.length > 0) {
      const results = outcome.calls.map((call, i): ToolAnswer => {
        const answer = answers[i] ?? null;
        const error = answer !== null && typeof answer === "object" && !Array.isArray(answer) ? answer["error"] : null;
        return error === null || error === undefined
          ? { id: call.id, tool: call.tool, ok: true, value: answer }
          : { id: call.id, tool: call.tool, ok: false, error: error as { code: string; message: string } };
      });
      // Answers arrive in the order in which calls end.
      this.messages.push({ role: "results", results: results.reverse() });
    }
    return outcome;
  }
}

const SEED = `
agents:
  triage:
    - step: resolve
      turns:
        - say: Looking for the sender.
          call: crm.search
          with: { query: "{{ context.sender }}" }
          tokens: 310
        - calls: [ { tool: billing.lookup, with: { id: "{{ results[0].accounts[0].id }}" } } ]
        - finish: { account_id: "{{ results[1].account_id }}", size: "{{ size(results) }}", note: "turn {{ turn }}" }
          tokens: { input: 20, output: 3 }
`;

describe("a scripted agent", () => {
  it("reads context, goal, results and turn in its templates, and keeps the type of a whole expression", async () => {
    const talk = new Conversation(model(SEED), "resolve", { sender: "ana@example.org" });
    const first = await talk.next({ accounts: [{ id: "a-1" }] });
    expect(first).toMatchObject({
      text: "Looking for the sender.",
      calls: [{ tool: "crm.search", args: { query: "ana@example.org" } }],
      usage: { input: 0, output: 310 },
    });
    const second = await talk.next({ account_id: "B-77" });
    expect(second.calls.map((call) => call.args)).toEqual([{ id: "a-1" }]);
    expect(second.usage).toEqual({ input: 0, output: 0 });
    const third = await talk.next();
    expect(third.results).toEqual([{ account_id: "B-77", size: 2, note: "turn 2" }]);
    expect(third.usage).toEqual({ input: 20, output: 3 });
  });

  it("goes on where it was in a fresh process (I1)", async () => {
    const talk = new Conversation(model(SEED), "resolve", { sender: "ana@example.org" });
    await talk.next({ accounts: [{ id: "a-1" }] });
    await talk.next({ account_id: "B-77" });
    const other = new Conversation(model(SEED));
    other.messages.splice(0, 1, ...talk.messages);
    other.turns = talk.turns;
    expect((await other.next()).results).toMatchObject([{ account_id: "B-77" }]);
    expect(await other.ask()).toEqual(await other.ask());
  });

  it("says an empty text when its turns have run out", async () => {
    const port = model("agents: { triage: [ { step: resolve, turns: [ { say: once } ] } ] }");
    const talk = new Conversation(port);
    expect((await talk.next()).text).toBe("once");
    const empty = { text: "", calls: [], results: [], giveUp: null, usage: { input: 0, output: 0 } };
    expect(await talk.next()).toMatchObject(empty);
  });

  it("names the step and the turn that no entry is for, and the entries that there are", async () => {
    const port = model("agents: { triage: [ { step: resolve, turns: [] }, { step: 'sum*', turns: [] } ] }");
    const outcome = await new Conversation(port, "resolv").ask();
    expect(outcome).toMatchObject({ is: "failed", code: "agent.unavailable" });
    expect(outcome.is === "failed" && outcome.message).toBe(
      'The script of triage has no entry for the step resolv (turn 1). Did you mean "resolve"? Its entries are for: resolve, sum*.',
    );
  });

  it("counts turns from one in what it says", async () => {
    const talk = new Conversation(model('agents: { triage: [ { turns: [ {}, { say: "{{ results[7].id }}" } ] } ] }'));
    await talk.next();
    expect(await talk.ask()).toMatchObject({
      message: expect.stringContaining("cannot play turn 2 of the step resolve"),
    });
  });

  it("names an agent that it does not know", async () => {
    const talk = new Conversation(model("agents: { triager: [ { turns: [] } ] }"));
    expect(await talk.ask()).toMatchObject({
      is: "failed",
      code: "agent.unavailable",
      message: expect.stringContaining('Did you mean "triager"?'),
    });
  });

  it("plays `*` for agents without an entry of their own", async () => {
    const port = model("agents: { triage: [ { turns: [ { say: mine } ] } ], '*': [ { turns: [ { say: any } ] } ] }");
    expect((await new Conversation(port).next()).text).toBe("mine");
    expect((await new Conversation(port, "resolve", {}, "someone").next()).text).toBe("any");
  });

  it.each([
    ["resolve", "resolve", true],
    ["resolve", "outer.resolve", false],
    ["outer[*].resolve", "outer[2].resolve", true],
    ["outer[2].*", "outer[2].inner.resolve", true],
    ["*.(on_exhausted).*", "a.(on_exhausted).b", true],
    ["a.b", "axb", false],
    ["a\\*b", "a*b", true],
    ["a\\*b", "axb", false],
    ["a*a", "a", false],
    ["a*x*b", "a1x2b", true],
    ["a*x*b", "a12b", false],
    ["a*xb*b", "axb", false],
  ])("matches step %s against position %s: %s", async (step, position, fits) => {
    const port = model(JSON.stringify({ agents: { triage: [{ step, turns: [{ say: "hit" }] }] } }));
    expect(await new Conversation(port, position).ask()).toMatchObject(fits ? { text: "hit" } : { is: "failed" });
  });

  it("takes a task id at any depth for AWL's agent only", async () => {
    const port = model("agents: { '*': [ { step: read, turns: [ { say: hit } ] } ] }");
    expect((await new Conversation(port, "loop1[0].read", {}, "default").next()).text).toBe("hit");
    expect(await new Conversation(port, "loop1[0].read", {}, "triage").ask()).toMatchObject({ is: "failed" });
  });

  it("takes the first entry that matches", async () => {
    const port = model("agents: { triage: [ { step: res*, turns: [ { say: a } ] }, { turns: [ { say: b } ] } ] }");
    expect((await new Conversation(port).next()).text).toBe("a");
    expect((await new Conversation(port, "other").next()).text).toBe("b");
  });

  it("writes a map in `say` as JSON, and sends what stands under $literal untouched", async () => {
    const port = model(`
agents:
  triage:
    - turns:
        - say: { verdict: "{{ context.v }}", text: { $literal: "{{ context.v }}" } }
        - { call: a.b, with: { q: { $literal: { x: "{{ goal }}" } } } }`);
    const talk = new Conversation(port, "resolve", { v: true });
    expect((await talk.next()).text).toBe('{"verdict":true,"text":"{{ context.v }}"}');
    expect((await talk.next({})).calls[0]?.args).toEqual({ q: { x: "{{ goal }}" } });
  });

  it("never evaluates text that came from data", async () => {
    const port = model('agents: { triage: [ { turns: [ { say: "{{ context.a }} and {{ context.a }}!" } ] } ] }');
    const talk = new Conversation(port, "resolve", { a: "{{ goal }}" });
    expect((await talk.next()).text).toBe("{{ goal }} and {{ goal }}!");
  });

  it("sends raw argument text, and reads it where it is an object after all", async () => {
    const port = model(`
agents:
  triage:
    - turns:
        - { call: crm.search, args_text: "{not json" }
        - calls: [ { tool: x, args_text: '{"a": 1}' }, { tool: "{{ y }}" }, { tool: z, with: [1] } ]`);
    const talk = new Conversation(port);
    const [raw] = (await talk.next({})).calls;
    expect(raw).toMatchObject({ tool: "crm.search", argsText: "{not json" });
    expect(raw).not.toHaveProperty("args");
    expect((await talk.next({}, {}, {})).calls).toMatchObject([
      { tool: "x", args: { a: 1 } },
      { tool: "{{ y }}", args: {} },
      { tool: "z", argsText: "[1]" },
    ]);
  });

  it("offers a list under `finish` as several results, also beside calls, and gives up with a reason", async () => {
    const port = model(`
agents:
  triage:
    - turns:
        - { call: a.b, finish: [ { n: 1 }, { n: 2 } ] }
        - { give_up: "no {{ goal }}" }`);
    const talk = new Conversation(port);
    const both = await talk.next({});
    expect([both.calls.length, both.results]).toEqual([1, [{ n: 1 }, { n: 2 }]]);
    expect((await talk.next()).giveUp).toBe("no Find it.");
  });

  it("numbers results in the order of the calls and shows failures as `{ error: { code, message } }`", async () => {
    const port = model(`
agents:
  triage:
    - turns:
        - calls: [ { tool: a.one }, { tool: a.two } ]
        - say: "{{ results[0].n }} {{ results[1].error.code }}: {{ results[1].error.message }}"`);
    const talk = new Conversation(port);
    await talk.next({ n: 1 }, { error: { code: "action.failed", message: "broken" } });
    expect((await talk.next()).text).toBe("1 action.failed: broken");
  });

  it("reports no usage with `tokens: none`", async () => {
    const talk = new Conversation(model("agents: { triage: [ { turns: [ { say: a, tokens: none } ] } ] }"));
    expect((await talk.next()).usage).toBeNull();
  });

  it("fails with a message that names no value where a template cannot be evaluated", async () => {
    const talk = new Conversation(
      model('agents: { triage: [ { turns: [ { say: "{{ context.secret.deeper }}" } ] } ] }'),
      "resolve",
      { secret: "canary-1" },
    );
    const outcome = await talk.ask();
    expect(outcome).toMatchObject({ is: "failed", code: "agent.unavailable" });
    expect(JSON.stringify(outcome)).not.toContain("canary-1");
  });
});

describe("`when` and `repeat` of a turn (I2)", () => {
  const HANDOVER = `
agents:
  triage:
    - turns:
        - { call: crm.search, with: { items: [1] } }
        - { when: { error: query }, call: crm.search, with: { query: a } }
        - { when: { contains: nothing }, say: none }
        - finish: { account_id: b }`;

  it("plays a turn only if the last result fits, else passes it over for good (HO-03)", async () => {
    const talk = new Conversation(model(HANDOVER));
    await talk.next({ error: { code: "action.invalid_input", message: "The field `query` is missing." } });
    expect((await talk.next({ id: 1 })).calls[0]?.args).toEqual({ query: "a" });
    expect((await talk.next()).results).toEqual([{ account_id: "b" }]);

    const other = new Conversation(model(HANDOVER));
    await other.next({ text: "nothing here" });
    expect((await other.next()).text).toBe("none");
  });

  it.each([
    ["{ tool: a.b }", true],
    ["{ tool: a.c }", false],
    ["{ ok: true }", false],
    ["{ ok: false }", true],
    ["{ error: action.failed }", true],
    ["{ error: action }", false],
    ["{ error: flat tyre }", true],
    ["{ contains: tyre }", true],
    ["{ ok: false, tool: a.c }", false],
  ])("takes %s as %s for a failed call of a.b", async (when, fits) => {
    const port = model(`agents: { triage: [ { turns: [ { call: a.b }, { when: ${when}, say: hit } ] } ] }`);
    const talk = new Conversation(port);
    await talk.next({ error: { code: "action.failed", message: "a flat tyre" } });
    expect((await talk.next()).text).toBe(fits ? "hit" : "");
  });

  it("does not play a turn with `when` before there is a result", async () => {
    const port = model("agents: { triage: [ { turns: [ { when: { ok: false }, say: a }, { say: b } ] } ] }");
    expect((await new Conversation(port).next()).text).toBe("b");
  });

  it("repeats a turn, for ever if asked, and with `when` while it fits", async () => {
    const twice = new Conversation(model("agents: { triage: [ { turns: [ { say: a, repeat: 2 }, { say: b } ] } ] }"));
    expect([await twice.next(), await twice.next(), await twice.next()].map((turn) => turn.text)).toEqual([
      "a",
      "a",
      "b",
    ]);

    const ever = new Conversation(
      model('agents: { triage: [ { turns: [ { say: "{{ turn }}", repeat: forever }, { say: b } ] } ] }'),
    );
    for (let i = 0; i < 30; i++) expect((await ever.next()).text).toBe(String(i));

    const polling = new Conversation(
      model(`
agents:
  triage:
    - turns:
        - { call: job.status }
        - { when: { contains: running }, call: job.status, forever: true }
        - finish: { ok: true }`),
    );
    await polling.next({ state: "running" });
    for (let i = 0; i < 5; i++) expect((await polling.next({ state: "running" })).calls).toHaveLength(1);
    expect((await polling.next({ state: "done" })).calls).toHaveLength(1);
    expect((await polling.next()).results).toEqual([{ ok: true }]);
  });
});

describe("time and failures of a scripted agent", () => {
  it.each([
    ["rate_limited", "agent.unavailable"],
    ["unavailable", "agent.unavailable"],
    ["whatever", "agent.unavailable"],
    ["invalid_request", "agent.rejected"],
    ["agent.stalled", "agent.stalled"],
  ])("makes the model error %s a %s", async (code, expected) => {
    const yaml = `agents: { triage: [ { turns: [ { error: { code: ${code}, message: "no: {{ goal }}", retry_after: 2s } } ] } ] }`;
    expect(await new Conversation(model(yaml)).ask()).toEqual({
      is: "failed",
      code: expected,
      message: "no: Find it.",
      details: { reason: code, retry_after: 2_000 },
    });
  });

  it("waits before it answers", async () => {
    const clock = manualClock();
    const talk = new Conversation(
      model("agents: { triage: [ { turns: [ { wait: 200ms, say: a } ] } ] }", 1_000, clock),
    );
    let outcome: TurnOutcome | null = null;
    void talk.ask().then((value) => {
      outcome = value;
    });
    await clock.pass(199);
    expect(outcome).toBeNull();
    await clock.pass(1);
    expect(outcome).toMatchObject({ is: "turn", text: "a" });
  });

  it("is cut by the agent's stall if it is silent that long, and answers after a shorter silence", async () => {
    const clock = manualClock();
    const yaml = "agents: { triage: [ { turns: [ { stall: 30s, say: late } ] } ] }";
    const cut = new Conversation(model(yaml, 10_000, clock)).ask();
    const late = new Conversation(model(yaml, 40_000, clock)).ask();
    await clock.pass(10_000);
    expect(await cut).toMatchObject({ is: "failed", code: "agent.stalled" });
    await clock.pass(20_000);
    expect(await late).toMatchObject({ is: "turn", text: "late" });
  });

  it.each(["wait: 1h", "stall: 1h"])("ends a turn with %s at once when the signal fires (I3)", async (key) => {
    const clock = manualClock();
    const stop = new AbortController();
    const talk = new Conversation(model(`agents: { triage: [ { turns: [ { ${key}, say: a } ] } ] }`, 7_200_000, clock));
    const asked = talk.ask(stop.signal);
    await breath();
    expect(clock.waiting()).toEqual([3_600_000]);
    stop.abort();
    expect(await asked).toMatchObject({ is: "failed" });
    expect(clock.waiting()).toEqual([]);
  });
});
