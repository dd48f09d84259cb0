import { describe, expect, test } from "vitest";
import { SecretTexts } from "../base/secret-texts.ts";
import type { ActionManifest } from "../catalog/manifest.ts";
import { mark, type Val } from "../plan/marked.ts";
import { HistoryMismatch } from "../run/history.ts";
import { agentKey } from "../run/keys.ts";
import { Meter } from "../run/meter.ts";
import { admitted, agent, manifest, plan } from "../run/testing/plan.ts";
import type { Proposal } from "./model.ts";
import { agentTools } from "./tools.ts";
import {
  copyState,
  identified,
  type JudgedCall,
  judgeProposals,
  MAX_PROPOSALS,
  type Round,
  type TurnState,
  takeCalls,
} from "./turn.ts";

const OPEN: Round = { resultOffered: false, gaveUp: false, budgetSpent: false };
const text = { type: "string" };
const search = manifest("crm.search", {
  input: { type: "object", required: ["query"], additionalProperties: false, properties: { query: text } },
});
const charge = manifest("billing.charge", {
  effects: "write",
  idempotency: { kind: "keyed", field: "key" },
  input: {
    type: "object",
    required: ["amount", "currency", "key"],
    additionalProperties: false,
    properties: { amount: { type: "number" }, currency: text, key: text },
  },
});

interface Given {
  steps?: number;
  max?: number;
  denied?: string[];
  manifests?: ActionManifest[];
}

function stateOf({ steps = 8, max, denied = [], manifests = [search, charge] }: Given = {}): TurnState {
  const names = manifests.map(({ name }) => name);
  const { definition } = admitted(plan([agent("resolve", names)]), manifests);
  const rule = { fix: { currency: "EUR" }, ...(max === undefined ? {} : { max }) };
  const agents = { helper: { "billing.charge": rule, ...(max === undefined ? {} : { "crm.search": { max } }) } };
  const policy = { deny: [], approve: [], agents, ceiling: {} } as unknown as typeof definition.policy;
  return {
    run: "run-0001",
    step: "resolve",
    tools: agentTools(names, definition.manifests, policy, "helper"),
    denied: (action) => denied.includes(action),
    meter: new Meter({ steps }),
    nextN: 0,
    accepted: new Map(),
    dryRun: false,
    uncounted: 0,
  };
}

const find = (query: Val = "a", id = "c"): Proposal => ({ id, tool: "crm.search", args: { query } as never });
const pay: Proposal = { id: "p", tool: "billing.charge", args: { amount: 1 } };
const codes = (calls: readonly JudgedCall[]): unknown[] => calls.map((call) => [call.code, call.n]);

function judged(state: TurnState, proposals: Proposal[], round = OPEN): JudgedCall[] {
  return judgeProposals(copyState(state), proposals, round);
}

describe("what is said to a proposal", () => {
  test("I1: only exact declared names are tools", () => {
    const names = ["search", "crm.Search", " crm.search", "crm.*", "__proto__", "constructor", "", "crm.search\u0000"];
    const calls = judged(
      stateOf(),
      names.map((tool) => ({ id: "c", tool, args: { query: "a" } })),
    );
    expect(codes(calls)).toEqual(names.map(() => ["agent.undeclared_tool", null]));
    expect(calls[0]?.message).toContain("crm.search, billing.charge");
  });

  test("I2: a reserved input takes no position, arguments that do not fit take one, neither an attempt", () => {
    const state = copyState(stateOf({ steps: 1 }));
    const calls = judgeProposals(
      state,
      [
        { id: "a", tool: "billing.charge", args: { amount: 1, key: "mine" } },
        { id: "b", tool: "billing.charge", args: { amount: 1, currency: "USD" } },
        find(7),
        { id: "d", tool: "crm.search", argsText: "{" },
        find(),
      ],
      OPEN,
    );
    expect(codes(calls)).toEqual([
      ["agent.reserved_key", null],
      ["agent.reserved_key", null],
      ["action.invalid_input", 0],
      ["action.invalid_input", 1],
      [null, 2],
    ]);
    expect(state.meter.free).toBe(0);
  });

  test("I3: proposals are taken in order up to the budget, the rest refused whatever their arguments", () => {
    expect(codes(judged(stateOf({ steps: 2 }), [find(), find(), find(), find(7)]))).toEqual([
      [null, 0],
      [null, 1],
      ["agent.budget_exhausted", 2],
      ["agent.budget_exhausted", 3],
    ]);
    const spent = judged(stateOf(), [find()], { ...OPEN, budgetSpent: true });
    expect(codes(spent)).toEqual([["agent.budget_exhausted", 0]]);
    expect(takeCalls(stateOf(), spent, { ...OPEN, budgetSpent: true }).forBudget).toBe(true);
  });

  test("I3: a policy's own bound and its refusals stand beside the budget", () => {
    expect(codes(judged(stateOf({ max: 1 }), [find(), find(), pay]))).toEqual([
      [null, 0],
      ["tool_not_authorized", 1],
      [null, 2],
    ]);
    expect(codes(judged(stateOf({ denied: ["crm.search"] }), [find()]))).toEqual([["tool_not_authorized", 0]]);
  });

  test("I4: what stands beside a typed result is not done", () => {
    expect(codes(judged(stateOf(), [find()], { ...OPEN, resultOffered: true }))).toEqual([["agent.result_given", 0]]);
  });

  test("I4: nor is what stands beside a giving up, and no attempt is taken for it", () => {
    const round = { ...OPEN, gaveUp: true };
    const state = copyState(stateOf({ steps: 1 }));
    const calls = judgeProposals(state, [find(), { ...find(), tool: "crm.none" }], round);
    expect(codes(calls)).toEqual([
      ["agent.gave_up", 0],
      ["agent.undeclared_tool", null],
    ]);
    expect(state.meter.free).toBe(1);
    expect(takeCalls(stateOf(), calls, round).accepted).toEqual([]);
  });

  test("I5: a refusal of arguments names the field and not what stood in it", () => {
    const [call] = judged(stateOf(), [find(["a-secret-thing"])]);
    expect(JSON.stringify([call?.message, call?.details])).toContain("query");
    expect(JSON.stringify([call?.message, call?.details])).not.toContain("a-secret-thing");
  });

  test("more than 64 are refused as one", () => {
    const calls = judged(
      stateOf({ steps: 100 }),
      Array.from({ length: MAX_PROPOSALS + 9 }, () => find()),
    );
    expect(calls).toHaveLength(MAX_PROPOSALS + 1);
    expect(calls.at(-1)).toMatchObject({ code: "agent.too_many_calls", n: null });
  });
});

describe("I6: ids", () => {
  const proposed = (given: Proposal[], secrets: string[]): Proposal[] => {
    const texts = new SecretTexts();
    for (const secret of secrets) texts.add(secret);
    return identified(given, texts, stateOf().tools);
  };
  const ids = (given: string[], texts: string[] = []): string[] =>
    proposed(
      given.map((id) => find("a", id)),
      texts,
    ).map(({ id }) => id);

  test("are kept where they are good, and replaced where they are empty or taken", () => {
    expect(ids(["a", "b"])).toEqual(["a", "b"]);
    expect(ids(["", "a", "a", "call-0", "call-2"])).toEqual(["call-0-1", "a", "call-2-1", "call-0", "call-2"]);
    expect(new Set(ids(Array.from({ length: 65 }, () => "same"))).size).toBe(65);
  });

  test("say nothing sensitive and have an end", () => {
    expect(ids(["x-hunter2", "hunter2-x"], ["hunter2"]).join()).not.toContain("hunter2");
    expect(ids(["z".repeat(9_000)])[0]?.length).toBeLessThan(300);
    expect(ids([`${"z".repeat(195)}hunter2-and-more`], ["hunter2-and-more"])[0]).not.toContain("hunt");
  });

  test("so do names that are no tool's, and are none when they are cut", () => {
    const name = `${"z".repeat(195)}hunter2-and-more`;
    const [call] = judged(stateOf(), proposed([{ id: "c", tool: name, args: {} }], ["hunter2-and-more"]));
    expect(call).toMatchObject({ code: "agent.undeclared_tool" });
    expect(JSON.stringify(call)).not.toContain("hunt");
    const long = proposed([{ id: "c", tool: `crm.search${" ".repeat(300)}` }], [])[0]?.tool;
    expect(long).toHaveLength(200);
    expect(long?.endsWith("…")).toBe(true);
  });
});

describe("I7: a record is no authority", () => {
  /** What a record of `proposals` comes to when it has been changed so. */
  function taken(given: Given, proposals: Proposal[], change: (calls: JudgedCall[]) => JudgedCall[], round = OPEN) {
    const state = stateOf(given);
    const calls = judged(state, proposals);
    try {
      return { taken: takeCalls(state, change(structuredClone(calls)), round), state };
    } catch (error) {
      if (!(error instanceof HistoryMismatch)) throw error;
      return { fault: error.fault };
    }
  }
  const first = (more: Partial<JudgedCall>) => (calls: JudgedCall[]) =>
    calls.map((call, i) => (i === 0 ? { ...call, ...more } : call));
  const accepted = { verdict: "accepted", code: null } as const;

  test("as it was written it is taken, and moves the state as judging did", () => {
    const { taken: found, state } = taken({ steps: 3 }, [find(), { id: "x", tool: "no", args: {} }, pay], (c) => c);
    expect(found?.accepted.map((call) => [call.index, call.name, call.position])).toEqual([
      [0, "crm.search", "resolve.(tools)[0]"],
      [2, "billing.charge", "resolve.(tools)[1]"],
    ]);
    expect(found?.accepted[1]).toMatchObject({ args: { amount: 1, currency: "EUR" }, n: 1 });
    expect(found?.accepted[1]?.key).toBe(agentKey("run-0001", "resolve", 1));
    expect(found?.refused.map(({ index }) => index)).toEqual([1]);
    expect([state?.nextN, state?.meter.free]).toEqual([2, 1]);
  });

  test.each<[string, Given, Proposal[], (calls: JudgedCall[]) => JudgedCall[], string, Round?]>([
    ["a tool that is not declared", {}, [find()], first({ tool: "crm.delete" }), "agent.undeclared_tool"],
    ["arguments that do not fit", {}, [find()], first({ args: { query: 7 } }), "action.invalid_input"],
    ["an argument too many", {}, [find()], first({ args: { query: "a", all: true } }), "action.invalid_input"],
    ["arguments that are none", {}, [find()], first({ args: null }), "action.invalid_input"],
    ["a refusal turned round", {}, [find(7)], first(accepted), "action.invalid_input"],
    [
      "more than the budget",
      { steps: 1 },
      [find(), find()],
      (c) => c.map((x) => ({ ...x, ...accepted })),
      "agent.budget_exhausted",
    ],
    [
      "more than the policy's bound",
      { max: 1 },
      [find(), find()],
      (c) => c.map((x) => ({ ...x, ...accepted })),
      "tool_not_authorized",
    ],
    ["what the policy denies", { denied: ["crm.search"] }, [find()], first(accepted), "tool_not_authorized"],
    [
      "another value than the fixed one",
      {},
      [pay],
      first({ args: { amount: 1, currency: "USD" } }),
      "agent.reserved_key",
    ],
    ["no value in the fixed one's place", {}, [pay], first({ args: { amount: 1 } }), "agent.reserved_key"],
    [
      "a key among the arguments",
      {},
      [pay],
      first({ args: { amount: 1, currency: "EUR", key: "k" } }),
      "agent.reserved_key",
    ],
    ["a keyed call without its key", {}, [pay], first({ key: null }), "action.invalid_input"],
    ["a key that is none of its", {}, [find()], first({ key: "k" }), "no key"],
    ["a position that was not next", {}, [find()], first({ n: 4 }), "position 0"],
    ["a refusal with a position that was not next", {}, [find(7)], first({ n: 4 }), "position 0"],
    ["a verdict of its own", {}, [find()], first({ verdict: "approved" }), "accepted or refused"],
    ["a call beside a result", {}, [find()], (c) => c, "agent.result_given", { ...OPEN, resultOffered: true }],
    ["a call after the bound", {}, [find()], (c) => c, "agent.budget_exhausted", { ...OPEN, budgetSpent: true }],
    [
      "more than 64",
      { steps: 99 },
      Array.from({ length: 65 }, () => find()),
      (c) => c.map((x) => ({ ...(c[0] as JudgedCall), n: x.n ?? 64 })),
      "agent.too_many_calls",
    ],
  ])("%s does not fit", (_name, given, proposals, change, expected, round) => {
    const { fault } = taken(given, proposals, change, round);
    expect(fault).toMatchObject({ code: "history.mismatch", details: { kind: "agent.turn", expected } });
    expect(fault?.at).toMatch(/^resolve\.\(tools\)\[\d+\]$/);
  });

  test("WX-55: a recorded key is followed as it stands, and never derived again", () => {
    const { taken: found } = taken({}, [pay], first({ key: `wf-agent-v1:${"0".repeat(64)}` }));
    expect(found?.accepted[0]?.key).toBe(`wf-agent-v1:${"0".repeat(64)}`);
  });

  test("arguments that the history holds masked cannot be judged and pass", () => {
    const masked = mark(null, { sensitive: true, redacted: "unsealed" });
    expect(taken({}, [find()], first({ args: { query: masked } })).taken?.accepted).toHaveLength(1);
    expect(taken({}, [pay], first({ args: { amount: 1, currency: masked } })).taken?.accepted).toHaveLength(1);
    expect(taken({ steps: 0 }, [find()], first({ ...accepted, args: { query: masked } })).fault?.code).toBe(
      "history.mismatch",
    );
  });
});
