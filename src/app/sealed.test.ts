/** Sensitive values over the life of a run: sealed beside it, opened by a resume and a replay, and by nobody else (DU-09). */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RunRecord } from "../journal/event.ts";
import { exportLine, readExport } from "../journal/export.ts";
import { createEngine, type Engine } from "./engine.ts";

const INPUT = "canary-input-1";
const RESULT = "canary-result-2";
const ANSWER = "canary-answer-3";
const KEY = "0123456789abcdef0123456789abcdef";

const DEPLOYMENT = `agents:
  clerk: { provider: scripted, script: ./clerk.yaml }
connectors:
  vault:
    stub: ./tools.yaml
    manifest:
      connector: vault
      version: 1.0.0
      actions:
        read:
          description: Reads a secret.
          input: { type: object, properties: { name: { type: string } } }
          output: { type: object, properties: { secret: { type: string, x-sensitive: true } } }
          effects: read
          idempotency: natural
        send:
          description: Sends a text.
          input: { type: object, additionalProperties: false, properties: { text: { type: string, x-sensitive: true }, to: { type: string } } }
          output: { type: object, properties: { receipt: { type: string, x-sensitive: true } } }
          effects: write
          idempotency: natural
`;
const TOOLS = `log: ./calls.jsonl
actions:
  vault.read: [ { return: { secret: ${RESULT} } } ]
  vault.send: [ { return: { receipt: "r {{ args.text }}" } } ]
`;
const SCRIPT = `agents:
  clerk:
    - turns:
        - { call: vault.send, with: { text: "{{ context.key }}", to: agent } }
        - finish: { said: "so {{ context.key }}" }
`;
const FLOW = `workfile: "1"
name: sealed
inputs: { token: { type: string, sensitive: true, required: true }, open: { type: string, default: plain } }
steps:
  - got: { vault.read: { name: a }, if: "{{ size(inputs.token) > 4 }}" }
  - worked:
      wf.agent: clerk
      goal: Work.
      with: { key: "{{ got.secret }}" }
      tools: [vault.send]
      returns: { said: { type: string, sensitive: true, required: true } }
      budget: { steps: 4 }
  - pin: { wf.ask: Which?, returns: { pin: { type: string, sensitive: true, required: true } } }
  - sent: { vault.send: { text: "{{ inputs.token }} {{ got.secret }} {{ worked.said }} {{ pin.pin }}", to: end } }
  - told: { wf.notify: "done", if: "{{ sent.receipt.startsWith('r canary-input') && pin.pin != worked.said }}" }
outputs: { open: "{{ inputs.open }}", pin: "{{ pin.pin }}" }
`;
const SENT = `${INPUT} ${RESULT} so ${RESULT} ${ANSWER}`;

let folder = "";
let engine: Engine;

function enter(files: { [name: string]: string } = {}): void {
  const all = {
    "ambit.yaml": DEPLOYMENT,
    "tools.yaml": TOOLS,
    "clerk.yaml": SCRIPT,
    "a.workfile.yaml": FLOW,
    ...files,
  };
  for (const [name, text] of Object.entries(all)) writeFileSync(join(folder, name), text);
}

function newEngine(env: { [name: string]: string } = {}, store?: string): Promise<Engine> {
  return createEngine({
    cwd: folder,
    env,
    say: () => {},
    identity: "starter",
    ...(store === undefined ? {} : { store }),
  });
}

/** The process is another one: what it knows it knows from the store. */
async function anotherProcess(env: { [name: string]: string } = {}): Promise<void> {
  await engine.close();
  engine = await newEngine(env);
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "ambit-sealed-"));
  mkdirSync(join(folder, ".ambit"));
  enter();
  engine = await newEngine();
});
afterEach(async () => {
  await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A run that waits for its answer. */
async function parked(inputs: { [name: string]: string } = { token: INPUT }): Promise<string> {
  const run = await engine.start("a.workfile.yaml", { inputs });
  const result = await run.result();
  expect(result).toMatchObject({ status: "suspended" });
  return run.id;
}

async function answer(): Promise<void> {
  const [open] = await engine.approvals();
  const value = { pin: ANSWER };
  await engine.answer(open?.id ?? "", { how: "answered", value, by: "ana", comment: `it is ${ANSWER}` });
}

async function finished(run: string, inputs?: { [name: string]: string }) {
  const resumed = await engine.resume(run, inputs === undefined ? {} : { inputs });
  return resumed.result();
}

function calls(): { args: { [name: string]: unknown }; position: string }[] {
  const lines = readFileSync(join(folder, "calls.jsonl"), "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line)).filter((call) => call.phase === "done");
}

async function recordsOf(run: string): Promise<RunRecord[]> {
  return (await engine.journal(null)).read(run, 1, 1_000);
}

function database(sql: string): unknown[] {
  const db = new DatabaseSync(join(folder, ".ambit", "ambit.db"), { timeout: 1_000 });
  try {
    return db.prepare(sql).all();
  } finally {
    db.close();
  }
}

const code = (wanted: string, more: object = {}) => ({ fault: { code: wanted, ...more } });

describe("a run with sensitive values", () => {
  test("goes on in another process without them being given again, and replays to the same digest", async () => {
    const run = await parked();
    await anotherProcess();
    await answer();
    await anotherProcess();
    const result = await finished(run);
    expect(result).toMatchObject({ status: "completed", outputs: { open: "plain", pin: { $sensitive: true } } });
    expect(calls().map(({ args }) => args["text"])).toEqual([undefined, RESULT, SENT]);
    expect((await recordsOf(run)).some(({ kind }) => kind === "notice.sent")).toBe(true);
    await anotherProcess();
    expect(await engine.replay(run)).toMatchObject({ is: "equal", digest: result.digest });
  });

  test("has the digest of one that never left its process", async () => {
    const first = await parked();
    await answer();
    const cut = await finished(first);
    const whole = await engine.start("a.workfile.yaml", { inputs: { token: INPUT } });
    expect((await whole.result()).status).toBe("suspended");
    await answer();
    expect((await finished(whole.id)).digest).toBe(cut.digest);
  });

  test("nothing of them is in clear in the store, with its log, and in no export", async () => {
    const run = await parked();
    await answer();
    await finished(run);
    const files = ["ambit.db", "ambit.db-wal", "ambit.db-shm", "key"].map((name) => join(folder, ".ambit", name));
    const stored = files.filter((file) => existsSync(file)).map((file) => readFileSync(file, "latin1"));
    expect(stored.length).toBeGreaterThan(2);
    const told = (await recordsOf(run)).map(exportLine).join("");
    for (const text of [...stored, told]) {
      for (const secret of [INPUT, RESULT, ANSWER]) expect(text).not.toContain(secret);
    }
    const sealed = database("SELECT data FROM sealed") as { data: string }[];
    for (const { data } of sealed) expect(told).not.toContain(data);
  });

  test("sealed-parts I1: only what is read back of a record is sealed", async () => {
    const run = await parked();
    await answer();
    await finished(run);
    const rows = database("SELECT kind, position FROM sealed JOIN records USING (key) ORDER BY key");
    expect((rows as { kind: string; position: string }[]).map(({ kind, position }) => `${kind} ${position}`)).toEqual([
      "run.accepted ",
      "call.ended got",
      "agent.turn worked.(turns)[0]",
      "call.ended worked.(tools)[0]",
      "agent.turn worked.(turns)[1]",
      "ask.ended pin",
      "call.ended sent",
    ]);
  });

  test("the key is made once, for its owner alone, and only where there is something to seal", async () => {
    const path = join(folder, ".ambit", "key");
    enter({ "plain.workfile.yaml": 'workfile: "1"\nname: p\nsteps: [ { a: { wf.notify: hi } } ]\n' });
    await (await engine.start("plain.workfile.yaml")).result();
    expect(existsSync(path)).toBe(false);
    await parked();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const before = readFileSync(path, "utf8");
    await parked();
    expect(readFileSync(path, "utf8")).toBe(before);
  });

  test("in a store of memory they are held as well", async () => {
    await engine.close();
    engine = await newEngine({}, "memory");
    const run = await parked();
    await answer();
    const result = await finished(run);
    expect(result.status).toBe("completed");
    expect(await engine.replay(run)).toMatchObject({ is: "equal", digest: result.digest });
  });
});

describe("inputs given again", () => {
  test("that are the same are taken", async () => {
    const run = await parked();
    await answer();
    expect((await finished(run, { token: INPUT })).status).toBe("completed");
  });

  test.each([
    ["a sensitive one", { token: "canary-other" }],
    ["another one", { open: "other" }],
  ])("and %s that is changed is noticed", async (_name, inputs) => {
    const run = await parked();
    await answer();
    const refused = await finished(run, inputs).catch((error: Error) => error);
    expect(refused).toMatchObject(code("history.mismatch", { details: { input: Object.keys(inputs)[0] } }));
    expect(String(refused)).not.toContain("canary");
    expect((await finished(run)).status).toBe("completed");
  });

  test("are the way on where the key is gone, as far as nothing else is needed", async () => {
    enter({
      "b.workfile.yaml": `workfile: "1"
name: b
inputs: { token: { type: string, sensitive: true, required: true } }
steps:
  - ok: { wf.ask: Go? }
  - sent: { vault.send: { text: "{{ inputs.token }}", to: b } }
`,
    });
    const run = await engine.start("b.workfile.yaml", { inputs: { token: INPUT } });
    await run.result();
    const [open] = await engine.approvals();
    await engine.answer(open?.id ?? "", { how: "approved", by: "ana" });
    await engine.close();
    rmSync(join(folder, ".ambit", "key"));
    engine = await newEngine();
    await expect(finished(run.id)).rejects.toMatchObject(code("history.redacted", { at: "" }));
    expect((await finished(run.id, { token: INPUT })).status).toBe("completed");
    expect(calls().at(-1)?.args).toMatchObject({ text: INPUT });
  });
});

describe("a sealed part that does not open ends a resume at the position that needs it, and says why", () => {
  /** The run has its answer, and is tried again after something was done to the store. */
  async function refusedAfter(tamper: (run: string) => void | Promise<void>): Promise<unknown> {
    const run = await parked();
    await answer();
    await engine.close();
    await tamper(run);
    engine = await newEngine();
    return finished(run).catch((error: unknown) => error);
  }
  const seqOf = (position: string): string =>
    `(SELECT key FROM records WHERE position = '${position}' AND kind IN ('call.ended', 'agent.turn', 'run.accepted'))`;

  test("sealed-parts I3: the key is gone", async () => {
    let kept = "";
    const refused = await refusedAfter(() => {
      kept = readFileSync(join(folder, ".ambit", "key"), "utf8");
      rmSync(join(folder, ".ambit", "key"));
    });
    expect(refused).toMatchObject(code("history.redacted", { at: "", details: { sealed: "no_key", position: "got" } }));
    // The run is as it was: with its key it goes on.
    const [head] = await (await engine.journal(null)).list({ limit: 1 });
    const before = await recordsOf(head?.run ?? "");
    await expect(engine.replay(head?.run ?? "")).rejects.toMatchObject(
      code("history.redacted", { details: { sealed: "no_key", position: "got" } }),
    );
    expect(await recordsOf(head?.run ?? "")).toEqual(before);
    writeFileSync(join(folder, ".ambit", "key"), kept);
    await anotherProcess();
    expect((await finished(head?.run ?? "")).status).toBe("completed");
  });

  test("the key is another one", async () => {
    const refused = await refusedAfter(() => writeFileSync(join(folder, ".ambit", "key"), `${"A".repeat(43)}=\n`));
    expect(refused).toMatchObject(code("history.redacted", { details: { sealed: "other_key" } }));
  });

  test("one sign was changed", async () => {
    const refused = await refusedAfter(() => {
      database(`UPDATE sealed SET data = substr(data, 1, 60) || CASE substr(data, 61, 1) WHEN 'A' THEN 'B' ELSE 'A' END
        || substr(data, 62) WHERE key = ${seqOf("")}`);
    });
    expect(refused).toMatchObject(code("history.redacted", { details: { sealed: "damaged", position: "got" } }));
  });

  test("it was taken away", async () => {
    const refused = await refusedAfter(() => void database(`DELETE FROM sealed WHERE key = ${seqOf("got")}`));
    expect(refused).toMatchObject(code("history.redacted", { details: { sealed: "unsealed", position: "sent" } }));
  });

  test("sealed-parts I2: it was put beside another record of the run", async () => {
    const refused = await refusedAfter(() => {
      database(
        `UPDATE sealed SET data = (SELECT data FROM sealed WHERE key = ${seqOf("")}) WHERE key = ${seqOf("got")}`,
      );
    });
    expect(refused).toMatchObject(code("history.redacted", { details: { sealed: "moved", position: "sent" } }));
  });

  test("it was put beside the same record of another run", async () => {
    const refused = await refusedAfter(async (run) => {
      engine = await newEngine();
      const other = await engine.start("a.workfile.yaml", { inputs: { token: "canary-of-another" } });
      await other.result();
      await engine.close();
      const own = `(SELECT id FROM runs WHERE run = '${run}')`;
      database(`UPDATE sealed SET data = (SELECT b.data FROM sealed b JOIN records r ON r.key = b.key
        WHERE r.id <> ${own} AND r.seq = 1) WHERE key = (SELECT key FROM records WHERE id = ${own} AND seq = 1)`);
    });
    expect(refused).toMatchObject(code("history.redacted", { details: { sealed: "moved", position: "got" } }));
  });

  test("the answer of a person was sealed with another key", async () => {
    const run = await parked();
    await answer();
    database(
      "UPDATE requests SET body = json_set(body, '$.sealed', replace(json_extract(body, '$.sealed'), '.', '.x'))",
    );
    await anotherProcess();
    await expect(finished(run)).rejects.toMatchObject(code("history.redacted"));
    // Said once, and nobody can say it differently meanwhile.
    await expect(answer()).rejects.toMatchObject(code("run.already_decided"));
  });

  test("an export has none, and takes none along", async () => {
    const run = await parked();
    await answer();
    await finished(run);
    const { records } = readExport((await recordsOf(run)).map(exportLine).join(""));
    await expect(engine.replay(records)).rejects.toMatchObject(
      code("history.redacted", { details: { sealed: "unsealed" } }),
    );
    rmSync(join(folder, ".ambit"), { recursive: true });
    mkdirSync(join(folder, ".ambit"));
    await anotherProcess();
    await engine.import(records);
    await expect(engine.replay(run)).rejects.toMatchObject(code("history.redacted"));
  });
});

describe("the key of a store", () => {
  test("may be a secret of the deployment, and then no file is made", async () => {
    enter({ "ambit.yaml": `${DEPLOYMENT}store: { path: .ambit/ambit.db, key: { env: STORE_KEY } }\n` });
    await anotherProcess({ STORE_KEY: KEY });
    const run = await parked();
    await answer();
    expect(existsSync(join(folder, ".ambit", "key"))).toBe(false);
    await anotherProcess({ STORE_KEY: `${KEY}2` });
    await expect(finished(run)).rejects.toMatchObject(code("history.redacted", { details: { sealed: "other_key" } }));
    await anotherProcess({});
    await expect(finished(run)).rejects.toMatchObject(code("deployment.missing_secret"));
    await expect(engine.replay(run)).rejects.toMatchObject(code("history.redacted", { details: { sealed: "no_key" } }));
    await anotherProcess({ STORE_KEY: KEY });
    expect((await finished(run)).status).toBe("completed");
  });

  test.each([
    ["missing", {}, "deployment.missing_secret"],
    ["too short", { STORE_KEY: KEY.slice(1) }, "deployment.invalid"],
  ])("and where that is %s, nothing begins", async (_name, env, wanted) => {
    enter({ "ambit.yaml": `${DEPLOYMENT}store: { path: .ambit/ambit.db, key: { env: STORE_KEY } }\n` });
    await anotherProcess(env);
    const refused = engine.start("a.workfile.yaml", { inputs: { token: INPUT } });
    await expect(refused).rejects.toMatchObject({ exit: 4, ...code(wanted) });
    expect(existsSync(join(folder, "calls.jsonl"))).toBe(false);
  });

  test("that is no key is not written over, and nothing begins", async () => {
    const path = join(folder, ".ambit", "key");
    writeFileSync(path, "something of mine\n");
    await expect(engine.start("a.workfile.yaml", { inputs: { token: INPUT } })).rejects.toMatchObject(
      code("store.unavailable", { details: { path, reason: "key" } }),
    );
    expect(readFileSync(path, "utf8")).toBe("something of mine\n");
    expect(database("SELECT * FROM runs")).toEqual([]);
  });

  test.skipIf(process.getuid?.() === 0)("that cannot be made lets nothing begin", async () => {
    (await engine.journal(null)).describe();
    chmodSync(join(folder, ".ambit"), 0o500);
    await expect(engine.start("a.workfile.yaml", { inputs: { token: INPUT } })).rejects.toMatchObject(
      code("store.unavailable"),
    );
    chmodSync(join(folder, ".ambit"), 0o700);
  });
});
