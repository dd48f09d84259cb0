import { didYouMean } from "../../base/nearest.ts";
import { isOffered } from "../../plan/offered.ts";
import { allSteps } from "../../plan/plan.ts";
import { type Admission, find, type StepWord, stepName } from "../admission.ts";
import { covers } from "../policy-match.ts";

/** The inputs that a call gives are those that its file declares. */
export function checkCalls(admission: Admission): void {
  const { plan, policy } = admission.input;
  for (const step of allSteps(plan)) {
    if (step.kind !== "call") continue;
    const offered = isOffered(step.callee);
    if (offered && covers(policy.approve, step.callee)) {
      find(admission, {
        code: "plan.callee_refused",
        message: `${step.callee} is a workflow, and nothing is dispatched for it that a person could approve.`,
        at: [step, { is: "subject" }],
        help: "Name the actions that it uses under policy.approve, or let the file ask with wf.ask.",
      });
    }
    const callee = plan.callees[step.callee];
    if (callee === undefined || !("map" in step.with || "lit" in step.with)) continue;
    const given = Object.keys("map" in step.with ? step.with.map : (step.with.lit as object));
    const declared = callee.inputs.map((field) => field.name);
    for (const name of given) {
      if (declared.includes(name)) continue;
      find(admission, {
        code: "input.unknown",
        message: `${step.callee}, called by ${stepName(step)}, has no input "${name}".`,
        at: [step, wordOfInput(name, offered)],
        help: didYouMean(name, declared) || `Its inputs: ${declared.join(", ") || "none"}.`,
      });
    }
    const missing = callee.inputs.filter(
      (field) => field.required && field.default === undefined && !given.includes(field.name),
    );
    for (const field of missing) {
      find(admission, {
        code: "input.missing",
        message: `${step.callee}, called by ${stepName(step)}, needs the input "${field.name}".`,
        at: [step, { is: "subject" }],
        help: offered ? "Give it in the step." : "Give it in `with`.",
      });
    }
  }
}

/** A step that names an offered workflow gives inputs as it would give arguments to an action. */
function wordOfInput(name: string, offered: boolean): StepWord {
  return offered ? { is: "argument", name } : { is: "key", name: `with.${name}` };
}

/** How deep files may call each other; the one that is run is the first level. */
export function checkDepth(admission: Admission, depth: number): void {
  const { plan } = admission.input;
  const limit = admission.limits.depth;
  if (depth <= limit) return;
  const step = [...allSteps(plan)].find((entry) => entry.kind === "call");
  if (step === undefined) return;
  find(admission, {
    code: "plan.too_deep",
    message: `Files call each other ${depth} levels deep, the limit is ${limit}.`,
    at: [step, { is: "subject" }],
  });
}
