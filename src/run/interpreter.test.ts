import { expect, test } from "vitest";
import { action, admitted, each, expr, manifest, plan } from "./testing/plan.ts";
import { FakeConnector, runPlan } from "./testing/runner.ts";

const search = manifest("crm.search", { timeout: 20_000 });
const all = [{ codes: ["*"], steps: [action("caught", "crm.search")] }];
const untilTold = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

test("I1: a plan runs alike, whatever notation it says it was written in", async () => {
  const flow = plan([action("a", "crm.search")], { map: { n: { expr: expr("a.n") } } });
  for (const notation of ["workfile", "awl", "request"] as const) {
    const crm = new FakeConnector("crm", () => ({ is: "ok", value: { n: 7 } }));
    const { ended } = await runPlan(admitted({ ...flow, notation }, [search]), { connectors: [crm] });
    expect(ended).toMatchObject({ status: "completed", outputs: { n: 7 } });
  }
});

test("I2, I3: a stop outside counts more than the failure that came of it, and no catch sees it", async () => {
  const crm = new FakeConnector("crm", async (_request, signal) => {
    await untilTold(signal);
    return { is: "failed", code: "action.failed", message: "told to stop" };
  });
  const flow = plan([action("a", "crm.search", { lit: {} }, { catch: all }), action("b", "crm.search")]);
  const { ended, replayed } = await runPlan(admitted(flow, [search]), {
    connectors: [crm],
    during: (run) => setTimeout(() => run.cancel("ana"), 5),
  });
  expect(ended).toMatchObject({ status: "cancelled", error: null, forgiven: [] });
  expect(crm.calls.map((call) => call.position)).toEqual(["a"]);
  expect(replayed.is).toBe("equal");
});

test("I3: a failure goes to the step's own catch, else to the item of the loop, else to the run", async () => {
  const crm = new FakeConnector("crm", ({ position }) =>
    position.endsWith("bad") ? { is: "failed", code: "action.failed", message: "no" } : { is: "ok", value: null },
  );
  const bad = action("bad", "crm.search");
  const handled = { ...bad, catch: all } as typeof bad;
  const loop = (step: typeof bad, onItemFailure: "fail" | "skip"): ReturnType<typeof each> =>
    each("items", { lit: [1] }, [step], { onItemFailure });
  const run = async (step: ReturnType<typeof each>) =>
    (await runPlan(admitted(plan([step]), [search]), { connectors: [crm] })).ended;
  expect(await run(loop(handled, "fail"))).toMatchObject({
    status: "completed",
    forgiven: [{ code: "action.failed" }],
  });
  expect(await run(loop(bad, "skip"))).toMatchObject({ status: "completed", skipped: [{ at: "items[0]" }] });
  expect(await run(loop(bad, "fail"))).toMatchObject({ status: "failed", error: { code: "action.failed" } });
});

test("I4: what has failed binds nothing, and what has ended binds once", async () => {
  const crm = new FakeConnector("crm", ({ position }) =>
    position === "bad" ? { is: "failed", code: "action.failed", message: "no" } : { is: "ok", value: { n: 1 } },
  );
  const flow = plan(
    [action("good", "crm.search"), action("bad", "crm.search", { lit: {} }, { catch: [{ codes: ["*"], steps: [] }] })],
    { map: { good: { expr: expr("good.n") }, bad: { expr: expr("bad == null") } } },
  );
  const { ended } = await runPlan(admitted(flow, [search]), { connectors: [crm] });
  expect(ended).toMatchObject({ status: "completed", outputs: { good: 1, bad: true } });
});

test("I5: beyond the limit of executed steps none runs", async () => {
  const crm = new FakeConnector("crm", () => ({ is: "ok", value: null }));
  const flow = plan([each("items", { lit: [1, 2, 3, 4, 5, 6] }, [action("a", "crm.search")])]);
  const { ended, replayed } = await runPlan(admitted(flow, [search], { steps: 4 }), { connectors: [crm] });
  expect(ended.status).toBe("failed");
  expect(crm.calls.length).toBeLessThan(5);
  expect(replayed.is).toBe("equal");
});
