import { expect, test } from "vitest";
import type { CallPlace } from "../catalog/connector.ts";
import { action, admitted, manifest, plan } from "./testing/plan.ts";
import { type Answer, FakeConnector, runPlan } from "./testing/runner.ts";

const send = manifest("mail.send", { effects: "write", idempotency: { kind: "none" } });

/** A connector whose places are given as a function says. */
class Limited extends FakeConnector {
  left = 0;
  readonly #enter: (signal: AbortSignal) => Promise<CallPlace | "full" | "stopped">;
  constructor(
    answer: Answer,
    enter: (place: CallPlace, signal: AbortSignal) => Promise<CallPlace | "full" | "stopped">,
  ) {
    super("mail", answer);
    this.#enter = (signal) => enter({ queuedMs: 7, leave: () => void this.left++ }, signal);
  }
  enter(signal: AbortSignal): Promise<CallPlace | "full" | "stopped"> {
    return this.#enter(signal);
  }
}

const ok: Answer = () => ({ is: "ok", value: 1 });
const flow = admitted(plan([action("a", "mail.send")]), [send]);

test("a call that has waited says how long, and gives its place back", async () => {
  const mail = new Limited(ok, async (place) => place);
  const { records, replayed } = await runPlan(flow, { connectors: [mail] });
  expect(records.find(({ kind }) => kind === "call.ended")?.body).toMatchObject({ outcome: "ok", queued_ms: 7 });
  expect(mail.left).toBe(1);
  expect(replayed.is).toBe("equal");
});

test("the place comes back where the connector throws", async () => {
  const mail = new Limited(
    () => {
      throw new Error("broken");
    },
    async (place) => place,
  );
  await runPlan(flow, { connectors: [mail] });
  expect(mail.left).toBe(1);
});

test("where too many wait the call has failed for good: nothing was dispatched, nothing is unknown", async () => {
  const mail = new Limited(ok, async () => "full");
  const { ended, records, replayed } = await runPlan(flow, { connectors: [mail] });
  expect(ended).toMatchObject({ status: "failed", error: { code: "action.rate_limited" }, unknown: [] });
  expect(mail.calls).toEqual([]);
  expect(records.find(({ kind }) => kind === "call.ended")?.body).toMatchObject({ effect: "none", dispatched: false });
  expect(replayed.is).toBe("equal");
});

test("a cancel reaches a call that waits: nothing was dispatched, nothing is unknown", async () => {
  const mail = new Limited(
    ok,
    (_place, signal) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve("stopped"), { once: true })),
  );
  const { ended, records, replayed } = await runPlan(flow, {
    connectors: [mail],
    during: (run) => setTimeout(() => run.cancel("ana"), 5),
  });
  expect(ended).toMatchObject({ status: "cancelled", unknown: [] });
  expect(mail.calls).toEqual([]);
  expect(records.filter(({ kind }) => kind === "call.intent")).toEqual([]);
  expect(replayed.is).toBe("equal");
});
