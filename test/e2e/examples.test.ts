/** The smaller examples as their READMEs run them, through the built command line, with their real servers. */
import { describe, expect, test } from "vitest";
import { scene } from "../faults/scene.ts";
import { linesOf, Workspace } from "../faults/workspace.ts";

const held = scene();
const example = (name: string): Workspace => held(Workspace.ofExample(name));
const file = (name: string): string => `examples/${name}/${name}.workfile.yaml`;

describe("sorting", { timeout: 120_000 }, () => {
  test("nineteen tickets are sorted, the damaged one is skipped by name, never more than four are under way", async () => {
    const space = example("sorting");
    const { code, result } = await space.json(["run", file("sorting")]);
    const { billing, support, left_out } = result.outputs as { billing: string[]; support: string[]; left_out: number };
    expect([code, result.status, billing.length, support.length, left_out]).toEqual([0, "completed", 7, 12, 1]);
    expect([...billing, ...support]).not.toContain("T-13");
    expect(result).toMatchObject({ skipped: [{ at: "sorted[12]", cause: "failure" }], counts: { agent_turns: 19 } });
    expect(result.skipped).toHaveLength(1);
    const items = new Set<string>();
    let most = 0;
    for (const { kind, position } of await space.events("@last")) {
      const item = /^sorted\[\d+\]/.exec(position)?.[0];
      if (item === undefined) continue;
      if (kind === "agent.started") items.add(item);
      if (kind === "agent.ended") items.delete(item);
      most = Math.max(most, items.size);
    }
    expect(most).toBeLessThanOrEqual(4);
    expect((await space.replay("@last")).report.result).toBe("equal");
  });

  test("one more damaged ticket, one more left out", async () => {
    const space = example("sorting");
    const data = "examples/sorting/data/tickets.json";
    space.write({ [data]: space.read(data).replace(/"text": "Hello,\\nInvoice 2041[^"]*"/, '"text": null') });
    const { result } = await space.json(["run", file("sorting")]);
    expect(result).toMatchObject({ status: "completed", outputs: { left_out: 2 } });
  });
});

describe("reconcile", { timeout: 120_000 }, () => {
  const run = (space: Workspace, booking: string) =>
    space.json(["run", file("reconcile"), "-i", `booking=${booking}`, "--run-id", booking]);
  const ledger = (space: Workspace): { id: string; booking: string }[] =>
    linesOf(space.path("examples/reconcile/ledger/charges.jsonl"));

  test("a charge whose answer is lost is found, and not made again", async () => {
    const space = example("reconcile");
    const { code, result } = await run(space, "B-18");
    const charges = ledger(space);
    expect(charges.map(({ booking }) => booking)).toEqual(["B-18"]);
    expect(code).toBe(0);
    expect(result).toMatchObject({ status: "completed", outputs: { charge: charges[0]?.id }, unknown: [] });
    const kinds = (await space.events("B-18")).filter(({ position }) => position.startsWith("charge"));
    expect(kinds.map(({ kind, body }) => [kind, body["outcome"] ?? body["how"]])).toEqual([
      ["call.intent", undefined],
      ["call.ended", "unknown"],
      ["call.ended", "ok"],
      ["call.settled", "succeeded"],
    ]);
    expect((await space.replay("B-18")).report.result).toBe("equal");
    expect(ledger(space)).toHaveLength(1);
  });

  test("one that did not happen fails the step, and an answered one looks nothing up", async () => {
    const space = example("reconcile");
    const lost = await run(space, "B-19");
    expect(lost.code).toBe(1);
    expect(lost.result).toMatchObject({ status: "failed", error: { position: "charge" }, unknown: [] });
    const good = await run(space, "B-17");
    expect(good.result).toMatchObject({ status: "completed", counts: { tool_attempts: 3 } });
    expect(ledger(space).map(({ booking }) => booking)).toEqual(["B-17"]);
  });

  test("two charges are no answer: exit 8, and a person is told what to look up", async () => {
    const space = example("reconcile");
    await run(space, "B-18");
    const again = await space.json(["run", file("reconcile"), "-i", "booking=B-18", "--run-id", "again"]);
    expect(again.code).toBe(8);
    expect((await space.ambit(["unknowns"])).stdout).toContain("charge");
  });
});

describe("digest", { timeout: 120_000 }, () => {
  test("a schedule is no reason to refuse a run by hand; the second run has nothing new", async () => {
    const space = example("digest");
    const first = await space.json(["run", file("digest")]);
    expect(first.result).toMatchObject({
      status: "completed",
      outputs: { sent: true, text: expect.stringMatching(/^3 new: New pump/) },
      skipped: [{ at: "fetched[1]" }],
    });
    expect(await space.json(["run", file("digest")])).toMatchObject({
      code: 0,
      result: { status: "stopped", outputs: { sent: false } },
    });
    const data = "examples/digest/data/feeds.json";
    space.write({
      [data]: space
        .read(data)
        .replace('"roads": null', '"roads": [{ "title": "Bridge", "at": "2026-03-05T01:00:00Z" }]'),
    });
    const due = await space.json(["run", file("digest"), "--trigger", '{"due":"2026-03-05T05:30:00Z"}']);
    expect(due.result).toMatchObject({ status: "completed", outputs: { text: "1 new: Bridge." }, skipped: [] });
  });
});
