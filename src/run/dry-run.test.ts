import { expect, test } from "vitest";
import { Cursor, pagesOfRecords } from "../journal/cursor.ts";
import type { RunRecord } from "../journal/event.ts";
import { outOfJson } from "../journal/hashes.ts";
import type { Value } from "../plan/expression.ts";
import { BASIC_RUNNERS } from "./interpreter.ts";
import { replayRun } from "./replay.ts";
import { action, admitted, agent, expr, manifest, plan } from "./testing/plan.ts";
import { FakeConnector, runPlan, turns } from "./testing/runner.ts";

const find = manifest("crm.find");
const write = manifest("crm.write", { effects: "write", dryRun: { kind: "suppress" } });
const harmless = manifest("crm.harmless", { effects: "write" });
const pretend = manifest("crm.pretend", { effects: "write", dryRun: { kind: "simulate", output: { id: "p" } } });
const once = manifest("crm.once", {
  effects: "destructive",
  idempotency: { kind: "none" },
  dryRun: { kind: "suppress" },
  retry: { attempts: 3, backoff: 0, on: ["action.failed"] },
});
const ALL = [find, write, harmless, pretend, once];

function read(source: string): Value {
  return { expr: expr(source) };
}

async function rehearse(...steps: Parameters<typeof plan>[0]) {
  const crm = new FakeConnector("crm", ({ action: { name } }) => ({ is: "ok", value: { id: name } }));
  const ran = await runPlan(admitted(plan(steps), ALL), { connectors: [crm], dryRun: true });
  return { ...ran, called: crm.calls.map((call) => call.action.name) };
}

test("I1: only what its manifest lets a dry run execute reaches a connector", async () => {
  const { ended, called, replayed } = await rehearse(
    ...ALL.map(({ name }, index) => action(`s${index}`, name, { lit: {} })),
  );
  expect(called).toEqual(["crm.find", "crm.harmless"]);
  expect(ended.suppressed?.map((entry) => [entry.action, entry.simulated ?? false])).toEqual([
    ["crm.write", false],
    ["crm.pretend", true],
    ["crm.once", false],
  ]);
  expect(ended.counts.tool_attempts).toBe(2);
  expect(replayed.is).toBe("equal");
});

test("I2: what reads a suppressed value is suppressed, a read as well", async () => {
  const { ended, called } = await rehearse(
    action("made", "crm.write", { lit: {} }),
    action("looked", "crm.find", { map: { deep: { list: [read("made.id")] } } }),
    action("given", "crm.harmless", { map: { text: read("default(made.id, 'x') + '!'") } }),
    action("plain", "crm.find", { lit: { a: 1 } }),
  );
  expect(called).toEqual(["crm.find"]);
  expect(ended.suppressed?.map(({ position, because }) => [position, because])).toEqual([
    ["made", "dry_run"],
    ["looked", "reads_suppressed"],
    ["given", "reads_suppressed"],
  ]);
});

test("I3: a guard that rests on a suppressed value lets nothing run, and its ways are named", async () => {
  const { ended, called } = await rehearse(action("made", "crm.write", { lit: {} }), {
    ...action("maybe", "crm.find", { lit: {} }),
    guard: expr("made.id == null"),
  });
  expect(called).toEqual([]);
  expect(ended.undetermined).toEqual([
    {
      position: "maybe",
      could: [
        { branch: "runs", steps: ["maybe"], actions: ["crm.find"], agents: [] },
        { branch: "skipped", steps: [], actions: [], agents: [] },
      ],
    },
  ]);
});

test("an agent that a dry run has shown a suppressed result gives one", async () => {
  const crm = new FakeConnector("crm", () => ({ is: "ok", value: 1 }));
  const call = { id: "1", tool: "crm.write", args: {} };
  const model = turns({ calls: [call] }, { results: [{ answer: "made up" }] });
  const flow = admitted(plan([agent("a", ["crm.write"])], { map: { out: read("a.answer") } }), ALL);
  const { ended, replayed } = await runPlan(flow, { connectors: [crm], model, dryRun: true });
  expect(crm.calls).toEqual([]);
  expect(ended.outputs).toEqual({ out: { $suppressed: true } });
  expect(model.requests[1]?.messages.at(-1)).toMatchObject({ results: [{ ok: true, value: { $suppressed: true } }] });
  expect(replayed.is).toBe("equal");
});

test.each<[string, boolean, (body: RunRecord["body"]) => RunRecord["body"]]>([
  [
    "a suppressed call that is said to have been made",
    true,
    (body) => ({ ...body, outcome: "ok", value: 1, effect: "done" }),
  ],
  ["another reason", true, (body) => ({ ...body, because: "needs_approval" })],
  ["a result that no manifest simulates", true, (body) => ({ ...body, value: { id: "forged" } })],
  [
    "a call that is said to be suppressed",
    false,
    (body) => ({ outcome: "suppressed", effect: "suppressed", because: "dry_run", ...head(body) }),
  ],
])("I4, and dispatch I8: %s is refused", async (_name, dryRun, edit) => {
  const flow = admitted(plan([action("a", "crm.write", { lit: {} })]), ALL);
  const crm = new FakeConnector("crm", () => ({ is: "ok", value: 1 }));
  const { records } = await runPlan(flow, { connectors: [crm], ...(dryRun ? { dryRun: true as const } : {}) });
  const edited = records.map((record) => {
    if (record.kind !== "call.ended") return record;
    const body = edit(record.body);
    return { ...record, body, out: outOfJson(record.kind, body) };
  });
  const roots = {
    inputs: {},
    trigger: null,
    run: "run-0001",
    startedAt: records[1]?.at ?? "",
    identity: "tester",
    dryRun,
  };
  const replayed = await replayRun(flow, roots, BASIC_RUNNERS, new Cursor(pagesOfRecords(edited.slice(2)), 3));
  expect(replayed).toMatchObject({ is: "diverged", position: "a" });
});

function head(body: RunRecord["body"]): RunRecord["body"] {
  const { outcome: _outcome, effect: _effect, value: _value, ...rest } = body;
  return rest;
}
