import type { Json, JsonObject } from "../base/json.ts";
import { nearestName } from "../base/nearest.ts";
import { checkFields } from "../catalog/field-value.ts";
import { Fault } from "../errors/fault.ts";
import type { Val } from "../plan/marked.ts";
import type { Plan } from "../plan/plan.ts";
import { Refused } from "./refused.ts";

/** Checks the inputs of a start: unknown, missing and ill-typed ones are reported together (exit 2). */
export function bindInputs(plan: Plan, given: JsonObject): { [name: string]: Val } {
  const names = plan.inputs.map((field) => field.name);
  const unknown = Object.keys(given).filter((name) => !names.includes(name));
  const missing = plan.inputs
    .filter((field) => field.required && !Object.hasOwn(given, field.name))
    .map((field) => field.name);
  const known: JsonObject = {};
  for (const name of names) if (Object.hasOwn(given, name)) known[name] = given[name] as Json;
  // Missing ones are said on their own; what is there is checked as if they could be left out.
  const checked = checkFields(
    plan.inputs.map((field) => (missing.includes(field.name) ? { ...field, required: false } : field)),
    known,
  );
  const problems = checked.ok ? [] : checked.problems;
  if (unknown.length === 0 && missing.length === 0 && checked.ok) return checked.value;
  const said = [
    ...missing.map((name) => `the input ${name} is missing`),
    ...unknown.map((name) => {
      const near = nearestName(name, names);
      return `there is no input ${JSON.stringify(name)}${near === null ? "" : `, did you mean ${near}?`}`;
    }),
    ...problems.map((problem) => `input ${problem.message}`),
  ];
  const code = missing.length > 0 ? "input.missing" : unknown.length > 0 ? "input.unknown" : "input.invalid";
  const usage =
    names.length === 0
      ? "The workflow takes no inputs."
      : `Inputs: ${plan.inputs.map((field) => `${field.name} (${field.type}${field.required ? ", required" : ""})`).join(", ")}.`;
  throw new Refused(
    2,
    new Fault(code, "", `${sentence(said.join("; "))} ${usage}`, {
      missing,
      unknown,
      problems: problems.map((problem) => ({ path: problem.path, message: problem.message })),
    }),
  );
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? "" : "."}`;
}
