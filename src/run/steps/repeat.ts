import { Fault } from "../../errors/fault.ts";
import { recorded, type Val } from "../../plan/marked.ts";
import { indexedPosition } from "../../plan/position.ts";
import { undetermined } from "../dry-run.ts";
import type { End } from "../end.ts";
import type { Answer, Evaluated } from "../evaluator.ts";
import type { Interpreter } from "../interpreter.ts";
import type { Scope } from "../scope.ts";
import type { StepContext, StepOf, StepRunner } from "./step-runner.ts";

/** How a round came out: its `yield`, and whether `until` is met. */
type Round = { is: "done"; value: Val; met: Answer } | { is: "left"; end: End };

/**
 * Rounds one after the other, at most `max`. `while` is asked before a round, `until` after it; without either
 * there are `max` rounds. `prev` is the `yield` of the round before, `from` in the first.
 */
export const runRepeat: StepRunner<"repeat"> = async (interpreter, step, context) => {
  const { evaluator } = interpreter;
  const { position } = context;
  const from = step.from === undefined ? NO_VALUE : evaluator.value(step.from, context.scope, position);
  if (!from.ok) return { is: "failed", fault: from.fault };
  let prev = from.value;
  let rounds = 0;
  for (;;) {
    const scope = context.scope.enter({ index: rounds, prev });
    const more = goesOn(interpreter, step, scope, position, rounds);
    if (!more.ok) return { is: "failed", fault: more.fault };
    if (more.value === "untold") return anotherRound(interpreter, step, context, rounds);
    if (more.value === "no") break;
    if (rounds === step.max) return exhausted(interpreter, step, position, rounds, prev);
    const round = await runRound(interpreter, step, context, scope, rounds);
    if (round.is === "left") {
      if (round.end.is !== "failed" || step.onItemFailure === "fail") return round.end;
      interpreter.itemSkipped(indexedPosition(position, rounds), round.end.fault);
      rounds++;
      continue;
    }
    rounds++;
    prev = round.value;
    if (round.met === "untold") return anotherRound(interpreter, step, context, rounds);
    if (round.met === "yes") break;
  }
  interpreter.recorder.trail(position, "loop_ended", { rounds });
  return { is: "value", value: prev };
};

const NO_VALUE: Evaluated<Val> = { ok: true, value: null };

/** Whether there is to be a round more, `max` aside. */
function goesOn(
  interpreter: Interpreter,
  step: StepOf<"repeat">,
  scope: Scope,
  position: string,
  rounds: number,
): Evaluated<Answer> {
  if (step.test === undefined) return { ok: true, value: rounds < step.max ? "yes" : "no" };
  return "while" in step.test ? interpreter.evaluator.condition(step.test.while, scope, position) : YES;
}

const YES: Evaluated<Answer> = { ok: true, value: "yes" };

/** A dry run cannot tell whether there would be a further round. */
function anotherRound(
  interpreter: Interpreter,
  step: StepOf<"repeat">,
  { plan, position }: StepContext,
  rounds: number,
): End {
  const below = indexedPosition(position, rounds);
  return undetermined(interpreter, plan, position, [
    ...(rounds < step.max ? [{ branch: `round ${rounds + 1}`, steps: step.steps, below }] : []),
    { branch: rounds < step.max ? "end" : `end at max ${step.max}`, steps: [], below },
  ]);
}

async function runRound(
  interpreter: Interpreter,
  step: StepOf<"repeat">,
  context: StepContext,
  scope: Scope,
  index: number,
): Promise<Round> {
  const { evaluator } = interpreter;
  const position = indexedPosition(context.position, index);
  const { end, scope: inner } = await interpreter.listIn(step.steps, { ...context, scope, position });
  if (end.is !== "value") return { is: "left", end };
  const value: Evaluated<Val> =
    step.yield === undefined ? { ok: true, value: end.value } : evaluator.value(step.yield, inner, position);
  if (!value.ok) return { is: "left", end: { is: "failed", fault: value.fault } };
  if (step.test === undefined || !("until" in step.test)) return { is: "done", value: value.value, met: "no" };
  const met = evaluator.condition(step.test.until, inner, position);
  if (!met.ok) return { is: "left", end: { is: "failed", fault: met.fault } };
  return { is: "done", value: value.value, met: met.value };
}

/** `max` rounds are over and the test is not met. */
function exhausted(
  interpreter: Interpreter,
  step: StepOf<"repeat">,
  position: string,
  rounds: number,
  value: Val,
): End {
  if (step.onMax === "fail") {
    const text = `The test was not met within ${rounds} rounds.`;
    return {
      is: "failed",
      fault: new Fault("flow.repeat_exhausted", position, text, { rounds, value: recorded(value) }),
    };
  }
  interpreter.truncated(position, "max", rounds, null);
  return { is: "value", value };
}
