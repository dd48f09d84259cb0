import type { AdmittedPlan } from "../admit/admitted-plan.ts";
import { agentRunner } from "../agent/loop.ts";
import type { ModelPort } from "../agent/model.ts";
import type { Clock } from "../base/clock.ts";
import type { Json } from "../base/json.ts";
import { Cursor, pagesOfRecords } from "../journal/cursor.ts";
import type { RunRecord } from "../journal/event.ts";
import type { Journal, Owner } from "../journal/journal.ts";
import type { Val } from "../plan/marked.ts";
import type { Roots } from "../run/execution.ts";
import { BASIC_RUNNERS } from "../run/interpreter.ts";
import { type ReplayReport, replayRun } from "../run/replay.ts";
import { type ActiveRun, startRun } from "../run/run.ts";
import type { Sealer } from "../run/sealer.ts";
import type { Attack, World } from "./attack.ts";
import { HostileConnector } from "./hostile-connector.ts";
import { hostileModel } from "./hostile-model.ts";
import { Observed } from "./observed.ts";

/** What a play needs of its surroundings: fresh for each, nothing of it lasts. */
export interface Stage {
  clock: Clock;
  journal: Journal;
  owner: Owner;
  sealer: Sealer;
  /** Called once the run is under way; gives what is to be called when it is over, and says whether it ended by itself. */
  watch(run: ActiveRun): () => boolean;
}

/** One run under attack. */
export interface Play {
  attack: Attack;
  admitted: AdmittedPlan;
  run: string;
  records: RunRecord[];
  observed: Observed;
  replay: ReplayReport;
  /** False: it had to be stopped from outside. */
  endedByItself: boolean;
}

export interface Start {
  inputs: { [name: string]: Val };
  trigger: Json;
}

export const IDENTITY = "canary-identity-of-redteam";
export const RUN = "run-redteam-0001";

/** Runs a plan with every agent played by the attack and every action answered in its place. */
export async function play(
  admitted: AdmittedPlan,
  attack: Attack,
  world: World,
  start: Start,
  stage: Stage,
  textOf: (of: string) => string,
): Promise<Play> {
  const observed = new Observed();
  const { clock, journal, owner, sealer } = stage;
  const { definition } = admitted;
  const model = hostileModel(attack, world, observed, clock);
  const models = new Map<string, ModelPort>(Object.keys(definition.agents).map((name) => [name, model]));
  const names = new Set(Object.values(definition.manifests).map(({ connector }) => connector));
  const connectors = new Map(
    [...names].map((name) => [name, new HostileConnector(name, attack, textOf, observed, clock)]),
  );
  const records: RunRecord[] = [];
  const runners = { ...BASIC_RUNNERS, agent: agentRunner(models) };
  const active = await startRun(
    admitted,
    { run: RUN, ...start, identity: IDENTITY, seed: "00", durability: "process", origin: {}, single: null },
    { clock, journal, owner, sealer, connectors, runners, onRecord: (record) => records.push(structuredClone(record)) },
  );
  const over = stage.watch(active);
  let endedByItself = false;
  try {
    await active.ended;
  } finally {
    endedByItself = over();
  }
  const roots: Roots = { ...start, run: RUN, startedAt: records[1]?.at ?? "", identity: IDENTITY };
  const replay = await replayRun(
    admitted,
    roots,
    { ...BASIC_RUNNERS, agent: agentRunner(new Map()) },
    new Cursor(pagesOfRecords(records.slice(2)), 3),
  );
  return { attack, admitted, run: RUN, records, observed, replay, endedByItself };
}
