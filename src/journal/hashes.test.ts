import { describe, expect, test } from "vitest";
import { hashJson } from "../base/hash.ts";
import type { RunRecord } from "./event.ts";
import { HashCheck, inOf, inOfJson, outOf, outOfJson } from "./hashes.ts";
import { changed, History } from "./testing/history.ts";

const TURN = {
  messages: [],
  usage: { input: 3, output: 4 },
  finish: "stop",
  calls: [
    { tool: "crm.search", args: { query: "ana" }, verdict: "accepted", code: null, n: 0, key: "wf-agent-v1:abc" },
    { tool: "mail.send", args: {}, verdict: "refused", code: "agent.undeclared_tool", n: null, key: null },
  ],
};

/** A run in which an agent calls a tool, which is tried twice. */
function agentRun(): History {
  const beside = { args: { query: "ana" } };
  const call = { action: "crm.search", connection: "main", effect: "none" as const, late: false, queued_ms: 0 };
  const fault = { code: "action.unavailable", position: "a.(tools)[0]", message: "", details: {}, cause: null };
  return new History()
    .accepted()
    .add("agent.turn", "a.(turns)[0]", TURN)
    .add("call.intent", "a.(tools)[0]", { action: "crm.search", connection: "main" }, { beside })
    .add("call.ended", "a.(tools)[0]", { ...call, outcome: "failed", fault, retry: true, duration_ms: 1 }, { beside })
    .add(
      "call.ended",
      "a.(tools)[0]",
      { ...call, outcome: "ok", value: [1], retry: false, duration_ms: 2 },
      { beside, attempt: 2 },
    );
}

describe("in and out (DU-50, DU-51)", () => {
  test("I1: one thing is hashed as itself, several by their names", () => {
    const { records } = new History().accepted({ inputs: { a: 1 }, trigger: { due: "x" } });
    expect(records[0]?.in).toBe(hashJson({ inputs: { a: 1 }, trigger: { due: "x" } }));
    expect(records[0]?.out).toBeNull();
    expect(inOf("notice.sent", { text: "hello" })).toBe(hashJson("hello"));
    const ended = new History()
      .call("s", { ok: true })
      .callFailed("t", "action.auth")
      .callUnknown("u", "connection_lost");
    expect(ended.records.map((record) => record.out)).toEqual([
      hashJson({ ok: true }),
      hashJson("action.auth"),
      hashJson("connection_lost"),
    ]);
    expect(ended.records[0]?.in).toBe(hashJson({ action: "crm.search", args: { query: "ana" } }));
  });

  test("a value of null is a value, an absent one is nothing", () => {
    expect(outOfJson("ask.ended", { how: "answered", value: null })).toBe(hashJson(null));
    expect(outOfJson("ask.ended", { how: "expired" })).toBeNull();
  });

  test("I2: keys and times change no hash", () => {
    const [first] = TURN.calls;
    if (!first) throw new Error("no call");
    const other = { ...TURN, usage: null, calls: [{ ...first, key: "wf-agent-v1:other" }, ...TURN.calls.slice(1)] };
    expect(outOf("agent.turn", other)).toBe(outOf("agent.turn", TURN));
    expect(outOf("agent.turn", { ...TURN, calls: [{ ...first, args: { query: "ben" } }] })).not.toBe(
      outOf("agent.turn", TURN),
    );
    expect(outOf("agent.turn", { ...TURN, result: null })).not.toBe(outOf("agent.turn", TURN));
    const a = new History().call("s", 1, { key: "k1", duration_ms: 1, queued_ms: 9 }).records[0] as RunRecord;
    const b = new History().call("s", 1, { key: "k2", duration_ms: 2 }).records[0] as RunRecord;
    expect([a.in, a.out]).toEqual([b.in, b.out]);
  });

  test("I3: what lies beside a body must be handed over, else `in` cannot be told", () => {
    const code = { language: "python", code: "return 1" };
    expect(inOfJson("code.ended", code)).toBeUndefined();
    expect(inOfJson("code.ended", code, { ctx: { a: 1 }, network: [] })).toBe(
      hashJson({ ...code, ctx: { a: 1 }, network: [] }),
    );
    expect(inOfJson("call.ended", { action: "a.b" })).toBeUndefined();
    expect(inOfJson("wait.set", { due: "x" }, { wait: 500 })).toBe(hashJson(500));
  });
});

describe("HashCheck", () => {
  function faults(records: readonly RunRecord[]): (string | null)[] {
    const check = new HashCheck();
    return records.map((record) => check.check(record)?.which ?? null);
  }

  test("a history as it was written passes", () => {
    const history = agentRun()
      .add("wait.set", "w", { due: "2026-01-01T00:00:00.000Z" }, { beside: { wait: 500 } })
      .add("wait.ended", "w", { how: "fired" }, { beside: { wait: 500 } })
      .add("ask.opened", "q", {
        for: "ask",
        id: "1",
        url: null,
        text: "Go?",
        returns: [],
        assignees: [],
        approvers: null,
        expires_at: null,
      })
      .add(
        "ask.ended",
        "q",
        { how: "answered", by: ["ana"], value: { ok: true } },
        { beside: { text: "Go?", returns: [] } },
      )
      .ended("completed");
    expect(faults(history.records)).toEqual(history.records.map(() => null));
  });

  test("a body that does not hash to its out is found", () => {
    const { records } = agentRun();
    expect(faults(records.map((r) => (r.seq === 5 ? changed(r, { value: [2] }) : r)))).toEqual([
      null,
      null,
      null,
      null,
      "out",
    ]);
  });

  test("an agent's call is checked against the arguments in its turn, at every attempt", () => {
    const { records } = agentRun();
    const other = hashJson({ action: "crm.search", args: { query: "ben" } });
    for (const seq of [3, 4, 5]) {
      const bad = records.map((record) => (record.seq === seq ? { ...record, in: other } : record));
      expect(faults(bad)[seq - 1], `record ${seq}`).toBe("in");
    }
  });

  test("the end of a question is checked against its opening", () => {
    const history = new History()
      .add("ask.opened", "q", {
        for: "ask",
        id: "1",
        url: null,
        text: "Go?",
        returns: [],
        assignees: [],
        approvers: null,
        expires_at: null,
      })
      .add("ask.ended", "q", { how: "expired", by: [] }, { beside: { text: "Other?", returns: [] } });
    expect(faults(history.records)).toEqual([null, "in"]);
  });
});
