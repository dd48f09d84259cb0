import { describe, expect, test } from "vitest";
import { foldRecords, toResult } from "./fold.ts";
import type { RunStatus } from "./outcome.ts";
import { exitOf, isPlainSuccess, type RunResult } from "./result.ts";
import { History } from "./testing/history.ts";

function result(status: RunStatus, more: Partial<RunResult> = {}): RunResult {
  return { ...toResult(foldRecords(new History().accepted().records)), status, ...more };
}

const UNKNOWN = [{ position: "a", action: "b.c", code: "connection_lost" }];
const fault = (code: string): RunResult["error"] => ({ code, position: "a", message: "", details: {}, cause: null });

describe("the table of ends", () => {
  test.each<[RunStatus, Partial<RunResult>, number]>([
    ["completed", {}, 0],
    ["stopped", {}, 0],
    ["failed", { error: fault("action.failed") }, 1],
    ["failed", { error: fault("agent.budget_exhausted") }, 5],
    ["timed_out", { error: fault("flow.timeout") }, 1],
    ["cancelled", {}, 1],
    ["suspended", {}, 6],
    ["completed", { unknown: UNKNOWN }, 8],
    ["stopped", { unknown: UNKNOWN }, 8],
    ["failed", { unknown: UNKNOWN, error: fault("agent.budget_exhausted") }, 8],
    ["timed_out", { unknown: UNKNOWN }, 8],
    ["cancelled", { unknown: UNKNOWN }, 8],
    ["suspended", { unknown: UNKNOWN }, 6],
  ])("%s %j exits %i", (status, more, exit) => {
    expect(exitOf(result(status, more))).toBe(exit);
  });

  test("a signal's own code comes before an unknown effect, for a cancelled run only", () => {
    expect(exitOf(result("cancelled", { unknown: UNKNOWN }), "SIGINT")).toBe(130);
    expect(exitOf(result("cancelled"), "SIGTERM")).toBe(143);
    expect(exitOf(result("completed"), "SIGINT")).toBe(0);
  });
});

test("no run with something left to say reads as plain success", () => {
  expect(isPlainSuccess(result("completed"))).toBe(true);
  expect(isPlainSuccess(result("failed"))).toBe(false);
  expect(isPlainSuccess(result("suspended"))).toBe(false);
  for (const more of [
    { forgiven: [{ at: "a", code: "b.c", reason: "" }] },
    { skipped: [{ at: "a", cause: "failure", step: null, reason: "" }] },
    { truncated: [{ at: "a", cause: "max" as const, done: 1, left: 2 }] },
    { unknown: UNKNOWN },
    { cleanup: [{ position: "a.(cleanup)", status: "failed", code: "x.y" }] },
  ]) {
    expect(isPlainSuccess(result("completed", more)), JSON.stringify(more)).toBe(false);
  }
});
