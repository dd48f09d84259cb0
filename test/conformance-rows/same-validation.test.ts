/** WC-35: an agent's call meets the manifest as an ordinary step's does, whatever the arguments. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { play } from "./played.ts";

const CALLS = 60;

const value = fc.oneof(
  fc.integer({ min: -2, max: 5 }),
  fc.constantFrom(1.5, "1", "", "abcde", "abcdef", null, true, [], {}),
  fc.array(fc.constantFrom("a", 1, null), { maxLength: 3 }),
);
const args = fc.dictionary(fc.constantFrom("amount", "note", "tags", "other"), value, { maxKeys: 4 });

test("WC-35: generated arguments are dispatched by both or by neither, as they are", async () => {
  for (const seed of [1, 2, 3]) {
    const corpus = fc.sample(args, { numRuns: CALLS, seed }) as JsonObject[];
    const steps = corpus.map(
      (_, i) => `  - p${i}:
      billing.charge: { ${Object.keys(corpus[i] ?? {})
        .map((key) => `${key}: "{{ inputs.list[${i}].${key} }}"`)
        .join(", ")} }
      catch: [ { codes: [action.invalid_input], steps: [] } ]`,
    );
    const calls = corpus.map((one) => ({ tool: "billing.charge", with: { $literal: one } }));
    const played = await play(
      "WC-35-validated-like-ordinary-calls",
      (folder) => {
        folder.write(
          "workflow.yaml",
          `workfile: "1"
name: same
inputs: { list: { type: array, default: ${JSON.stringify(corpus)} } }
steps:
${steps.join("\n")}
  - resolve:
      wf.agent: helper
      goal: Charge all of it.
      tools: [billing.charge]
      returns: { ok: boolean }
      budget: { steps: 200 }
`,
        );
        folder.write(
          "scripted.yaml",
          JSON.stringify({ agents: { helper: [{ turns: [{ calls }, { finish: { ok: true } }] }] } }),
        );
      },
      {},
    );
    try {
      expect(played.result.error).toBeNull();
      const dispatched = (pattern: RegExp): [number, JsonObject][] =>
        played.folder.dispatches().flatMap((line): [number, JsonObject][] => {
          const found = pattern.exec(line.position);
          return found === null ? [] : [[Number(found[1]), line.args]];
        });
      const plain = dispatched(/^p(\d+)$/);
      expect(dispatched(/^resolve\.\(tools\)\[(\d+)\]$/)).toEqual(plain);
      expect(plain.length).toBeGreaterThan(0);
      expect(plain.length).toBeLessThan(CALLS);
    } finally {
      await played.end();
    }
  }
});
