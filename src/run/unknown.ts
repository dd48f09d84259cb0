/**
 * What is done about an effect whose outcome is not known (workfile.md 5).
 *
 * I1: it stays unknown, and listed, until a person or a reading action has settled it.
 * I2: what settles it is a record of its own: a replay asks nobody.
 */
import { invariant } from "../base/invariant.ts";
import { markSensitive } from "../catalog/sensitive.ts";
import { sayProblems } from "../catalog/value-problem.ts";
import { checkValue } from "../catalog/value-schema.ts";
import { Fault } from "../errors/fault.ts";
import { peel, reveal, type Val } from "../plan/marked.ts";
import { auxPosition, type Position } from "../plan/position.ts";
import type { OnUnknown, Reconcile } from "../plan/step.ts";
import { awaitSettlement } from "./asks.ts";
import type { End, Stop } from "./end.ts";
import type { Interpreter } from "./interpreter.ts";
import type { StepContext } from "./steps/step-runner.ts";
import type { StopScope } from "./stop-scope.ts";

export type Settled =
  | { is: "value"; value: Val }
  | { is: "failed"; fault: Fault }
  | { is: "stopped"; stop: Stop }
  /** It is to be dispatched again. */
  | { is: "retry" };

export interface UnknownCall {
  action: string;
  position: Position;
  /** The attempt that was lost. */
  attempt: number;
  fault: Fault;
  scope: StopScope;
}

/** How an ordinary action looks for what became of it; `look` dispatches the reading action. */
export interface Reconciling {
  how: Reconcile;
  context: StepContext;
  look: (action: string, context: StepContext, args: Val) => Promise<End>;
}

/** Applies `on_unknown`. Reconciling is for ordinary actions: `reconcile` is given with their step's context. */
export async function settleUnknown(
  interpreter: Interpreter,
  policy: OnUnknown,
  call: UnknownCall,
  reconcile?: Reconciling,
): Promise<Settled> {
  switch (policy) {
    case "fail":
      return { is: "failed", fault: call.fault };
    case "halt":
      return halt(interpreter, call);
    case "reconcile": {
      invariant(reconcile !== undefined, "on_unknown: reconcile was admitted without its action");
      const found = await reconciled(interpreter, call, reconcile);
      return found ?? abort(interpreter, call);
    }
    case "abort":
      return abort(interpreter, call);
  }
}

async function abort(interpreter: Interpreter, { fault, position }: UnknownCall): Promise<Settled> {
  await interpreter.scheduler.decide(interpreter.scheduler.root, {
    cause: "abort",
    because: { position, code: fault.code },
    limit: null,
    by: null,
  });
  interpreter.aborted ??= fault;
  const stop = interpreter.scheduler.root.current;
  invariant(stop !== null, "an abort that stopped nothing");
  return { is: "stopped", stop };
}

/** Parks until `ambit resolve`. */
async function halt(interpreter: Interpreter, { action, position, attempt, scope }: UnknownCall): Promise<Settled> {
  const output = interpreter.admitted.definition.manifests[action]?.manifest.output ?? true;
  const { body } = await interpreter.scheduler.wait({
    kind: "call.settled",
    position,
    attempt,
    in: undefined,
    scope,
    onBudget: "abort",
    parks: "halt",
    start: (context) => awaitSettlement(context, position, attempt, (value) => markSensitive(value, output)),
  });
  const stop = scope.current;
  if (body["how"] !== "left") interpreter.ends.settle(position);
  if (stop !== null) return { is: "stopped", stop };
  return settlement(interpreter, action, position, body);
}

function settlement(
  interpreter: Interpreter,
  action: string,
  position: Position,
  body: { [key: string]: Val },
): Settled {
  switch (peel(body["how"] ?? null).value) {
    case "succeeded": {
      const value = body["value"] ?? null;
      const manifest = interpreter.admitted.definition.manifests[action]?.manifest;
      const problems = manifest === undefined ? [] : checkValue(manifest.output, reveal(value));
      if (problems.length === 0) return { is: "value", value };
      const text = `${action}, as settled: ${sayProblems(problems)}`;
      return { is: "failed", fault: new Fault("action.invalid_output", position, text) };
    }
    case "retry":
      return { is: "retry" };
    default: {
      const code = peel(body["code"] ?? null).value;
      const said = peel(body["comment"] ?? null).value;
      const text = typeof said === "string" && said !== "" ? said : `${action} failed, as settled by ${body["by"]}.`;
      return { is: "failed", fault: new Fault(typeof code === "string" ? code : "action.failed", position, text) };
    }
  }
}

/** Looks with a reading action; null where that tells nothing. */
async function reconciled(
  interpreter: Interpreter,
  { action, position, attempt, scope }: UnknownCall,
  { how, context, look }: Reconciling,
): Promise<Settled | null> {
  const { evaluator, scheduler } = interpreter;
  const at = auxPosition(position, "reconcile");
  const args = evaluator.value(how.with, context.scope, at);
  if (!args.ok) return { is: "failed", fault: args.fault };
  const end = await look(how.action, { ...context, position: at }, args.value);
  if (end.is === "stopped") return { is: "stopped", stop: end.stop };
  if (end.is !== "value") return null;
  const names = context.scope.enter({ result: end.value });
  const succeeded = evaluator.condition(how.succeeded, names, at);
  if (!succeeded.ok) return { is: "failed", fault: succeeded.fault };
  const failed = evaluator.condition(how.failed, names, at);
  if (!failed.ok) return { is: "failed", fault: failed.fault };
  const done = succeeded.value === "yes";
  // Both, neither, or something that a dry run cannot tell: it is as unknown as before.
  if (succeeded.value === "untold" || failed.value === "untold" || done === (failed.value === "yes")) return null;
  let value: Val = null;
  if (done) {
    const given =
      how.value === undefined ? { ok: true as const, value: end.value } : evaluator.value(how.value, names, at);
    if (!given.ok) return { is: "failed", fault: given.fault };
    value = given.value;
  }
  const { body } = await scheduler.wait({
    kind: "call.settled",
    position,
    attempt,
    in: undefined,
    scope,
    onBudget: "abort",
    start: async () => ({
      by: "reconcile",
      ...(done ? { how: "succeeded", value } : { how: "failed", code: "action.failed" }),
    }),
  });
  interpreter.ends.settle(position);
  const stop = scope.current;
  if (stop !== null) return { is: "stopped", stop };
  return settlement(interpreter, action, position, body);
}
