/** Meter against Budget where several agents run at once: branches, items side by side, reads side by side. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { sleep } from "../base/clock.ts";
import { emptyObject, type Json, type JsonObject } from "../base/json.ts";
import { createVirtualClock } from "../host/clocks/virtual-clock.ts";
import type { Budget } from "../plan/budget.ts";
import type { Step } from "../plan/step.ts";
import { admitted, agent, common, each, manifest, plan } from "../run/testing/plan.ts";
import { FakeConnector, runPlan } from "../run/testing/runner.ts";
import type { ModelPort, Proposal } from "./model.ts";

const GRACE = 50;
const find = manifest("crm.find", { retry: { attempts: 3, backoff: 7, on: ["action.unavailable"] }, timeout: 60 });
const note = manifest("crm.note", { effects: "write", idempotency: { kind: "keyed", field: "key" }, timeout: 60 });

const turn = fc.record({
  calls: fc.array(fc.constantFrom("crm.find", "crm.note", "crm.other"), { maxLength: 4 }),
  tokens: fc.option(fc.nat(9), { freq: 6 }),
  takes: fc.nat(40),
  ends: fc.oneof({ weight: 8, arbitrary: fc.constant(false) }, fc.constant(true)),
});
const tool = fc.record({ takes: fc.nat(90), fails: fc.boolean() });
const budget: fc.Arbitrary<Budget> = fc.oneof(
  fc.record({ steps: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ steps: fc.integer({ min: 1, max: 9 }), tokens: fc.integer({ min: 1, max: 20 }) }),
  fc.record({ duration: fc.integer({ min: 1, max: 150 }), tokens: fc.integer({ min: 1, max: 40 }) }),
  fc.record({ duration: fc.integer({ min: 1, max: 150 }), steps: fc.integer({ min: 1, max: 9 }) }),
);
const flow = fc.record({
  branches: fc.array(budget, { minLength: 2, maxLength: 3 }),
  items: fc.record({ budget, count: fc.integer({ min: 1, max: 4 }), concurrency: fc.integer({ min: 1, max: 3 }) }),
  turns: fc.array(turn, { minLength: 1, maxLength: 12 }),
  tools: fc.array(tool, { minLength: 1, maxLength: 8 }),
});

interface Execution {
  budget: Budget;
  startedAt: number;
  dispatches: number;
  tokens: number;
  /** A turn without a count was seen, where tokens are bounded. */
  uncounted: boolean;
  /** Asked after the bound, or after a turn without a count. */
  furtherTurns: number;
}

function handled(step: Step): Step {
  return { ...step, catch: [{ codes: ["*"], steps: [] }] };
}

test("Meter never exceeds Budget, however agents that run at once take their turns", async () => {
  await fc.assert(
    fc.asyncProperty(flow, async ({ branches, items, turns, tools }) => {
      const clock = createVirtualClock({ start: 0 });
      const tooled = ["crm.find", "crm.note"];
      const parallel: Step = {
        ...common("both"),
        kind: "parallel",
        concurrency: 8,
        branches: [
          ...branches.map((bounds, i) => ({
            name: `b${i}`,
            steps: [handled(agent("one", tooled, { budget: bounds, onUnknown: "fail" }))],
          })),
          {
            name: "list",
            steps: [
              each(
                "many",
                { lit: Array.from({ length: items.count }, (_, i) => i) },
                [handled(agent("one", tooled, { budget: items.budget, onUnknown: "fail" }))],
                { concurrency: items.concurrency },
              ),
            ],
          },
        ],
      };
      const seen = new Map<string, Execution>();
      const of = (position: string): Execution => {
        const branch = /^both\.b(\d)/.exec(position)?.[1];
        const bounds = branch === undefined ? items.budget : (branches[Number(branch)] ?? {});
        const known = seen.get(position) ?? {
          budget: bounds,
          startedAt: clock.now(),
          dispatches: 0,
          tokens: 0,
          uncounted: false,
          furtherTurns: 0,
        };
        seen.set(position, known);
        return known;
      };
      const isSpent = ({ budget: { tokens }, ...spent }: Execution): boolean =>
        tokens !== undefined && (spent.tokens >= tokens || spent.uncounted);
      // What a port throws is the failure of its call, so what it sees is kept.
      const faults: string[] = [];
      const must = (holds: boolean, what: string): void => {
        if (!holds) faults.push(what);
      };
      let asked = 0;
      const model: ModelPort = {
        async turn({ step, turn: n, maxOutputTokens }) {
          const own = of(step);
          const { tokens: bound, duration } = own.budget;
          if (duration !== undefined) must(clock.now() <= own.startedAt + duration, `a turn of ${step} after its time`);
          if (isSpent(own)) own.furtherTurns++;
          const left = bound === undefined ? null : Math.max(0, bound - own.tokens);
          must(maxOutputTokens === left, `${maxOutputTokens} tokens offered where ${left} are left`);
          const said = turns[(n + asked++) % turns.length];
          await sleep(clock, said?.takes ?? 0);
          own.tokens += said?.tokens ?? 0;
          own.uncounted ||= said?.tokens === null && bound !== undefined;
          const calls: Proposal[] = (said?.calls ?? []).map((name) => ({
            id: "",
            tool: name,
            args: emptyObject() as JsonObject,
          }));
          return {
            is: "turn",
            text: "",
            calls,
            results: said?.ends === true ? [{ answer: "yes" }] : [],
            giveUp: null,
            usage: said?.tokens === null ? null : { input: 0, output: said?.tokens ?? 0 },
            finish: "stop",
          };
        },
      };
      let called = 0;
      const crm = new FakeConnector("crm", async ({ position }) => {
        const own = of(position.replace(/\.\(tools\)\[\d+\]$/, ""));
        own.dispatches++;
        const { steps, duration } = own.budget;
        must(own.dispatches <= (steps ?? Number.POSITIVE_INFINITY), `${position} is one attempt too many`);
        must(clock.now() <= own.startedAt + (duration ?? Number.POSITIVE_INFINITY), `${position} after its time`);
        must(own.tokens < (own.budget.tokens ?? Number.POSITIVE_INFINITY), `${position} after the tokens were spent`);
        const how = tools[called++ % tools.length];
        await sleep(clock, how?.takes ?? 0);
        return how?.fails === true
          ? { is: "failed", code: "action.unavailable", message: "later" }
          : { is: "ok", value: {} };
      });
      const { records, ended, replayed } = await runPlan(admitted(plan([parallel]), [find, note]), {
        connectors: [crm],
        model,
        clock,
      });
      clock.stop();
      expect(faults).toEqual([]);
      expect(ended.error).toBeNull();
      expect(replayed.is).toBe("equal");
      for (const [position, { budget: bounds, dispatches, tokens, furtherTurns }] of seen) {
        const end = records.find((record) => record.kind === "agent.ended" && record.position === position);
        const observed = end?.body["observed"] as { steps: number; tokens: number; duration_ms: number };
        expect(observed.steps).toBe(dispatches);
        // What a stopped turn has cost within the grace counts, what comes later is not known any more.
        const isStopped = bounds.duration !== undefined && observed.duration_ms >= bounds.duration;
        if (isStopped) expect(observed.tokens).toBeLessThanOrEqual(tokens);
        else expect(observed.tokens).toBe(tokens);
        const over = bounds.tokens === undefined ? 0 : Math.max(0, observed.tokens - bounds.tokens);
        expect(end?.body["overshoot"] as Json).toEqual(over === 0 ? null : { tokens: over });
        // Only a turn without a count is followed by one more, for the result.
        expect(furtherTurns).toBeLessThanOrEqual(1);
        if (bounds.duration !== undefined) {
          // A call under way has the grace to settle, then its signal, then the grace again.
          expect(observed.duration_ms).toBeLessThanOrEqual(bounds.duration + 2 * GRACE);
        }
      }
    }),
    { numRuns: 120 },
  );
}, 120_000);
