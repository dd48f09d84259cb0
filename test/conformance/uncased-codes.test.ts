/** Codes that no case folder brings about, and that no other test is there for (`code-tests.mjs`). */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createEngine, type Engine } from "../../src/app/engine.ts";
import { readWorkflow } from "../../src/app/workflow-file.ts";
import { hashJson } from "../../src/base/hash.ts";
import { InvariantError } from "../../src/base/invariant.ts";
import { asRefused } from "../../src/cli/refusal.ts";
import { Cursor, pagesOfRun } from "../../src/journal/cursor.ts";
import type { RunRecord } from "../../src/journal/event.ts";
import { StepsFold } from "../../src/journal/steps.ts";
import { askStep, History, planOf } from "../../src/journal/testing/history.ts";
import type { Step } from "../../src/plan/step.ts";
import { action, admitted, common, manifest, plan } from "../../src/run/testing/plan.ts";
import { FakeConnector, runPlan } from "../../src/run/testing/runner.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ambit-codes-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const MEBIBYTE = 1024 * 1024;

test("yaml.too_large: a workflow of one byte more than 1 MiB", () => {
  const flow = 'workfile: "1"\nname: large\nsteps:\n  - tell: { wf.notify: hello }\n#';
  const codesOf = (bytes: number): string[] => {
    writeFileSync(join(folder, "large.workfile.yaml"), flow.padEnd(bytes, "x"));
    return readWorkflow("large.workfile.yaml", folder).diagnostics.map((entry) => entry.code);
  };
  expect(codesOf(MEBIBYTE)).toEqual([]);
  expect(codesOf(MEBIBYTE + 1)).toEqual(["yaml.too_large"]);
});

test("action.result_too_large: a result of more than 16 MiB, of whatever connector", async () => {
  // `{"text":""}` takes eleven bytes.
  const sizes = [16 * MEBIBYTE - 11, 16 * MEBIBYTE - 10];
  for (const [i, size] of sizes.entries()) {
    const crm = new FakeConnector("crm", () => ({ is: "ok", value: { text: "x".repeat(size) } }));
    const { ended } = await runPlan(admitted(plan([action("a", "crm.search")]), [manifest("crm.search")]), {
      connectors: [crm],
    });
    expect(ended.error?.code).toBe([undefined, "action.result_too_large"][i]);
  }
});

describe("internal.invariant", () => {
  test("a step of a kind that nobody knows ends the run as a bug, and is replayed as one", async () => {
    const odd = { ...common("a"), kind: "nothing" } as unknown as Step;
    const flow = admitted(plan([action("before", "crm.search")]), [manifest("crm.search")]);
    const broken = { ...flow, definition: { ...flow.definition, plan: plan([odd]) } };
    const { ended, replayed } = await runPlan(broken);
    expect(ended).toMatchObject({ status: "failed", error: { code: "internal.invariant" } });
    expect(replayed.is).toBe("equal");
  });

  test("whatever a command throws that is no refusal is one, and says what it was", () => {
    for (const thrown of [new InvariantError("a branch waits"), new TypeError("x is null"), "a text"]) {
      const { exit, fault } = asRefused(thrown);
      expect([exit, fault.code]).toEqual([1, "internal.invariant"]);
      expect(fault.message).toContain(thrown instanceof Error ? thrown.message : thrown);
    }
  });
});

test("ask.expired: a question that nobody answered in time ends its step so", () => {
  const history = new History()
    .accepted()
    .add("ask.opened", "q", {
      for: "ask",
      id: "1",
      url: null,
      text: "Pay 20?",
      returns: [],
      assignees: [],
      approvers: null,
      expires_at: "2026-01-01T02:00:00.000Z",
    })
    .add("ask.ended", "q", { how: "expired", by: [], value: null });
  const fold = new StepsFold();
  for (const record of history.records) fold.add(record);
  expect(fold.rows(planOf([askStep("q")]), "failed")).toMatchObject([{ status: "failed", code: "ask.expired" }]);
});

describe("history.mismatch", () => {
  const FLOW = 'workfile: "1"\nname: two\nsteps:\n  - one: { wf.notify: one }\n  - two: { wf.notify: two }\n';
  let engine: Engine;

  beforeEach(async () => {
    writeFileSync(join(folder, "two.workfile.yaml"), FLOW);
    writeFileSync(join(folder, "ambit.yaml"), "settings: {}\n");
    engine = await createEngine({ cwd: folder, store: "memory", say: () => {} });
  });
  afterEach(() => engine.close());

  /** A finished run whose last record is cut off and whose first notice is changed, under another id. */
  async function unfinished(change: (record: RunRecord) => RunRecord): Promise<string> {
    const run = await engine.start("two.workfile.yaml", { runId: "whole" });
    await run.result();
    const journal = await engine.journal(null);
    const records: RunRecord[] = [];
    for await (const record of new Cursor(pagesOfRun(journal, "whole"))) records.push(record);
    const cut = records.filter((record) => record.kind !== "run.ended").map((record) => ({ ...record, run: "cut" }));
    await journal.import(cut.map((record) => (record.position === "one" ? change(record) : record)));
    return "cut";
  }

  test("a resume of records that fit goes on", async () => {
    const run = await engine.resume(await unfinished((record) => record));
    expect((await run.result()).status).toBe("completed");
  });

  test("a resume that hands over something else than is recorded stops and says where", async () => {
    const other = hashJson("another");
    const run = await engine.resume(
      await unfinished((record) => ({ ...record, in: other, body: { text: "another" } })),
    );
    await expect(run.result()).rejects.toMatchObject({
      exit: 7,
      fault: { code: "history.mismatch", details: { position: "one", recorded: other } },
    });
  });
});
