import { hasFlag, QUESTIONS_EXPIRE } from "../../admit/admitted-plan.ts";
import type { Json } from "../../base/json.ts";
import { Fault } from "../../errors/fault.ts";
import type { AskOpenedBody } from "../../journal/bodies.ts";
import type { Field } from "../../plan/field.ts";
import { peel, recorded, SUPPRESSED, type Val } from "../../plan/marked.ts";
import { auxPosition } from "../../plan/position.ts";
import { askId, awaitAnswer, expiryOf, inOfAsk } from "../asks.ts";
import { suppressedStep, undetermined } from "../dry-run.ts";
import type { End } from "../end.ts";
import type { Evaluated } from "../evaluator.ts";
import { markFields } from "../hide.ts";
import type { Interpreter } from "../interpreter.ts";
import type { StepContext, StepOf, StepRunner } from "./step-runner.ts";

/**
 * A question to a person. `asked` runs beside the wait for the answer: if it fails, the question is withdrawn and
 * the step fails. A question whose time is up runs `on_expired` and fails with `ask.expired`.
 */
export const runAsk: StepRunner<"ask"> = async (interpreter, step, context) => {
  const { position } = context;
  const { scheduler } = interpreter;
  const opened = question(interpreter, step, context);
  if (!opened.ok) return { is: "failed", fault: opened.fault };
  const asked = opened.value;
  if (interpreter.dryRun) return unasked(interpreter, step, context, asked);
  const scope = scheduler.openScope(position, context.stop);
  scheduler.note({ kind: "ask.opened", position, attempt: 1, in: inOfAsk(asked), body: { ...asked } });
  let answer: Val = null;
  let told: End | null = null;
  const wait = async (): Promise<void> => {
    const { body } = await scheduler.wait({
      kind: "ask.ended",
      position,
      attempt: 1,
      in: inOfAsk(asked),
      scope,
      onBudget: "abort",
      flush: true,
      parks: "ask",
      start: (effect) => awaitAnswer(effect, position, interpreter.identity, asked),
    });
    answer = body;
  };
  const tell = async (): Promise<void> => {
    const names = context.scope.enter({ ask: { id: asked.id, url: asked.url } });
    const end = await interpreter.list(step.asked ?? [], {
      ...context,
      scope: names,
      position: auxPosition(position, "asked"),
      stop: scope,
    });
    if (end.is === "failed" || end.is === "exit") {
      told = end;
      const because = { position, code: end.is === "failed" ? end.fault.code : "exit" };
      await scheduler.decide(scope, { cause: "sibling_failed", because, limit: null, by: null });
    }
  };
  await scheduler.fork(step.asked === undefined ? [wait] : [wait, tell], 2, () => true);
  scheduler.closeScope(scope);
  const stop = context.stop.current;
  if (stop !== null) return { is: "stopped", stop };
  if (told !== null) return told;
  return answered(interpreter, step, context, answer);
};

/** A dry run asks nobody: what goes out with the question is looked at, how it is answered nobody can tell. */
async function unasked(
  interpreter: Interpreter,
  step: StepOf<"ask">,
  context: StepContext,
  { text }: AskOpenedBody,
): Promise<End> {
  const { position, plan } = context;
  suppressedStep(interpreter, position, "ask", "dry_run", { text });
  const names = context.scope.enter({ ask: { id: SUPPRESSED, url: SUPPRESSED } });
  const below = auxPosition(position, "asked");
  const end = await interpreter.list(step.asked ?? [], { ...context, scope: names, position: below });
  if (end.is !== "value" && end.is !== "skipped") return end;
  if (step.expires === undefined) return { is: "value", value: SUPPRESSED };
  return undetermined(interpreter, plan, position, [
    { branch: "answered", steps: [], below: position },
    { branch: "expired", steps: step.onExpired ?? [], below: auxPosition(position, "on_expired") },
  ]);
}

/** The body of `ask.opened`: told by the plan and by logical time alone. */
function question(
  interpreter: Interpreter,
  step: StepOf<"ask">,
  { scope, position }: StepContext,
): Evaluated<AskOpenedBody> {
  const { evaluator, scheduler } = interpreter;
  const text = evaluator.value(step.text, scope, position);
  if (!text.ok) return text;
  const assignees = evaluator.value(step.assignees, scope, position);
  if (!assignees.ok) return assignees;
  const returns: Field[] = [];
  for (const field of step.returns) {
    const { defaultValue, ...rest } = field;
    if (defaultValue === undefined) {
      returns.push(field);
      continue;
    }
    const value = evaluator.value(defaultValue, scope, position);
    if (!value.ok) return value;
    returns.push({ ...rest, default: recorded(value.value) });
  }
  const limited = step.expires === undefined && hasFlag(interpreter.admitted.definition, QUESTIONS_EXPIRE);
  let expires = limited ? interpreter.limits.wait : null;
  if (step.expires !== undefined) {
    const after = evaluator.duration(step.expires, scope, position, interpreter.limits.wait);
    if (!after.ok) return after;
    expires = after.value;
  }
  const id = askId(interpreter.run, position);
  const { approvers } = step;
  return {
    ok: true,
    value: {
      for: "ask",
      id,
      url: interpreter.askUrl(id),
      text: recorded(text.value),
      returns: returns as unknown as Json,
      assignees: recorded(assignees.value),
      approvers: approvers === undefined ? null : { ...approvers },
      expires_at: expiryOf(scheduler.now, expires),
      ...(limited ? { expires_by: "limit" as const } : {}),
    },
  };
}

async function answered(
  interpreter: Interpreter,
  step: StepOf<"ask">,
  context: StepContext,
  answer: Val,
): Promise<End> {
  const { position } = context;
  const body = peel(answer).value as { [key: string]: Val };
  if (body["how"] !== "expired") return { is: "value", value: markFields(step.returns, body["value"] ?? null) };
  const fault = new Fault("ask.expired", position, "Nobody answered the question in its time.");
  if (step.onExpired === undefined) return { is: "failed", fault };
  const scope = context.scope.enter({ error: interpreter.errorValue(fault) });
  const end = await interpreter.list(step.onExpired, {
    ...context,
    scope,
    position: auxPosition(position, "on_expired"),
  });
  return end.is === "exit" || end.is === "stopped" || end.is === "failed" ? end : { is: "failed", fault };
}
