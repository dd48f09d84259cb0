/**
 * `single`: of one workflow name and value one run is under way, from its acceptance to its end, parked time included
 * (DU-17).
 *
 * I1: who holds it is decided in the transaction of the run's first record: of starts at once, in whatever processes,
 *     one wins.
 * I2: nothing is accepted before its turn, so that a start which waits and dies leaves nothing behind, and its deadline
 *     counts from its turn.
 * I3: a run whose process died holds it as one that is parked does: what it has done is done. Somebody resumes or
 *     cancels it; meanwhile others wait, and are told so.
 */
import type { AdmittedPlan } from "../admit/admitted-plan.ts";
import type { Clock } from "../base/clock.ts";
import { hashJson } from "../base/hash.ts";
import type { Json } from "../base/json.ts";
import { Refusal } from "../errors/fault.ts";
import { isAlive } from "../host/processes/process-identity.ts";
import type { Journal, Owner, RunHead, SingleRun } from "../journal/journal.ts";
import { marksIn, peel, type Val } from "../plan/marked.ts";
import { Evaluator } from "../run/evaluator.ts";
import { LexicalScope } from "../run/scope.ts";
import { Refused } from "./refused.ts";

/** Starts that wait for one value. */
const MOST_WAITING = 100;
/** A holder whose process dies changes nothing in the store: it is looked at from a timer as well. */
const LOOK_AGAIN_MS = 1_000;

export interface Single {
  key: string;
  value: string;
  overlap: "skip" | "queue";
}

/** What a run holds from its first record on; null without `single`. */
export type Held = { value: string; held: SingleRun } | null;

/** What `single` of a plan is for these inputs; null without one. `expression.failed` for a value that is none. */
export function singleOf(
  { definition: { plan, settings } }: AdmittedPlan,
  inputs: { [name: string]: Val },
  trigger: Json,
): Single | null {
  if (plan.single === undefined) return null;
  const scope = new LexicalScope([
    ["inputs", inputs],
    ["trigger", trigger as Val],
    ["consts", plan.consts as Val],
    ["settings", settings as Val],
  ]);
  const read = new Evaluator().value(plan.single.key, scope, "");
  if (!read.ok) throw new Refusal("expression.failed", `single: ${read.fault.message}`, read.fault.details);
  const { value } = peel(read.value);
  if (marksIn(read.value).sensitive) {
    throw unfit("it is sensitive, and what is compared with it would tell it");
  }
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") {
    throw unfit("a text is needed");
  }
  const text = String(value);
  return { key: hashJson([plan.name, text]), value: text, overlap: plan.single.overlap };
}

function unfit(why: string): Refusal {
  return new Refusal("expression.failed", `The value of single cannot be used: ${why}.`, {});
}

/** Where a start may wait, and what ends its waiting. */
export interface Waiting {
  journal: Journal;
  owner: Owner;
  clock: Clock;
  signal: AbortSignal | undefined;
  /** With it nobody waits: `run.busy`. */
  leavesAtOnce: boolean;
  say: (line: string) => void;
}

/**
 * Begins a run when it is its turn. `begin` makes it, holding what it is given; it is called again where somebody else
 * was faster. `run.busy` where nobody waits (`skip`), too many wait, or the signal came first.
 */
export async function inTurn<T>(
  single: Single | null,
  waiting: Waiting,
  begin: (held: Held) => Promise<T>,
): Promise<T> {
  if (single === null) return begin(null);
  const { key, value } = single;
  if (single.overlap === "skip" || waiting.leavesAtOnce) return begin({ value, held: { key, place: null } });
  const { journal, owner } = waiting;
  const place = await journal.queue(key, owner, MOST_WAITING);
  try {
    for (;;) {
      await ourTurn(key, place, waiting);
      try {
        return await begin({ value, held: { key, place } });
      } catch (error) {
        if (!isBusy(error)) throw error;
      }
    }
  } finally {
    // Where the run has begun its place is gone already.
    await journal.leaveQueue(place).catch(() => {});
  }
}

async function ourTurn(key: string, place: number, waiting: Waiting): Promise<void> {
  const { journal, signal, say } = waiting;
  let said = "";
  for (;;) {
    if (signal?.aborted) throw new Refusal("run.busy", "It was stopped while it waited for its turn.", {});
    const changed = nextChange(waiting);
    try {
      const turn = await journal.turn(key, place);
      if (turn === "free") return;
      const line = saidOf(turn.run);
      if (line !== said) say(line);
      said = line;
      await changed.came;
    } finally {
      changed.forget();
    }
  }
}

function saidOf(run: RunHead | null): string {
  if (run === null) return "Waits for its turn: others wait before it.";
  const ways = `ambit resume ${run.run} goes on with it, ambit cancel ${run.run} ends it`;
  if (run.status === "suspended") return `Waits for run ${run.run}, which is parked: ${ways}.`;
  const isGone = run.owner === null || isAlive(run.owner) === false;
  return isGone ? `Waits for run ${run.run}, whose process is gone: ${ways}.` : `Waits for run ${run.run}.`;
}

/** The store has changed, a moment has passed, or the start is to be stopped. */
function nextChange({ journal, clock, signal }: Waiting): { came: Promise<void>; forget: () => void } {
  let done = (): void => {};
  const came = new Promise<void>((resolve) => {
    done = resolve;
  });
  const watch = journal.watch(done);
  const timer = clock.after(LOOK_AGAIN_MS, done);
  signal?.addEventListener("abort", done, { once: true });
  return {
    came,
    forget: () => {
      watch.stop();
      timer.cancel();
      signal?.removeEventListener("abort", done);
    },
  };
}

/** Somebody else was faster. */
function isBusy(error: unknown): boolean {
  return (error instanceof Refused || error instanceof Refusal) && error.fault.code === "run.busy";
}
