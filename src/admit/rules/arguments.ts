import { isObject, type Json } from "../../base/json.ts";
import { didYouMean } from "../../base/nearest.ts";
import type { ActionManifest } from "../../catalog/manifest.ts";
import { checkValue } from "../../catalog/value-schema.ts";
import type { Value } from "../../plan/expression.ts";
import { allSteps } from "../../plan/plan.ts";
import type { ActionStep } from "../../plan/step.ts";
import { type Admission, find, stepName } from "../admission.ts";

/**
 * What can be said of an ordinary step's arguments before it runs: names that the action does not take, names
 * that it must have, and literals that do not fit. The rest is checked when the values are there.
 */
export function checkStepArguments(admission: Admission): void {
  for (const step of allSteps(admission.input.plan)) {
    const manifest = step.kind === "action" ? admission.manifests[step.action]?.manifest : undefined;
    if (step.kind !== "action" || manifest === undefined) continue;
    checkReserved(admission, step, manifest);
    for (const { message, help, argument } of problemsOf(manifest, step.args)) {
      find(admission, {
        code: "action.invalid_input",
        message: `${stepName(step)}, ${manifest.name}: ${message}`,
        at: [step, argument === null ? { is: "subject" } : { is: "argument", name: argument }],
        help,
        // The step itself fails with the same code when it comes to it: a handler may count on that.
        severity: "warning",
      });
    }
  }
}

/** The key of a keyed action is the engine's, in ordinary steps as in an agent's proposals. */
function checkReserved(admission: Admission, step: ActionStep, manifest: ActionManifest): void {
  const { idempotency } = manifest;
  if (idempotency.kind !== "keyed" || !namesOf(step.args)?.includes(idempotency.field)) return;
  find(admission, {
    code: "action.invalid_input",
    message: `${stepName(step)}, ${manifest.name}: ${idempotency.field} is its idempotency key, which the engine gives.`,
    at: [step, { is: "argument", name: idempotency.field }],
    help: "Leave it out.",
  });
}

function namesOf(args: Value): string[] | null {
  if ("map" in args) return Object.keys(args.map);
  return "lit" in args && isObject(args.lit) ? Object.keys(args.lit) : null;
}

/** `argument`: the one that is meant; null: all of them together, or one that is missing. */
interface ArgumentProblem {
  message: string;
  help: string;
  argument: string | null;
}

function problemsOf(manifest: ActionManifest, args: Value): ArgumentProblem[] {
  const all = namesOf(args);
  if (all === null) return [];
  const { properties, required, additionalProperties } = manifest.input;
  const taken = isObject(properties) ? Object.keys(properties) : [];
  const reserved = manifest.idempotency.kind === "keyed" ? manifest.idempotency.field : null;
  const names = all.filter((name) => name !== reserved);
  const problems: ArgumentProblem[] = [];
  if (additionalProperties === false && !isObject(manifest.input["patternProperties"])) {
    for (const name of names.filter((entry) => !taken.includes(entry))) {
      problems.push({
        message: `it takes no ${JSON.stringify(name)}.`,
        help: `${didYouMean(name, taken)} It takes: ${taken.join(", ") || "nothing"}.`.trim(),
        argument: name,
      });
    }
  }
  const must = (Array.isArray(required) ? required : []).filter(
    (name) => typeof name === "string" && name !== reserved,
  );
  for (const name of must.map(String)) {
    if (names.includes(name)) continue;
    problems.push({
      message: `the argument ${name} is missing.`,
      help: `It must have: ${must.join(", ")}.`,
      argument: null,
    });
  }
  if (problems.length > 0 || reserved !== null) return problems;
  const whole = literalOf(args);
  if (whole === undefined) return [];
  return checkValue(manifest.input, whole).map((problem) => ({
    message: `${problem.message}.`,
    help: `Expected: ${problem.expected}.`,
    argument: firstKey(problem.path),
  }));
}

/** The value of arguments without any expression. */
function literalOf(args: Value): Json | undefined {
  if ("lit" in args) return args.lit;
  if (!("map" in args)) return undefined;
  const out: { [key: string]: Json } = {};
  for (const [name, part] of Object.entries(args.map)) {
    if (!("lit" in part)) return undefined;
    out[name] = part.lit;
  }
  return out;
}

function firstKey(path: string): string | null {
  return /^[\w-]+/.exec(path)?.[0] ?? null;
}
