import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createEngine, type Engine, type Settlement } from "./engine.ts";

const DEPLOYMENT = `connectors:
  bank:
    stub: ./tools.yaml
    manifest:
      connector: bank
      version: 1.0.0
      actions:
        pay:
          description: Pays.
          input: { type: object, additionalProperties: false, properties: {} }
          output: { type: object, required: [n], properties: { n: { type: integer } } }
          effects: write
          idempotency: none
`;
const TOOLS =
  "log: ./calls.jsonl\nactions:\n  bank.pay: [ { ambiguous: connection_lost, times: 1 }, { return: { n: 3 } } ]\n";

let folder = "";
let engine: Engine;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "ambit-settlements-"));
  writeFileSync(join(folder, "ambit.yaml"), DEPLOYMENT);
  writeFileSync(join(folder, "tools.yaml"), TOOLS);
  engine = await createEngine({ cwd: folder, store: join(folder, "ambit.db"), say: () => {} });
});
afterEach(async () => {
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

async function unknown(policy: string, more = ""): Promise<string> {
  const steps = `  - pay: { bank.pay: {}, on_unknown: ${policy} }\n${more}`;
  writeFileSync(
    join(folder, "a.workfile.yaml"),
    `workfile: "1"\nname: a\nsteps:\n${steps}outputs: { n: "{{ pay.n }}" }\n`,
  );
  const run = await engine.start("a.workfile.yaml");
  await run.result();
  return run.id;
}

const happened: Settlement = { how: "succeeded", value: { n: 7 }, by: "ana", comment: "looked it up" };
const code = (wanted: string) => ({ fault: { code: wanted } });

describe("a run that is over", () => {
  test("I1: its unknown effect is listed until it is settled, once, and it replays equal", async () => {
    const run = await unknown("fail");
    const listed = { run, name: "a", status: "failed", position: "pay", action: "bank.pay", code: "connection_lost" };
    expect(await engine.unknowns()).toEqual([{ ...listed, key: null, settled: null }]);
    const before = await engine.replay(run);
    const receipt = await engine.settle(run, "pay", happened);
    expect(await engine.fateOf(receipt)).toBe("taken");
    expect(await engine.unknowns()).toEqual([]);
    await expect(engine.settle(run, "pay", happened)).rejects.toMatchObject({ exit: 2, ...code("flow.not_unknown") });
    const result = await (await engine.resume(run)).result();
    expect(result).toMatchObject({ status: "failed", unknown: [] });
    expect(before).toMatchObject({ is: "equal", digest: result.digest });
    expect(await engine.replay(run)).toMatchObject({ is: "equal", digest: result.digest });
    expect((await (await engine.journal(null)).find(run)).owner).toBeNull();
  });

  test("I3: of two at once one counts", async () => {
    const run = await unknown("abort");
    const other = await createEngine({ cwd: folder, store: join(folder, "ambit.db") });
    const both = await Promise.allSettled([engine, other].map((each) => each.settle(run, "pay", happened)));
    await other.close();
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await engine.replay(run)).toMatchObject({ is: "equal" });
  });

  test("does nothing again, and takes no value that the action could not have had", async () => {
    const run = await unknown("fail");
    const refused: Settlement[] = [
      { how: "retry", by: "ana" },
      { how: "succeeded", value: {}, by: "ana" },
      { how: "failed", code: "no code", by: "ana" },
    ];
    for (const settlement of refused) {
      await expect(engine.settle(run, "pay", settlement)).rejects.toMatchObject({ exit: 2, ...code("input.invalid") });
    }
    await expect(engine.settle(run, "pya", happened)).rejects.toMatchObject({
      fault: { message: expect.stringContaining('Did you mean "pay"?') },
    });
    await expect(engine.settle("nobody", "pay", happened)).rejects.toMatchObject(code("run.unknown"));
    expect(await engine.unknowns()).toHaveLength(1);
  });

  test("that was cancelled while it waited is settled beside the record that nobody did", async () => {
    const run = await unknown("halt");
    expect(await engine.cancel(run, "ana", false)).toBe("cancelled");
    expect(await engine.unknowns()).toMatchObject([{ status: "cancelled" }]);
    await engine.settle(run, "pay", { how: "failed", code: "bank.refused", by: "ana" });
    expect(await engine.unknowns()).toEqual([]);
    expect(await engine.replay(run)).toMatchObject({ is: "equal" });
  });
});

describe("a run that is halted", () => {
  test("I2: keeps the settlement for resume, in all three ways", async () => {
    const ways: [Settlement, object][] = [
      [happened, { status: "completed", outputs: { n: 7 } }],
      [
        { how: "failed", code: "bank.refused", by: "ana" },
        { status: "failed", error: { code: "bank.refused" } },
      ],
      [
        { how: "retry", by: "ana" },
        { status: "completed", outputs: { n: 3 } },
      ],
    ];
    for (const [settlement, end] of ways) {
      rmSync(join(folder, "calls.jsonl"), { force: true });
      const run = await unknown("halt");
      const receipt = await engine.settle(run, "pay", settlement);
      expect(receipt.waits).toBe(true);
      const { how, by } = settlement;
      expect(await engine.unknowns()).toMatchObject([{ run, settled: { how, by } }]);
      await expect(engine.settle(run, "pay", happened)).rejects.toMatchObject({
        exit: 9,
        ...code("run.already_decided"),
      });
      expect(await (await engine.resume(run)).result()).toMatchObject({ ...end, unknown: [] });
      expect(await engine.unknowns()).toEqual([]);
    }
    expect(readFileSync(join(folder, "calls.jsonl"), "utf8").match(/"dispatched"/g)).toHaveLength(2);
  });

  test("one that is parked for something else does not wait for it", async () => {
    const caught = "  - ok: { wf.ask: Go? }\n";
    writeFileSync(
      join(folder, "a.workfile.yaml"),
      `workfile: "1"\nname: a\nsteps:\n  - pay: { bank.pay: {}, on_unknown: fail, catch: [ { codes: ["*"], value: { n: 0 } } ] }\n${caught}`,
    );
    const run = await engine.start("a.workfile.yaml");
    expect(await run.result()).toMatchObject({ status: "suspended", unknown: [{ position: "pay" }] });
    await expect(engine.settle(run.id, "pay", happened)).rejects.toMatchObject(code("input.invalid"));
  });
});
