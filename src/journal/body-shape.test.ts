import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../base/json.ts";
import { Refusal } from "../errors/fault.ts";
import type { EventBody } from "./bodies.ts";
import { definitionHash } from "./digest.ts";
import type { EventKind } from "./event.ts";
import { exportLine, readExport } from "./export.ts";
import { History } from "./testing/history.ts";

const fault = { code: "action.failed", position: "find", message: "no", details: {}, cause: null };
const call: JsonObject = {
  action: "crm.search",
  connection: "main",
  args: {},
  key: null,
  outcome: "ok",
  value: 1,
  effect: "none",
  retry: false,
  late: false,
  queued_ms: 0,
  duration_ms: 1,
};
const turnCall: JsonObject = {
  id: "c1",
  tool: "crm.search",
  args: {},
  verdict: "accepted",
  code: null,
  n: 0,
  key: null,
};
const turn: JsonObject = {
  messages: [{ role: "agent", text: "", calls: [], results: [] }],
  calls: [],
  usage: null,
  finish: "stop",
};
const agentEnded: JsonObject = {
  reason: "result",
  result: 1,
  observed: { steps: 0, tokens: 0, duration_ms: 1 },
  overshoot: null,
};

/** A file whose third record is this, with hashes that fit. */
function fileWith(kind: EventKind, body: JsonObject, run = "r1"): string {
  const history = new History(run).accepted().started();
  history.add(kind, "find", body as unknown as EventBody[EventKind] as never, { beside: { args: {} } });
  return history.records.map(exportLine).join("");
}

function refused(text: string): Refusal {
  try {
    readExport(text);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error("it was read");
}

describe("a body of a file that somebody else may have written", () => {
  test.each<[EventKind, JsonObject]>([
    ["call.ended", call],
    ["call.ended", { ...call, outcome: "failed", fault }],
    ["call.ended", { ...call, outcome: "failed", fault: { ...fault, code: "an author's own\ncode" } }],
    ["call.ended", { ...call, outcome: "unknown", ambiguity: { code: "lost", message: "m", details: null } }],
    ["call.ended", { ...call, value: { $sensitive: true }, args: { $sensitive: true } }],
    ["agent.turn", { ...turn, calls: [turnCall] }],
    ["agent.turn", { ...turn, calls: [{ ...turnCall, verdict: "refused", args: null, n: null, code: "x.y" }] }],
    ["agent.ended", agentEnded],
    ["stop.decided", { cause: "timeout", limit: 5 }],
    ["notice.sent", { text: { $sensitive: true }, later: "a key that is not known yet" }],
  ])("%s is read as it is written", (kind, body) => {
    expect(readExport(fileWith(kind, body)).records).toHaveLength(3);
  });

  test.each<[EventKind, JsonObject, string]>([
    ["call.ended", { ...call, outcome: null }, "outcome"],
    ["call.ended", { ...call, outcome: "exploded" }, "outcome"],
    ["call.ended", { ...call, outcome: "constructor" }, "outcome"],
    ["call.ended", { ...call, outcome: "failed" }, "fault"],
    ["call.ended", { ...call, outcome: "cancelled", fault: null }, "fault"],
    ["call.ended", { ...call, outcome: "failed", fault: { ...fault, code: 5 } }, "fault.code"],
    ["call.ended", { ...call, outcome: "failed", fault: { ...fault, message: null } }, "fault.message"],
    ["call.ended", { ...call, outcome: "failed", fault: { ...fault, details: [] } }, "fault.details"],
    ["call.ended", { ...call, outcome: "failed", fault: without(fault, "details") }, "fault.details"],
    ["call.ended", { ...call, outcome: "failed", fault: { ...fault, cause: { code: "a.b" } } }, "fault.cause.position"],
    ["call.ended", { ...call, outcome: "failed", fault: caused(80) }, "causes"],
    ["call.ended", { ...call, outcome: "unknown" }, "ambiguity"],
    ["call.ended", { ...call, outcome: "unknown", ambiguity: { code: "lost" } }, "ambiguity.details"],
    ["call.ended", { ...call, duration_ms: "5" }, "duration_ms"],
    ["call.ended", { ...call, retry: null }, "retry"],
    ["call.ended", { ...call, action: "crm\u202esearch" }, "action"],
    ["call.ended", without(call, "value"), "value"],
    ["agent.turn", { ...turn, messages: 7 }, "messages"],
    ["agent.turn", { ...turn, messages: [{ role: "king" }] }, "messages[0].role"],
    ["agent.turn", { ...turn, messages: [{ role: "results", results: [{ id: "a" }] }] }, "messages[0].results[0].tool"],
    [
      "agent.turn",
      { ...turn, messages: [{ role: "agent", text: "", calls: [5], results: [] }] },
      "messages[0].calls[0]",
    ],
    ["agent.turn", { ...turn, calls: { length: 1 } }, "calls"],
    ["agent.turn", { ...turn, calls: [null] }, "calls[0]"],
    ["agent.turn", { ...turn, calls: [{ ...turnCall, n: -1 }] }, "calls[0].n"],
    ["agent.turn", { ...turn, calls: [{ ...turnCall, n: null }] }, "calls[0].n"],
    ["agent.turn", { ...turn, calls: [{ ...turnCall, args: "x" }] }, "calls[0].args"],
    ["agent.turn", { ...turn, calls: [{ ...turnCall, verdict: "maybe" }] }, "calls[0].verdict"],
    ["agent.turn", { ...turn, usage: 5 }, "usage"],
    ["agent.turn", { ...turn, usage: { input: "1", output: 1 } }, "usage.input"],
    ["agent.turn", { ...turn, fault: {} }, "fault.code"],
    ["agent.ended", { ...agentEnded, reason: "tired" }, "reason"],
    ["agent.ended", without(agentEnded, "observed"), "observed"],
    ["agent.started", {}, "agent"],
    ["stop.decided", { cause: "boredom" }, "cause"],
    ["stop.decided", { cause: "cancel", because: "x" }, "because"],
    ["run.ended", { status: "won" }, "status"],
    ["run.resumed", { by: "x", redispatched: "all" }, "redispatched"],
    ["run.suspended", { reason: 5, positions: [] }, "reason"],
    ["wait.set", { due: "soon" }, "due"],
    ["notice.sent", {}, "text"],
  ])("%s %j is journal.corrupt", (kind, body, place) => {
    const refusal = refused(fileWith(kind, body));
    expect(refusal.code).toBe("journal.corrupt");
    expect(refusal.fault.details).toEqual({ line: 3 });
    expect(refusal.fault.message).toContain("Line 3");
    expect(refusal.fault.message).toContain(`record 3 (${kind})`);
    expect(refusal.fault.message).toContain(place);
  });

  test.each<[string, Json]>([
    ["steps", 5],
    ["steps", [{ kind: "dance", reads: [], catch: [], cleanup: [] }]],
    ["steps", [{ kind: "branch", reads: [], catch: [], cleanup: [], arms: [5], else: [] }]],
    ["steps", [{ kind: "notify", text: 1, reads: [], catch: 1, cleanup: [] }]],
    ["callees", { other: { steps: null } }],
    ["inputs", null],
  ])("a plan whose %s are %j is no plan", (key, value) => {
    const history = new History("r1");
    Object.assign(history.definition.plan, { [key]: value });
    const again = new History("r1", history.definition.plan).accepted().started();
    expect(refused(again.records.map(exportLine).join("")).fault.message).toContain(`definition.plan.${key}`);
  });

  test.each<[string, Json]>([
    ["limits", null],
    ["limits", { deadline: "soon" }],
    ["policy", { deny: 5, agents: {} }],
    ["manifests", { "crm.search": null }],
    ["manifests", { "crm.search": { connector: "crm", connection: "main", manifest: {} } }],
    ["agents", { clerk: 5 }],
    ["files", { "a.yaml": 5 }],
    ["notify", "somebody"],
  ])("a definition whose %s are %j is none", (key, value) => {
    const history = new History("r1");
    const definition = { ...history.definition, [key]: value };
    const accepted = new History("r1").accepted({ definition }).records[0];
    const record = { ...accepted, def: definitionHash(definition) };
    const refusal = refused(`${JSON.stringify(record)}\n`);
    expect(refusal.code).toBe("journal.corrupt");
    expect(refusal.fault.message).toContain(`definition.${key}`);
  });

  test.each(["@last", "@failed", "a b", "a/b", "..", "a\u001b[2J", "a\u202eb", "", "x".repeat(500)])(
    "the run id %j is refused, and not shown raw",
    (run) => {
      const refusal = refused(fileWith("call.ended", call, run));
      expect(refusal.code).toBe("journal.corrupt");
      expect(refusal.fault.details).toEqual({ line: 1 });
      expect(refusal.fault.message).toContain("run id");
    },
  );

  test("nothing that a terminal would act on is quoted from the file", () => {
    const line = fileWith("call.ended", call).split("\n")[2] ?? "";
    const head = fileWith("call.ended", call).split("\n").slice(0, 2).join("\n");
    for (const damage of [
      { position: "find\u001b]0;x\u0007" },
      { kind: "call\u202e.ended\u001b[2J" },
      { trail: [{ position: "\u001b[2J", what: "skipped", detail: null }] },
      { v: "\u009b2J" },
      { body: { ...call, "a\u001b[2J": "\ud800" } },
    ]) {
      const refusal = refused(`${head}\n${JSON.stringify({ ...JSON.parse(line), ...damage })}\n`);
      expect(refusal.code).toBe("journal.corrupt");
      expect(refusal.fault.message).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    }
  });

  test("a time that is on no calendar is refused", () => {
    const text = fileWith("call.ended", call).replace(
      /"at":"2026-01-01T00:00:00\.030Z"/,
      '"at":"2026-19-41T00:00:00.030Z"',
    );
    expect(refused(text).fault.message).toContain("`at` is no time");
  });
});

function without(body: JsonObject, key: string): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== key));
}

function caused(depth: number): JsonObject {
  return depth === 0 ? fault : { ...fault, cause: caused(depth - 1) };
}
