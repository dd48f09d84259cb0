import { describe, expect, test } from "vitest";
import { readmit } from "../admit/admit.ts";
import type { AskStep, WaitStep } from "../plan/step.ts";
import { action, admitted, common, expr, manifest, plan } from "./testing/plan.ts";
import { FakeConnector } from "./testing/runner.ts";
import { Session } from "./testing/session.ts";

const ask = (id: string, more: Partial<AskStep> = {}): AskStep => ({
  ...common(id),
  kind: "ask",
  text: { lit: "Go?" },
  returns: [{ name: "approved", type: "boolean", required: true }],
  assignees: { lit: [] },
  ...more,
});
const wait = (id: string, ms: number): WaitStep => ({ ...common(id), kind: "wait", for: ms });
const write = () => manifest("crm.add", { effects: "write", idempotency: { kind: "none" } });

describe("a question", () => {
  const flow = () => admitted(plan([ask("ok"), wait("pause", 1)], { map: { ok: { expr: expr("ok.approved") } } }));

  test("parks the run, is answered from elsewhere, and replays equal", async () => {
    const session = new Session(flow());
    expect(await session.start()).toMatchObject({
      status: "suspended",
      waiting: [{ position: "ok", reason: "ask", due: expect.any(String) }],
    });
    await session.post("answer", { ask: session.askAt("ok"), how: "answered", value: { approved: true } });
    expect(await session.resume()).toMatchObject({ status: "completed", outputs: { ok: true } });
    expect(await session.replay()).toMatchObject({ is: "equal" });
  });

  test("without an end of its own it stands for the limit; in a run of before it stands without one", async () => {
    const { definition, report } = admitted(plan([ask("ok")]), [], { wait: 60_000 });
    const session = new Session(readmit(definition, report));
    const due = (await session.start()).waiting[0]?.due ?? "";
    expect(Date.parse(due) - Date.parse(session.records[0]?.at ?? "")).toBeLessThan(61_000);
    const older = new Session(readmit({ ...definition, flags: [] }, report));
    expect((await older.start()).waiting[0]?.due).toBeNull();
    await older.post("answer", { ask: older.askAt("ok"), how: "answered", value: { approved: true } });
    expect(await older.resume()).toMatchObject({ status: "completed" });
    expect(await older.replay()).toMatchObject({ is: "equal" });
  });

  test("an answer that does not fit leaves it open", async () => {
    const session = new Session(flow());
    await session.start();
    await session.post("answer", { ask: session.askAt("ok"), how: "answered", value: { approved: "yes" } });
    expect(await session.resume()).toMatchObject({ status: "suspended" });
    await session.post("answer", { ask: session.askAt("ok"), how: "rejected" });
    expect(await session.resume()).toMatchObject({ status: "completed", outputs: { ok: false } });
    expect(await session.replay()).toMatchObject({ is: "equal" });
  });

  test("two people of whom none started the run; the first no is the answer", async () => {
    const two = (): Session =>
      new Session(
        admitted(
          plan([ask("ok", { approvers: { notInitiator: true, count: 2 } })], {
            map: { ok: { expr: expr("ok.approved") } },
          }),
        ),
      );
    const session = two();
    await session.start();
    const id = session.askAt("ok");
    await session.post("answer", { ask: id, how: "approved" }, "tester");
    await session.post("answer", { ask: id, how: "approved" }, "ana");
    expect(await session.resume()).toMatchObject({ status: "suspended" });
    await session.post("answer", { ask: id, how: "approved" }, "ana");
    await session.post("answer", { ask: id, how: "approved" }, "ben");
    expect(await session.resume()).toMatchObject({ status: "completed", outputs: { ok: true } });
    expect(session.records.filter(({ kind }) => kind === "ask.vote").map(({ body }) => body["by"])).toEqual([
      "ana",
      "ben",
    ]);
    expect(await session.replay()).toMatchObject({ is: "equal" });
    const refused = two();
    await refused.start();
    await refused.post("answer", { ask: refused.askAt("ok"), how: "rejected" }, "ana");
    expect(await refused.resume()).toMatchObject({ status: "completed", outputs: { ok: false } });
  });

  test("its time is up: on_expired runs, and the step fails with ask.expired", async () => {
    const crm = new FakeConnector("crm", () => ({ is: "ok", value: {} }));
    const flow = plan(
      [
        ask("ok", {
          expires: 30,
          onExpired: [action("tell", "crm.add")],
          catch: [{ codes: ["ask.expired"], steps: [], value: { lit: { approved: false } } }],
        }),
      ],
      { map: { ok: { expr: expr("ok.approved") } } },
    );
    const session = new Session(admitted(flow, [write()]), { connectors: [crm] });
    await session.start();
    await new Promise((resolve) => setTimeout(resolve, 40));
    expect(await session.resume()).toMatchObject({ status: "completed", outputs: { ok: false } });
    expect(crm.calls.map((call) => call.position)).toEqual(["ok.(on_expired).tell"]);
    expect(await session.replay()).toMatchObject({ is: "equal" });
  });

  test("asked runs beside it; where it fails the question is withdrawn", async () => {
    const crm = new FakeConnector("crm", () => ({ is: "failed", code: "crm.down", message: "down" }));
    const flow = plan([ask("ok", { asked: [action("mail", "crm.add")] })]);
    const session = new Session(admitted(flow, [write()]), { connectors: [crm] });
    expect(await session.start()).toMatchObject({
      status: "failed",
      error: { code: "crm.down", position: "ok.(asked).mail" },
    });
    expect(await session.replay()).toMatchObject({ is: "equal" });
  });
});

describe("a timer", () => {
  test("left and resumed it fires when it is due, and the parked time is none of the deadline's", async () => {
    const flow = plan([wait("long", 500)]);
    flow.limits = { deadline: 60 };
    const session = new Session(admitted(flow), { leavesTimers: true });
    expect(await session.start()).toMatchObject({
      status: "suspended",
      waiting: [{ position: "long", reason: "timer" }],
    });
    expect(await session.resume()).toMatchObject({ status: "suspended" });
    await new Promise((resolve) => setTimeout(resolve, 510));
    expect(await session.resume()).toMatchObject({ status: "completed" });
    expect(await session.replay()).toMatchObject({ is: "equal" });
  });

  test("is waited for in the process that owns the run", async () => {
    const session = new Session(admitted(plan([wait("short", 20)])));
    expect(await session.start()).toMatchObject({ status: "completed" });
    expect(session.records.map(({ kind }) => kind)).toEqual([
      "run.accepted",
      "run.started",
      "wait.set",
      "wait.ended",
      "run.ended",
    ]);
  });
});

describe("an effect of unknown outcome", () => {
  const lostOnce = (): FakeConnector => {
    let n = 0;
    return new FakeConnector("crm", () =>
      ++n === 1 ? { is: "ambiguous", code: "connection_lost", message: "lost" } : { is: "ok", value: { n } },
    );
  };

  test("halts the run until somebody settles it", async () => {
    for (const [how, body, end] of [
      ["succeeded", { value: { n: 7 } }, { status: "completed", outputs: { n: 7 }, unknown: [] }],
      [
        "failed",
        { code: "crm.refused" },
        { status: "failed", error: { code: "crm.refused", position: "add" }, unknown: [] },
      ],
      ["retry", {}, { status: "completed", outputs: { n: 2 }, unknown: [] }],
    ] as const) {
      const crm = lostOnce();
      const flow = plan([action("add", "crm.add", { lit: {} }, { onUnknown: "halt" })], {
        map: { n: { expr: expr("add.n") } },
      });
      const session = new Session(admitted(flow, [write()]), { connectors: [crm] });
      expect(await session.start()).toMatchObject({
        status: "suspended",
        waiting: [{ position: "add", reason: "halt" }],
        unknown: [{ position: "add", code: "connection_lost" }],
      });
      await session.post("settle", { position: "add", attempt: 1, how, ...body });
      expect(await session.resume()).toMatchObject(end);
      expect(await session.replay()).toMatchObject({ is: "equal" });
    }
  });

  test("is reconciled by a reading action, or stays unknown where that tells nothing", async () => {
    for (const [found, end] of [
      [true, { status: "completed", outputs: { n: 5 }, unknown: [] }],
      [false, { status: "failed", error: { code: "action.failed" }, unknown: [] }],
      [null, { status: "failed", error: { code: "flow.action_ambiguous" }, unknown: [{ position: "add" }] }],
    ] as const) {
      const crm = new FakeConnector("crm", (request) =>
        request.action.name === "crm.add"
          ? { is: "ambiguous", code: "connection_lost", message: "lost" }
          : { is: "ok", value: { found, n: 5 } },
      );
      const reconcile = {
        action: "crm.search",
        with: { lit: {} },
        succeeded: expr("result.found == true"),
        failed: expr("result.found == false"),
      };
      const flow = plan([action("add", "crm.add", { lit: {} }, { onUnknown: "reconcile", reconcile })], {
        map: { n: { expr: expr("add.n") } },
      });
      const session = new Session(admitted(flow, [write(), manifest("crm.search")]), { connectors: [crm] });
      expect(await session.start()).toMatchObject(end);
      expect(await session.replay()).toMatchObject({ is: "equal" });
    }
  });
});
