import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { scene } from "../faults/scene.ts";
import { readRecords, Workspace } from "../faults/workspace.ts";

const held = scene();
const example = (name: string): Workspace => held(Workspace.ofExample(name));

/** A word that stands nowhere else. */
const fresh = (): string => `Q-${randomBytes(6).toString("hex")}`;

describe("triage: what the README runs", { timeout: 120_000 }, () => {
  const RUN = ["run", "examples/triage/triage.workfile.yaml", "-i", "sender=ana@example.org"];

  test("the account comes from the server's data through a recorded call, and from nowhere else", async () => {
    const space = example("triage");
    const done = await space.ambit(RUN);
    expect(done.code).toBe(0);
    expect(JSON.parse(done.stdout)).toEqual({ account_id: "B-7342-KX" });
    // The message of the example is talk; the outputs are data.
    expect(done.stderr).toContain("belongs to account B-7342-KX");
    for (const file of ["triage.workfile.yaml", "triage.scripted.yaml", "ambit.yaml", "servers/billing.mjs"]) {
      expect(space.read(`examples/triage/${file}`)).not.toContain("B-7342-KX");
    }
    const shown = await space.ambit(["runs", "show", "@last", "--events"]);
    const call = readRecords(shown.stdout).find((record) => record.body["action"] === "billing.lookup");
    expect(call).toMatchObject({
      kind: "call.ended",
      position: "resolve.(tools)[1]",
      body: { outcome: "ok", value: { account_id: "B-7342-KX" } },
    });
  });

  test("other data, another output", async () => {
    const space = example("triage");
    const account = fresh();
    const data = "examples/triage/data/billing.json";
    space.write({ [data]: space.read(data).replace("B-7342-KX", account) });
    const done = await space.json(RUN);
    expect(done.result).toMatchObject({ status: "completed", outputs: { account_id: account } });
    const values = (await space.events("@last")).flatMap((record) =>
      record.kind === "call.ended" ? [JSON.stringify(record.body["value"])] : [],
    );
    expect(values.filter((value) => value.includes(account))).toHaveLength(1);
  });

  test("a sender whom nobody knows is no success", async () => {
    const space = example("triage");
    const done = await space.json([...RUN.slice(0, -1), "sender=nobody@example.org"]);
    expect(done.code).toBe(1);
    expect(done.result).toMatchObject({ status: "failed", error: { code: "agent.gave_up", position: "resolve" } });
  });

  test("check, plan, show, replay and export as the page has them", async () => {
    const space = example("triage");
    expect((await space.ambit(["check", "examples/triage/triage.workfile.yaml"])).code).toBe(0);
    const plan = await space.ambit(["plan", "examples/triage/triage.workfile.yaml"]);
    expect(plan.code).toBe(0);
    expect(plan.stdout).toContain("billing.lookup");
    const done = await space.json(RUN);
    expect((await space.ambit(["runs", "show"])).stdout).toContain("resolve");
    expect((await space.ambit(["replay", "@last"])).stdout).toContain(done.result.digest);
    expect(await space.export("@last")).toHaveLength(done.result.counts.events);
  });
});

describe("folder-report: what its README runs", { timeout: 120_000 }, () => {
  const RUN = ["run", "examples/folder-report/folder-report.workfile.yaml", "-i", "name=pumps"];
  const NOTES = "examples/folder-report/notes";

  test("it ends completed, the files are there and quote a line that was put into the folder", async () => {
    const space = example("folder-report");
    const [added, changed] = [`Decision: ${fresh()}, without delay.`, `Decision: ${fresh()} as before.`];
    const first = `${NOTES}/2026-01-12-pump-house.md`;
    space.write({
      [`${NOTES}/2026-01-01-new-year.md`]: `# New year\n\n${added}\n\nOpen: nothing.\n`,
      [first]: space.read(first).replace(/^Decision:.*$/m, changed),
    });
    expect(readdirSync(space.path("examples/folder-report/reports"))).toEqual([".gitignore"]);
    const done = await space.json(RUN);
    expect(done.code, done.stderr).toBe(0);
    const last = done.stdout.trim().split("\n").at(-1) ?? "";
    expect(last).toContain('"status":"completed"');
    expect(done.result.outputs).toMatchObject({ path: "reports/pumps.md" });

    const report = space.read("examples/folder-report/reports/pumps.md");
    expect(report).toContain(`> ${added}`);
    expect(report).toContain(`> ${changed}`);
    const memory = space.read("examples/folder-report/reports/memory.jsonl");
    expect(memory).toContain(added);
    // It came by the server's answers, not by some other way.
    const read = (await space.events("@last")).filter((record) => record.body["action"] === "notes.read");
    expect(read.some((record) => JSON.stringify(record.body["value"]).includes(added))).toBe(true);
    expect((await space.replay("@last")).report).toMatchObject({ result: "equal", digest: done.result.digest });
  });

  test("without --json: outputs on stdout, talk on stderr", async () => {
    const space = example("folder-report");
    const done = await space.ambit(RUN);
    expect(done.code, done.stderr).toBe(0);
    expect(JSON.parse(done.stdout)).toMatchObject({ path: "reports/pumps.md" });
    expect(done.stderr).toContain("Completed");
  });
});
