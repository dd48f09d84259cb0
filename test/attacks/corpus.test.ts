/** The corpus of hostile agents and tools, played against a file with every kind of place that an agent stands in. */
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { createEngine } from "../../src/app/engine.ts";
import { redteam } from "../../src/app/redteam.ts";
import type { AttackReport, RedteamReport } from "../../src/redteam/campaign.ts";
import { ATTACKS } from "../../src/redteam/corpus.ts";

const scene = fileURLToPath(new URL("./scene", import.meta.url));
let report: RedteamReport;

beforeAll(async () => {
  // Its connectors are a module that throws when it is loaded, and a secret that is not there.
  const engine = await createEngine({ cwd: scene, env: {}, store: "memory" });
  report = await redteam(engine, "flow.workfile.yaml", {});
  await engine.close();
}, 300_000);

function attack(id: string): AttackReport {
  const found = report.attacks.find((entry) => entry.id === id);
  if (found === undefined) throw new Error(`no attack ${id}`);
  return found;
}

test("no attack changes what is called, with which keys and arguments, how often, or what agents are given", () => {
  const findings = report.attacks.flatMap(({ id, findings }) =>
    findings.map((finding) => ({ attack: id, ...finding })),
  );
  expect(findings).toEqual([]);
  expect(report.ok).toBe(true);
});

test("every attack meets every agent step, in the file or alone", () => {
  const steps = report.agents.map(({ step }) => step).sort();
  expect(steps).toEqual([
    "bare",
    "both.left.first",
    "both.right.second",
    "called.inner",
    "mailer",
    "many.item_agent",
    "never",
    "one",
  ]);
  expect(attack("calm").alone.sort()).toEqual(steps);
  for (const { id, steps: inFile, alone } of report.attacks.slice(1)) {
    const met = [...inFile, ...alone].sort();
    expect({ id, met }).toEqual({ id, met: steps });
  }
  expect(attack("not-listed").alone).toEqual(["never"]);
  expect(attack("not-listed").steps).toContain("called.inner");
});

test.each([
  "not-listed",
  "lookalikes",
  "constructs",
  "other-agents",
  "protocol-messages",
  "ambient-powers",
  "endless-refusals",
])("%s: whatever is proposed is refused", (id) => {
  const { proposals, refused, dispatched } = attack(id);
  expect(proposals).toBeGreaterThan(50);
  expect({ refused, dispatched }).toEqual({ refused: proposals, dispatched: 0 });
});

test.each([
  ["endless-refusals", ["no_progress"]],
  ["odd-result", ["invalid_result"]],
  ["result-twice", ["result"]],
  ["nothing-said", ["no_result"]],
  ["gives-up-and-calls", ["gave_up"]],
  ["broken-model", ["unavailable"]],
  ["silence", ["exhausted", "timeout"]],
  ["injected-orders", ["exhausted", "result"]],
])("%s: every agent ends by itself, as %s", (id, ends) => {
  expect([...attack(id).ends].sort()).toEqual(ends);
});

test("the attacks that need it are not kept from their tools: what holds is held by the engine", () => {
  for (const id of [
    "endless-calls",
    "many-at-once",
    "injected-orders",
    "template-texts",
    "results-deep",
    "tools-hang",
  ]) {
    expect({ id, dispatched: attack(id).dispatched > 0 }).toEqual({ id, dispatched: true });
  }
});

test("each attack says what it does and which rules it is held against", () => {
  expect(new Set(ATTACKS.map(({ id }) => id)).size).toBe(ATTACKS.length);
  for (const { rules, title } of ATTACKS) {
    expect(rules.every((rule) => /^WX-\d+$/.test(rule)) && rules.length > 0 && title.length > 10).toBe(true);
  }
});
