import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test, vi } from "vitest";
import type { Model } from "../../src/host/models/create-model.ts";
import { listCases, type Trial, trialsOf } from "./case-files.ts";
import { sayMismatch } from "./match.ts";
import { runCase } from "./run-case.ts";

// What agents are given is written down where it reaches the model.
vi.mock("../../src/host/models/create-model.ts", async (original) => {
  const actual = await original<typeof import("../../src/host/models/create-model.ts")>();
  const { overheard } = await import("./transcript.ts");
  const createModel = (...given: Parameters<typeof actual.createModel>): Model =>
    overheard(actual.createModel(...given));
  return { ...actual, createModel };
});

const ROOT = fileURLToPath(new URL("../../conformance", import.meta.url));
const PENDING = readPending(`${ROOT}/pending.json`);

const trials = listCases(ROOT).flatMap(trialsOf);

describe("conformance", () => {
  for (const trial of trials) {
    test(trial.olderSpelling ? `${trial.name} (older spelling)` : trial.name, () => judge(trial));
  }

  test("pending.json names cases that are there", () => {
    const names = new Set(trials.flatMap((trial) => [trial.name, trial.case.name]));
    expect(Object.keys(PENDING).filter((name) => !names.has(name))).toEqual([]);
  });
});

/** A pending case runs too, and has to fail: once it passes, it is no longer pending. */
async function judge(trial: Trial): Promise<void> {
  const reason = PENDING[trial.name] ?? PENDING[trial.case.name];
  if (reason === undefined) {
    const mismatches = await runCase(trial);
    if (mismatches.length > 0) throw new Error(`\n${mismatches.map((entry) => `  ${sayMismatch(entry)}`).join("\n")}`);
    return;
  }
  const passes = await runCase(trial).then(
    (mismatches) => mismatches.length === 0,
    () => false,
  );
  if (passes) throw new Error(`${trial.name} passes now: take it out of conformance/pending.json (${reason}).`);
}

function readPending(path: string): { [name: string]: string } {
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as { [name: string]: string }) : {};
}
