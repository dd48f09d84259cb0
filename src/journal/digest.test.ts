import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { hashJson } from "../base/hash.ts";
import { canonical, type Json } from "../base/json.ts";
import { DigestBuilder, type DigestEnd, definitionHash, isDigested } from "./digest.ts";
import { DELIVERY_KINDS, NOTE_KINDS } from "./event.ts";
import { History } from "./testing/history.ts";

const END: DigestEnd = {
  def: "d".repeat(64),
  inputs: { sender: "ana" },
  trigger: null,
  status: "failed",
  error: { code: "action.auth", position: 'odd"name' },
  outputs: null,
};

/** The definition of DU-52, word for word and slow. */
function bySpec(
  end: DigestEnd,
  bindings: [string, string][],
  records: [string, [string | null, string | null]][],
): string {
  const whole: Json = {
    v: 1,
    def: end.def,
    inputs: hashJson(end.inputs),
    trigger: hashJson(end.trigger),
    status: end.status,
    error: end.error,
    outputs: hashJson(end.outputs),
    bindings: Object.fromEntries(bindings),
    records: Object.fromEntries(records),
  };
  return `sha256:${createHash("sha256").update(canonical(whole)).digest("hex")}`;
}

describe("the digest (DU-52)", () => {
  test("is the hash of the RFC 8785 bytes that the definition names", () => {
    const history = new History().accepted().started();
    const bindings: [string, string][] = [];
    for (let i = 0; i < 200; i++) {
      history.call(`é[${(i * 7) % 200}].z`, { i }, {}, { attempt: 1 + (i % 3) });
      bindings.push([`b[${(i * 11) % 200}]`, hashJson(i)]);
    }
    history
      .add("stop.decided", "z", { cause: "timeout" })
      .add("call.intent", "z", { action: "a.b", connection: "m", args: {} });
    history.add("wait.set", "w", { due: "x" }).ended("failed");
    const builder = new DigestBuilder();
    for (const record of history.records) builder.record(record);
    for (const [position, hash] of bindings) builder.bind(position, hash);
    const records = history.records
      .filter((record) => record.kind === "call.ended" || record.kind === "stop.decided")
      .map((r): [string, [string | null, string | null]] => [`${r.position} ${r.kind} ${r.attempt}`, [r.in, r.out]]);
    expect(records.length).toBe(201);
    expect(builder.finish(END)).toBe(bySpec(END, bindings, records));
    expect(builder.finish(END)).toBe(builder.finish(END));
  });

  test("of an empty run it is right too", () => {
    expect(new DigestBuilder().finish({ ...END, error: null })).toBe(bySpec({ ...END, error: null }, [], []));
  });

  test("a position bound again has its last value", () => {
    const twice = new DigestBuilder();
    twice.bind("a", hashJson(1));
    twice.bind("b", hashJson(2));
    twice.bind("a", hashJson(3));
    const once = new DigestBuilder();
    once.bind("b", hashJson(2));
    once.bind("a", hashJson(3));
    expect(twice.finish(END)).toBe(once.finish(END));
  });

  test("I1: run id, seq, times, keys, durations, counts and the order of arrival are not in it", () => {
    const digestOf = (history: History, reversed = false): string => {
      const builder = new DigestBuilder();
      const records = reversed ? history.records.toReversed() : history.records;
      for (const record of records) builder.record(record);
      return builder.finish(END);
    };
    const one = new History("r1").accepted().started().call("a", 1, { key: "k" }).call("b", 2);
    const other = new History("r2")
      .accepted({ identity: "somebody else" })
      .started()
      .add("run.suspended", "", { reason: "ask", positions: [] })
      .add("run.resumed", "", { by: "x", redispatched: ["b"] }, { after: 100_000 })
      .call("b", 2, { duration_ms: 99, queued_ms: 5 })
      .call("a", 1, { key: "other" });
    expect(digestOf(other)).toBe(digestOf(one));
    expect(digestOf(one, true)).toBe(digestOf(one));
    expect(digestOf(new History("r1").call("a", 1).call("b", 3))).not.toBe(digestOf(one));
    expect(digestOf(new History("r1").call("a", 1).call("b", 2, {}, { attempt: 2 }))).not.toBe(digestOf(one));
    expect(digestOf(new History("r1").call("a", 1))).not.toBe(digestOf(one));
  });

  test("every part of the end counts", () => {
    const builder = new DigestBuilder();
    const all: DigestEnd[] = [
      END,
      { ...END, def: "e".repeat(64) },
      { ...END, inputs: null },
      { ...END, trigger: {} },
      { ...END, status: "timed_out" },
      { ...END, error: null },
      { ...END, error: { code: "action.auth", position: "other" } },
      { ...END, outputs: { a: 1 } },
    ];
    expect(new Set(all.map((end) => builder.finish(end))).size).toBe(all.length);
  });

  test("exactly run.*, wait.* and call.intent are left out", () => {
    const out = [...DELIVERY_KINDS, ...NOTE_KINDS].filter((kind) => !isDigested(kind)).sort();
    expect(out).toEqual([
      "call.intent",
      "run.accepted",
      "run.ended",
      "run.resumed",
      "run.started",
      "run.suspended",
      "wait.ended",
      "wait.set",
    ]);
  });
});

test("DU-53: the definition hash leaves the report out and nothing else", () => {
  const { definition } = new History();
  const hash = definitionHash(definition);
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
  expect(definitionHash({ ...definition, report: { other: true } })).toBe(hash);
  expect(definitionHash({ ...definition, settings: { a: 1 } })).not.toBe(hash);
  expect(definitionHash({ ...definition, files: { "a.yaml": "" } })).not.toBe(hash);
});
