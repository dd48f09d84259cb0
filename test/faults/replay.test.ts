import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { DatabaseSync } from "@photostructure/sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createEngine, readRunFile } from "../../src/app/engine.ts";
import { Refused } from "../../src/app/refused.ts";
import type { Json, JsonObject } from "../../src/base/json.ts";
import type { RunRecord } from "../../src/journal/event.ts";
import { outOfJson } from "../../src/journal/hashes.ts";
import { main } from "../built/built.ts";
import { clerk, type LedgerSpace, serverSpace, stubSpace } from "./ledger.ts";
import { scene } from "./scene.ts";
import { type Replayed, until, Workspace } from "./workspace.ts";

/** How a replay in this process came out. */
interface Judged {
  code: number;
  report: Replayed["report"] | null;
  refused: { error: { code: string; message: string } } | null;
}

const held = scene();

describe("replay contacts nothing (DU-20)", { timeout: 120_000 }, () => {
  test("with script, servers and deployment gone, twice, it gives the recorded digest", async () => {
    const space = held(Workspace.ofExample("triage"));
    const done = await space.json(["run", "examples/triage/triage.workfile.yaml", "-i", "sender=ana@example.org"]);
    expect(done.result.status).toBe("completed");
    rmSync(space.path("examples"), { recursive: true });
    for (let time = 0; time < 2; time++) {
      const { code, report } = await space.replay("@last");
      expect(code).toBe(0);
      expect(report).toMatchObject({ result: "equal", digest: done.result.digest, status: "completed" });
    }

    if (spawnSync("strace", ["-V"]).error) {
      console.log("strace is not here: that a replay starts no process and connects to nothing was not looked at");
      return;
    }
    const log = space.path("calls.strace");
    const calls = "trace=execve,execveat,clone,clone3,fork,vfork,connect,sendto,sendmsg";
    const traced = spawnSync(
      "strace",
      ["-f", "-qq", "-e", calls, "-o", log, process.execPath, main, "replay", "@last"],
      {
        cwd: space.folder,
        encoding: "utf8",
        timeout: 50_000,
      },
    );
    expect(traced.stdout).toContain(done.result.digest);
    const seen = readFileSync(log, "utf8").split("\n");
    const processes = seen.filter(
      (line) => /\b(execve(at)?|clone3?|v?fork)\(/.test(line) && !line.includes("CLONE_THREAD"),
    );
    // The one program is node itself.
    expect(processes).toHaveLength(1);
    expect(processes[0]).toContain("execve(");
    expect(seen.filter((line) => /AF_INET/.test(line))).toEqual([]);
  });
});

/** A sequential run with an agent, a read, a keyed effect and a write without a key. */
const FLOW = `workfile: "1"
name: flow
inputs:
  item: { type: string, required: true }
limits: { deadline: 5m }
steps:
  - settle:
      wf.agent: clerk
      goal: Settle {{ inputs.item }}.
      with: { item: "{{ inputs.item }}" }
      tools: [ledger.look, ledger.charge]
      returns: { said: { type: string, required: true } }
      budget: { steps: 8 }
  - kept: { ledger.send: { item: "{{ settle.said }}" } }
  - check:
      wf.agent: clerk
      goal: Check {{ inputs.item }}.
      with: { item: "{{ inputs.item }}" }
      tools: [ledger.look]
      returns: { said: { type: string, required: true } }
      budget: { steps: 2 }
outputs: { said: "{{ check.said }}" }
`;

const SCRIPT = `${clerk("look", "charge")}    - step: check
      turns:
        - { call: ledger.look, with: { item: "{{ context.item }}" } }
        - finish: { said: "{{ results[0].done }}" }
`;

const TOOLS = `actions:
  ledger.look: [ { return: { done: look, of: "{{ args.item }}" } } ]
  ledger.charge: [ { return: { done: charge, of: "{{ args.item }}" } } ]
  ledger.send: [ { return: { done: send, of: "{{ args.item }}" } } ]
`;

describe("an export that was tampered with (DU-20, DU-23)", { timeout: 120_000 }, () => {
  let space: LedgerSpace;
  let records: RunRecord[];

  beforeAll(async () => {
    space = stubSpace(SCRIPT, TOOLS, FLOW);
    const done = await space.json(["run", "ledger.workfile.yaml", "-i", "item=a-7"]);
    expect(done.result.status).toBe("completed");
    records = await space.export("@last");
  }, 60_000);

  afterAll(() => space.remove());

  const textOf = (changed: readonly RunRecord[]): string =>
    changed.map((record) => `${JSON.stringify(record)}\n`).join("");

  /** As the command judges a file, without a process for each of many. */
  async function replayOf(changed: readonly RunRecord[]): Promise<Judged> {
    const engine = await createEngine({ cwd: space.folder, store: "memory", say: () => {} });
    try {
      const { is, ...report } = await engine.replay(readRunFile(textOf(changed)));
      return { code: is === "diverged" ? 7 : 0, report: { result: is, ...report }, refused: null };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return { code: error.exit, report: null, refused: { error: error.fault } };
    } finally {
      await engine.close();
    }
  }

  /** The records with one changed; `out` is made to fit its body again. */
  function withChanged(
    pick: (record: RunRecord) => boolean,
    change: (record: RunRecord) => Partial<RunRecord>,
  ): RunRecord[] {
    const at = records.findIndex(pick);
    expect(at).toBeGreaterThan(-1);
    return records.map((record, i) => {
      if (i !== at) return record;
      const next = { ...record, ...change(structuredClone(record)) };
      return { ...next, out: outOfJson(next.kind, next.body) };
    });
  }

  const renumbered = (list: readonly RunRecord[]): RunRecord[] => list.map((record, i) => ({ ...record, seq: i + 1 }));

  const isCall =
    (position: string) =>
    (record: RunRecord): boolean =>
      record.kind === "call.ended" && record.position === position;

  /** Exit 7: a divergence that is named, or a corrupt journal that names the record. */
  function expectCaught({ code, report, refused }: Judged): void {
    expect(code, JSON.stringify(report)).toBe(7);
    if (report !== null) {
      expect(report.result).toBe("diverged");
      expect(typeof report.position).toBe("string");
      expect(report).toHaveProperty("expected");
      expect(report).toHaveProperty("recorded");
      expect(report.expected).not.toEqual(report.recorded);
      return;
    }
    expect(refused?.error.code).toBe("journal.corrupt");
    expect(refused?.error.message).toMatch(/[Ll]ine \d+|[Rr]ecord \d+/);
  }

  test("untouched it replays equal", async () => {
    expect(await replayOf(records)).toMatchObject({ code: 0, report: { result: "equal" } });
    space.write({ "run.jsonl": textOf(records) });
    expect(await space.replay("run.jsonl")).toMatchObject({ code: 0, report: { result: "equal" } });
  });

  test("the command names position, expected and recorded, and exits 7", async () => {
    const kept = withChanged(isCall("kept"), () => ({ position: "elsewhere" }));
    space.write({ "changed.jsonl": textOf(kept) });
    const { code, report } = await space.replay("changed.jsonl");
    expect(code).toBe(7);
    expect(report).toMatchObject({ result: "diverged", position: "elsewhere" });
    expect(report).toHaveProperty("expected");
    expect(report).toHaveProperty("recorded");
    const said = await space.ambit(["replay", "changed.jsonl"]);
    expect({ code: said.code, stdout: said.stdout }).toEqual({ code: 7, stdout: "" });
    expect(said.stderr).toMatch(/diverged at elsewhere[\s\S]*expected[\s\S]*recorded/);
  });

  test.each(["settle.(tools)[0]", "settle.(tools)[1]", "kept", "check.(tools)[0]"])(
    "the value of %s, its `out` made right",
    async (position) => {
      expectCaught(
        await replayOf(
          withChanged(isCall(position), ({ body }) => ({ body: { ...body, value: { done: "other", of: "a-7" } } })),
        ),
      );
    },
  );

  test("a value whose `out` was left alone", async () => {
    const changed = records.map((record) =>
      isCall("kept")(record) ? { ...record, body: { ...record.body, value: { done: "other" } } } : record,
    );
    const { code, refused } = await replayOf(changed);
    expect({ code, error: refused?.error.code }).toEqual({ code: 7, error: "journal.corrupt" });
  });

  test("a result that an agent gave", async () => {
    const turn = (record: RunRecord): boolean => record.position === "settle.(turns)[2]";
    expectCaught(await replayOf(withChanged(turn, ({ body }) => ({ body: { ...body, result: { said: "other" } } }))));
    const ended = (record: RunRecord): boolean => record.kind === "agent.ended" && record.position === "check";
    expectCaught(await replayOf(withChanged(ended, ({ body }) => ({ body: { ...body, result: { said: "other" } } }))));
  });

  test.each(["settle.(tools)[0]", "kept"])("the `in` of %s", async (position) => {
    expectCaught(await replayOf(withChanged(isCall(position), () => ({ in: "ab".repeat(32) }))));
  });

  test("arguments of a call", async () => {
    expectCaught(
      await replayOf(withChanged(isCall("kept"), ({ body }) => ({ body: { ...body, args: { item: "other" } } }))),
    );
  });

  test.each(["settle.(tools)[0]", "kept"])("the position of %s", async (position) => {
    expectCaught(await replayOf(withChanged(isCall(position), () => ({ position: "elsewhere" }))));
  });

  test("an outcome", async () => {
    const fault = { code: "action.failed", position: "kept", message: "no", details: {}, cause: null };
    for (const position of ["kept", "settle.(tools)[1]"]) {
      expectCaught(
        await replayOf(
          withChanged(isCall(position), ({ body }) => {
            const { value: _gone, ...rest } = body;
            return {
              body: { ...rest, outcome: "failed", fault: { ...fault, position }, effect: "none" } as JsonObject,
            };
          }),
        ),
      );
    }
  });

  test.each(["status", "digest", "outputs", "error", "unknown", "skipped"])("%s in run.ended", async (key) => {
    const other: { [key: string]: Json } = {
      status: "stopped",
      digest: `sha256:${"0".repeat(64)}`,
      outputs: { said: "other" },
      error: { code: "action.failed", position: "kept", message: "no", details: {}, cause: null },
      unknown: [{ position: "kept", action: "ledger.send", code: "executor_lost" }],
      skipped: [{ at: "kept", cause: "failure", step: null, reason: "" }],
    };
    const ended = (record: RunRecord): boolean => record.kind === "run.ended";
    const found = await replayOf(withChanged(ended, ({ body }) => ({ body: { ...body, [key]: other[key] ?? null } })));
    expectCaught(found);
    expect(found.report).toMatchObject({ result: "diverged", position: "" });
  });

  test("counts in run.ended", async () => {
    const ended = (record: RunRecord): boolean => record.kind === "run.ended";
    const counts = { tool_attempts: 1, tokens: 0, agent_turns: 0, events: 3 };
    expectCaught(await replayOf(withChanged(ended, ({ body }) => ({ body: { ...body, counts } }))));
  });

  test("each record dropped, the rest renumbered", async () => {
    for (const [i, dropped] of records.entries()) {
      const found = await replayOf(renumbered(records.filter((_, at) => at !== i)));
      if (dropped.kind === "run.ended") {
        // What is left is the history of a run that has not ended, and is called that.
        expect(found).toMatchObject({ code: 0, report: { result: "unfinished" } });
      } else {
        expect({ i, kind: dropped.kind, code: found.code }).toEqual({ i, kind: dropped.kind, code: 7 });
        expectCaught(found);
      }
    }
  });

  test("deliveries swapped, their `seq` made right", async () => {
    const deliveries = records.flatMap((record, i) => (/^(agent\.turn|call\.ended)$/.test(record.kind) ? [i] : []));
    for (const [n, i] of deliveries.entries()) {
      const j = deliveries[n + 1];
      if (j === undefined) continue;
      const swapped = [...records];
      [swapped[i], swapped[j]] = [records[j] as RunRecord, records[i] as RunRecord];
      expectCaught(await replayOf(renumbered(swapped)));
    }
  });

  test.each([
    ["a call that was never made", "kept", "kept.(tools)[0]"],
    ["a second attempt", "kept", "kept"],
    ["an agent's start", "settle", "other"],
    ["an intent", "kept", "other"],
  ])("notes I1: an extra record: %s", async (what, from, position) => {
    const kinds: { [what: string]: string } = { "an agent's start": "agent.started", "an intent": "call.intent" };
    const kind = kinds[what] ?? "call.ended";
    const at = records.findIndex((record) => record.kind === kind && record.position === from);
    const extra = { ...(records[at] as RunRecord), position, attempt: position === from ? 2 : 1 };
    expectCaught(await replayOf(renumbered([...records.slice(0, at + 1), extra, ...records.slice(at + 1)])));
  });

  test("a line cut off at the end is dropped, one in the middle is not", async () => {
    const text = records.map((record) => JSON.stringify(record)).join("\n");
    space.write({ "changed.jsonl": text.slice(0, -20) });
    expect(await space.replay("changed.jsonl")).toMatchObject({ code: 0, report: { result: "unfinished" } });
    const lines = text.split("\n");
    lines[4] = (lines[4] ?? "").slice(0, -20);
    space.write({ "changed.jsonl": `${lines.join("\n")}\n` });
    const { code, refused } = await space.replay("changed.jsonl");
    expect({ code, error: refused.error.code }).toEqual({ code: 7, error: "journal.corrupt" });
    expect(refused.error.message).toContain("5");
  });
});

describe("a recorded key is followed (WX-55)", { timeout: 120_000 }, () => {
  const OTHER = `wf-agent-v1:${"5e".repeat(32)}`;

  /** The records of a run whose engine died while its charge was under way. */
  async function cutOff(): Promise<{ space: LedgerSpace; records: RunRecord[] }> {
    const space = held(serverSpace(["charge"]));
    space.hold("charge");
    const started = space.start(["run", "ledger.workfile.yaml", "-i", "item=a-7", "--run-id", "cut", "--json"]);
    await until("a charge", () => (space.lines("asked").length > 0 ? true : null));
    started.kill("SIGKILL");
    await started.done;
    const orphan = space.lines("asked")[0]?.pid ?? 0;
    process.kill(orphan, "SIGKILL");
    return { space, records: await space.export("cut") };
  }

  function withKey(records: RunRecord[], change: (call: JsonObject) => JsonObject): RunRecord[] {
    return records.map((record) =>
      record.kind === "agent.turn"
        ? { ...record, body: { ...record.body, calls: (record.body["calls"] as JsonObject[]).map(change) } }
        : record,
    );
  }

  async function imported(records: RunRecord[]): Promise<{ space: LedgerSpace; code: number | null; stdout: string }> {
    const space = held(serverSpace(["charge"]));
    space.write({ "run.jsonl": records.map((record) => `${JSON.stringify(record)}\n`).join("") });
    const { code, stdout } = await space.ambit(["runs", "import", "run.jsonl", "--json"]);
    return { space, code, stdout };
  }

  test("another valid key in an imported history is the one that is sent", async () => {
    const { records } = await cutOff();
    const { space, code } = await imported(withKey(records, (call) => ({ ...call, key: OTHER })));
    expect(code).toBe(0);
    const resumed = await space.json(["resume", "cut"]);
    expect(resumed).toMatchObject({ code: 0, result: { status: "completed" } });
    expect(space.lines("asked", "charge").map((line) => line.key)).toEqual([OTHER]);
    expect((await space.replay("cut")).report).toMatchObject({ result: "equal", digest: resumed.result.digest });
  });

  test("one whose hashes do not fit is refused", async () => {
    const { records } = await cutOff();
    const { space, code, stdout } = await imported(withKey(records, (call) => ({ ...call, args: { item: "b-9" } })));
    expect(code).toBe(7);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "journal.corrupt" } });
    expect((await space.json(["resume", "cut"])).refused.error.code).toBe("run.unknown");
  });
});

describe("a damaged record in the store (DU-06)", { timeout: 120_000 }, () => {
  test.each(["first", "middle", "last"])("the %s one is named, and the run is refused", async (which) => {
    const space = held(stubSpace(clerk("look"), TOOLS));
    await space.json(["run", "ledger.workfile.yaml", "-i", "item=a-7", "--run-id", "hurt"]);
    const count = (await space.show("hurt")).counts.events;
    const seq = which === "first" ? 1 : which === "last" ? count : 5;
    const store = space.path(".ambit", "ambit.db");
    expect(existsSync(store)).toBe(true);
    const db = new DatabaseSync(store);
    const row = db.prepare("SELECT key, data FROM records WHERE seq = ?").get(seq) as { key: number; data: string };
    const at = row.data.indexOf(":", row.data.length / 2) - 2;
    const flipped = String.fromCharCode(row.data.charCodeAt(at) ^ 1);
    db.prepare("UPDATE records SET data = ? WHERE key = ?").run(
      `${row.data.slice(0, at)}${flipped}${row.data.slice(at + 1)}`,
      row.key,
    );
    db.close();
    for (const args of [
      ["runs", "show", "hurt"],
      ["runs", "export", "hurt"],
      ["resume", "hurt"],
      ["replay", "hurt"],
    ]) {
      const { code, refused } = await space.json(args);
      expect({ args, code, error: refused.error.code }).toEqual({ args, code: 7, error: "journal.corrupt" });
      expect(refused.error.message).toContain(`ecord ${seq}`);
    }
  });
});
