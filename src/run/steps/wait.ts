import { isoTime, sleep } from "../../base/clock.ts";
import { Fault } from "../../errors/fault.ts";
import { parseTimestamp, timestampText } from "../../expression/times.ts";
import { peel } from "../../plan/marked.ts";
import { isSuppressed, suppressedStep } from "../dry-run.ts";
import { NULL_END } from "../end.ts";
import type { Evaluated } from "../evaluator.ts";
import type { Interpreter } from "../interpreter.ts";
import { needClear } from "../redacted.ts";
import type { StepContext, StepOf, StepRunner } from "./step-runner.ts";

/** A durable timer: its due time is on disk, and one that falls due while nobody runs it fires at the recovery. */
export const runWait: StepRunner<"wait"> = async (interpreter, step, context) => {
  const { position } = context;
  const { scheduler } = interpreter;
  const due = dueOf(interpreter, step, context);
  if (due === null) return suppressedStep(interpreter, position, "wait", "reads_suppressed");
  if (!due.ok) return { is: "failed", fault: due.fault };
  const { at, handed } = due.value;
  const limit = interpreter.limits.wait;
  if (at - scheduler.now > limit) {
    const text = `The wait is longer than ${limit} ms, the limit.`;
    return { is: "failed", fault: new Fault("expression.failed", position, text, { limit }) };
  }
  if (interpreter.dryRun) {
    suppressedStep(interpreter, position, "wait", "dry_run");
    return NULL_END;
  }
  await scheduler.wait({
    kind: "wait.ended",
    position,
    attempt: 1,
    in: handed,
    scope: context.stop,
    onBudget: "abort",
    parks: "timer",
    start: async ({ clock, effect, write, park }) => {
      await write([{ kind: "wait.set", position, attempt: 1, in: handed, body: { due: isoTime(at) } }]);
      const left = at - clock.now();
      if (left > 0 && effect.stop === null) {
        park();
        await sleep(clock, left, effect.asked);
      }
      return { how: effect.stop === null ? "fired" : "cancelled" };
    },
  });
  const stop = context.stop.current;
  return stop === null ? NULL_END : { is: "stopped", stop };
};

/** Null: a dry run cannot tell. Milliseconds since 1970, and what is recorded as handed over: the duration, or the instant as it was given. */
function dueOf(
  { evaluator, scheduler }: Interpreter,
  step: StepOf<"wait">,
  { scope, position }: StepContext,
): Evaluated<{ at: number; handed: number | string }> | null {
  if (step.until === undefined) {
    if (typeof step.for === "object") {
      const given = evaluator.expression(step.for, scope, position);
      if (given.ok && isSuppressed(given.value)) return null;
    }
    const pause =
      step.for === undefined ? { ok: true as const, value: 0 } : evaluator.duration(step.for, scope, position);
    return pause.ok ? { ok: true, value: { at: scheduler.now + pause.value, handed: pause.value } } : pause;
  }
  const until = evaluator.value(step.until, scope, position);
  if (!until.ok) return until;
  if (isSuppressed(until.value)) return null;
  needClear(until.value, position, "A wait");
  const { value } = peel(until.value);
  const time = typeof value === "string" ? parseTimestamp(value) : null;
  if (time === null || typeof value !== "string") {
    return { ok: false, fault: new Fault("expression.failed", position, "A timestamp is needed to wait for.") };
  }
  return { ok: true, value: { at: Date.parse(timestampText(time)), handed: value } };
}
