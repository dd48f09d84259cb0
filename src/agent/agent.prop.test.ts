import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json, JsonObject } from "../base/json.ts";
import { Meter } from "../run/meter.ts";
import { admitted, agent, manifest, plan } from "../run/testing/plan.ts";
import { FakeConnector, runPlan, turns } from "../run/testing/runner.ts";

const search = manifest("crm.search", {
  retry: { attempts: 3, backoff: 0, on: ["action.unavailable"] },
  input: { type: "object", additionalProperties: false, properties: { n: { type: "integer" } } },
});
const note = manifest("crm.note", { effects: "write", idempotency: { kind: "keyed", field: "key" } });
const hidden = manifest("crm.delete", { effects: "write" });

const proposal = fc.record({
  id: fc.constantFrom("", "c", "d", "call-0"),
  tool: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom("crm.search", "crm.note") },
    fc.constantFrom("crm.delete", "delete", "__proto__", "constructor", "crm.search ", "CRM.SEARCH"),
    fc.string({ maxLength: 12 }),
  ),
  args: fc.oneof(
    { weight: 4, arbitrary: fc.record({ n: fc.integer({ min: 0, max: 9 }) }) },
    fc.dictionary(fc.constantFrom("n", "key", "__proto__", "x"), fc.constantFrom(1, "a")),
  ),
});
const usage = fc.option(fc.record({ input: fc.nat(6), output: fc.nat(6) }), { freq: 4 });
const turn = fc.record({
  calls: fc.array(proposal, { maxLength: 5 }),
  usage,
  results: fc.oneof(
    { weight: 9, arbitrary: fc.constant<Json[]>([]) },
    fc.constant<Json[]>([{ answer: "yes" }]),
    fc.constant<Json[]>([7]),
  ),
});
const budget = fc.oneof(
  fc.record({ steps: fc.integer({ min: 1, max: 6 }) }),
  fc.record({ tokens: fc.integer({ min: 1, max: 20 }), duration: fc.constant(60_000) }),
  fc.record({ steps: fc.integer({ min: 1, max: 6 }), tokens: fc.integer({ min: 1, max: 20 }) }),
);

test("meter I1: whatever an agent proposes: only declared tools go out, and never more than the budget", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 6 }), budget, async (script, bounds) => {
      const crm = new FakeConnector("crm", ({ args }) =>
        (args as { n?: number }).n === 3
          ? { is: "failed", code: "action.unavailable", message: "later" }
          : { is: "ok", value: {} },
      );
      const model = turns(...script, { giveUp: "that is all" });
      const step = agent("resolve", ["crm.search", "crm.note"], { budget: bounds });
      const flow = admitted(plan([step]), [search, note, hidden]);
      const { records, replayed } = await runPlan(flow, { connectors: [crm], model });

      const names = new Set(crm.calls.map(({ action }) => action.name));
      names.delete("crm.search");
      names.delete("crm.note");
      expect([...names]).toEqual([]);
      if ("steps" in bounds) expect(crm.calls.length).toBeLessThanOrEqual(bounds.steps);
      const ended = records.find(({ kind }) => kind === "agent.ended")?.body["observed"] as JsonObject;
      expect(ended["steps"]).toBe(crm.calls.length);
      if ("tokens" in bounds) {
        let spent = 0;
        let missing = false;
        for (const { kind, body } of records) {
          if (kind !== "agent.turn") continue;
          const used = body["usage"] as { input: number; output: number } | null;
          spent += used === null ? 0 : used.input + used.output;
          const calls = body["calls"] as { verdict: string }[];
          if (missing || spent >= bounds.tokens) expect(calls.map(({ verdict }) => verdict)).not.toContain("accepted");
          missing ||= used === null;
        }
        expect(ended["tokens"]).toBe(spent);
      }
      expect(replayed.is).toBe("equal");
    }),
    { numRuns: 200 },
  );
}, 60_000);

test("a meter gives out no more attempts than its budget, copies and all", () => {
  const step = fc.constantFrom("take", "copy", "dispatch", "count");
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 6 }), fc.array(step, { maxLength: 30 }), (steps, moves) => {
      const meter = new Meter({ steps });
      let given = 0;
      for (const move of moves) {
        if (move === "take" && meter.take()) given++;
        if (move === "copy") for (const copy = meter.copy(); copy.take(); );
        if (move === "dispatch" && meter.steps < given) meter.countDispatch();
        if (move === "count") meter.count(3);
        expect(given).toBeLessThanOrEqual(steps);
        expect(meter.free).toBe(steps - given);
        expect(meter.steps).toBeLessThanOrEqual(steps);
      }
    }),
  );
});
