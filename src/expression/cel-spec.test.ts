import { describe, expect, it } from "vitest";
import { jsonEqual } from "../base/json.ts";
import { reveal } from "../plan/marked.ts";
import { compile } from "./cel.ts";
import { type CelCase, celCases } from "./testing/cel-cases.ts";
import { DECIDED_OTHERWISE } from "./testing/decided-otherwise.ts";

const { cases, others } = celCases();

/** What came out instead; null if it is what the case expects. */
function difference(test: CelCase): string | null {
  const compiled = compile(test.source);
  const result = compiled.ok
    ? compiled.expr.evaluate({ read: (name) => (Object.hasOwn(test.bindings, name) ? test.bindings[name] : undefined) })
    : null;
  if (result === null || !result.ok) {
    return test.expected === "failure" ? null : (result?.problem.message ?? "no expression");
  }
  const value = reveal(result.value);
  if (test.expected !== "failure" && jsonEqual(value, test.expected.value)) return null;
  return JSON.stringify(value);
}

describe("the test cases of the CEL project", () => {
  it("apply in number: the filter has not thrown them away", () => {
    expect(cases.length).toBeGreaterThanOrEqual(800);
    expect(others).toBeLessThan(1_600);
  });

  for (const file of new Set(cases.map((test) => test.id.split("/")[0] ?? ""))) {
    it(`${file}: all hold but those decided otherwise`, () => {
      const failing = cases
        .filter((test) => test.id.startsWith(`${file}/`) && !Object.hasOwn(DECIDED_OTHERWISE, test.id))
        .flatMap((test) => {
          const got = difference(test);
          return got === null ? [] : [`${test.id}: ${test.source} gave ${got}`];
        });
      expect(failing).toEqual([]);
    });
  }

  it("decided otherwise: each entry is a case and still fails, so the list only shrinks", () => {
    const byId = new Map(cases.map((test) => [test.id, test]));
    const stale = Object.keys(DECIDED_OTHERWISE).filter((id) => {
      const test = byId.get(id);
      return test === undefined || difference(test) === null;
    });
    expect(stale).toEqual([]);
  });
});
