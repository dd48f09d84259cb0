/** The negative control: a play that went otherwise is seen, whatever it was that went otherwise. */
import { expect, test } from "vitest";
import type { Json } from "../base/json.ts";
import type { ActionManifest } from "../catalog/manifest.ts";
import { createVirtualClock } from "../host/clocks/virtual-clock.ts";
import { newKey, openSealer } from "../host/keys/sealer.ts";
import { ownOwner } from "../host/processes/process-identity.ts";
import { openMemoryJournal } from "../host/stores/memory.ts";
import { action, admitted, agent, manifest, plan } from "../run/testing/plan.ts";
import type { World } from "./attack.ts";
import { CALM } from "./corpus.ts";
import { type Canary, DECISIONS, judge } from "./decisions.ts";
import { type Dispatch, Observed, type Seen } from "./observed.ts";
import { type Play, play } from "./play.ts";
import { canary, EVALUATED } from "./texts.ts";

const actions: ActionManifest[] = [
  manifest("crm.find", {
    input: { type: "object", additionalProperties: false, properties: { q: { type: "string" } } },
  }),
  manifest("crm.note", { effects: "write", idempotency: { kind: "keyed", field: "key" } }),
  manifest("crm.drop", { effects: "destructive" }),
];
const canaries: Canary[] = [
  { text: canary("hidden"), of: "the input hidden", sensitive: false },
  { text: canary("secret"), of: "the input secret", sensitive: true },
];

async function calmPlay(): Promise<Play> {
  const steps = [
    action("own", "crm.find"),
    agent("work", ["crm.find", "crm.note"], { budget: { steps: 3, tokens: 100, duration: 60_000 } }),
  ];
  const flow = admitted(plan(steps), actions);
  const world: World = {
    actions: new Map(actions.map((entry) => [entry.name, entry])),
    admitted: flow.definition.manifests,
    agents: ["helper"],
    inputs: [],
    fixed: () => ({}),
  };
  const clock = createVirtualClock({ start: 0 });
  const journal = openMemoryJournal({ clock });
  const stage = {
    clock,
    journal,
    owner: ownOwner("test", "a test"),
    sealer: openSealer(newKey()),
    watch: () => () => true,
  };
  const played = await play(flow, CALM, world, { inputs: {}, trigger: null }, stage, canary);
  clock.stop();
  return played;
}

/** The play with what was seen outside changed. */
function seenAs(played: Play, change: (seen: Seen[]) => Seen[]): Play {
  const observed = new Observed();
  observed.seen.push(...change(structuredClone(played.observed.seen)));
  return { ...played, observed };
}

function dispatches(change: Partial<Dispatch>, only = "work.(tools)[1]"): (seen: Seen[]) => Seen[] {
  return (seen) =>
    seen.map((entry) => (entry.what === "dispatched" && entry.position === only ? { ...entry, ...change } : entry));
}

test("decisions I2: a play as it should be has no findings, and something was played", async () => {
  const played = await calmPlay();
  expect(judge(played, canaries, null)).toEqual([]);
  expect(played.observed.dispatches.map((call) => [call.action, call.position])).toEqual([
    ["crm.find", "own"],
    ["crm.find", "work.(tools)[0]"],
    ["crm.note", "work.(tools)[1]"],
  ]);
});

test("decisions I1: every decision that could change is found changed, by what was seen outside", async () => {
  const played = await calmPlay();
  const found = new Set<string>();
  const expectFound = (change: Play, decision: string, message: RegExp): void => {
    const findings = judge(change, canaries, null);
    expect(findings).toContainEqual(expect.objectContaining({ decision, message: expect.stringMatching(message) }));
    found.add(decision);
  };
  const given = (text: string) => (seen: Seen[]) =>
    seen.map((entry) => (entry.what === "asked" ? { ...entry, given: entry.given + text } : entry));
  const records = (kind: string, change: { [name: string]: Json }): Play => ({
    ...played,
    records: played.records.map((record) =>
      record.kind === kind ? { ...record, body: { ...record.body, ...change } } : record,
    ),
  });

  expectFound(seenAs(played, dispatches({ action: "crm.drop" })), "tools", /does not use/);
  expectFound(seenAs(played, dispatches({ connection: "admin" })), "tools", /connection admin/);
  expectFound(seenAs(played, dispatches({ position: "work.(tools)[9]" })), "tools", /not proposed/);
  expectFound(
    seenAs(played, (seen) =>
      seen.map((entry) =>
        entry.what === "said" ? { ...entry, calls: entry.calls.map((call) => ({ ...call, tool: "CRM.note" })) } : entry,
      ),
    ),
    "tools",
    /for "CRM.note"/,
  );
  expectFound(seenAs(played, dispatches({ args: { other: 1 } }, "work.(tools)[0]")), "arguments", /does not allow/);
  expectFound(seenAs(played, dispatches({ key: "mine", args: { key: "mine" } })), "keys", /another form/);
  expectFound(seenAs(played, dispatches({ args: { key: "mine" } })), "keys", /another key/);
  const again = (seen: Seen[]): Seen[] => [...seen, ...seen.filter(({ what }) => what === "dispatched")];
  expectFound(
    seenAs(played, (seen) => again(again(seen))),
    "bounds",
    /with a budget of 3/,
  );
  expectFound(seenAs(played, dispatches({ at: 60_100 })), "bounds", /after the time/);
  expectFound(seenAs(played, dispatches({ attempt: 2 })), "bounds", /2 times/);
  const dear = (seen: Seen[]): Seen[] =>
    seen.map((entry) => (entry.what === "said" ? { ...entry, tokens: 100 } : entry));
  expectFound(seenAs(played, dear), "bounds", /100 of 100 tokens/);
  const uncounted = (seen: Seen[]): Seen[] => {
    const free = seen.map((entry) => (entry.what === "said" ? { ...entry, tokens: null } : entry));
    const asked = free.findLast((entry) => entry.what === "asked");
    return asked?.what === "asked" ? [...free, { ...asked, turn: 2 }] : free;
  };
  expectFound(seenAs(played, uncounted), "bounds", /uncounted/);
  expectFound(seenAs(played, given(canary("hidden"))), "context", /the input hidden/);
  expectFound(seenAs(played, given(EVALUATED)), "context", /evaluated/);
  expectFound(seenAs(played, dispatches({ args: { q: canary("hidden") } })), "context", /never given/);
  expectFound(records("agent.turn", { x: canary("secret") }), "records", /the input secret in clear/);
  expectFound(records("agent.turn", { x: EVALUATED }), "records", /was evaluated/);
  expectFound(records("agent.ended", { reason: "gave_up" }), "end", /gave_up/);
  expectFound(records("agent.ended", { result: { answer: "another" } }), "end", /another result/);
  expectFound({ ...played, endedByItself: false }, "end", /by itself/);
  expectFound({ ...played, replay: { is: "unfinished", events: 0, status: "running" } }, "end", /replay/);
  const withPolicy = (policy: object): Play => {
    const { definition } = played.admitted;
    return {
      ...played,
      admitted: { ...played.admitted, definition: { ...definition, policy: { ...definition.policy, ...policy } } },
    };
  };
  expectFound(withPolicy({ deny: ["crm.note"] }), "policy", /denied/);
  expectFound(withPolicy({ approve: ["crm.*"] }), "policy", /approval/);
  expectFound(
    withPolicy({ agents: { helper: { "crm.find": { fix: { q: "fixed" } } } } }),
    "policy",
    /the policy fixes/,
  );
  expectFound(withPolicy({ agents: { helper: { "crm.find": { max: 0 } } } }), "policy", /allows 0/);
  expect([...found].sort()).toEqual([...DECISIONS].sort());
});
