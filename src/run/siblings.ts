import type { Position } from "../plan/position.ts";
import type { DueCleanup } from "./cleanup.ts";
import type { End, Stop } from "./end.ts";
import type { Interpreter } from "./interpreter.ts";
import type { StepContext } from "./steps/step-runner.ts";
import type { StopScope } from "./stop-scope.ts";

/** Where one of several siblings runs. */
export interface SiblingContext {
  stop: StopScope;
  cleanups: DueCleanup[];
}

/**
 * Runs items or branches side by side, at most `concurrency` at once, in order. The first one that fails, or exits,
 * stops the others; all are awaited, and how it ended is given back. Null: none did. `goOn` is asked before each.
 */
export async function runSiblings(
  interpreter: Interpreter,
  context: StepContext,
  positions: readonly Position[],
  concurrency: number,
  run: (index: number, context: SiblingContext) => Promise<End>,
  goOn: () => boolean = () => true,
): Promise<End | null> {
  const { scheduler, limits } = interpreter;
  const open: (StopScope | null)[] = positions.map(() => null);
  const cleanups: DueCleanup[][] = positions.map(() => []);
  let ended: End | null = null;
  const tasks = positions.map((position, index) => async (): Promise<void> => {
    const stop = scheduler.openScope(position, context.stop);
    open[index] = stop;
    const end = await run(index, { stop, cleanups: cleanups[index] ?? [] });
    scheduler.closeScope(stop);
    open[index] = null;
    if (ended !== null || end.is === "value" || end.is === "skipped" || end.is === "stopped") return;
    ended = end;
    const cause = stopFor(end, context.position);
    for (const sibling of open) if (sibling !== null) await scheduler.decide(sibling, cause);
  });
  const lanes = Math.min(concurrency, limits.concurrency, context.plan.limits.concurrency ?? concurrency);
  await scheduler.fork(tasks, lanes, () => ended === null && context.stop.current === null && goOn());
  // By their order and not by that of their ends, so that the last one is cleaned up first.
  for (const list of cleanups) context.cleanups.push(...list);
  return ended;
}

function stopFor(end: End, position: Position): Stop {
  const because = end.is === "failed" ? { position: end.fault.at, code: end.fault.code } : { position, code: "exit" };
  return { cause: end.is === "failed" ? "sibling_failed" : "exit", because, limit: null, by: null };
}
