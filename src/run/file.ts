import { Fault } from "../errors/fault.ts";
import type { Val } from "../plan/marked.ts";
import { type DueCleanup, dueCleanups, leaveList } from "./cleanup.ts";
import type { End } from "./end.ts";
import type { Interpreter } from "./interpreter.ts";
import type { ListContext } from "./steps/step-runner.ts";

/**
 * Runs one file, that of the run or of a call: its steps, its outputs, and what is due at its end. `over` is called
 * when its own work is done: what bounds that bounds no cleanup.
 */
export async function runFile(
  interpreter: Interpreter,
  context: Omit<ListContext, "cleanups">,
  over: () => void = () => {},
): Promise<{ end: End; outputs: Val }> {
  const { scope, position, plan } = context;
  const cleanups: DueCleanup[] = dueCleanups(plan.cleanup, position, scope, plan);
  const list = await interpreter.listIn(plan.steps, { ...context, cleanups });
  let { end } = list;
  let outputs: Val = null;
  if (end.is === "value" && plan.outputs !== undefined) {
    const result = interpreter.evaluator.value(plan.outputs, list.scope, position);
    if (result.ok) outputs = result.value;
    else end = { is: "failed", fault: ofOutputs(result.fault) };
  }
  over();
  await leaveList(interpreter, cleanups, end, []);
  return { end, outputs };
}

/** The outputs stand at no step, so the message says where it went wrong. */
function ofOutputs({ code, at, message, details, cause }: Fault): Fault {
  const { line } = details;
  const place = typeof line === "number" ? ` (line ${line})` : "";
  return new Fault(code, at, `In the outputs${place}: ${message}`, details, cause);
}
