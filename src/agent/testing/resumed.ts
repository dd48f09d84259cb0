import type { AdmittedPlan } from "../../admit/admitted-plan.ts";
import { systemClock } from "../../base/clock.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Connector } from "../../catalog/connector.ts";
import { newKey, openSealer } from "../../host/keys/sealer.ts";
import { ownOwner } from "../../host/processes/process-identity.ts";
import { openMemoryJournal } from "../../host/stores/memory.ts";
import type { EndedBody } from "../../journal/bodies.ts";
import { Cursor, pagesOfRecords, pagesOfRun } from "../../journal/cursor.ts";
import type { RunRecord } from "../../journal/event.ts";
import { outOfJson } from "../../journal/hashes.ts";
import { BASIC_RUNNERS } from "../../run/interpreter.ts";
import { Past } from "../../run/past.ts";
import { type ReplayReport, replayRun } from "../../run/replay.ts";
import { resumeRun } from "../../run/run.ts";
import { agentRunner } from "../loop.ts";
import type { ModelPort } from "../model.ts";

/** The records with the body of the `nth` turn changed, its hash made to fit again. */
export function forgedTurn(
  records: readonly RunRecord[],
  nth: number,
  change: (body: JsonObject) => JsonObject,
): RunRecord[] {
  const turns = records.filter(({ kind }) => kind === "agent.turn");
  return records.map((record) => {
    if (record !== turns[nth]) return record;
    const body = change(structuredClone(record.body));
    return { ...record, body, out: outOfJson(record.kind, body) };
  });
}

/** The records up to the `nth` turn, as a process leaves them that dies behind it. */
export function untilTurn(records: readonly RunRecord[], nth: number): RunRecord[] {
  const turns = records.filter(({ kind }) => kind === "agent.turn");
  return records.slice(0, records.indexOf(turns[nth] as RunRecord) + 1);
}

/** Goes on with a run that has these records. */
export async function resumed(
  flow: AdmittedPlan,
  kept: readonly RunRecord[],
  connectors: Connector[],
  model: ModelPort,
): Promise<{ ended: EndedBody; records: RunRecord[] }> {
  const journal = openMemoryJournal({ clock: systemClock });
  await journal.import([...kept]);
  const owner = ownOwner("later", "a test");
  const { lease } = await journal.acquire("run-0001", owner);
  const fresh: RunRecord[] = [];
  const active = resumeRun(
    flow,
    { inputs: {}, trigger: null, run: "run-0001", startedAt: kept[1]?.at ?? "", identity: "tester" },
    kept.slice(0, 2),
    {
      clock: systemClock,
      journal,
      owner,
      sealer: openSealer(newKey()),
      connectors: new Map(connectors.map((connector) => [connector.name, connector])),
      runners: { ...BASIC_RUNNERS, agent: agentRunner(new Map([["helper", model]])) },
      onRecord: (record) => fresh.push(record),
    },
    lease,
    new Cursor(pagesOfRun(journal, "run-0001"), 3),
    new Past(),
  );
  try {
    await active.ended;
  } finally {
    await journal.close();
  }
  return { ended: fresh.at(-1)?.body as unknown as EndedBody, records: fresh };
}

export function replayed(flow: AdmittedPlan, records: readonly RunRecord[]): Promise<ReplayReport> {
  return replayRun(
    flow,
    { inputs: {}, trigger: null, run: "run-0001", startedAt: records[1]?.at ?? "", identity: "tester" },
    { ...BASIC_RUNNERS, agent: agentRunner(new Map()) },
    new Cursor(pagesOfRecords(records.slice(2)), 3),
  );
}
