import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../base/clock.ts";
import { createEngine, type Engine, type GivenAnswer } from "./engine.ts";

const DEPLOYMENT = `connectors:
  mail:
    stub: ./tools.yaml
    manifest:
      connector: mail
      version: 1.0.0
      actions:
        send:
          description: Sends a mail.
          input: { type: object, required: [to], additionalProperties: false, properties: { to: { type: string }, key: { type: string } } }
          output: { type: object }
          effects: write
          idempotency: { keyed: key }
policy: { approve: [mail.send] }
`;
const TOOLS = "log: ./calls.jsonl\nactions:\n  mail.send: [ { return: { ok: true } } ]\n";

let folder = "";
let engine: Engine;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "ambit-questions-"));
  writeFileSync(join(folder, "ambit.yaml"), DEPLOYMENT);
  writeFileSync(join(folder, "tools.yaml"), TOOLS);
  engine = await createEngine({ cwd: folder, store: join(folder, "ambit.db"), identity: "starter", say: () => {} });
});
afterEach(async () => {
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

async function parked(steps: string): Promise<string> {
  writeFileSync(join(folder, "a.workfile.yaml"), `workfile: "1"\nname: a\nsteps:\n${steps}`);
  const run = await engine.start("a.workfile.yaml");
  expect((await run.result()).status).toBe("suspended");
  return run.id;
}

async function onlyId(): Promise<string> {
  const [only, more] = await engine.approvals();
  if (only === undefined || more !== undefined) throw new Error("not one question");
  return only.id;
}

const yes: GivenAnswer = { how: "approved", by: "ana" };
const code = (wanted: string) => ({ fault: { code: wanted } });

describe("a question", () => {
  const ASK = "  - ok: { wf.ask: Go?, returns: { n: { type: integer, required: true } }, assignees: [ben] }\n";

  test("is listed with all that its answer needs, and once answered it is decided until the run takes it", async () => {
    const run = await parked(ASK);
    const [open] = await engine.approvals();
    expect(open).toMatchObject({ run, name: "a", position: "ok", for: "ask", text: "Go?", assignees: ["ben"] });
    expect(open).toMatchObject({ returns: [{ name: "n" }], votes: [], needed: 1, decided: null });
    // Nothing in the file ends it: the deployment's limit does.
    expect(Date.parse(open?.expires_at ?? "") - Date.now()).toBeGreaterThan(29 * 86_400_000);
    const receipt = await engine.answer(open?.id ?? "", { how: "answered", value: { n: 2 }, by: "ana" });
    expect(receipt).toMatchObject({ run, position: "ok", waits: true });
    expect(await engine.fateOf(receipt)).toBe("waits");
    expect(await engine.approvals()).toMatchObject([{ decided: { by: "ana", how: "answered" } }]);
    await expect(engine.answer(open?.id ?? "", yes)).rejects.toMatchObject(code("run.already_decided"));
    const resumed = await engine.resume(run);
    expect((await resumed.result()).status).toBe("completed");
    expect(await engine.fateOf(receipt)).toBe("taken");
    await expect(engine.answer(open?.id ?? "", yes)).rejects.toMatchObject(code("ask.not_open"));
    expect(await engine.approvals()).toEqual([]);
  });

  test("I1: an answer that does not fit is refused at once and leaves it open", async () => {
    await parked(ASK);
    const id = await onlyId();
    for (const value of [{}, { n: "2" }, { n: 2, more: 1 }]) {
      const refused = engine.answer(id, { how: "answered", value, by: "ana" });
      await expect(refused).rejects.toMatchObject({ exit: 2, ...code("input.invalid") });
    }
    expect(await engine.approvals()).toMatchObject([{ decided: null }]);
  });

  test("is found by the beginning of its id where only one begins so", async () => {
    await parked(`${ASK}`);
    const first = await onlyId();
    await parked(`${ASK}`);
    await expect(engine.answer("ask_", yes)).rejects.toMatchObject(code("input.invalid"));
    for (const none of ["", "ask_0000000000000000", "*"]) {
      await expect(engine.answer(none, yes)).rejects.toMatchObject({ exit: 2, ...code("ask.not_open") });
    }
    const receipt = await engine.answer(first.slice(4, 15), { how: "answered", value: { n: 1 }, by: "ana" });
    expect(receipt.position).toBe("ok");
  });

  test("I2: of two answers at one time one counts", async () => {
    await parked(ASK);
    const id = await onlyId();
    const given = await Promise.allSettled(
      ["ana", "ben"].map((by) => engine.answer(id, { how: "answered", value: { n: 1 }, by })),
    );
    expect(given.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const lost = given.find(({ status }) => status === "rejected") as PromiseRejectedResult;
    expect(lost.reason).toMatchObject({ exit: 9, ...code("run.already_decided") });
  });

  test("keeps out who started the run, and counts each person once", async () => {
    const run = await parked("  - ok: { wf.ask: Go?, approvers: { not: initiator, count: 2 } }\n");
    const id = await onlyId();
    await expect(engine.answer(id, { how: "approved", by: "starter" })).rejects.toMatchObject(code("ask.not_approver"));
    await engine.answer(id, yes);
    await expect(engine.answer(id, yes)).rejects.toMatchObject(code("ask.not_approver"));
    expect(await engine.approvals()).toMatchObject([{ votes: ["ana"], needed: 2, decided: null }]);
    await (await engine.resume(run)).result();
    await expect(engine.answer(id, yes)).rejects.toMatchObject(code("ask.not_approver"));
    await engine.answer(id, { how: "approved", by: "ben" });
    await expect(engine.answer(id, { how: "rejected", by: "cleo" })).rejects.toMatchObject(code("run.already_decided"));
    expect(await (await engine.resume(run)).result()).toMatchObject({ status: "completed" });
  });

  test("whose time is up is open no more", async () => {
    await parked("  - ok: { wf.ask: Go?, expires: 1h }\n");
    const id = await onlyId();
    const clock = { ...systemClock, now: () => systemClock.now() + 3_600_000 };
    const later = await createEngine({ cwd: folder, store: join(folder, "ambit.db"), clock });
    expect(await later.approvals()).toEqual([]);
    await expect(later.answer(id, yes)).rejects.toMatchObject(code("ask.not_open"));
    await later.close();
  });
});

describe("an approval", () => {
  const SEND = "  - send: { mail.send: { to: ana } }\n";

  test("shows the call, and may change its arguments if they fit", async () => {
    const run = await parked(SEND);
    const id = await onlyId();
    expect(await engine.approvals()).toMatchObject([
      { for: "approval", call: { action: "mail.send", args: { to: "ana" } } },
    ]);
    for (const value of [{ to: 5 }, { to: "ben", key: "mine" }, { to: { $sensitive: true } }, [1]]) {
      await expect(engine.answer(id, { ...yes, value })).rejects.toMatchObject(code("input.invalid"));
    }
    await expect(engine.answer(id, { how: "answered", value: { to: "ben" }, by: "ana" })).rejects.toMatchObject(
      code("input.invalid"),
    );
    await engine.answer(id, { ...yes, value: { to: "ben" } });
    const result = await (await engine.resume(run)).result();
    expect(result).toMatchObject({ status: "completed", counts: { tool_attempts: 1 } });
    expect(await engine.replay(run)).toMatchObject({ is: "equal" });
  });

  test("that is rejected dispatches nothing, and other arguments with it are refused", async () => {
    const run = await parked(SEND);
    const id = await onlyId();
    const edited = engine.answer(id, { how: "rejected", value: { to: "ben" }, by: "ana" });
    await expect(edited).rejects.toMatchObject(code("input.invalid"));
    await engine.answer(id, { how: "rejected", by: "ana", comment: "no" });
    expect(await (await engine.resume(run)).result()).toMatchObject({
      error: { code: "action.rejected" },
      counts: { tool_attempts: 0 },
    });
  });
});
