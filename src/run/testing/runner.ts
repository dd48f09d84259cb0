import type { AdmittedPlan } from "../../admit/admitted-plan.ts";
import { agentRunner } from "../../agent/loop.ts";
import type { ModelPort, TurnOutcome, TurnRequest } from "../../agent/model.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import type { CallRequest, CallResult, Connector } from "../../catalog/connector.ts";
import { newKey, openSealer } from "../../host/keys/sealer.ts";
import { ownOwner } from "../../host/processes/process-identity.ts";
import { openMemoryJournal } from "../../host/stores/memory.ts";
import type { EndedBody } from "../../journal/bodies.ts";
import { Cursor, pagesOfRecords } from "../../journal/cursor.ts";
import type { RunRecord } from "../../journal/event.ts";
import type { Journal } from "../../journal/journal.ts";
import { BASIC_RUNNERS } from "../interpreter.ts";
import { type ReplayReport, replayRun } from "../replay.ts";
import { type ActiveRun, startRun } from "../run.ts";

export type Answer = (request: CallRequest, signal: AbortSignal) => Promise<CallResult> | CallResult;

/** A connector that answers as a function says and remembers its dispatches. */
export class FakeConnector implements Connector {
  readonly name: string;
  readonly calls: CallRequest[] = [];
  readonly #answer: Answer;
  constructor(name: string, answer: Answer) {
    this.name = name;
    this.#answer = answer;
  }
  async connect(): Promise<{ actions: { [name: string]: { pin: null } } }> {
    return { actions: {} };
  }
  async call(request: CallRequest, signal: AbortSignal): Promise<CallResult> {
    this.calls.push(request);
    return this.#answer(request, signal);
  }
  processes(): { pid: number; startTime: string }[] {
    return [];
  }
  async close(): Promise<void> {}
}

/** A model whose turns are given in order; the last one is repeated. */
export function turns(
  ...outcomes: Partial<Extract<TurnOutcome, { is: "turn" }>>[]
): ModelPort & { requests: TurnRequest[] } {
  const requests: TurnRequest[] = [];
  return {
    requests,
    turn: async (request) => {
      requests.push(structuredClone(request));
      const outcome = outcomes[Math.min(request.turn, outcomes.length - 1)] ?? {};
      return {
        is: "turn",
        text: "",
        calls: [],
        results: [],
        giveUp: null,
        usage: { input: 0, output: 0 },
        finish: "stop",
        ...outcome,
      };
    },
  };
}

export interface Ran {
  ended: EndedBody;
  records: RunRecord[];
  replayed: ReplayReport;
}

export interface RunParts {
  connectors?: Connector[];
  model?: ModelPort;
  clock?: Clock;
  journal?: Journal;
  dryRun?: true;
  /** Called with the run once it has started. */
  during?: (run: ActiveRun) => void;
}

/** Runs a plan in memory and replays its records. */
export async function runPlan(plan: AdmittedPlan, parts: RunParts = {}): Promise<Ran> {
  const clock = parts.clock ?? systemClock;
  const journal = parts.journal ?? openMemoryJournal({ clock });
  const records: RunRecord[] = [];
  const runners = { ...BASIC_RUNNERS, agent: agentRunner(new Map(parts.model ? [["helper", parts.model]] : [])) };
  const active = await startRun(
    plan,
    {
      run: "run-0001",
      inputs: {},
      trigger: null,
      identity: "tester",
      seed: "00",
      durability: "process",
      origin: {},
      single: null,
      dryRun: parts.dryRun === true,
    },
    {
      clock,
      journal,
      owner: ownOwner("test", "a test"),
      sealer: openSealer(newKey()),
      connectors: new Map((parts.connectors ?? []).map((connector) => [connector.name, connector])),
      runners,
      onRecord: (record) => records.push(JSON.parse(JSON.stringify(record)) as RunRecord),
    },
  );
  parts.during?.(active);
  await active.ended;
  const ended = records.at(-1)?.body as unknown as EndedBody;
  const [accepted, started] = records;
  if (!accepted || !started) throw new Error("no records");
  const replayed = await replayRun(
    plan,
    {
      inputs: {},
      trigger: null,
      run: accepted.run,
      startedAt: started.at,
      identity: "tester",
      dryRun: parts.dryRun === true,
    },
    { ...BASIC_RUNNERS, agent: agentRunner(new Map()) },
    new Cursor(pagesOfRecords(records.slice(2)), 3),
  );
  await journal.close();
  return { ended, records, replayed };
}
