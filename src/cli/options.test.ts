import { expect, test } from "vitest";
import type { Plan } from "../plan/plan.ts";
import { agent, plan } from "../run/testing/plan.ts";
import { checkAgentChoices } from "./options.ts";

const withHelper: Plan = plan([agent("ask", [])]);

test("a choice for an agent that the workflow does not have is refused, with the nearest name", () => {
  expect(() => checkAgentChoices(withHelper, { helpr: "x" })).toThrow('Did you mean "helper"? It has: helper.');
  expect(() => checkAgentChoices(plan([]), { helper: "x" })).toThrow("It has no agent step.");
  expect(() => checkAgentChoices(withHelper, { constructor: "x" } as never)).toThrow("constructor");
});

test("one that it has is taken", () => {
  expect(() => checkAgentChoices(withHelper, { helper: "x" })).not.toThrow();
});
