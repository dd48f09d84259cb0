import fc from "fast-check";
import { expect, test } from "vitest";
import { AGENT_KEY_LENGTH, AGENT_KEY_PREFIX, admitsAllKeys } from "./key-pattern.ts";

const hex = fc
  .array(fc.constantFrom(..."0123456789abcdef"), { minLength: 64, maxLength: 64 })
  .map((digits) => AGENT_KEY_PREFIX + digits.join(""));

/** Patterns near the keys' language: some take all of it, most do not. */
const atom = fc.constantFrom(
  "[0-9a-f]",
  "[0-9a-e]",
  "[a-z0-9]",
  "\\w",
  "\\d",
  ".",
  "f",
  "(?:a|b|[0-9c-f])",
  "[^0]",
  "[^-:]",
);
const times = fc.constantFrom("", "*", "+", "{64}", "{1,64}", "{63}", "{2,}", "?");
const pattern = fc
  .tuple(
    fc.constantFrom("", "^", "^wf-agent-v1:", "^wf", "v1:", ":"),
    fc.array(
      fc.tuple(atom, times).map((parts) => parts.join("")),
      { minLength: 1, maxLength: 3 },
    ),
    fc.constantFrom("", "$"),
  )
  .map(([before, middle, after]) => before + middle.join("") + after);

test("I1: what the automaton says agrees with JavaScript's own matcher", () => {
  fc.assert(
    fc.property(pattern, fc.array(hex, { minLength: 5, maxLength: 5 }), (source, keys) => {
      const outcome = admitsAllKeys(source);
      const judge = new RegExp(source);
      if (outcome.is === "not_all") {
        expect(outcome.example).toMatch(/^wf-agent-v1:[0-9a-f]{64}$/);
        expect(outcome.example).toHaveLength(AGENT_KEY_LENGTH);
        expect(judge.test(outcome.example)).toBe(false);
      } else if (outcome.is === "all") {
        for (const key of keys) expect(judge.test(key)).toBe(true);
      }
    }),
    { numRuns: 150 },
  );
});
