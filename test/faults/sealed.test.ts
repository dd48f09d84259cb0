import { readFileSync, statSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { root, startAmbit } from "../built/built.ts";
import { type StubCall, stubSpace } from "./ledger.ts";
import { scene } from "./scene.ts";
import { linesOf } from "./workspace.ts";

const killAt = `${root}/test/faults/kill-at.mjs`;
const held = scene();

const TOKEN = "canary-token-1";
const FOUND = "canary-found-2";

const MANIFEST = `connector: ledger
version: 1.0.0
actions:
  look:
    description: Looks a secret up.
    input: { type: object, properties: { item: { type: string } } }
    output: { type: object, properties: { secret: { type: string, x-sensitive: true } } }
    effects: read
    idempotency: natural
  charge:
    description: Charges an account.
    input: { type: object, required: [item, key], additionalProperties: false, properties: { item: { type: string, x-sensitive: true }, key: { type: string } } }
    output: { type: object, properties: { of: { type: string, x-sensitive: true } } }
    effects: write
    idempotency: { keyed: key }
`;

const WORKFILE = `workfile: "1"
name: sealed
inputs: { token: { type: string, sensitive: true, required: true } }
limits: { deadline: 5m }
steps:
  - found: { ledger.look: { item: plain }, if: "{{ size(inputs.token) == 14 }}" }
  - settle:
      wf.agent: clerk
      goal: Settle it.
      with: { item: "{{ found.secret }}" }
      tools: [ledger.charge]
      returns: { said: { type: string, sensitive: true, required: true } }
      budget: { steps: 4 }
  - all:
      wf.each: ["a", "b"]
      as: item
      concurrency: 1
      steps: [ { paid: { ledger.charge: { item: "{{ inputs.token }} {{ settle.said }} {{ item }}" } } } ]
      yield: "{{ paid.of }}"
  - told: { wf.notify: done, if: "{{ all[1].endsWith(' b') && inputs.token != found.secret }}" }
outputs: { paid: "{{ all }}" }
`;

const AGENT = `agents:
  clerk:
    - turns:
        - { call: ledger.charge, with: { item: "{{ context.item }}!" } }
        - finish: { said: "{{ context.item }}?" }
`;

const TOOLS = `actions:
  ledger.look: [ { return: { secret: ${FOUND} } } ]
  ledger.charge: [ { return: { of: "{{ args.item }}" } } ]
`;

/** What was charged, whoever did it. */
function charged(calls: readonly StubCall[]): unknown[] {
  return calls
    .filter(({ action, phase }) => action === "ledger.charge" && phase === "done")
    .map(({ args }) => args["item"]);
}

describe("SIGKILL at every record of a run with sensitive values, then resume (DU-09, DU-10)", {
  timeout: 300_000,
}, () => {
  test("without its inputs given again it ends as if nothing had been, and replays", async () => {
    const space = held(stubSpace(AGENT, TOOLS, WORKFILE));
    space.write({ "manifest.yaml": MANIFEST });
    const file = "ledger.workfile.yaml";
    const whole = await space.json(["run", file, "-i", `token=${TOKEN}`, "--run-id", "whole"]);
    expect(whole.result.status, whole.stdout + whole.stderr).toBe("completed");
    const wanted = charged(space.calls);
    expect(wanted).toEqual([`${FOUND}!`, `${TOKEN} ${FOUND}? a`, `${TOKEN} ${FOUND}? b`]);
    expect(statSync(space.path(".ambit", "key")).mode & 0o777).toBe(0o600);
    const last = whole.result.counts.events;
    expect(last).toBeGreaterThan(10);
    for (let at = 2; at < last; at++) {
      const before = space.calls.length;
      const run = `cut-${at}`;
      const killed = await startAmbit([String(at), run, file, `token=${TOKEN}`], space.folder, {}, killAt).done;
      expect(killed.signal, killed.stderr).toBe("SIGKILL");
      const { code, result, stdout } = await space.json(["resume", run]);
      expect({ at, code, digest: result.digest }).toEqual({ at, code: 0, digest: whole.result.digest });
      expect({ at, charged: charged(space.calls.slice(before)) }).toEqual({ at, charged: wanted });
      expect((await space.replay(run)).report).toMatchObject({ result: "equal", digest: whole.result.digest });
      for (const secret of [TOKEN, FOUND]) expect(stdout).not.toContain(secret);
    }
  });
});

describe("processes that need the key of a store at the same moment", { timeout: 120_000 }, () => {
  test("make one of it, and each can read what the others sealed", async () => {
    const space = held(stubSpace(AGENT, TOOLS, WORKFILE));
    space.write({ "manifest.yaml": MANIFEST });
    const ids = ["a", "b", "c", "d", "e"];
    const ran = await Promise.all(
      ids.map((id) => space.json(["run", "ledger.workfile.yaml", "-i", `token=${TOKEN}`, "--run-id", id])),
    );
    expect(ran.map(({ code }) => code)).toEqual(ids.map(() => 0));
    expect(readFileSync(space.path(".ambit", "key"), "utf8")).toMatch(/^[A-Za-z0-9+/]{43}=\n$/);
    for (const id of ids) expect((await space.replay(id)).report).toMatchObject({ result: "equal" });
    expect(linesOf<StubCall>(space.path("calls.jsonl")).length).toBeGreaterThan(0);
  });
});
