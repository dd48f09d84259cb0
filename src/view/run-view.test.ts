import { describe, expect, test } from "vitest";
import { foldRecords, toResult } from "../journal/fold.ts";
import { StepsFold } from "../journal/steps.ts";
import { actionStep, did, eachStep, History, planOf } from "../journal/testing/history.ts";
import { runView } from "./run-view.ts";
import { Timeline } from "./timeline.ts";
import { faultText, lasted } from "./words.ts";

const PLAN = planOf([actionStep("a"), actionStep("b"), eachStep("l", [actionStep("x")])]);

function viewOf(history: History, isInterrupted = false) {
  const state = foldRecords(history.records);
  const steps = new StepsFold();
  for (const record of history.records) steps.add(record);
  return runView(state, steps.rows(PLAN, state.status), isInterrupted);
}

describe("the verdict", () => {
  test("says where a run failed, how far it came, and why", () => {
    const error = {
      code: "flow.timeout",
      position: "b",
      message: "billing.lookup timed out",
      details: {},
      cause: null,
    };
    const history = new History().accepted().call("a", 1).callFailed("b", "flow.timeout").ended("failed", { error });
    expect(viewOf(history).verdict).toBe("Failed in `b` after 1 of 3 steps: billing.lookup timed out");
    expect(viewOf(history).result).toEqual(toResult(foldRecords(history.records)));
  });

  test("an interrupted run is no running one", () => {
    const history = new History().accepted().call("a", 1);
    history.add("call.intent", "b", { action: "crm.add", connection: "main" });
    expect(viewOf(history).verdict).toBe("Running, after 1 of 3 steps");
    expect(viewOf(history).tree.map((node) => node.word)).toEqual(["completed", "running", "not started"]);
    expect(viewOf(history, true).verdict).toContain("Interrupted after 1 of 3 steps");
    expect(viewOf(history, true).tree.map((node) => node.word)).toEqual(["completed", "interrupted", "not started"]);
  });

  test("an effect of which nobody knows is neither failed nor cancelled, and what waits says so", () => {
    const lost = new History().accepted().callUnknown("a", "connection_lost");
    const words = (history: History) => viewOf(history).tree.map((node) => `${node.label} ${node.word}`);
    for (const status of ["failed", "cancelled", "timed_out"] as const) {
      const unknown = [{ position: "a", action: "crm.add", code: "connection_lost" }];
      const history = new History().accepted().callUnknown("a", "connection_lost").ended(status, { unknown });
      expect(words(history)).toEqual(["a unknown", "b not started", "l not started"]);
    }
    expect(words(lost.add("run.suspended", "", { reason: "halt", positions: ["a"] }))[0]).toBe("a unknown");
    const settled = lost.add("call.settled", "a", { how: "succeeded", value: 1, by: "ana" });
    expect(words(settled)[0]).toBe("a completed");
    const timed = new History().accepted().callFailed("a", "flow.timeout").ended("timed_out");
    expect(words(timed)[0]).toBe("a timed out");
    const parked = new History()
      .accepted()
      .add("wait.set", "a", { due: "2026-01-01T00:00:01.000Z" })
      .add("run.suspended", "", { reason: "timer", positions: ["a"] });
    expect(words(parked)[0]).toBe("a waiting");
  });

  test("a parked run says what it waits for", () => {
    const history = new History().accepted().add("run.suspended", "", { reason: "halt", positions: ["a"] });
    expect(viewOf(history).verdict).toBe(
      "Suspended after 0 of 3 steps: waits for an unknown effect to be settled at `a`",
    );
  });

  test("a good end with something left to say says it", () => {
    const history = new History()
      .accepted()
      .call("a", 1)
      .ended("completed", {
        forgiven: [{ at: "a", code: "x.y", reason: "" }],
        unknown: [{ position: "b", action: "c.d", code: "connection_lost" }],
        cleanup: [{ position: "(cleanup)", status: "failed", code: "x.y" }],
      });
    const view = viewOf(history);
    expect(view.verdict).toMatch(/^Completed/);
    expect(view.remarks).toEqual([
      "The outcome of one effect is unknown",
      "One failure was forgiven",
      "One cleanup did not succeed",
    ]);
    expect(viewOf(new History().accepted().ended("completed")).remarks).toEqual([]);
  });

  test("the tree follows the positions", () => {
    const history = new History().accepted().call("l[0].x", 1).call("l[1].x", 1).ended("completed");
    expect(viewOf(history).tree.map((node) => [node.label, node.children.map((child) => child.label)])).toEqual([
      ["a", []],
      ["b", []],
      ["l", ["[0].x", "[1].x"]],
    ]);
  });
});

describe("the timeline", () => {
  test("has a line for each record and each trail entry, with the key an agent's call went with", () => {
    const calls = [
      { tool: "crm.add", args: { a: 1 }, verdict: "accepted", code: null, n: 0, key: "wf-agent-v1:1" },
      { tool: "crm.drop", args: {}, verdict: "refused", code: "agent.undeclared_tool", n: null, key: null },
    ];
    const history = new History()
      .accepted()
      .add("agent.turn", "g.(turns)[0]", { messages: [], calls, usage: null, finish: "tool" })
      .add("call.ended", "g.(tools)[0]", {
        action: "crm.add",
        connection: "main",
        outcome: "unknown",
        ambiguity: { code: "connection_lost", details: null },
        effect: "unknown",
        retry: false,
        late: false,
        queued_ms: 0,
        duration_ms: 4,
      })
      .call("n", 1, {}, { trail: [did("l", "truncated", { cause: "max", done: 2, left: 5 })] });
    const timeline = new Timeline();
    const lines = history.records.flatMap((record) => timeline.add(record));
    expect(lines.map((line) => `${line.position}: ${line.text}`)).toEqual([
      ": accepted: sample",
      "g.(turns)[0]: turn: crm.add, crm.drop (refused: agent.undeclared_tool)",
      "g.(tools)[0]: crm.add: outcome unknown (connection_lost)",
      "l: cut short after 2 (max, 5 left)",
      "n: crm.search ok in 5ms",
    ]);
    expect(lines[2]).toMatchObject({ key: "wf-agent-v1:1", effect: "unknown", tone: "doubt", detail: { a: 1 } });
  });

  test("bodies without sense make lines all the same", () => {
    const timeline = new Timeline();
    for (const record of new History().accepted().started().call("a", 1).ended("failed").records) {
      expect(timeline.add({ ...record, body: {} }).length).toBe(1);
    }
  });
});

test("durations read alike, however long", () => {
  expect([0, 80, 3_888, 59_990, 125_400, 7_200_000].map(lasted)).toEqual(["0ms", "80ms", "3.9s", "1m", "2m5s", "2h"]);
});

test("bounds are said as people write them, and only where a number is the fault's own", () => {
  const message = "The run was not over within 90000 ms, its deadline.";
  const details = { deadline_ms: 90_000, text: "90000 ms" };
  expect(faultText({ message, details })).toBe("The run was not over within 1m30s, its deadline.");
  expect(faultText({ message, details: {} })).toBe(message);
  const error = { code: "flow.timeout", position: "", message, details, cause: null };
  expect(viewOf(new History().accepted().ended("timed_out", { error })).verdict).toContain("within 1m30s");
});
