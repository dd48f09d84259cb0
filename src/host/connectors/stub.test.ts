import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type Clock, systemClock } from "../../base/clock.ts";
import type { JsonObject } from "../../base/json.ts";
import type { CallRequest, CallResult } from "../../catalog/connector.ts";
import { SourceText } from "../../text/tree.ts";
import { StubConnector } from "./stub.ts";
import type { StubLine } from "./stub-log.ts";
import { stubOf } from "./testing/stub-text.ts";

const folder = mkdtempSync(join(tmpdir(), "ambit-stub-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let logs = 0;

class Killed extends Error {}

/** A stub of `billing` with these lines as the answers of `billing.charge`; killed means thrown out. */
function stub(answers: string, more = "", clock: Clock = systemClock): StubConnector {
  const text = `actions:\n  billing.charge:\n${answers
    .trim()
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n")}\n${more}`;
  const { script, diagnostics } = stubOf(new SourceText("tools.yaml", text), folder);
  if (diagnostics.length > 0) throw new Error(`${diagnostics[0]?.message}\n${text}`);
  const kill = (): never => {
    throw new Killed("killed");
  };
  return new StubConnector({ name: "billing", actions: ["charge", "lookup"], script, clock, kill });
}

function request(args: JsonObject, key: string | null, attempt = 1): CallRequest {
  const idempotency = key === null ? { kind: "none" as const } : { kind: "keyed" as const, field: "request_key" };
  const full = key === null ? args : { ...args, request_key: key };
  const action = { name: "billing.charge", idempotency } as unknown as CallRequest["action"];
  return { action, connection: "default", args: full, key, run: "r", position: "pay", attempt, timeout: 1_000 };
}

const signal = new AbortController().signal;
const call = (
  subject: StubConnector,
  args: JsonObject = {},
  key: string | null = null,
  attempt = 1,
): Promise<CallResult> => subject.call(request(args, key, attempt), signal);

function logOf(file: string): StubLine[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as StubLine);
}

const newLog = (): string => join(folder, `calls-${logs++}.jsonl`);

describe("answers", () => {
  test("the first that fits and is not used up", async () => {
    const subject = stub(`
- { when: { to: { id: 2 } }, return: two }
- { times: 1, return: first }
- { return: "{{ args.to.id + 1 }}" }`);
    expect(await call(subject, { to: { id: 2, name: "x" } })).toEqual({ is: "ok", value: "two" });
    expect(await call(subject, { to: { id: 1 } })).toEqual({ is: "ok", value: "first" });
    expect(await call(subject, { to: { id: 1 } })).toEqual({ is: "ok", value: 2 });
  });

  test("none fits: stub.unmatched", async () => {
    expect(await call(stub("- { when: { a: 1 }, return: x }"), { a: 2 })).toMatchObject({
      is: "failed",
      code: "stub.unmatched",
    });
    expect(await call(stub("- { when: { l: [1] }, return: x }"), { l: [1, 2] })).toMatchObject({
      code: "stub.unmatched",
    });
  });

  test("a failure, its code short or whole, with retry_after and details", async () => {
    const subject = stub(`
- { times: 1, fail: { code: unavailable, message: "later, {{ args.who }}", retry_after: 1s } }
- { times: 1, fail: { code: declined } }
- { fail: { code: other.thing, details: { of: "{{ args.who }}" } } }`);
    expect(await call(subject, { who: "ana" })).toEqual({
      is: "failed",
      code: "action.unavailable",
      message: "later, ana",
      retryAfter: 1_000,
    });
    expect(await call(subject, { who: "ana" })).toMatchObject({ code: "billing.declined" });
    expect(await call(subject, { who: "ana" })).toMatchObject({ code: "other.thing", details: { of: "ana" } });
  });

  test("unknown outcomes, and an answer that cannot be read", async () => {
    const subject = stub(`
- { times: 1, ambiguous: connection_lost }
- { times: 1, ambiguous: unsure }
- { raw: "{not json" }`);
    expect(await call(subject)).toMatchObject({ is: "ambiguous", code: "connection_lost" });
    expect(await call(subject)).toMatchObject({ is: "ambiguous", code: "billing.unsure" });
    expect((await call(subject)).is).toBe("unreadable");
  });

  test("texts with expressions keep types or are joined, once only", async () => {
    const subject = stub('- { return: { n: "{{ args.n }}", s: "is {{ args.n }}", lit: "{{ args.t }}" } }');
    expect(await call(subject, { n: 3, t: "{{ args.n }}" })).toEqual({
      is: "ok",
      value: { n: 3, s: "is 3", lit: "{{ args.n }}" },
    });
  });

  test("a template that fails is a failure with a reason", async () => {
    expect(await call(stub('- { return: "{{ args.none.deep }}" }'))).toMatchObject({
      is: "failed",
      code: "stub.unmatched",
    });
  });
});

describe("signals", () => {
  test("hang ends at the signal, and the effect has not happened", async () => {
    const log = newLog();
    const subject = stub("- { hang: true }", `log: ${log}`);
    const stop = new AbortController();
    const calling = subject.call(request({}, null), stop.signal);
    stop.abort();
    expect(await calling).toMatchObject({ is: "ambiguous" });
    expect(logOf(log).map((line) => line.phase)).toEqual(["dispatched", "aborted"]);
  });

  test("a delay is cut short by the signal", async () => {
    const subject = stub("- { delay: 1h, return: x }");
    const stop = new AbortController();
    const calling = subject.call(request({}, null), stop.signal);
    stop.abort();
    expect((await calling).is).toBe("ambiguous");
  });

  test("ignore_signal goes on to the end of its time, and answers", async () => {
    const log = newLog();
    const subject = stub("- { hang: { ignore_signal: 1ms }, return: late }", `log: ${log}`);
    const stop = new AbortController();
    const calling = subject.call(request({}, null), stop.signal);
    stop.abort();
    expect(await calling).toEqual({ is: "ok", value: "late" });
    expect(logOf(log).map((line) => line.phase)).toEqual(["dispatched", "done"]);
  });
});

describe("I1: the log", () => {
  test("one line before the answer, one when the effect is done; the key beside the arguments", async () => {
    const log = newLog();
    await call(stub("- { return: { ok: true } }", `log: ${log}`), { cents: 5 }, "k1");
    const lines = logOf(log);
    expect(lines.map((line) => line.phase)).toEqual(["dispatched", "done"]);
    expect(lines[0]).toMatchObject({
      action: "billing.charge",
      connection: "default",
      args: { cents: 5 },
      key: "k1",
      position: "pay",
      attempt: 1,
    });
    expect(Object.keys(lines[0] ?? {})).toEqual([
      "at",
      "action",
      "connection",
      "args",
      "key",
      "position",
      "attempt",
      "phase",
    ]);
  });

  test("a failure and an unknown outcome without done do nothing", async () => {
    const log = newLog();
    const subject = stub(
      "- { times: 1, fail: { code: gone } }\n- { times: 1, ambiguous: connection_lost }\n- { ambiguous: connection_lost, done: true }",
      `log: ${log}`,
    );
    for (let i = 0; i < 3; i++) await call(subject);
    expect(logOf(log).map((line) => line.phase)).toEqual(["dispatched", "dispatched", "dispatched", "done"]);
  });
});

describe("I2, I3: keys and counts survive a kill", () => {
  test("a key given again does nothing and answers as the first time", async () => {
    const log = newLog();
    const text = '- { return: { id: "{{ args.cents }}", key: "{{ args.request_key }}" } }';
    expect(await call(stub(text, `log: ${log}`), { cents: 5 }, "k1")).toMatchObject({ value: { id: 5, key: "k1" } });
    const again = await call(stub(text, `log: ${log}`), { cents: 99 }, "k1", 2);
    expect(again).toMatchObject({ value: { id: 5, key: "k1" } });
    expect((await call(stub(text, `log: ${log}`), { cents: 7 }, "k2")).is === "ok").toBe(true);
    expect(logOf(log).map((line) => line.phase)).toEqual([
      "dispatched",
      "done",
      "dispatched",
      "deduplicated",
      "dispatched",
      "done",
    ]);
  });

  test("HO-11: killed twice after the effect, then answered, with one effect", async () => {
    const log = newLog();
    const text = "- { kill: after, times: 2, return: { ok: true } }";
    for (let i = 1; i <= 2; i++) {
      const killed = stub(text, `log: ${log}`);
      expect(await call(killed, {}, "k", i)).toMatchObject({ is: "failed", message: "killed" });
    }
    expect(await call(stub(text, `log: ${log}`), {}, "k", 3)).toEqual({ is: "ok", value: { ok: true } });
    expect(logOf(log).filter((line) => line.phase === "done")).toHaveLength(1);
    expect(logOf(log).filter((line) => line.phase === "deduplicated")).toHaveLength(2);
  });

  test("killed before the effect, nothing has happened", async () => {
    const log = newLog();
    const text = "- { kill: before, times: 1, return: x }\n- { return: y }";
    await call(stub(text, `log: ${log}`), {}, "k");
    expect(logOf(log).map((line) => line.phase)).toEqual(["dispatched"]);
    expect(await call(stub(text, `log: ${log}`), {}, "k", 2)).toEqual({ is: "ok", value: "y" });
  });

  test("times are counted over processes", async () => {
    const log = newLog();
    const text = "- { times: 2, return: a }\n- { return: b }";
    const values: unknown[] = [];
    for (let i = 0; i < 3; i++) {
      const result = await call(stub(text, `log: ${log}`));
      values.push(result.is === "ok" && result.value);
    }
    expect(values).toEqual(["a", "a", "b"]);
  });

  test("a torn last line and foreign lines of the log are passed over", async () => {
    const log = newLog();
    await call(stub("- { times: 1, return: a }\n- { return: b }", `log: ${log}`));
    appendFileSync(log, 'not json\n{"a":1}\n{"at":"x","action":"billing.cha');
    expect(await call(stub("- { times: 1, return: a }\n- { return: b }", `log: ${log}`))).toMatchObject({ value: "b" });
  });
});

describe("offers", () => {
  test("everything declared, a list, nothing, unreachable", async () => {
    expect(Object.keys((await stub("- { return: 1 }").connect(signal)).actions)).toEqual([
      "billing.charge",
      "billing.lookup",
    ]);
    expect((await stub("- { return: 1 }", "offers: { billing: [] }").connect(signal)).actions).toEqual({});
    const one = await stub("- { return: 1 }", "offers: { billing: [lookup] }").connect(signal);
    expect(Object.keys(one.actions)).toEqual(["billing.lookup"]);
    const gone = stub("- { return: 1 }", "offers: { billing: unreachable }").connect(signal);
    await expect(gone).rejects.toMatchObject({ code: "catalog.unavailable" });
  });

  test("HO-08 (c): an action that is dropped after a call fails the next", async () => {
    const subject = stub("- { return: 1 }", "offers: { billing: { after: 1, drop: [charge] } }");
    expect(Object.keys((await subject.connect(signal)).actions)).toContain("billing.charge");
    expect((await call(subject)).is).toBe("ok");
    expect(await call(subject)).toMatchObject({ is: "failed", code: "action.unavailable" });
  });
});

describe("a stub file is read by a closed table", () => {
  test.each([
    ["action: {}", "action"],
    ["actions: { charge: [] }", "actions.charge"],
    ["actions: { a.b: { return: 1 } }", 'actions["a.b"]'],
    ["actions: { a.b: [ { retrun: 1 } ] }", 'actions["a.b"][0].retrun'],
    ["actions: { a.b: [ { return: 1, fail: { code: x } } ] }", 'actions["a.b"][0]'],
    ["actions: { a.b: [ { delay: 1s } ] }", 'actions["a.b"][0]'],
    ["actions: { a.b: [ { return: 1, times: 0 } ] }", 'actions["a.b"][0].times'],
    ["actions: { a.b: [ { return: 1, kill: now } ] }", 'actions["a.b"][0].kill'],
    ["actions: { a.b: [ { return: 1, done: true } ] }", 'actions["a.b"][0].done'],
    ["actions: { a.b: [ { hang: false } ] }", 'actions["a.b"][0].hang'],
    ["actions: { a.b: [ { return: '{{ 1 +', times: 1 } ] }", 'actions["a.b"][0].return'],
    ["offers: { a: gone }", "offers.a"],
    ["offers: { a: { after: 1 } }", "offers.a"],
  ])("%s", (text, path) => {
    const { diagnostics } = stubOf(new SourceText("tools.yaml", text), folder);
    expect(diagnostics[0]).toMatchObject({ code: "deployment.invalid", path });
  });
});
