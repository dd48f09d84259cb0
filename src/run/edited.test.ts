import { expect, test } from "vitest";
import type { JsonObject } from "../base/json.ts";
import { Cursor, pagesOfRecords } from "../journal/cursor.ts";
import type { RunRecord } from "../journal/event.ts";
import { callIn, outOfJson } from "../journal/hashes.ts";
import { BASIC_RUNNERS } from "./interpreter.ts";
import { replayRun } from "./replay.ts";
import { action, admitted, manifest, plan } from "./testing/plan.ts";
import { FakeConnector, runPlan } from "./testing/runner.ts";

const send = manifest("mail.send", { effects: "write", idempotency: { kind: "none" } });
const flow = admitted(plan([action("a", "mail.send", { lit: { text: "hello" } })]), [send]);

/** The outcome of a replay of a run whose records somebody has edited, hashes and numbers made right. */
async function replayed(edit: (records: RunRecord[]) => RunRecord[]): Promise<string> {
  const { records } = await runPlan(flow, { connectors: [new FakeConnector("mail", () => ({ is: "ok", value: 1 }))] });
  const edited = edit(records).map((record, index) => ({ ...record, seq: index + 1 }));
  const roots = { inputs: {}, trigger: null, run: "run-0001", startedAt: records[1]?.at ?? "", identity: "tester" };
  try {
    return (await replayRun(flow, roots, BASIC_RUNNERS, new Cursor(pagesOfRecords(edited.slice(2)), 3))).is;
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}

function change(kind: string, body: JsonObject, more: Partial<RunRecord> = {}): (records: RunRecord[]) => RunRecord[] {
  return (records) =>
    records.map((record) => {
      if (record.kind !== kind) return record;
      const changed = { ...record.body, ...body };
      const { args } = changed;
      const own = kind.startsWith("call.") ? callIn(changed["action"] ?? null, args ?? null) : record.in;
      return { ...record, body: changed, in: own, out: outOfJson(record.kind, changed), ...more };
    });
}

test("unedited it comes out as it is", async () => {
  expect(await replayed((records) => records)).toBe("equal");
});

test.each<[string, (records: RunRecord[]) => RunRecord[]]>([
  ["other arguments in the intent", change("call.intent", { args: { text: "I never sent this" } })],
  ["another connection in the intent", change("call.intent", { connection: "other" })],
  ["a key in the intent of a call that has none", change("call.intent", { key: "k" })],
  ["another connection in the result", change("call.ended", { connection: "other" })],
  ["an effect that this outcome cannot have", change("call.ended", { effect: "none" })],
  ["late, where nothing stopped it", change("call.ended", { late: true })],
  ["a key of a call that has none", change("call.ended", { key: "k" })],
  ["a retry that does not follow", change("call.ended", { retry: true })],
  ["a body that is none of its kind", change("call.ended", { outcome: "splendid" })],
  ["an end at another position", change("run.ended", {}, { position: "a" })],
  ["an end of another number", change("run.ended", {}, { attempt: 2 })],
  [
    "a second start",
    (records) => [...records.slice(0, 3), { ...(records[1] as RunRecord), attempt: 2 }, ...records.slice(3)],
  ],
  ["a second end", (records) => [...records, { ...(records.at(-1) as RunRecord) }]],
  ["a call behind the end", (records) => [...records, { ...(records[3] as RunRecord), attempt: 2 }]],
])("%s is seen", async (_name, edit) => {
  expect(["diverged", "journal.corrupt"]).toContain(await replayed(edit));
});
