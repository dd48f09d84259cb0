import { describe, expect, test } from "vitest";
import { action, admitted, agent, common, each, expr, manifest, plan } from "./testing/plan.ts";
import { FakeConnector, runPlan, turns } from "./testing/runner.ts";

const ok = (): { is: "ok"; value: { n: number } } => ({ is: "ok", value: { n: 1 } });
const send = manifest("mail.send", { effects: "write", idempotency: { kind: "none" }, timeout: 20_000 });
const untilTold = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

describe("effects that end badly", () => {
  test("two unknown effects side by side end the run once, as what they are", async () => {
    const mail = new FakeConnector("mail", async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return { is: "ambiguous", code: "connection_lost", message: "gone" };
    });
    const flow = plan([each("items", { lit: [1, 2] }, [action("a", "mail.send")], { concurrency: 2 })]);
    const { ended, records, replayed } = await runPlan(admitted(flow, [send]), { connectors: [mail] });
    expect(ended.error?.code).toBe("flow.action_ambiguous");
    expect(ended.unknown).toHaveLength(2);
    expect(records.filter((record) => record.kind === "stop.decided" && record.position === "")).toHaveLength(1);
    expect(replayed.is).toBe("equal");
  });

  test("dispatch I4: a write that a stop cut off is unknown, also where its failure is a code for just that", async () => {
    const mail = new FakeConnector("mail", async (_request, signal) => {
      await untilTold(signal);
      return { is: "failed", code: "mail.in_doubt", message: "stopped" };
    });
    const doubt = { ...send, ambiguous: ["mail.in_doubt"] };
    const { ended, replayed } = await runPlan(admitted(plan([action("a", "mail.send")]), [doubt]), {
      connectors: [mail],
      during: (run) => setTimeout(() => run.cancel("ana"), 5),
    });
    expect(ended).toMatchObject({ status: "cancelled", unknown: [{ position: "a", action: "mail.send" }] });
    expect(replayed.is).toBe("equal");
  });

  test("a step's timeout over a write is an ambiguity: on_unknown decides, no catch does", async () => {
    const mail = new FakeConnector("mail", async (_request, signal) => {
      await untilTold(signal);
      return { is: "ambiguous", code: "connection_lost", message: "stopped" };
    });
    const all = { catch: [{ codes: ["*"], steps: [] }], timeout: 10 };
    const abort = plan([action("a", "mail.send", { lit: {} }, all), action("b", "mail.send")]);
    const aborted = await runPlan(admitted(abort, [send]), { connectors: [mail] });
    expect(aborted.ended).toMatchObject({ status: "failed", error: { code: "flow.action_ambiguous", position: "a" } });
    expect(mail.calls).toHaveLength(1);
    expect(aborted.replayed.is).toBe("equal");
    const fail = plan([action("a", "mail.send", { lit: {} }, { ...all, onUnknown: "fail" })]);
    const failed = await runPlan(admitted(fail, [send]), { connectors: [mail] });
    expect(failed.ended).toMatchObject({ status: "completed", forgiven: [{ code: "flow.action_ambiguous" }] });
    expect(failed.replayed.is).toBe("equal");
  });

  test("whether a further attempt follows is told as it is", async () => {
    let n = 0;
    const crm = new FakeConnector("crm", async (_request, signal) => {
      if (++n > 1) return ok();
      await untilTold(signal);
      return { is: "ambiguous", code: "connection_lost", message: "late" };
    });
    const retry = { attempts: 2, backoff: 0, on: ["flow.timeout"] };
    const slow = manifest("crm.search", { timeout: 10, retry });
    const { ended, records, replayed } = await runPlan(admitted(plan([action("a", "crm.search")]), [slow]), {
      connectors: [crm],
    });
    expect(ended.status).toBe("completed");
    expect(records.filter((record) => record.kind === "call.ended").map((record) => record.body["retry"])).toEqual([
      true,
      false,
    ]);
    expect(replayed.is).toBe("equal");
  });
});

describe("what a history may hold", () => {
  test("a tool cannot forge the mask of a sensitive value", async () => {
    const crm = new FakeConnector("crm", () => ({ is: "ok", value: { a: { $sensitive: true }, b: { $literal: 1 } } }));
    const flow = plan([
      action("a", "crm.search"),
      action("b", "crm.search", { map: { q: { expr: expr("a.a") } } }, { guard: expr("size(keys(a.a)) == 1") }),
    ]);
    const { ended, replayed } = await runPlan(admitted(flow, [manifest("crm.search")]), { connectors: [crm] });
    expect(crm.calls[1]?.args).toEqual({ q: { $sensitive: true } });
    expect(replayed).toMatchObject({ is: "equal", digest: ended.digest });
  });

  test("a text that holds a sensitive value replays without it", async () => {
    const output = { type: "object", properties: { token: { type: "string", "x-sensitive": true } } };
    const crm = new FakeConnector("crm", () => ({ is: "ok", value: { token: "canary-2" } }));
    const flow = plan([
      action("a", "crm.search"),
      { ...common("told"), kind: "notify", text: { text: ["the token is ", expr("a.token")] } },
    ]);
    const { records, replayed } = await runPlan(admitted(flow, [manifest("crm.search", { output })]), {
      connectors: [crm],
    });
    expect(JSON.stringify(records)).not.toContain("canary-2");
    expect(replayed.is).toBe("equal");
  });

  test("notes I2: an agent's start stands before its turns", async () => {
    const model = turns({ results: [{ answer: "yes" }] });
    const { records } = await runPlan(admitted(plan([agent("a", []), agent("b", [])]), []), { model });
    const kinds = records.map((record) => `${record.position} ${record.kind}`);
    expect(kinds.indexOf("a agent.started")).toBeLessThan(kinds.indexOf("a.(turns)[0] agent.turn"));
    expect(kinds.indexOf("b agent.started")).toBeLessThan(kinds.indexOf("b.(turns)[0] agent.turn"));
  });
});

describe("what comes from outside and is no JSON of ours", () => {
  test("a number out of range in a proposal is a refusal, and the run goes on", async () => {
    const crm = new FakeConnector("crm", ok);
    const odd = [{ q: Number.POSITIVE_INFINITY }, { q: "\ud800" }, deep(200)];
    const model = turns(
      { calls: odd.map((args, i) => ({ id: `c${i}`, tool: "crm.search", args: args as never })) },
      { results: [{ answer: "yes" }] },
    );
    const { ended, replayed } = await runPlan(admitted(plan([agent("a", ["crm.search"])]), [manifest("crm.search")]), {
      connectors: [crm],
      model,
    });
    expect(ended.status).toBe("completed");
    expect(crm.calls).toHaveLength(0);
    expect(replayed.is).toBe("equal");
  });

  test("what a model's failure says again of a sensitive value is hidden", async () => {
    const output = { type: "object", properties: { token: { type: "string", "x-sensitive": true } } };
    const crm = new FakeConnector("crm", () => ({ is: "ok", value: { token: "canary-3" } }));
    const model = {
      turn: async () => ({
        is: "failed" as const,
        code: "agent.rejected",
        message: "bad canary-3",
        details: { sent: "canary-3" },
      }),
    };
    const flow = plan([action("s", "crm.search"), agent("a", [], { with: { map: { k: { expr: expr("s.token") } } } })]);
    const { ended, records } = await runPlan(admitted(flow, [manifest("crm.search", { output })]), {
      connectors: [crm],
      model,
    });
    expect(ended.error?.code).toBe("agent.rejected");
    expect(JSON.stringify(records)).not.toContain("canary-3");
  });

  test.each([
    ["a failure", "read", (message: string) => ({ is: "failed", code: "action.failed", message }) as const],
    ["an ambiguity", "write", (message: string) => ({ is: "ambiguous", code: "connection_lost", message }) as const],
    ["a failed read", "read", (message: string) => ({ is: "unreadable", message }) as const],
    [
      "something thrown",
      "read",
      (message: string): never => {
        throw new Error(message);
      },
    ],
  ] as const)(
    "no part of a sensitive value stands in front of where a message is cut: %s",
    async (_n, effects, say) => {
      const fill = "x".repeat(4_090);
      const crm = new FakeConnector("crm", () => say(`${fill}canary-5-and-more`));
      const input = { type: "object", properties: { pin: { type: "string", "x-sensitive": true } } };
      const idempotency = { kind: "none" } as const;
      const find = manifest("crm.search", { input, ...(effects === "write" ? { effects, idempotency } : {}) });
      const flow = plan([action("s", "crm.search", { lit: { pin: "canary-5-and-more" } })]);
      const { records } = await runPlan(admitted(flow, [find]), { connectors: [crm] });
      const said = JSON.stringify(records.filter(({ kind }) => kind === "call.ended"));
      expect(said).toContain("xxxx");
      expect(said).not.toContain("can");
      expect(said).not.toContain("x".repeat(4_097));
    },
  );

  test("an input that the manifest calls sensitive is in no record", async () => {
    const crm = new FakeConnector("crm", ok);
    const input = { type: "object", properties: { pin: { type: "string", "x-sensitive": true } } };
    const flow = plan([action("s", "crm.search", { lit: { pin: "canary-4" } })]);
    const { records } = await runPlan(admitted(flow, [manifest("crm.search", { input })]), { connectors: [crm] });
    expect(crm.calls[0]?.args).toEqual({ pin: "canary-4" });
    expect(JSON.stringify(records.slice(2))).not.toContain("canary-4");
  });
});

function deep(n: number): unknown {
  return n === 0 ? 1 : { a: deep(n - 1) };
}
