import { expect, test } from "vitest";
import { action, common, each, plan } from "../run/testing/plan.ts";
import { planAt } from "./plan.ts";
import type { CallStep, Step } from "./step.ts";

test("a position leads to the file in which its step stands, through loops, branches and calls", () => {
  const call = (id: string, callee: string): CallStep => ({ ...common(id), kind: "call", callee, with: { lit: {} } });
  const inner = { ...plan([action("deep", "state.get")]), name: "inner" };
  const middle = { ...plan([call("again", "./inner.yaml")]), name: "middle", callees: { "./inner.yaml": inner } };
  const side: Step = {
    ...common("side"),
    kind: "parallel",
    branches: [{ name: "left", steps: [call("down", "./middle.yaml")] }],
    concurrency: 1,
  };
  const outer = { ...plan([each("loop", { lit: [1] }, [side]), action("deep", "state.get")]), name: "outer" };
  outer.callees = { "./middle.yaml": middle };
  expect(planAt(outer, "deep").name).toBe("outer");
  expect(planAt(outer, "loop[3].side.left.down.again.deep").name).toBe("inner");
  expect(planAt(outer, "loop[3].side.left.down.(cleanup).x").name).toBe("middle");
});
