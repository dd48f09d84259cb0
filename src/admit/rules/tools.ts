import { isRepeatable } from "../../catalog/manifest.ts";
import { keyIncompatibility } from "../../catalog/reserved-key.ts";
import { allSteps } from "../../plan/plan.ts";
import { type Admission, find, stepName } from "../admission.ts";

/** Providers take tool names of at most 64 characters; the dot travels as two. */
const MAX_WIRE_NAME = 64;

/** What an action must be to serve as an agent's tool (WX-52, 53). */
export function checkTools(admission: Admission): void {
  for (const step of allSteps(admission.input.plan)) {
    if (step.kind !== "agent" || step.tools === "deployment") continue;
    for (const name of step.tools) {
      const action = admission.manifests[name];
      if (action === undefined) continue;
      const refuse = (message: string, help: string): void =>
        find(admission, { code: "catalog.not_a_tool", message, at: [step, { is: "tool", name }], help });
      if (name.length + 1 > MAX_WIRE_NAME) {
        refuse(
          `${name}, a tool of ${stepName(step)}, has a name that is too long for a model's wire format.`,
          `At most ${MAX_WIRE_NAME - 1} characters. Give the action a shorter name in its manifest and the server's in tool.`,
        );
      }
      const reason = keyIncompatibility(action.manifest);
      if (reason !== null) {
        refuse(
          `${name} cannot be a tool of ${stepName(step)}: ${reason}`,
          "Its key input must take every text of 76 characters that begins with wf-agent-v1: and goes on with 64 hex digits.",
        );
      }
    }
  }
}

/** An agent that can write without a key may write twice when a process dies: a hint, no refusal. */
export function hintUnkeyedWrites(admission: Admission): void {
  for (const step of allSteps(admission.input.plan)) {
    if (step.kind !== "agent" || step.tools === "deployment") continue;
    for (const name of step.tools) {
      const manifest = admission.manifests[name]?.manifest;
      if (manifest === undefined || isRepeatable(manifest)) continue;
      find(admission, {
        code: "agent.unkeyed_write",
        message: `${stepName(step)} gives its agent ${name}, a write without an idempotency key.`,
        at: [step, { is: "tool", name }],
        help: "Let the agent return what to write, and write it in an ordinary step; or give the action a key.",
        severity: "hint",
      });
    }
  }
}
