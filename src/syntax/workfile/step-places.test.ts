import { expect, test } from "vitest";
import { allSteps } from "../../plan/plan.ts";
import { SourceText } from "../../text/tree.ts";
import { parseWorkfile } from "./parse.ts";
import type { StepWord } from "./step-places.ts";

const TEXT = `workfile: "1"
name: places
steps:
  - resolve:
      wf.agent: "helper"
      goal: Find it.
      tools: [crm.search, crm.look]
      returns: { id: string }
      budget: { steps: 2, tokens: 9 }
  - tell: { messaging.post: { channel: a, text: b }, timeout: 3s }
`;

function wordAt(step: string, word: StepWord | null): { text: string; path: string } | null {
  const { plan, places } = parseWorkfile(new SourceText("a.workfile.yaml", TEXT));
  const found = plan === null ? undefined : [...allSteps(plan)].find((entry) => entry.id === step);
  const place = found === undefined ? null : places.find(found, word);
  if (place === null) return null;
  const line = TEXT.split("\n")[place.span.line - 1] ?? "";
  return { text: line.slice(place.span.column - 1, place.span.endColumn - 1), path: place.path };
}

test.each<[string, StepWord | null, string, string]>([
  ["resolve", null, "resolve", "steps[0].resolve"],
  ["resolve", { is: "subject" }, '"helper"', 'steps[0].resolve["wf.agent"]'],
  ["resolve", { is: "tool", name: "crm.look" }, "crm.look", "steps[0].resolve.tools[1]"],
  ["resolve", { is: "tool", name: "crm.none" }, "resolve", "steps[0].resolve"],
  ["resolve", { is: "key", name: "budget.tokens" }, "tokens", "steps[0].resolve.budget.tokens"],
  ["resolve", { is: "key", name: "budget.duration" }, "budget", "steps[0].resolve.budget"],
  ["tell", { is: "subject" }, "messaging.post", 'steps[1].tell["messaging.post"]'],
  ["tell", { is: "argument", name: "text" }, "text", 'steps[1].tell["messaging.post"].text'],
  ["tell", { is: "argument", name: "none" }, "messaging.post", 'steps[1].tell["messaging.post"]'],
])("%s, %j: %s", (step, word, text, path) => {
  expect(wordAt(step, word)).toEqual({ text, path });
});

test("a step of another text has no place", () => {
  const { places } = parseWorkfile(new SourceText("a.workfile.yaml", TEXT));
  expect(places.find({ span: { line: 99, column: 1, endLine: 99, endColumn: 2 } }, null)).toBeNull();
});
