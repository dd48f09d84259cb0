import { invariant } from "../../base/invariant.ts";
import { isObject } from "../../base/json.ts";
import { checkFields, type FieldsOutcome } from "../../catalog/field-value.ts";
import { problemsAsJson, sayProblems } from "../../catalog/value-problem.ts";
import { Fault } from "../../errors/fault.ts";
import type { Field } from "../../plan/field.ts";
import { marksIn, peel, SUPPRESSED, setOwn, type Val } from "../../plan/marked.ts";
import { isOffered } from "../../plan/offered.ts";
import { runFile } from "../file.ts";
import { markFields } from "../hide.ts";
import { LexicalScope } from "../scope.ts";
import { StepCount } from "../step-count.ts";
import type { StepRunner } from "./step-runner.ts";

/**
 * Runs another file as a part of this run: it sees its own inputs and constants and nothing of the caller's, and its
 * outputs are the step's value. Its own limits hold within those of the run.
 */
export const runCall: StepRunner<"call"> = async (interpreter, step, context) => {
  const { position } = context;
  const plan = context.plan.callees[step.callee];
  invariant(plan !== undefined, `the file ${step.callee} was not loaded`);
  if (isOffered(step.callee) && interpreter.isDenied(step.callee)) {
    return {
      is: "failed",
      fault: new Fault("tool_not_authorized", position, `The deployment's policy denies ${step.callee}.`),
    };
  }
  const given = interpreter.evaluator.value(step.with, context.scope, position);
  if (!given.ok) return { is: "failed", fault: given.fault };
  // A value that the history does not hold fitted when the run went this way.
  const marks = marksIn(given.value);
  const inputs = marks.suppressed
    ? suppressedInputs(plan.inputs, given.value)
    : marks.redacted
      ? { ok: true as const, value: peel(markFields(plan.inputs, given.value)).value as { [name: string]: Val } }
      : checkFields(plan.inputs, given.value);
  if (!inputs.ok) {
    const text = `${step.callee}: ${sayProblems(inputs.problems)}`;
    return {
      is: "failed",
      fault: new Fault("input.invalid", position, text, { problems: problemsAsJson(inputs.problems) }),
    };
  }
  const root = (name: string): Val => context.scope.read(name) ?? null;
  const scope = new LexicalScope([
    ["inputs", inputs.value],
    ["trigger", root("trigger")],
    ["run", root("run")],
    ["consts", plan.consts as Val],
    ["settings", root("settings")],
  ]);
  const { limits } = plan;
  const steps = limits.steps === undefined ? context.steps : new StepCount(limits.steps, context.steps);
  const { end, outputs } = await runFile(interpreter, { scope, position, stop: context.stop, plan, steps });
  return end.is === "value" || end.is === "skipped" ? { is: "value", value: outputs ?? {} } : end;
};

/** Of a dry run: what is there is checked, what is not is handed on as what it is. */
function suppressedInputs(fields: readonly Field[], given: Val): FieldsOutcome {
  const { value, marks } = peel(given);
  if (marks.suppressed || !isObject(value)) {
    return { ok: true, value: Object.fromEntries(fields.map(({ name }) => [name, SUPPRESSED])) };
  }
  const map = value as { [name: string]: Val };
  const missing = Object.keys(map).filter((name) => marksIn(map[name] ?? null).suppressed);
  const clear = Object.fromEntries(Object.entries(map).filter(([name]) => !missing.includes(name)));
  const declared = new Set(fields.map(({ name }) => name));
  const checked = checkFields(
    fields.filter(({ name }) => !missing.includes(name)),
    clear,
  );
  if (!checked.ok) return checked;
  const out = { ...checked.value };
  for (const name of missing) if (declared.has(name)) setOwn(out, name, map[name] ?? null);
  return { ok: true, value: out };
}
