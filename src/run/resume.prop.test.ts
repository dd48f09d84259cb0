import fc from "fast-check";
import { expect, test } from "vitest";
import { agentRunner } from "../agent/loop.ts";
import type { TurnRequest } from "../agent/model.ts";
import { systemClock } from "../base/clock.ts";
import type { JsonObject } from "../base/json.ts";
import { newKey, openSealer } from "../host/keys/sealer.ts";
import { ownOwner } from "../host/processes/process-identity.ts";
import { openMemoryJournal } from "../host/stores/memory.ts";
import { Cursor, pagesOfRun } from "../journal/cursor.ts";
import { type RunRecord, recordKey } from "../journal/event.ts";
import type { Step } from "../plan/step.ts";
import { BASIC_RUNNERS } from "./interpreter.ts";
import { Past } from "./past.ts";
import { resumeRun } from "./run.ts";
import { action, admitted, agent, common, each, expr, manifest, plan } from "./testing/plan.ts";
import { FakeConnector, runPlan } from "./testing/runner.ts";

/** Whatever is asked for is answered by what was asked, so that two processes agree. */
function world(): { crm: FakeConnector; model: { turn: (request: TurnRequest) => Promise<never> } } {
  const crm = new FakeConnector("crm", (request) => {
    const { n } = request.args as { n?: number };
    if (n !== undefined && n % 5 === 3)
      return { is: "failed", code: n % 2 === 0 ? "crm.gone" : "action.unavailable", message: "no" };
    return { is: "ok", value: { n: (n ?? 0) + 1 } };
  });
  const model = {
    turn: async (request: TurnRequest) => {
      const usage = { input: 1, output: 1 };
      const base = { is: "turn" as const, text: "", results: [], giveUp: null, usage, finish: "stop" };
      const outcome =
        request.turn < 2
          ? {
              ...base,
              calls: [0, 1, 2].map((i) => ({ id: `c${i}`, tool: "crm.search", args: { n: request.turn * 3 + i } })),
            }
          : { ...base, calls: [], results: [{ answer: `${request.messages.length}` }] };
      return outcome as never;
    },
  };
  return { crm, model };
}

const retry = { attempts: 2, backoff: 0, on: ["action.unavailable"] };
const manifests = [manifest("crm.search", { retry })];

/** Small plans: actions that fail, loops, branches, agents, handlers, notices. */
const steps = fc.letrec<{ list: Step[]; step: Step }>((tie) => ({
  list: fc
    .array(tie("step"), { minLength: 1, maxLength: 3, depthIdentifier: "plan" })
    .map((list) => list.map((step, i) => ({ ...step, id: `s${i}` }))),
  step: fc.oneof(
    { depthIdentifier: "plan", maxDepth: 2 },
    fc
      .nat(7)
      .map((n) =>
        action("x", "crm.search", { lit: { n } }, { catch: [{ codes: ["*"], steps: [], value: { lit: null } }] }),
      ),
    fc.nat(7).map((n) => action("x", "crm.search", { lit: { n } })),
    fc
      .nat(4)
      .map((budget) =>
        agent("x", ["crm.search"], { budget: { steps: budget + 1 }, catch: [{ codes: ["agent.*"], steps: [] }] }),
      ),
    fc.constant<Step>({ ...common("x"), kind: "notify", text: { lit: "told" } }),
    fc
      .tuple(tie("list"), fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 3 }), fc.boolean())
      .map(([list, count, concurrency, skip]) =>
        each("x", { lit: Array.from({ length: count }, (_, i) => i) }, list, {
          concurrency,
          onItemFailure: skip ? "skip" : "fail",
        }),
      ),
    fc.tuple(tie("list"), tie("list"), fc.boolean()).map(
      ([then, other, yes]): Step => ({
        ...common("x"),
        kind: "branch",
        subject: expr(String(yes)),
        arms: [{ is: true, steps: then }],
        else: other,
      }),
    ),
  ),
}));

test("notes I3: a run that is cut at any record and resumed ends as if it had not been cut (DU-10)", async () => {
  await fc.assert(
    fc.asyncProperty(steps.list, fc.nat(1_000), async (list, where) => {
      const flow = admitted(plan(list), manifests);
      const whole = world();
      const { ended, records, replayed } = await runPlan(flow, { connectors: [whole.crm], model: whole.model });
      expect(replayed).toMatchObject({ is: "equal", digest: ended.digest });

      const cut = 2 + (where % (records.length - 2));
      const kept = records.slice(0, cut);
      const again = world();
      const journal = openMemoryJournal({ clock: systemClock });
      await journal.import(kept);
      const owner = ownOwner("later", "a test");
      const { lease } = await journal.acquire("run-0001", owner);
      const fresh: RunRecord[] = [];
      const active = resumeRun(
        flow,
        { inputs: {}, trigger: null, run: "run-0001", startedAt: records[1]?.at ?? "", identity: "tester" },
        kept.slice(0, 2),
        {
          clock: systemClock,
          journal,
          owner,
          sealer: openSealer(newKey()),
          connectors: new Map([["crm", again.crm]]),
          runners: { ...BASIC_RUNNERS, agent: agentRunner(new Map([["helper", again.model]])) },
          onRecord: (record) => fresh.push(record),
        },
        lease,
        new Cursor(pagesOfRun(journal, "run-0001"), 3),
        new Past(),
      );
      await active.ended;
      await journal.close();
      const last = fresh.at(-1)?.body as JsonObject;
      expect({ status: last["status"], digest: last["digest"] }).toEqual({
        status: ended.status,
        digest: ended.digest,
      });
      const recorded = new Set(kept.map(recordKey));
      const repeated = again.crm.calls.filter((call) => recorded.has(`${call.position} call.ended ${call.attempt}`));
      expect(repeated).toEqual([]);
    }),
    { numRuns: 150 },
  );
}, 60_000);
