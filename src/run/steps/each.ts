import { Fault } from "../../errors/fault.ts";
import { mark, peel, type Val } from "../../plan/marked.ts";
import { indexedPosition } from "../../plan/position.ts";
import { undetermined } from "../dry-run.ts";
import type { End } from "../end.ts";
import { kindOf } from "../evaluator.ts";
import type { Interpreter } from "../interpreter.ts";
import { redactedAt } from "../redacted.ts";
import type { Scope } from "../scope.ts";
import { runSiblings } from "../siblings.ts";
import type { StepContext, StepOf, StepRunner } from "./step-runner.ts";

type Each = StepOf<"each">;

/**
 * Items in order, at most `concurrency` side by side. A failed item fails the loop (the others are stopped and
 * awaited), is left out, or is replaced, as the step says. Results stand in item order.
 */
export const runEach: StepRunner<"each"> = async (interpreter, step, context) => {
  const { position } = context;
  const list = interpreter.evaluator.value(step.list, context.scope, position);
  if (!list.ok) return { is: "failed", fault: list.fault };
  if (peel(list.value).marks.suppressed) {
    return undetermined(interpreter, context.plan, position, [
      { branch: "items", steps: step.steps, below: indexedPosition(position, 0) },
      { branch: "no items", steps: [], below: position },
    ]);
  }
  const { redacted } = peel(list.value).marks;
  if (redacted !== undefined) throw redactedAt(position, "A loop", redacted);
  const { value: items, marks } = peel(list.value);
  if (!Array.isArray(items)) {
    return {
      is: "failed",
      fault: new Fault("expression.failed", position, `A list is needed here, not ${kindOf(items)}.`),
    };
  }
  const count = step.max === undefined ? items.length : Math.min(items.length, step.max);
  const results: Val[] = Array.from({ length: count }, () => null);
  const positions = results.map((_, index) => indexedPosition(position, index));
  let done = 0;
  let untilMet = false;
  let untold = false;
  const ended = await runSiblings(
    interpreter,
    context,
    positions,
    step.concurrency,
    async (index, inner) => {
      const end = await runItem(
        interpreter,
        step,
        { ...context, ...inner },
        index,
        mark(items[index] ?? null, marks),
        results,
      );
      if (end.is !== "value") return end;
      done++;
      if (end.value === "yes") untilMet = true;
      if (end.value === "untold") untold = true;
      return end;
    },
    () => !untilMet && !untold,
  );
  const stop = context.stop.current;
  if (stop !== null) return { is: "stopped", stop };
  if (ended !== null) return ended;
  if (untold && done < count) {
    const below = indexedPosition(position, done);
    return undetermined(interpreter, context.plan, position, [
      { branch: `item ${done}`, steps: step.steps, below },
      { branch: "end", steps: [], below },
    ]);
  }
  const cut = !untilMet && items.length > count;
  if (cut) interpreter.truncated(position, "max", count, items.length - count);
  else interpreter.recorder.trail(position, "loop_ended", { rounds: done });
  // What `until` leaves has no place in the list: null there would say that it ran.
  return { is: "value", value: untilMet ? results.slice(0, done) : results };
};

/** Runs one item; its end is a value: whether `until` is met, as an answer. */
async function runItem(
  interpreter: Interpreter,
  step: Each,
  context: StepContext,
  index: number,
  item: Val,
  results: Val[],
): Promise<End> {
  const position = indexedPosition(context.position, index);
  const scope = context.scope.enter({ [step.item]: item, index });
  const { end, scope: inner } = await interpreter.listIn(step.steps, { ...context, scope, position });
  const ended = end.is === "value" ? finishItem(interpreter, step, inner, position, end.value, index, results) : end;
  if (ended.is !== "failed" || step.onItemFailure === "fail") return ended;
  const { fault } = ended;
  if (step.onItemFailure === "skip") {
    interpreter.itemSkipped(position, fault);
    return { is: "value", value: "no" };
  }
  const replaced = interpreter.evaluator.value(
    step.onItemFailure.yield,
    scope.enter({ error: interpreter.errorValue(fault) }),
    position,
  );
  if (!replaced.ok) return { is: "failed", fault: replaced.fault };
  interpreter.forgiven(position, fault);
  results[index] = replaced.value;
  return { is: "value", value: "no" };
}

/** The item's yield goes to its place; the end says whether `until` is met. */
function finishItem(
  interpreter: Interpreter,
  step: Each,
  inner: Scope,
  position: string,
  last: Val,
  index: number,
  results: Val[],
): End {
  const yielded =
    step.yield === undefined
      ? { ok: true as const, value: last }
      : interpreter.evaluator.value(step.yield, inner, position);
  if (!yielded.ok) return { is: "failed", fault: yielded.fault };
  const met =
    step.until === undefined
      ? { ok: true as const, value: "no" as const }
      : interpreter.evaluator.condition(step.until, inner, position);
  if (!met.ok) return { is: "failed", fault: met.fault };
  results[index] = yielded.value;
  return { is: "value", value: met.value };
}
