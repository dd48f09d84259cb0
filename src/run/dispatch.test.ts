import { expect, test } from "vitest";
import { action, admitted, expr, manifest, plan } from "./testing/plan.ts";
import { FakeConnector, runPlan } from "./testing/runner.ts";

const read = manifest("crm.search", { timeout: 20_000 });
const send = manifest("crm.send", { effects: "write", idempotency: { kind: "none" }, timeout: 20_000 });
const failing = { is: "failed", code: "action.unavailable", message: "not now" } as const;

test("I1: arguments that do not fit, the key included, are dispatched nowhere", async () => {
  const crm = new FakeConnector("crm", () => ({ is: "ok", value: { n: 7 } }));
  const input = { type: "object", required: ["q"], properties: { q: { type: "string" } } };
  const wants = manifest("crm.find", { input });
  const flow = plan([action("a", "crm.search"), action("b", "crm.find", { map: { q: { expr: expr("a.n") } } })]);
  const { ended } = await runPlan(admitted(flow, [read, wants]), { connectors: [crm] });
  expect(ended.error?.code).toBe("action.invalid_input");
  expect(crm.calls.map((call) => call.action.name)).toEqual(["crm.search"]);

  const keyed = manifest("crm.pay", {
    effects: "write",
    idempotency: { kind: "keyed", field: "key" },
    input: { type: "object", required: ["key"], properties: { key: { type: "string", maxLength: 3 } } },
  });
  const paid = await runPlan(admitted(plan([action("p", "crm.pay")]), [keyed]), { connectors: [crm] });
  expect(paid.ended.error?.code).toBe("action.invalid_input");
  expect(crm.calls).toHaveLength(1);
});

test("I2: the intent of an effect that cannot be repeated stands before its call and its result", async () => {
  const crm = new FakeConnector("crm", () => ({ is: "ok", value: null }));
  const { records } = await runPlan(
    admitted(plan([action("a", "crm.send"), action("b", "crm.search")]), [read, send]),
    {
      connectors: [crm],
    },
  );
  const kinds = records.map((record) => `${record.position} ${record.kind}`);
  expect(kinds.indexOf("a call.intent")).toBeGreaterThan(0);
  expect(kinds.indexOf("a call.intent")).toBeLessThan(kinds.indexOf("a call.ended"));
  expect(kinds).not.toContain("b call.intent");
});

test("I3: every attempt of one invocation carries the same key", async () => {
  const crm = new FakeConnector("crm", ({ attempt }) => (attempt < 3 ? failing : { is: "ok", value: null }));
  const pay = manifest("crm.pay", {
    effects: "write",
    idempotency: { kind: "keyed", field: "key" },
    retry: { attempts: 3, backoff: 0, on: ["action.unavailable"] },
  });
  const { ended } = await runPlan(admitted(plan([action("a", "crm.pay"), action("b", "crm.pay")]), [pay]), {
    connectors: [crm],
  });
  expect(ended.status).toBe("completed");
  const keys = crm.calls.map((call) => call.key);
  expect(keys).toHaveLength(6);
  expect(new Set(keys.slice(0, 3)).size).toBe(1);
  expect(crm.calls[0]?.args).toEqual({ key: keys[0] });
  expect(new Set(keys.slice(3)).size).toBe(1);
  expect(keys[3]).not.toBe(keys[0]);
});

test("I4: a readable success that comes after the signal is kept, as late", async () => {
  const crm = new FakeConnector("crm", async (_request, signal) => {
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    return { is: "ok", value: { id: 1 } };
  });
  const { ended, records } = await runPlan(admitted(plan([action("a", "crm.send")]), [send]), {
    connectors: [crm],
    during: (run) => setTimeout(() => run.cancel("ana"), 5),
  });
  expect(ended).toMatchObject({ status: "cancelled", unknown: [] });
  const call = records.find(({ kind }) => kind === "call.ended");
  expect(call?.body).toMatchObject({ outcome: "ok", late: true, effect: "done", value: { id: 1 } });
});

test("I5: what loses its connection is unknown for an effect and a plain failure for a read", async () => {
  const crm = new FakeConnector("crm", () => ({ is: "ambiguous", code: "connection_lost", message: "gone" }));
  const reading = await runPlan(admitted(plan([action("a", "crm.search")]), [read]), { connectors: [crm] });
  expect(reading.ended).toMatchObject({ error: { code: "action.unavailable" }, unknown: [] });
  const sending = await runPlan(admitted(plan([action("a", "crm.send")]), [send]), { connectors: [crm] });
  expect(sending.ended).toMatchObject({ error: { code: "flow.action_ambiguous" }, unknown: [{ position: "a" }] });
});

test("I6: a call that hears no signal is over after the drain grace", async () => {
  const crm = new FakeConnector("crm", () => new Promise(() => {}));
  const { ended } = await runPlan(admitted(plan([action("a", "crm.send")]), [send]), {
    connectors: [crm],
    during: (run) => setTimeout(() => run.cancel("ana"), 5),
  });
  expect(ended).toMatchObject({ status: "cancelled", unknown: [{ position: "a", action: "crm.send" }] });
});

test("I7: nothing is dispatched after a stop, the wait for a retry included", async () => {
  const crm = new FakeConnector("crm", () => failing);
  const patient = { ...read, retry: { attempts: 5, backoff: 60_000, on: ["action.unavailable"] } };
  const { ended, records } = await runPlan(admitted(plan([action("a", "crm.search")]), [patient]), {
    connectors: [crm],
    during: (run) => setTimeout(() => run.cancel("ana"), 20),
  });
  expect(ended.status).toBe("cancelled");
  expect(crm.calls).toHaveLength(1);
  const last = records.filter(({ kind }) => kind === "call.ended").at(-1);
  expect(last?.body).toMatchObject({ outcome: "cancelled", dispatched: false });
});
