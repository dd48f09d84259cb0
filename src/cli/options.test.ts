import { expect, test } from "vitest";
import type { Plan } from "../plan/plan.ts";
import { agent, plan } from "../run/testing/plan.ts";
import { checkAgentChoices, readDocument, readInputs } from "./options.ts";

const withHelper: Plan = plan([agent("ask", [])]);

test("a choice for an agent that the workflow does not have is refused, with the nearest name", () => {
  expect(() => checkAgentChoices(withHelper, { helpr: "x" })).toThrow('Did you mean "helper"? It has: helper.');
  expect(() => checkAgentChoices(plan([]), { helper: "x" })).toThrow("It has no agent step.");
  expect(() => checkAgentChoices(withHelper, { constructor: "x" } as never)).toThrow("constructor");
});

test("one that it has is taken", () => {
  expect(() => checkAgentChoices(withHelper, { helper: "x" })).not.toThrow();
});

const FIELDS = [
  { name: "id", type: "integer" },
  { name: "list", type: "list" },
  { name: "free", type: "any" },
  { name: "text", type: "string" },
] as never;

test.each([
  ["id=9007199254740993", "The input id cannot be taken: the number 9007199254740993 is beyond 2^53 - 1"],
  ["free=9007199254740993", "The input free cannot be taken"],
  ['list=[{"a":1,"a":2}]', 'the key "a" stands twice in one map (line 1, column 9)'],
])("an input that would be changed on its way is refused: %s", (pair, said) => {
  expect(() => readInputs(FIELDS, [pair], [])).toThrow(said);
  const json = pair.slice(pair.indexOf("=") + 1);
  expect(() => readInputs(FIELDS, [], [`{"list": ${json}}`])).toThrow(
    /--input cannot be taken: .* \(line 1, column \d+\)/,
  );
  expect(() => readDocument(json, "the answer")).toThrow("the answer cannot be taken");
});

test("a text input is the text itself, whatever it looks like", () => {
  expect(readInputs(FIELDS, ["text=9007199254740993", "free=no JSON"], [])).toEqual({
    text: "9007199254740993",
    free: "no JSON",
  });
});
