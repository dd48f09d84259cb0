import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Model } from "../../src/host/models/create-model.ts";
import { readCase, trialsOf } from "./case-files.ts";
import { runCase } from "./run-case.ts";

vi.mock("../../src/host/models/create-model.ts", async (original) => {
  const actual = await original<typeof import("../../src/host/models/create-model.ts")>();
  const { overheard } = await import("./transcript.ts");
  const createModel = (...given: Parameters<typeof actual.createModel>): Model =>
    overheard(actual.createModel(...given));
  return { ...actual, createModel };
});

// A case that passes as it is: each test changes one thing and looks at what the runner makes of it.
const GOOD = fileURLToPath(new URL("../../conformance/WX-23-example-of-the-seed", import.meta.url));

/** The key of `case.json`. */
const FOLLOW_UPS = "then";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "ambit-runner-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

interface Changes {
  expect: object;
  settings?: object;
  /** By file: what is replaced. */
  edit?: { [file: string]: [string, string] };
}

async function differences(changes: Changes): Promise<string[]> {
  const folder = join(root, "c");
  mkdirSync(folder, { recursive: true });
  cpSync(GOOD, folder, { recursive: true });
  for (const [file, [old, text]] of Object.entries(changes.edit ?? {})) {
    writeFileSync(
      join(folder, file),
      readFileSync(join(folder, file), "utf8").replace(old, () => text),
    );
  }
  writeFileSync(join(folder, "expect.json"), JSON.stringify(changes.expect));
  writeFileSync(join(folder, "case.json"), JSON.stringify({ inputs: { sender: "ana" }, ...changes.settings }));
  const [trial] = trialsOf(readCase(folder, "c"));
  if (trial === undefined) throw new Error("no trial");
  return (await runCase(trial)).map((entry) => entry.path);
}

const UNDECLARED: [string, string] = ["name: triage", "nmae: triage"];

describe("a refusal", () => {
  test("that nothing in the expectation speaks of is a failure, at every stage", async () => {
    for (const stage of ["parse", "admit", "run", "replay"]) {
      const found = await differences({ expect: { stage, status: undefined }, edit: { "workflow.yaml": UNDECLARED } });
      expect(found).toContain("refused");
    }
    const said = {
      stage: "run",
      exit: 3,
      diagnostics: [{ code: "workfile.unknown_key" }, { code: "workfile.missing_key" }],
    };
    const found = await differences({ expect: said, edit: { "workflow.yaml": UNDECLARED } });
    expect(found).not.toContain("refused");
  });

  test("that is expected and does not come is a failure too", async () => {
    expect(await differences({ expect: { stage: "parse", exit: 3 } })).toEqual(["exit"]);
    expect(await differences({ expect: { stage: "run", error: { code: "capability.unsupported" } } })).toEqual([
      "error",
    ]);
  });

  test("at admission is found where the text alone is well", async () => {
    const edit = { "ambit.yaml": ["  billing:", "  invoices:"] as [string, string] };
    expect(await differences({ expect: { stage: "parse", exit: 0, diagnostics: [] }, edit })).toEqual([]);
    expect(await differences({ expect: { stage: "admit" }, edit })).toContain("refused");
  });
});

describe("a run", () => {
  test("is compared with all that is given, and with no more", async () => {
    expect(await differences({ expect: {} })).toEqual([]);
    expect(await differences({ expect: { status: "failed" } })).toEqual(["status"]);
    expect(await differences({ expect: { outputs: { account_id: "org-8" } } })).toEqual(["outputs.account_id"]);
    expect(await differences({ expect: { counts: { tool_attempts: 3 } } })).toEqual(["counts.tool_attempts"]);
    expect(await differences({ expect: { steps: [{ position: "resolve" }] } })).toEqual(["steps[1]"]);
    expect(await differences({ expect: { bounds: { tokens: 1 } } })).toEqual(["bounds.tokens"]);
  });

  test("has exactly the calls and notices that are given", async () => {
    expect(await differences({ expect: { calls: [{ action: "crm.search" }] } })).toEqual(["calls[1]"]);
    expect(await differences({ expect: { calls: [{ action: "crm.search", args: { query: "bo" } }, {}] } })).toEqual([
      "calls[0].args.query",
    ]);
    const turned = [{ action: "billing.lookup" }, { action: "crm.search" }];
    expect(await differences({ expect: { calls: turned } })).toHaveLength(2);
    expect(await differences({ expect: { calls: turned, any_order: true } })).toEqual([]);
    expect(await differences({ expect: { notices: [] } })).toEqual(["notices[0]"]);
    expect(await differences({ expect: { notices: ["Account *"] } })).toEqual([]);
  });

  test("is played with inputs, settings and an id of the case", async () => {
    const edit = { "workflow.yaml": ["Account {{", "{{ run.id }} {{ settings.word }} {{"] as [string, string] };
    const settings = { run_id: "run-9", settings: { word: "hello" } };
    expect(await differences({ expect: { notices: ["run-9 hello org-9"] }, settings, edit })).toEqual([]);
  });

  test("may be cancelled at a time or at a position", async () => {
    const edit = { "tools.yaml": ["{ return: { accounts", "{ delay: 10s, return: { accounts"] as [string, string] };
    const cancelled = { status: "cancelled", exit: 1 };
    expect(
      await differences({ expect: { ...cancelled, duration_ms: 2_000 }, settings: { cancel_at: "2s" }, edit }),
    ).toEqual([]);
    const at = { cancel_at: "resolve.(tools)[0]" };
    expect(await differences({ expect: { ...cancelled, duration_ms: 0 }, settings: at, edit })).toEqual([]);
    expect(await differences({ expect: { status: "completed" }, settings: { cancel_at: "after.*" }, edit })).toEqual(
      [],
    );
  });

  test("gives away nothing that never may be found", async () => {
    const found = await differences({ expect: { never: ["a parent organization", "nowhere to be seen"] } });
    expect(new Set(found)).toEqual(new Set(["never[0]"]));
    const agentOnly = (text: string): object => ({ never: [{ text, in: ["agent"] }] });
    expect(await differences({ expect: agentOnly("Agent budget exhausted") })).toEqual([]);
    expect(await differences({ expect: agentOnly("Find the account for ana") })).toEqual(["never[0]"]);
    expect(await differences({ expect: agentOnly("crm.search") })).toEqual(["never[0]"]);
  });
});

test("a question is answered as the case says, and parks the run where nobody does", async () => {
  const edit = { "workflow.yaml": ["steps:\n", "steps:\n  - ok: { wf.ask: Go? }\n"] as [string, string] };
  const answered = (answers?: object): Changes => ({
    expect: { status: "completed", asks: [{ position: "ok", how: "answered", by: ["person"] }] },
    settings: answers === undefined ? {} : { answers },
    edit,
  });
  expect(await differences(answered({ ok: { approved: true } }))).toEqual([]);
  expect(await differences(answered({ ok: [{ by: "person", answer: { approved: false } }] }))).toEqual([]);
  expect(await differences(answered())).toEqual(["status", "asks[0].how", "asks[0].by"]);
  expect(await differences(answered({ ok: { approved: "yes" } }))).toEqual(["status", "asks[0].how", "asks[0].by"]);
});

test("the stage replay expects an equal replay, whatever else is given", async () => {
  expect(await differences({ expect: { stage: "replay" } })).toEqual([]);
  expect(await differences({ expect: { replay: "unfinished" } })).toEqual(["replay"]);
});

test("further commands are judged by expectations of their own", async () => {
  const then = (expected: object): Changes => ({
    expect: {},
    settings: { [FOLLOW_UPS]: ["replay", { command: "resume", expect: expected }] },
  });
  expect(await differences(then({ status: "completed" }))).toEqual([]);
  expect(await differences(then({ status: "failed" }))).toEqual(["then resume: status"]);
});

test("a case that asks for what the runner cannot do is faulty, not green", async () => {
  await expect(differences({ expect: {}, settings: { state: {} } })).rejects.toThrow("state");
  await expect(differences({ expect: { stage: "parse", outputs: {} } })).rejects.toThrow("outputs");
  await expect(differences({ expect: { never: [""] } })).rejects.toThrow("never[0]");
});
