import type { AdmittedPlan } from "../../admit/admitted-plan.ts";
import { agentRunner } from "../../agent/loop.ts";
import type { ModelPort } from "../../agent/model.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Connector } from "../../catalog/connector.ts";
import { newKey, openSealer } from "../../host/keys/sealer.ts";
import { ownOwner } from "../../host/processes/process-identity.ts";
import { openMemoryJournal } from "../../host/stores/memory.ts";
import { Cursor, pagesOfRecords, pagesOfRun } from "../../journal/cursor.ts";
import type { RunRecord } from "../../journal/event.ts";
import { foldRecords, toResult } from "../../journal/fold.ts";
import type { RunResult } from "../../journal/result.ts";
import type { Roots } from "../execution.ts";
import { BASIC_RUNNERS } from "../interpreter.ts";
import { Past } from "../past.ts";
import { type ReplayReport, replayRun } from "../replay.ts";
import { type ActiveRun, type RunEnvironment, resumeRun, startRun } from "../run.ts";

const RUN = "run-0001";

/** One run over several processes: started, left, asked things of, gone on with, in a store in memory. */
export class Session {
  readonly journal;
  readonly records: RunRecord[] = [];
  readonly #plan: AdmittedPlan;
  readonly #env: RunEnvironment;

  constructor(
    plan: AdmittedPlan,
    parts: { connectors?: Connector[]; model?: ModelPort; clock?: Clock; leavesTimers?: boolean } = {},
  ) {
    const clock = parts.clock ?? systemClock;
    this.journal = openMemoryJournal({ clock });
    this.#plan = plan;
    this.#env = {
      clock,
      journal: this.journal,
      owner: ownOwner("test", "a test"),
      sealer: openSealer(newKey()),
      connectors: new Map((parts.connectors ?? []).map((connector) => [connector.name, connector])),
      runners: { ...BASIC_RUNNERS, agent: agentRunner(new Map(parts.model ? [["helper", parts.model]] : [])) },
      onRecord: (record) => this.records.push(structuredClone(record)),
      ...(parts.leavesTimers === undefined ? {} : { leavesTimers: parts.leavesTimers }),
    };
  }

  async start(during: (run: ActiveRun) => void = () => {}): Promise<RunResult> {
    const options = {
      inputs: {},
      trigger: null,
      identity: "tester",
      seed: "00",
      durability: "process",
      origin: {},
      single: null,
    };
    const active = await startRun(this.#plan, { run: RUN, ...options }, this.#env);
    during(active);
    await active.ended;
    return this.result();
  }

  /** As another process would: from the store alone. */
  async resume(during: (run: ActiveRun) => void = () => {}): Promise<RunResult> {
    const { lease } = await this.journal.acquire(RUN, this.#env.owner);
    const past = new Past();
    for await (const record of new Cursor(pagesOfRun(this.journal, RUN))) past.read(record);
    const cursor = new Cursor(pagesOfRun(this.journal, RUN), 3);
    const active = resumeRun(this.#plan, this.#roots(), this.records.slice(0, 2), this.#env, lease, cursor, past);
    during(active);
    await active.ended;
    return this.result();
  }

  post(verb: string, body: JsonObject, by = "ana"): Promise<void> {
    return this.journal.post({ run: RUN, verb, by, body });
  }

  /** The id of the open question at a position. */
  askAt(position: string): string {
    const opened = this.records.find((record) => record.kind === "ask.opened" && record.position === position);
    return String(opened?.body["id"]);
  }

  result(): RunResult {
    return toResult(foldRecords(this.records));
  }

  replay(): Promise<ReplayReport> {
    const runners = { ...BASIC_RUNNERS, agent: agentRunner(new Map()) };
    return replayRun(this.#plan, this.#roots(), runners, new Cursor(pagesOfRecords(this.records.slice(2)), 3));
  }

  #roots(): Roots {
    const startedAt = this.records[1]?.at ?? "";
    return { inputs: {}, trigger: null, run: RUN, startedAt, identity: "tester" };
  }
}
