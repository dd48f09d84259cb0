import type { Connector } from "../catalog/connector.ts";
import type { TypedRecord } from "../journal/bodies.ts";
import { Cursor, pagesOfRun } from "../journal/cursor.ts";
import type { RunRecord } from "../journal/event.ts";
import { toResult } from "../journal/fold.ts";
import type { Journal } from "../journal/journal.ts";
import type { RunResult } from "../journal/result.ts";
import type { ActiveRun } from "../run/run.ts";
import { closeAll } from "./connectors.ts";
import { Feed } from "./feed.ts";
import { refusedBy } from "./refused.ts";

/** A record whose `body` is known by its `kind`: a `switch` narrows it. */
export type RunEvent = RunRecord & TypedRecord;

/** A run under way in this process, or one that has ended. */
export interface EngineRun {
  readonly id: string;
  /** Whether it had ended before: then nothing is done. */
  readonly isOver: boolean;
  /** The number of the last record so far: what is said now comes after it. */
  readonly seq: number;
  /** Every record of this run from its first, then live, until its end. */
  events(): AsyncGenerator<RunEvent>;
  /** The fold of its records, once it has ended. Rejects with `Refused` where it could not go on here. */
  result(): Promise<RunResult>;
  cancel(by?: string): void;
  /** Ends at once; what was under way is unknown or lost. */
  abandon(by?: string): void;
}

/** The handle of a run that has begun here: its connectors are closed when it ends, a signal cancels it. */
export function runUnderWay(
  active: ActiveRun,
  connectors: ReadonlyMap<string, Connector>,
  journal: Journal,
  feed: Feed,
  by: string,
  signal?: AbortSignal,
): EngineRun {
  const onAbort = (): void => active.cancel(by);
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted) onAbort();
  const ended = active.ended.then(
    () => feed.end(),
    (error: unknown) => {
      feed.end();
      throw refusedBy(error);
    },
  );
  const result = ended
    .finally(async () => {
      signal?.removeEventListener("abort", onAbort);
      await closeAll(connectors);
    })
    .then(() => toResult(feed.state));
  // A caller that only reads events must not be punished for a failure it will see in `result`.
  result.catch(() => {});
  return {
    id: active.run,
    isOver: false,
    get seq() {
      return feed.state.counts.events;
    },
    events: () => eventsOf(journal, active.run, feed),
    result: () => result,
    cancel: (who) => active.cancel(who ?? by),
    abandon: (who) => active.abandon(who ?? by),
  };
}

/** A run that is over, as it is: nothing is done. */
export async function runThatEnded(journal: Journal, run: string): Promise<EngineRun> {
  const feed = new Feed();
  for await (const record of new Cursor(pagesOfRun(journal, run))) feed.push(record);
  feed.end();
  return {
    id: run,
    isOver: true,
    seq: feed.state.counts.events,
    events: () => eventsOf(journal, run, feed),
    result: async () => toResult(feed.state),
    cancel: () => {},
    abandon: () => {},
  };
}

async function* eventsOf(journal: Journal, run: string, feed: Feed): AsyncGenerator<RunEvent> {
  for await (const record of feed.read(pagesOfRun(journal, run))) yield record as RunEvent;
}
