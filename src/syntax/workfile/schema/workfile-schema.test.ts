import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../base/json.ts";
import type { Diagnostic } from "../../../errors/diagnostic.ts";
import { closedMaps, STRANGER } from "../../../text/testing/closed-maps.ts";
import { type MapNode, SourceText, type TreeNode, toJson } from "../../../text/tree.ts";
import { parseYaml } from "../../../text/yaml.ts";
import { parseWorkfile } from "../parse.ts";
import { SUBJECT_KEYS, SUBJECT_TABLE } from "../tables.ts";
import { workfileSchema } from "./workfile-schema.ts";

const root = resolve(import.meta.dirname, "../../../..");
const schema = workfileSchema();
const takes = new Ajv({ strict: false, allErrors: true }).compile(schema);

const HEAD = 'workfile: "1"\nname: test\ninputs: { kind: { type: string, enum: [good, bad], required: true } }\n';
const withStep = (step: string): string => `${HEAD}steps: [ { one: ${step} } ]\n`;

function judge(text: string) {
  const source = new SourceText("x.yaml", text);
  const node = parseYaml(source).root as TreeNode;
  const { plan, diagnostics } = parseWorkfile(source);
  const ok = takes(toJson(node));
  return { plan, diagnostics, node, ok, why: JSON.stringify(takes.errors) };
}

const files = ["conformance", "examples"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /^workflow\.yaml$|\.workfile\.yaml$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name)),
);
const plans = files.flatMap((file) => {
  const text = readFileSync(file, "utf8");
  return parseWorkfile(new SourceText(file, text)).plan === null ? [] : [{ file, text }];
});

/** Each way to write a kind of step with all that it takes. */
const STEPS = [
  "{ crm.search: }",
  "{ crm.search: { q: 1 }, if: true, timeout: '{{ consts.t }}', retry: { attempts: 2, backoff: 1s }, catch: [ { codes: ['*'], value: 1 } ], cleanup: [ { x: { wf.notify: a } }, { on: failure, steps: [] } ] }",
  "{ crm.search: {}, on_unknown: reconcile, reconcile: { action: crm.look, with: { a: 1 }, succeeded: '{{ result.ok }}', failed: false, value: 1 } }",
  "{ agent: helper, goal: Look., with: { a: 1 }, tools: [crm.search], returns: { a: string, b: { type: array, items: string, min: 1 } }, budget: { duration: PT1M }, on_exhausted: [], on_unknown: halt, catch: [ { codes: [agent.*], steps: [] } ] }",
  "{ run: python, code: return 1, network: ['localhost:80'], with: {} }",
  "{ wf.let: { a: { b: ['{{ inputs.kind }}'] } } }",
  "{ wf.if: true, then: [] }",
  "{ wf.switch: '{{ inputs.kind }}', cases: { good: [], bad: [] } }",
  "{ wf.each: [1, 2], as: n, steps: [ { say: { wf.notify: '{{ n }}' } } ], concurrency: 2, yield: { a: 1 }, on_item_failure: { yield: 2 } }",
  "{ wf.each: '{{ [1] }}', max: 3, until: '{{ index > 1 }}', steps: [], on_item_failure: skip }",
  "{ wf.repeat: { max: 3, from: { a: 1 } }, while: '{{ index < 2 }}', steps: [], yield: 1, on_max: truncate }",
  "{ wf.parallel: { a: [], inputs: [] }, concurrency: 1 }",
  "{ wf.call: ./other.workfile.yaml, with: { a: 1 } }",
  "{ wf.wait: 0s }",
  "{ wf.wait: { until: '2026-03-04T08:00:00Z' }, if: '{{ true }}' }",
  "{ wf.ask: 'Pay?', returns: { approved: boolean, note: { type: string, default: '{{ inputs.kind }}' } }, expires: 2h, on_expired: [], asked: [], assignees: [ops], approvers: { not: initiator, count: 2 } }",
  "{ wf.ask: 'Pay?', assignees: '{{ [inputs.kind] }}' }",
  "{ wf.notify: Done. }",
  "{ wf.stop: }",
  "{ wf.stop: { a: 1 }, if: false }",
  "{ wf.fail: { code: a.b, message: No. } }",
];

describe("the schema of Workfiles", () => {
  test("takes every Workfile of the cases and examples that has no errors", () => {
    expect(plans.length).toBeGreaterThan(100);
    for (const { file, text } of plans) expect(judge(text), file).toMatchObject({ ok: true });
  });

  test.each(STEPS)("takes the step %s", (step) => {
    const { diagnostics, ok, why } = judge(withStep(step).replace("steps:", "consts: { t: 1s }\nsteps:"));
    expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
    expect(ok, why).toBe(true);
  });

  test.each([
    "triggers: [ { schedule: { every: 30m, with: { kind: good }, when: '{{ true }}' } }, { webhook: { path: /x, body: { a: string }, headers: [x-a], with: { kind: bad }, reply: outputs } } ]",
    "on: [ { schedule: { cron: '0 7 * * 1-5', zone: Europe/Paris, with: { kind: good } } } ]",
    "single: '{{ inputs.kind }}'\noverlap: queue\nlimits: { deadline: 10m, steps: 2, depth: 1, concurrency: 8 }",
    "description: x\noutputs: { a: '{{ inputs.kind }}' }\ncleanup: [ { on: always, steps: [] } ]",
  ])("takes at the top: %s", (lines) => {
    const { plan, ok, why } = judge(`${HEAD}${lines}\nsteps: []\n`);
    expect(plan).not.toBeNull();
    expect(ok, why).toBe(true);
  });

  test.each([
    ["workfile: 1\nname: a\nsteps: []"],
    ['workfile: "1"\nname: 1a\nsteps: []'],
    ['workfile: "1"\nname: a'],
    [`${HEAD}steps: []\noverlap: queue`],
    [`${HEAD}steps: []\ntriggers: [ { schedule: { every: 30 } } ]`],
    [`${HEAD}steps: []\ntriggers: [ {} ]`],
    [`${HEAD}steps: [ { inputs: { wf.notify: a } } ]`],
    [`${HEAD}steps: [ { a: { wf.notify: a }, b: { wf.notify: a } } ]`],
    [`${HEAD}steps: [ crm.search ]`],
    [withStep("{ if: true }")],
    [withStep("{ wf.notify: a, wf.stop: }")],
    [withStep("{ wf.agent: a, goal: b, returns: { c: string }, budget: {} }")],
    [withStep("{ wf.agent: a, goal: b, returns: { c: strin }, budget: { steps: 1 } }")],
    [
      withStep(
        "{ wf.agent: a, goal: b, returns: { c: string }, budget: { steps: 1 }, catch: [ { codes: ['*'], value: 1 } ] }",
      ),
    ],
    [withStep("{ wf.agent: a, goal: b, returns: { c: string }, budget: { steps: 1 }, tools: [wf.notify] }")],
    [withStep("{ wf.if: inputs.kind, then: [] }")],
    [withStep("{ wf.notify: a, retry: { attempts: 2 } }")],
    [withStep("{ crm.search: {}, catch: [ { codes: ['*'] } ] }")],
    [withStep("{ crm.search: {}, cleanup: [ { on: failure } ] }")],
    [withStep("{ crm.search: {}, timeout: 30 }")],
    [withStep("{ a__b.search: {} }")],
    [withStep("{ goal.search: {} }")],
    [withStep("{ wf.fail: { code: nodot, message: a } }")],
  ])("refuses what the checker refuses: %s", (text) => {
    expect(judge(text)).toMatchObject({ plan: null, ok: false });
  });

  test("has all keys of the table for each subject, and no others", () => {
    const definitions = schema["definitions"] as { [name: string]: JsonObject };
    for (const [key, subject] of SUBJECT_KEYS) {
      const { config, modifiers } = SUBJECT_TABLE[subject];
      const known = Object.keys(definitions[`step-${key}`]?.["properties"] as JsonObject);
      expect(known.sort(), key).toEqual([key, ...config, ...modifiers].sort());
    }
  });

  test("knows the keys of the reader wherever a map is closed", () => {
    const beside = (definition: string, key: string): JsonObject => {
      if (definition === "") return { workfile: "1", name: "a", steps: [] };
      if (definition === "cleanup") return { on: "always" };
      const subject = definition.startsWith("step-") ? definition.slice(5) : null;
      if (subject === null) return definition === "field" && key !== "type" ? { type: "any" } : {};
      return subject === "action" ? { "crm.search": {} } : { [subject]: HEADS[subject] ?? "a" };
    };
    const maps = closedMaps(schema, beside);
    expect(maps.length).toBeGreaterThan(35);
    for (const { at, document, keys } of maps) {
      // A step that does not say what it does: the reader has another fault to tell.
      if (keys.includes("wf.agent") && keys.includes("wf.run")) continue;
      const { diagnostics } = judge(JSON.stringify(document));
      const stranger = diagnostics.find((entry) => entry.path.includes(STRANGER));
      expect(stranger?.code, `${at} ${JSON.stringify(document)}`).toBe("workfile.unknown_key");
      const told = /keys: (.*)\.$/.exec(stranger?.help ?? "")?.[1]?.split(", ") ?? [];
      // The key that says which step it is is none of the others; handlers of an agent lose `value` in another rule.
      const apart = (key: string): boolean => !SUBJECT_KEYS.has(key) && !(at.endsWith("catch.0") && key === "value");
      expect(keys.filter(apart).sort(), at).toEqual(told.filter(apart).sort());
    }
  });
});

const HEADS: { readonly [key: string]: string | JsonObject | null } = {
  "wf.let": {},
  "wf.repeat": { max: 1 },
  "wf.parallel": { a: [] },
  "wf.stop": null,
  "wf.fail": { code: "a.b", message: "c" },
};

/** Each key of a tree with another one in its place. */
function* misspelt(text: string, node: TreeNode): Generator<{ key: string; text: string; path: string }> {
  if (node.kind === "list") for (const item of node.items) yield* misspelt(text, item);
  if (node.kind !== "map") return;
  for (const entry of (node as MapNode).entries) {
    const { key, keyStart, keyEnd, value } = entry;
    if (key.length > 2) {
      const other = `${key.slice(0, -2)}${key.at(-1)}${key.at(-2)}x`;
      yield { key: other, text: text.slice(0, keyStart) + other + text.slice(keyEnd), path: key };
    }
    yield* misspelt(text, value);
  }
}

test("a misspelt key that the checker does not know the schema does not know either", () => {
  let seen = 0;
  // Each fifth is enough: their keys are much the same.
  for (const { file, text } of plans.filter((_, i) => i % 5 === 0)) {
    const { node } = judge(text);
    for (const one of misspelt(text, node)) {
      const { diagnostics, ok } = judge(one.text);
      // The inputs of a trigger are names of the file's own.
      const unknown = ({ code, path }: Diagnostic): boolean =>
        code === "workfile.unknown_key" && path.includes(one.key) && !path.startsWith("triggers");
      if (!diagnostics.some(unknown)) continue;
      seen++;
      expect(ok, `${file}: ${one.path} -> ${one.key}`).toBe(false);
    }
  }
  expect(seen).toBeGreaterThan(200);
});
