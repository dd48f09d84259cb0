import { expect, test } from "vitest";
import type { Step } from "../plan/step.ts";
import { agent, common, each, plan } from "../run/testing/plan.ts";
import { agentStepsAt, placedAgents } from "./agent-steps.ts";

test("every list that an agent may stand in has its place, as its executions will have", () => {
  const inner = plan([agent("inner", [])]);
  const branch: Step = {
    ...common("either"),
    kind: "branch",
    subject: { lang: "cel", source: "true", span: common("x").span, reads: [] },
    arms: [{ is: true, steps: [agent("same", ["a.one"])] }],
    else: [agent("same", ["a.two"])],
  };
  const both: Step = {
    ...common("both"),
    kind: "parallel",
    concurrency: 2,
    branches: [{ name: "left", steps: [each("many", { lit: [1] }, [agent("item", [])])] }],
  };
  const question: Step = {
    ...common("ask_it"),
    kind: "ask",
    text: { lit: "?" },
    returns: [],
    assignees: { lit: [] },
    asked: [agent("told", [])],
    onExpired: [agent("late", [])],
  };
  const call: Step = { ...common("called"), kind: "call", callee: "./inner.workfile.yaml", with: { lit: {} } };
  const outer = agent("outer", [], { onExhausted: [agent("handler", [])] });
  outer.catch.push({ codes: ["*"], steps: [agent("caught", [])] });
  outer.cleanup.push({ on: "always", steps: [agent("cleaned", [])] });
  const flow = {
    ...plan([outer, branch, both, question, call]),
    cleanup: [{ on: "failure" as const, steps: [agent("last", [])] }],
    callees: { "./inner.workfile.yaml": inner },
  };
  expect(placedAgents(flow).map(({ place }) => place)).toEqual([
    "outer",
    "outer.(on_exhausted).handler",
    "outer.(catch).caught",
    "outer.(cleanup).cleaned",
    "either.same",
    "either.same",
    "both.left.many.item",
    "ask_it.(asked).told",
    "ask_it.(on_expired).late",
    "called.inner",
    "(cleanup).last",
  ]);
  expect(agentStepsAt(flow, "both.left.many[3].item")).toHaveLength(1);
  expect(agentStepsAt(flow, "either.same").map(({ tools }) => tools)).toEqual([["a.one"], ["a.two"]]);
  expect(agentStepsAt(flow, "both.left.item")).toEqual([]);
});
