import { CODES, isRegistered } from "../../errors/codes.ts";
import { allSteps } from "../../plan/plan.ts";
import { type Admission, find, stepName } from "../admission.ts";

/**
 * Codes of authors and connectors are data beside the registered ones. A `wf.fail` may not use a registered code,
 * which would be taken for the engine's; a `catch` of a family that is also a connector's name takes both.
 */
export function checkCodes(admission: Admission): void {
  const { plan, catalog } = admission.input;
  const families = new Set(Object.keys(CODES).map(familyOf));
  for (const step of allSteps(plan)) {
    if (step.kind === "exit" && step.how === "fail" && step.code !== undefined && "lit" in step.code) {
      const code = step.code.lit;
      if (typeof code === "string" && isRegistered(code)) {
        find(admission, {
          code: "workfile.bad_value",
          message: `${stepName(step)} fails with ${code}, which is a code of the engine's own.`,
          at: [step, { is: "argument", name: "code" }],
          help: "Use a family of your own, such as the name of the workflow.",
        });
      }
    }
    for (const pattern of step.catch.flatMap((entry) => entry.codes)) {
      const family = familyOf(pattern);
      if (!pattern.endsWith(".*") || !families.has(family) || catalog.connector(family) === undefined) continue;
      find(admission, {
        code: "workfile.bad_value",
        message: `${stepName(step)} catches ${pattern}: that is a family of the engine's codes and the connector ${family}'s.`,
        at: [step, { is: "key", name: "catch" }],
        help: "Name the codes that are meant.",
        severity: "warning",
      });
    }
  }
}

function familyOf(code: string): string {
  const dot = code.indexOf(".");
  return dot === -1 ? code : code.slice(0, dot);
}
