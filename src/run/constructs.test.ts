import { describe, expect, test } from "vitest";
import type { CallResult } from "../catalog/connector.ts";
import type { CallStep, ParallelStep, RepeatStep, Step } from "../plan/step.ts";
import { action, admitted, common, each, expr, manifest, plan } from "./testing/plan.ts";
import { FakeConnector, runPlan } from "./testing/runner.ts";

const parallel = (
  id: string,
  branches: { [name: string]: Step[] },
  more: Partial<ParallelStep> = {},
): ParallelStep => ({
  ...common(id),
  kind: "parallel",
  branches: Object.entries(branches).map(([name, steps]) => ({ name, steps })),
  concurrency: 8,
  ...more,
});
const repeat = (id: string, steps: Step[], more: Partial<RepeatStep> = {}): RepeatStep => ({
  ...common(id),
  kind: "repeat",
  max: 5,
  steps,
  onMax: "fail",
  onItemFailure: "fail",
  ...more,
});
const let_ = (id: string, source: string): Step => ({
  ...common(id),
  kind: "assign",
  values: { v: { expr: expr(source) } },
});
const fail = (id: string, code: string): Step => ({
  ...common(id),
  kind: "exit",
  how: "fail",
  code: { lit: code },
  text: { lit: "no" },
});
const add = manifest("crm.add", { effects: "write", idempotency: { kind: "natural" } });
const undo = manifest("crm.undo", { effects: "write", idempotency: { kind: "natural" } });
const cleanup = (on: "always" | "failure", id: string, args = "{}") => ({
  on,
  steps: [action(id, "crm.undo", { map: { why: { expr: expr(args) } } })],
});
const echo = (request: { args: unknown }): CallResult => ({ is: "ok", value: request.args as never });

describe("branches side by side", () => {
  test("give a map in their own order, each with a frame of its own", async () => {
    const crm = new FakeConnector("crm", async (request) => {
      if (request.position === "p.slow.a") await new Promise((resolve) => setTimeout(resolve, 20));
      return echo(request);
    });
    const flow = plan(
      [
        parallel("p", {
          slow: [action("a", "crm.add", { lit: { n: 1 } }), let_("b", "a.n + 1")],
          fast: [action("a", "crm.add", { lit: { n: 5 } })],
        }),
      ],
      { map: { keys: { expr: expr("json(p)") } } },
    );
    const { ended, replayed } = await runPlan(admitted(flow, [add]), { connectors: [crm] });
    expect(ended.outputs).toEqual({ keys: '{"fast":{"n":5},"slow":{"v":2}}' });
    expect(replayed).toMatchObject({ is: "equal", digest: ended.digest });
  });

  test("a failed one stops the others, which are awaited and name the cause", async () => {
    let stopped = 0;
    const crm = new FakeConnector("crm", async (request, signal) => {
      if (request.position === "p.bad.a") return { is: "failed", code: "crm.gone", message: "gone" };
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      await new Promise((resolve) => setTimeout(resolve, 10));
      stopped++;
      return { is: "failed", code: "action.failed", message: "told to stop" };
    });
    const flow = plan([
      parallel("p", { x: [action("a", "crm.add")], bad: [action("a", "crm.add")], y: [action("a", "crm.add")] }),
    ]);
    const { ended, records, replayed } = await runPlan(admitted(flow, [add]), { connectors: [crm] });
    expect(ended).toMatchObject({ status: "failed", error: { code: "crm.gone", position: "p.bad.a" } });
    expect(stopped).toBe(2);
    expect(records.filter(({ kind }) => kind === "stop.decided").map(({ position }) => position)).toEqual([
      "p.x",
      "p.y",
    ]);
    expect(replayed.is).toBe("equal");
  });
});

describe("rounds", () => {
  test.each<[string, Partial<RepeatStep>, unknown]>([
    ["until is asked after a round and sees its steps", { test: { until: expr("s.v >= 3") } }, 3],
    ["while is asked before a round", { test: { while: expr("index < 2") }, from: { lit: 7 } }, 2],
    ["no round: the value is `from`", { test: { while: expr("false") }, from: { lit: 7 } }, 7],
    ["no test: max rounds", {}, 5],
    ["truncate keeps the last value", { test: { until: expr("false") }, onMax: "truncate", max: 2 }, 2],
  ])("%s", async (_, more, expected) => {
    const step = repeat("r", [let_("s", "index + 1")], { yield: { expr: expr("s.v") }, ...more });
    const { ended, replayed } = await runPlan(admitted(plan([step], { map: { r: { expr: expr("r") } } })));
    expect(ended).toMatchObject({ status: "completed", outputs: { r: expected } });
    expect(ended.truncated.length).toBe(more.onMax === "truncate" ? 1 : 0);
    expect(replayed.is).toBe("equal");
  });

  test("prev is the yield of the round before", async () => {
    const step = repeat("r", [let_("s", "prev + index")], { from: { lit: 10 }, max: 3, yield: { expr: expr("s.v") } });
    const { ended } = await runPlan(admitted(plan([step], { map: { r: { expr: expr("r") } } })));
    expect(ended.outputs).toEqual({ r: 13 });
  });

  test("a test that is never met fails with the rounds and the last value", async () => {
    const step = repeat("r", [let_("s", "index")], { test: { until: expr("false") }, max: 3 });
    const { ended } = await runPlan(admitted(plan([step])));
    expect(ended.error).toMatchObject({
      code: "flow.repeat_exhausted",
      position: "r",
      details: { rounds: 3, value: { v: 2 } },
    });
  });
});

describe("cleanups", () => {
  const order = async (flow: ReturnType<typeof plan>) => {
    const crm = new FakeConnector("crm", echo);
    const ran = await runPlan(admitted(flow, [add, undo]), { connectors: [crm] });
    expect(ran.replayed).toMatchObject({ is: "equal", digest: ran.ended.digest });
    return {
      ...ran,
      calls: crm.calls.map(({ position, args }) => [position, (args as { why?: unknown }).why ?? null]),
    };
  };

  test("I1, I3: `always` runs at the end of its list, the last declared first", async () => {
    const { ended, calls } = await order(
      plan([
        action("a", "crm.add", { lit: {} }, { cleanup: [cleanup("always", "one"), cleanup("always", "two")] }),
        action("b", "crm.add", { lit: {} }, { cleanup: [cleanup("failure", "never")] }),
      ]),
    );
    expect(calls.map(([position]) => position)).toEqual(["a", "b", "a.(cleanup).two", "a.(cleanup).one"]);
    expect(ended.status).toBe("completed");
    expect(ended.cleanup.map(({ status }) => status)).toEqual(["completed", "completed"]);
  });

  test("I2, I3: `failure` waits for the first list that fails, out of loops, the last iteration first", async () => {
    const { calls } = await order(
      plan([
        each(
          "l",
          { lit: [1, 2, 3] },
          [
            action(
              "book",
              "crm.add",
              { map: { why: { expr: expr("item") } } },
              { cleanup: [cleanup("failure", "undo", "book.why")] },
            ),
          ],
          { concurrency: 3 },
        ),
        fail("bad", "trip.bad"),
      ]),
    );
    expect(calls.slice(3)).toEqual([
      ["l[2].book.(cleanup).undo", 3],
      ["l[1].book.(cleanup).undo", 2],
      ["l[0].book.(cleanup).undo", 1],
    ]);
  });

  test("I4: what a timeout stopped is cleaned up, with the cause readable", async () => {
    const crm = new FakeConnector("crm", async (request, signal) => {
      if (request.action.name === "crm.add") {
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
        return { is: "failed", code: "action.failed", message: "told to stop" };
      }
      return echo(request);
    });
    const branch: Step = {
      ...common("b"),
      kind: "branch",
      subject: true,
      timeout: 20,
      arms: [
        {
          is: true,
          steps: [action("a", "crm.add", { lit: {} }, { cleanup: [cleanup("failure", "undo", "error.code")] })],
        },
      ],
      else: [],
    };
    const { ended, replayed } = await runPlan(admitted(plan([branch]), [add, undo]), { connectors: [crm] });
    expect(ended).toMatchObject({ status: "timed_out", error: { code: "flow.timeout", position: "b" } });
    expect(crm.calls.map(({ position, args }) => [position, args])).toContainEqual([
      "b.a.(cleanup).undo",
      { why: "flow.timeout" },
    ]);
    expect(replayed.is).toBe("equal");
  });

  test("I5: a failing one, and one that outlasts its grace, are reported and replace nothing", async () => {
    const crm = new FakeConnector("crm", async (request, signal) => {
      if (request.action.name === "crm.add") return echo(request);
      if (request.position.endsWith("one")) return { is: "failed", code: "crm.gone", message: "gone" };
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      return { is: "failed", code: "action.failed", message: "told to stop" };
    });
    const flow = plan([
      action("a", "crm.add", { lit: {} }, { cleanup: [cleanup("always", "one"), cleanup("always", "slow")] }),
    ]);
    const { ended, replayed } = await runPlan(admitted(flow, [add, undo], { cleanupGrace: 30 }), { connectors: [crm] });
    expect(ended.status).toBe("completed");
    expect(ended.cleanup).toEqual([
      { position: "a.(cleanup)", status: "timed_out", code: "flow.timeout" },
      { position: "a.(cleanup)", status: "failed", code: "crm.gone" },
    ]);
    expect(replayed.is).toBe("equal");
  });

  test("of a file: the handler of a failed run, at the very end", async () => {
    const flow = plan([
      action("a", "crm.add", { lit: {} }, { cleanup: [cleanup("failure", "undo")] }),
      fail("bad", "trip.bad"),
    ]);
    flow.cleanup = [cleanup("failure", "alarm", "error.code + error.position")];
    const { calls } = await order(flow);
    expect(calls.slice(1)).toEqual([
      ["a.(cleanup).undo", {}],
      ["(cleanup).alarm", "trip.badbad"],
    ]);
  });

  test("a cancel runs them", async () => {
    const crm = new FakeConnector("crm", async (request, signal) => {
      if (request.action.name !== "crm.add") return echo(request);
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      return { is: "failed", code: "action.failed", message: "told to stop" };
    });
    const flow = plan([action("a", "crm.add", { lit: {} }, { cleanup: [cleanup("failure", "undo", "error.code")] })]);
    const { ended, replayed } = await runPlan(admitted(flow, [add, undo]), {
      connectors: [crm],
      during: (run) => void setTimeout(() => run.cancel("ana"), 20),
    });
    expect(ended).toMatchObject({ status: "cancelled", cleanup: [{ position: "a.(cleanup)", status: "completed" }] });
    expect(crm.calls.at(-1)?.args).toEqual({ why: "run.cancelled" });
    expect(replayed.is).toBe("equal");
  });
});

describe("a file that is called", () => {
  const callee = () => {
    const inner = plan([action("a", "crm.add", { map: { n: { expr: expr("inputs.n + consts.more") } } })], {
      map: { n: { expr: expr("a.n") } },
    });
    inner.inputs = [{ name: "n", type: "integer", required: true }];
    inner.consts = { more: 1 };
    return inner;
  };
  const call = (n: string, more: Partial<CallStep> = {}): CallStep => ({
    ...common("c"),
    kind: "call",
    callee: "./other.workfile.yaml",
    with: { map: { n: { expr: expr(n) } } },
    ...more,
  });
  const calling = (step: CallStep, inner = callee()) => {
    const flow = plan([step], { map: { n: { expr: expr("c.n") } } });
    flow.callees = { "./other.workfile.yaml": inner };
    return flow;
  };

  test("sees its own inputs and constants; its outputs are the value, its steps stand below", async () => {
    const crm = new FakeConnector("crm", echo);
    const { ended, replayed } = await runPlan(admitted(calling(call("4")), [add]), { connectors: [crm] });
    expect(ended.outputs).toEqual({ n: 5 });
    expect(crm.calls.map(({ position }) => position)).toEqual(["c.a"]);
    expect(replayed.is).toBe("equal");
  });

  test("inputs that do not fit fail the step; nothing of the file runs", async () => {
    const crm = new FakeConnector("crm", echo);
    const { ended } = await runPlan(admitted(calling(call("'x'")), [add]), { connectors: [crm] });
    expect(ended.error).toMatchObject({ code: "input.invalid", position: "c" });
    expect(crm.calls).toEqual([]);
  });

  test("its own limits hold within those of the run", async () => {
    const inner = callee();
    inner.steps = [let_("x", "1"), let_("y", "2"), ...inner.steps];
    inner.limits = { steps: 2 };
    const { ended } = await runPlan(admitted(calling(call("4"), inner), [add]), {
      connectors: [new FakeConnector("crm", echo)],
    });
    expect(ended.error).toMatchObject({ code: "flow.limit_exceeded", position: "c.a", details: { limit: 2 } });
  });
});
