import { expect, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import { newKey, openSealer } from "../host/keys/sealer.ts";
import { ownOwner } from "../host/processes/process-identity.ts";
import { openMemoryJournal } from "../host/stores/memory.ts";
import { Cursor, pagesOfRun } from "../journal/cursor.ts";
import type { RunRecord } from "../journal/event.ts";
import { rehydrate, type Val } from "../plan/marked.ts";
import { BASIC_RUNNERS } from "./interpreter.ts";
import { Past } from "./past.ts";
import { type ActiveRun, resumeRun } from "./run.ts";
import { action, admitted, expr, manifest, plan } from "./testing/plan.ts";
import { FakeConnector, runPlan } from "./testing/runner.ts";

const send = manifest("crm.add", { effects: "write", idempotency: { kind: "natural" } });
const flow = admitted(plan([action("a", "crm.add", { map: { t: { expr: expr("inputs.token") } } })]), [send]);

/** A run whose process died before its call had a result, taken over by one that does not have its sensitive input. */
async function takenOver(during: (run: ActiveRun) => void): Promise<{ records: RunRecord[]; calls: unknown[] }> {
  const crm = new FakeConnector("crm", () => ({ is: "ok", value: {} }));
  const empty = admitted(plan([]));
  const first = (await runPlan(empty)).records.slice(0, 2).map((record) => ({ ...record, def: flow.def }));
  const journal = openMemoryJournal({ clock: systemClock });
  await journal.import(first);
  const owner = ownOwner("later", "a test");
  const { lease } = await journal.acquire("run-0001", owner);
  const records: RunRecord[] = [];
  const inputs = rehydrate({ token: { $sensitive: true } }) as { [name: string]: Val };
  const active = resumeRun(
    flow,
    { inputs, trigger: null, run: "run-0001", startedAt: first[1]?.at ?? "", identity: "tester" },
    first,
    {
      clock: systemClock,
      journal,
      owner,
      sealer: openSealer(newKey()),
      connectors: new Map([["crm", crm]]),
      runners: BASIC_RUNNERS,
      onRecord: (record) => records.push(record),
    },
    lease,
    new Cursor(pagesOfRun(journal, "run-0001"), 3),
    new Past(),
  );
  during(active);
  await active.ended;
  return { records, calls: crm.calls };
}

test("what would have to be dispatched with a value that the history does not hold stops a resume", async () => {
  await expect(takenOver(() => {})).rejects.toMatchObject({ fault: { code: "history.redacted" } });
});

test("and not a cancel: what is stopped before it starts needs nothing", async () => {
  const { records, calls } = await takenOver((run) => run.cancel("ana"));
  expect(calls).toEqual([]);
  expect(records.at(-1)?.body["status"]).toBe("cancelled");
});
