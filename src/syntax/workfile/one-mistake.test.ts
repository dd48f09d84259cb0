import { expect, test } from "vitest";
import { diagnose } from "../diagnose.ts";

const GOOD = `workfile: "1"
name: sample
inputs: { sender: { type: string, required: true } }
steps:
  - find:
      wf.agent: helper
      goal: Find {{ inputs.sender }}.
      tools: [crm.search]
      returns: { id: { type: string, required: true } }
      budget: { steps: 3 }
      catch:
        - codes: [agent.gave_up]
          steps: []
  - keep: { wf.let: { a: "{{ find.id }}", b: "{{ inputs.sender }}" } }
outputs: { id: "{{ find.id }}" }
`;

test("the sample is without a finding", () => {
  expect(diagnose(GOOD, "x.yaml").diagnostics.filter((entry) => entry.severity === "error")).toEqual([]);
});

test.each([
  ["goal: Find", "gaol: Find", "workfile.unknown_key"],
  ["budget:", "budgte:", "workfile.unknown_key"],
  ["name: sample", "nmae: sample", "workfile.unknown_key"],
  ["steps:\n  - find", "setps:\n  - find", "workfile.unknown_key"],
  ["inputs: { sender", "input: { sender", "workfile.unknown_key"],
  ["codes: [", "code: [", "workfile.unknown_key"],
  ["          steps: []", "          setps: []", "workfile.unknown_key"],
  ["{ type: string, required: true } }\nsteps", "{ tpye: string, required: true } }\nsteps", "workfile.unknown_key"],
  ["{ type: string, required: true } }\nsteps", "7 }\nsteps", "workfile.wrong_type"],
  ["{ id: { type: string", "{ id: { type: strnig", "workfile.bad_value"],
  ["{ id: { type: string, required: true } }", "{ id: [ 1 ] }", "workfile.wrong_type"],
  ["inputs: { sender: { type: string, required: true } }", "inputs: sender", "workfile.wrong_type"],
])("one mistake is one finding: %s as %s", (right, wrong, code) => {
  expect(GOOD.split(right)).toHaveLength(2);
  const { diagnostics } = diagnose(GOOD.replace(right, wrong), "x.yaml");
  expect(diagnostics.filter((entry) => entry.severity === "error").map((entry) => entry.code)).toEqual([code]);
});

test("two mistakes are still two", () => {
  const { diagnostics } = diagnose(GOOD.replace("gaol", "goal").replace("      goal: ", "      zzz: "), "x.yaml");
  expect(diagnostics.map((entry) => entry.code).sort()).toEqual(["workfile.missing_key", "workfile.unknown_key"]);
});
