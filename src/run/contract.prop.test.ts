/** WX-36: the execution contract is one place: the same call gets the same verdict in a step and in an agent. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json, JsonObject } from "../base/json.ts";
import type { CallRequest, CallResult } from "../catalog/connector.ts";
import type { ActionManifest } from "../catalog/manifest.ts";
import { createVirtualClock } from "../host/clocks/virtual-clock.ts";
import type { RunRecord } from "../journal/event.ts";
import { action, admitted, agent, manifest, plan } from "./testing/plan.ts";
import { FakeConnector, runPlan, turns } from "./testing/runner.ts";

const SECRET = "tok-9c1f-sensitive";

const input: JsonObject = {
  type: "object",
  additionalProperties: false,
  required: ["n"],
  properties: { n: { type: "integer" }, token: { type: "string", "x-sensitive": true }, key: { type: "string" } },
};
const output: JsonObject = {
  type: "object",
  required: ["text"],
  additionalProperties: false,
  properties: { text: { type: "string" }, pin: { type: "string", "x-sensitive": true } },
};

const idempotency = fc.constantFrom<ActionManifest["idempotency"]>(
  { kind: "none" },
  { kind: "natural" },
  { kind: "keyed", field: "key" },
);
const manifests = fc
  .record({
    effects: fc.constantFrom<ActionManifest["effects"]>("none", "read", "write", "destructive"),
    idempotency,
    attempts: fc.integer({ min: 1, max: 3 }),
    backoff: fc.constantFrom(0, 100),
    ambiguous: fc.constantFrom<string[]>([], ["crm.maybe"]),
  })
  .map(({ effects, idempotency, attempts, backoff, ambiguous }) =>
    manifest("crm.act", {
      input,
      output,
      effects,
      idempotency,
      ambiguous,
      retry: { attempts, backoff, on: ["action.unavailable"] },
      timeout: 1_000,
    }),
  );

const outcome = fc.oneof(
  fc.constantFrom<CallResult | "hang" | "throw">(
    { is: "ok", value: { text: "done" } },
    { is: "ok", value: { text: "done", pin: "p-1" } },
    { is: "ok", value: { text: `echo ${SECRET}` } },
    { is: "ok", value: { text: 7 } },
    { is: "ok", value: { other: `${SECRET}` } },
    { is: "ok", value: Number.NaN as Json },
    { is: "failed", code: "action.unavailable", message: "later" },
    { is: "failed", code: "action.unavailable", message: "later", retryAfter: 50 },
    { is: "failed", code: "action.auth", message: `no ${SECRET}` },
    { is: "failed", code: "crm.maybe", message: "perhaps", details: { token: SECRET } },
    { is: "failed", code: "crm.gone", message: "gone", details: { token: `${SECRET}!` } },
    { is: "ambiguous", code: "connection_lost", message: `lost ${SECRET}` },
    { is: "unreadable", message: `not ${SECRET}` },
    "hang",
    "throw",
  ),
);
const args: fc.Arbitrary<JsonObject> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ n: fc.integer({ min: 0, max: 3 }), token: fc.constant(SECRET) }) },
  { weight: 2, arbitrary: fc.record({ n: fc.integer({ min: 0, max: 3 }) }) },
  fc.constantFrom<JsonObject>({}, { n: "1", token: SECRET }, { n: 1, other: SECRET }, { n: 1, token: 5 }),
);

interface Verdict {
  /** Of the record of each attempt, without what a record of an ordinary step holds beside it. */
  attempts: JsonObject[];
  /** What the connector got, without the key. */
  dispatched: Json;
  keys: string[];
  refused: string | null;
  unknown: Json;
  shown: string;
}

const OF_THE_PLACE = ["args", "key", "at", "duration_ms"];

async function verdictOf(
  manifest: ActionManifest,
  given: JsonObject,
  script: readonly (CallResult | "hang" | "throw")[],
  how: "step" | "agent",
): Promise<Verdict> {
  const clock = createVirtualClock({ start: 0 });
  const crm = new FakeConnector("crm", ({ attempt }: CallRequest) => {
    const next = script[Math.min(attempt, script.length) - 1] ?? "hang";
    if (next === "throw") throw new Error(`broken ${SECRET}`);
    return next === "hang" ? new Promise<never>(() => {}) : next;
  });
  const step =
    how === "step"
      ? action("act", "crm.act", { lit: given }, { onUnknown: "fail" })
      : agent("act", ["crm.act"], { onUnknown: "fail", budget: { steps: 50 } });
  const model = turns({ calls: [{ id: "", tool: "crm.act", args: given }] }, { results: [{ answer: "done" }] });
  const flow = admitted(plan([step]), [manifest]);
  const { records, ended, replayed } = await runPlan(flow, { connectors: [crm], model, clock });
  clock.stop();
  expect(replayed.is).toBe("equal");
  const calls = records.filter(({ kind }) => kind === "call.ended");
  return {
    attempts: calls.map(verdictIn),
    dispatched: crm.calls.map(({ args, attempt, connection, timeout, sensitive }) => {
      const { key: _key, ...rest } = args;
      return { args: rest, attempt, connection, timeout, sensitive: sensitive === true };
    }),
    keys: crm.calls.map(({ key }) => String(key)),
    refused: how === "step" ? invalidIn(ended.error?.code) : refusedIn(records),
    unknown: ended.unknown.map(({ action, code }) => ({ action, code })),
    shown: JSON.stringify(records.slice(2).filter(({ kind }) => kind !== "run.ended")),
  };
}

function verdictIn({ body, attempt }: RunRecord): JsonObject {
  const out: JsonObject = { attempt };
  for (const name of Object.keys(body)) if (!OF_THE_PLACE.includes(name)) out[name] = body[name] as Json;
  const { fault } = out;
  // The place differs, and the sentence may name it.
  if (fault !== undefined) out["fault"] = { ...(fault as JsonObject), position: "" };
  return out;
}

function invalidIn(code: string | undefined): string | null {
  return code === "action.invalid_input" ? code : null;
}

function refusedIn(records: readonly RunRecord[]): string | null {
  const turn = records.find(({ kind }) => kind === "agent.turn");
  const [call] = (turn?.body["calls"] ?? []) as { code: string | null }[];
  return call?.code ?? null;
}

test("the same arguments and outcomes get the same verdict through an ordinary step and through an agent", async () => {
  await fc.assert(
    fc.asyncProperty(
      manifests,
      args,
      fc.array(outcome, { minLength: 1, maxLength: 3 }),
      async (made, given, script) => {
        const step = await verdictOf(made, given, script, "step");
        const tool = await verdictOf(made, given, script, "agent");
        expect(tool.attempts).toEqual(step.attempts);
        expect(tool.dispatched).toEqual(step.dispatched);
        expect(tool.refused).toBe(step.refused);
        expect(tool.unknown).toEqual(step.unknown);
        for (const { keys, prefix } of [
          { keys: step.keys, prefix: "wf-step-v1:" },
          { keys: tool.keys, prefix: "wf-agent-v1:" },
        ]) {
          // One key for all attempts, the engine's own; none where the action has none.
          expect(new Set(keys).size).toBeLessThanOrEqual(1);
          const isKeyed = made.idempotency.kind === "keyed";
          expect(keys.every((key) => (isKeyed ? key.startsWith(prefix) : key === "null"))).toBe(true);
        }
        if (given["token"] === SECRET && step.refused === null) {
          expect(step.shown).not.toContain(SECRET);
          expect(tool.shown).not.toContain(SECRET);
        }
      },
    ),
    { numRuns: 150 },
  );
}, 60_000);
