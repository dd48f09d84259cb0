import { describe, expect, test } from "vitest";
import { foldRecords, initialState, toResult } from "./fold.ts";
import { did, History } from "./testing/history.ts";

const KEYED = { action: "crm.add", key: "k1" };

describe("the fold (DU-01)", () => {
  test("a run under way is told from what is known so far", () => {
    const history = new History("r1")
      .accepted({ dry_run: true })
      .started()
      .call(
        "a",
        1,
        {},
        { after: 100, trail: [did("x", "skipped"), did("c", "handled", { code: "a.b", reason: "no" })] },
      )
      .callFailed("b", "action.auth", { retry: true })
      .call("b", 2, {}, { attempt: 2 });
    expect(toResult(foldRecords(history.records))).toEqual({
      type: "result",
      run: "r1",
      status: "running",
      outputs: null,
      error: null,
      digest: null,
      duration_ms: 120,
      counts: { tool_attempts: 3, tokens: 0, agent_turns: 0, events: 5 },
      forgiven: [{ at: "c", code: "a.b", reason: "no" }],
      skipped: [],
      truncated: [],
      unknown: [],
      cleanup: [],
      waiting: [],
      dry_run: true,
      suppressed: [],
      undetermined: [],
    });
  });

  test("the end brings status, error, outputs and digest", () => {
    const error = { code: "action.auth", position: "a", message: "No.", details: { a: 1 }, cause: null };
    const history = new History()
      .accepted()
      .started()
      .ended("failed", { error, outputs: { o: 1 } });
    const result = toResult(foldRecords(history.records));
    expect(result).toMatchObject({ status: "failed", error, outputs: { o: 1 } });
    expect(result.digest).toMatch(/^sha256:/);
  });

  test("trails give forgiven, skipped and truncated", () => {
    const history = new History().accepted().call(
      "a",
      1,
      {},
      {
        trail: [
          did("l[1]", "item_skipped", { cause: "failure", step: "l[1].a", reason: "broke" }),
          did("l[2]", "forgiven", { code: "a.b", reason: "" }),
          did("l", "truncated", { cause: "max", done: 3, left: 4 }),
          did("w", "truncated", { cause: "max_iterations", done: 100, left: null }),
          did("l", "loop_ended", { rounds: 3 }),
        ],
      },
    );
    expect(toResult(foldRecords(history.records))).toMatchObject({
      skipped: [{ at: "l[1]", cause: "failure", step: "l[1].a", reason: "broke" }],
      forgiven: [{ at: "l[2]", code: "a.b", reason: "" }],
      truncated: [
        { at: "l", cause: "max", done: 3, left: 4 },
        { at: "w", cause: "max_iterations", done: 100, left: null },
      ],
    });
  });

  test("what was not sent counts as no attempt; tokens and turns add up", () => {
    const turn = { messages: [], calls: [], finish: "stop" };
    const history = new History()
      .accepted()
      .call("a", 1, { outcome: "suppressed", effect: "suppressed" })
      .callFailed("b", "action.invalid_input", { dispatched: false })
      .callFailed("c", "action.auth")
      .add("agent.turn", "g.(turns)[0]", { ...turn, usage: { input: 10, output: 5 } })
      .add("agent.turn", "g.(turns)[1]", { ...turn, usage: null });
    expect(toResult(foldRecords(history.records)).counts).toEqual({
      tool_attempts: 1,
      tokens: 15,
      agent_turns: 2,
      events: 6,
    });
  });

  test("an unknown effect stays listed until somebody settles it, before the end or after", () => {
    const lost = new History().accepted().callUnknown("a", "connection_lost", KEYED).callUnknown("b", "executor_lost");
    expect(foldRecords(lost.records).unknown).toEqual([
      { position: "a", action: "crm.add", code: "connection_lost", key: "k1" },
      { position: "b", action: "crm.search", code: "executor_lost" },
    ]);
    lost.add("call.settled", "b", { by: "ana", how: "succeeded", value: 1 });
    const { counts, unknown } = foldRecords(lost.records);
    lost.add("run.ended", "", {
      status: "completed",
      error: null,
      outputs: null,
      counts: { ...counts, events: counts.events + 1 },
      forgiven: [],
      skipped: [],
      truncated: [],
      unknown: [...unknown],
      cleanup: [],
      digest: "sha256:0",
    });
    expect(foldRecords(lost.records).unknown.map((entry) => entry.position)).toEqual(["a"]);
    lost.add("call.settled", "a", { by: "ana", how: "failed", code: "x.y" });
    expect(foldRecords(lost.records).unknown).toEqual([]);
    expect(foldRecords(lost.records).status).toBe("completed");
  });

  test("an unknown attempt that is tried again with its key is not unknown", () => {
    const history = new History().accepted().callUnknown("a", "connection_lost", { ...KEYED, retry: true });
    expect(foldRecords(history.records).unknown).toEqual([]);
    history.callUnknown("a", "connection_lost", KEYED, { attempt: 2 }).call("a", 1, KEYED, { attempt: 3 });
    expect(foldRecords(history.records).unknown).toEqual([]);
  });

  test("the key of an agent's call comes from its turn", () => {
    const call = { tool: "crm.add", args: {}, verdict: "accepted", code: null, n: 0, key: "wf-agent-v1:9" };
    const history = new History()
      .accepted()
      .add("agent.turn", "g.(turns)[0]", { messages: [], calls: [call], usage: null, finish: "tool" })
      .add("call.ended", "g.(tools)[0]", {
        action: "crm.add",
        connection: "main",
        outcome: "unknown",
        ambiguity: { code: "timeout_after_dispatch", details: null },
        effect: "unknown",
        retry: false,
        late: false,
        queued_ms: 0,
        duration_ms: 1,
      });
    expect(foldRecords(history.records).unknown).toEqual([
      { position: "g.(tools)[0]", action: "crm.add", code: "timeout_after_dispatch", key: "wf-agent-v1:9" },
    ]);
  });

  test("a suspended run says what it waits for, a resumed one waits for nothing", () => {
    const ask = { id: "1", url: null, text: "Go?", returns: [], assignees: [], approvers: null };
    const history = new History()
      .accepted()
      .add("ask.opened", "q", { ...ask, for: "ask", expires_at: "2026-02-01T00:00:00.000Z" })
      .add("ask.opened", "p", { ...ask, for: "approval", expires_at: null })
      .add("wait.set", "w", { due: "2026-03-01T00:00:00.000Z" })
      .add("ask.ended", "p", { how: "approved", by: ["ana"], value: null })
      .add("run.suspended", "", { reason: "ask", positions: ["q", "w", "h"] });
    const state = foldRecords(history.records);
    expect(state.status).toBe("suspended");
    expect(state.waiting).toEqual([
      { position: "q", reason: "ask", due: "2026-02-01T00:00:00.000Z" },
      { position: "w", reason: "timer", due: "2026-03-01T00:00:00.000Z" },
      { position: "h", reason: "ask", due: null },
    ]);
    history.add("run.resumed", "", { by: "ben", redispatched: [] });
    expect(toResult(foldRecords(history.records))).toMatchObject({ status: "running", waiting: [] });
  });

  test("I3: bodies that make no sense give a state all the same", () => {
    const history = new History().accepted().ended("completed");
    for (const record of history.records) {
      const junk = [{}, { status: 7, error: [], counts: null, forgiven: "x", unknown: [3, null] }, { calls: { a: 1 } }];
      for (const body of junk) expect(() => foldRecords([{ ...record, body } as typeof record])).not.toThrow();
    }
    expect(foldRecords([]).status).toBe(initialState().status);
  });
});
