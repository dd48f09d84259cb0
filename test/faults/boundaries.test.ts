import { describe, expect, test } from "vitest";
import type { RunRecord } from "../../src/journal/event.ts";
import type { RunResult } from "../../src/journal/result.ts";
import { root, startAmbit } from "../built/built.ts";
import { LEDGER_MANIFEST, type LedgerSpace, type StubCall, stubSpace } from "./ledger.ts";
import { scene } from "./scene.ts";
import { readRecords, Workspace } from "./workspace.ts";

const killAt = `${root}/test/faults/kill-at.mjs`;
const held = scene();

/** Kills a run in the moment record `at` is on disk, and goes on with it. */
async function killAndResume(
  space: Workspace,
  at: number,
  file: string,
  inputs: string[],
): Promise<{ code: number | null; result: RunResult; events: RunRecord[] }> {
  const run = `cut-${at}`;
  const killed = await startAmbit([String(at), run, file, ...inputs], space.folder, {}, killAt).done;
  expect(killed.signal, killed.stderr).toBe("SIGKILL");
  const { code, result, stdout } = await space.json(["resume", run]);
  return { code, result, events: recordsOf(stdout) };
}

/** The records that `resume --json` prints, those of before the kill among them. */
function recordsOf(stdout: string): RunRecord[] {
  return readRecords(stdout).filter((line) => (line as unknown as { type: string }).type === "event");
}

/** What has its identity stands once; seq has no gap. */
function expectOnce(events: readonly RunRecord[]): void {
  const keys = events.map(({ position, kind, attempt }) => `${position} ${kind} ${attempt}`);
  expect(new Set(keys).size).toBe(keys.length);
  expect(events.map((record) => record.seq)).toEqual(events.map((_, i) => i + 1));
}

describe("SIGKILL at every record of an agent's run, then resume (DU-10, DU-40)", { timeout: 300_000 }, () => {
  test("the example ends as if nothing had been", async () => {
    const space = held(Workspace.ofExample("triage"));
    const file = "examples/triage/triage.workfile.yaml";
    const whole = await space.json(["run", file, "-i", "sender=ana@example.org", "--run-id", "whole"]);
    expect(whole.result.status).toBe("completed");
    const records = await space.events("whole");
    for (const record of records.slice(0, -1)) {
      const { code, result, events } = await killAndResume(space, record.seq, file, ["sender=ana@example.org"]);
      expectOnce(events);
      // The one write of the example has no key: what stands between its intent and its result is not known.
      if (record.kind === "call.intent" || records[record.seq]?.kind === "call.intent") {
        const intended = events.findIndex((entry) => entry.kind === "call.intent");
        const resumed = events.findIndex((entry) => entry.kind === "run.resumed");
        if (intended !== -1 && intended < resumed) {
          expect({ at: record.seq, code, unknown: result.unknown }).toEqual({
            at: record.seq,
            code: 8,
            unknown: [{ position: "notify", action: "messaging.post", code: "executor_lost" }],
          });
          continue;
        }
      }
      expect({ at: record.seq, code, digest: result.digest }).toEqual({
        at: record.seq,
        code: 0,
        digest: whole.result.digest,
      });
      if (record.seq % 4 === 0) {
        expect((await space.replay(`cut-${record.seq}`)).report).toMatchObject({ result: "equal" });
      }
    }
  });
});

const ROUNDS = 17;

/** Reads, keyed and natural writes, branches and side-by-side items: 51 dispatches in 17 rounds. */
const LOOP = `workfile: "1"
name: rounds
inputs:
  items: { type: array, required: true, items: { type: string } }
limits: { deadline: 5m, concurrency: 3 }
steps:
  - rounds:
      wf.each: "{{ inputs.items }}"
      as: item
      max: 100
      concurrency: CONCURRENCY
      steps:
        - seen: { ledger.look: { item: "{{ item }}" } }
        - paid: { ledger.charge: { item: "{{ seen.of }}" } }
        - kept: { ledger.keep: { item: "{{ paid.of }}" } }
        - odd:
            wf.if: "{{ index % 2 == 1 }}"
            then: [ { note: { wf.let: { text: "{{ kept.of }}!" } } } ]
      yield: "{{ kept.of }}"
outputs: { kept: "{{ rounds }}" }
`;

const ITEMS = Array.from({ length: ROUNDS }, (_, i) => `i${i}`);
const TOOLS = `actions:
  ledger.look: [ { return: { of: "{{ args.item }}" } } ]
  ledger.charge: [ { return: { of: "{{ args.item }}" } } ]
  ledger.keep: [ { return: { of: "{{ args.item }}" } } ]
`;

function loopSpace(concurrency: number): LedgerSpace {
  const space = held(stubSpace("agents: { clerk: [] }\n", TOOLS, LOOP.replace("CONCURRENCY", String(concurrency))));
  const keep = `  keep:
    description: Keeps a thing.
    input: { type: object, required: [item], additionalProperties: false, properties: { item: { type: string } } }
    output: { type: object }
    effects: write
    idempotency: natural
`;
  space.write({ "manifest.yaml": LEDGER_MANIFEST + keep, "items.json": JSON.stringify({ items: ITEMS }) });
  return space;
}

/** Dispatches of one run by position; a keyed effect that was done before comes as `deduplicated`. */
function perPosition(calls: readonly StubCall[], phase: StubCall["phase"]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const call of calls) {
    if (call.phase === phase) counts.set(call.position, (counts.get(call.position) ?? 0) + 1);
  }
  return counts;
}

describe("SIGKILL at records of a run of 51 dispatches, then resume (DU-40)", { timeout: 300_000 }, () => {
  test.each([
    [1, 7],
    [3, 7],
  ])("%i items at once", async (concurrency, samples) => {
    const space = loopSpace(concurrency);
    const whole = await space.json(["run", "ledger.workfile.yaml", "--input", "@items.json", "--run-id", "whole"]);
    expect(whole.result).toMatchObject({ status: "completed", outputs: { kept: ITEMS } });
    const last = whole.result.counts.events;
    expect(last).toBeGreaterThanOrEqual(ROUNDS * 3 + 3);
    for (let sample = 0; sample < samples; sample++) {
      // Spread over the run, the first and the last boundary among them.
      const at = 2 + Math.round((sample * (last - 3)) / (samples - 1));
      const before = space.calls.length;
      const { code, result, events } = await killAndResume(space, at, "ledger.workfile.yaml", [
        `items=${JSON.stringify(ITEMS)}`,
      ]);
      expect({ at, code, digest: result.digest }).toEqual({ at, code: 0, digest: whole.result.digest });
      expectOnce(events);
      const calls = space.calls.slice(before);
      const resumedAt = events.findIndex((record) => record.kind === "run.resumed");
      const recordedBefore = new Set(
        events.slice(0, resumedAt).flatMap((record) => (record.kind === "call.ended" ? [record.position] : [])),
      );
      const dispatched = perPosition(calls, "dispatched");
      expect(dispatched.size).toBe(ROUNDS * 3);
      for (const [position, times] of dispatched) {
        // At most one dispatch per process, and one alone where the result was on disk.
        if (recordedBefore.has(position)) expect({ at, position, times }).toEqual({ at, position, times: 1 });
        else expect(times).toBeLessThanOrEqual(2);
      }
      expect([...dispatched.values()].filter((times) => times > 1).length).toBeLessThanOrEqual(concurrency);
      const charged = calls.filter((call) => call.action === "ledger.charge" && call.phase === "done");
      expect(charged).toHaveLength(ROUNDS);
      expect(new Set(charged.map((call) => call.key)).size).toBe(ROUNDS);
    }
  });
});
