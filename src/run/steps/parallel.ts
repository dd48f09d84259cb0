import type { Val } from "../../plan/marked.ts";
import { setOwn } from "../../plan/marked.ts";
import { childPosition } from "../../plan/position.ts";
import { runSiblings } from "../siblings.ts";
import type { StepRunner } from "./step-runner.ts";

/**
 * Branches side by side, each in a frame of its own. A failed one fails the step; the others are stopped and
 * awaited. Values stand in the order of the branches, whichever ended first.
 */
export const runParallel: StepRunner<"parallel"> = async (interpreter, step, context) => {
  const { branches } = step;
  const values: Val[] = branches.map(() => null);
  const positions = branches.map((branch) => childPosition(context.position, branch.name));
  const ended = await runSiblings(interpreter, context, positions, step.concurrency, async (index, inner) => {
    const position = positions[index] ?? "";
    const end = await interpreter.list(branches[index]?.steps ?? [], { ...context, ...inner, position });
    if (end.is === "value") values[index] = end.value;
    return end;
  });
  const stop = context.stop.current;
  if (stop !== null) return { is: "stopped", stop };
  if (ended !== null) return ended;
  const value: { [name: string]: Val } = {};
  branches.forEach(({ name }, index) => {
    if (name !== undefined) setOwn(value, name, values[index] ?? null);
  });
  return { is: "value", value };
};
