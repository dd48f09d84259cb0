/**
 * One run of everything that may hold a secret, ended in every way, and every place searched for it (DU-09, WX-28): the
 * store with its log, what the commands print with and without `--json`, exports, and what servers say on stderr.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { root } from "../built/built.ts";
import { leaksOf, type Place } from "../conformance/leaks.ts";
import { scene } from "./scene.ts";
import { until, Workspace } from "./workspace.ts";

const held = scene();

/** Odd signs, so that each spelling of a secret is another text. */
const SECRETS = {
  auth: 'cnry-auth/"7+?=&x',
  env: "cnry-env-ü€ 41b",
  server: "cnry-server-env-93d",
  input: 'cnry-input "q" 5e2&/',
  result: "cnry-result-á7c+1",
  answer: "cnry-answer-\\n-c04",
  edit: "cnry-edited <b>8f",
  settled: "cnry-settled-66a/",
};
const ENV = { MOD_AUTH: SECRETS.auth, MOD_ENV: SECRETS.env, SERVER_ENV: SECRETS.server };

/** A connector that says all it knows again, in every spelling that it can think of. */
const MODULE = `import { readFileSync } from "node:fs";
import { defineConnector, failure, unknownOutcome } from "${root}/dist/index.js";
const spellings = (text) => [text, encodeURIComponent(text), JSON.stringify(text), JSON.stringify(JSON.stringify(text)),
  Buffer.from(text).toString("base64"), Buffer.from("x" + text).toString("base64"), Buffer.from("xy" + text + "z").toString("base64"),
  Buffer.from(text).toString("base64url")].join(" | ");
const known = (connection, args) => {
  const own = [];
  const visit = (value) => {
    if (typeof value === "string") own.push(value);
    else if (value !== null && typeof value === "object") for (const part of Object.values(value)) visit(part);
  };
  visit([connection, args]);
  return own.map(spellings).join(" ; ");
};
export default defineConnector({
  actions: {
    look: (args, { connection }) => {
      return { secret: readFileSync(new URL("./result.txt", import.meta.url), "utf8"), echo: known(connection, args) };
    },
    send: (args, { connection }) => ({ echo: known(connection, args), receipt: "r" }),
    fail: (args, { connection }) => { throw failure("refused", "no: " + known(connection, args), { details: known(connection, args) }); },
    crash: (args, { connection }) => { throw new Error("crashed " + known(connection, args)); },
    lose: (args, { connection }) => { throw unknownOutcome("lost", "lost: " + known(connection, args), { details: known(connection, args) }); },
  },
});
`;

const action = (name: string, effects: string, idempotency: string): string => `  ${name}:
    description: Does ${name}.
    input: { type: object, additionalProperties: false, properties: { text: { type: string }, shut: { type: string, x-sensitive: true } } }
    output: { type: object, properties: { secret: { type: string, x-sensitive: true } } }
    effects: ${effects}
    idempotency: ${idempotency}
`;
const MANIFEST = `connector: mod
version: 1.0.0
actions:
${action("look", "read", "natural")}${action("send", "write", "natural")}${action("fail", "read", "natural")}${action("crash", "read", "natural")}${action("lose", "write", "none")}`;

const DEPLOYMENT = `agents:
  clerk: { provider: scripted, script: ./clerk.yaml, api_key: { env: MOD_AUTH } }
connectors:
  mod:
    module: ./mod.mjs
    manifest: ./mod.yaml
    connections: { main: { default: true, env: { ONE: { env: MOD_ENV } }, auth: { env: MOD_AUTH } } }
  ledger:
    mcp: { command: node, args: ["-e", "process.stderr.write('started with ' + process.env.SECRET + ' ' + Buffer.from(process.env.SECRET).toString('base64') + '\\\\n'); import('${root}/test/faults/ledger-server.mjs')", "x", "."], env: { SECRET: { env: SERVER_ENV } } }
    manifest: ./ledger.yaml
policy: { approve: [mod.send] }
`;
const LEDGER = `connector: ledger
version: 1.0.0
actions:
  look:
    description: Looks something up.
    input: { type: object, required: [item], additionalProperties: false, properties: { item: { type: string } } }
    output: { type: object }
    effects: read
    idempotency: natural
`;
const AGENT = `agents:
  clerk:
    - turns:
        - say: "I know {{ context.key }} and {{ context.token }}"
          calls:
            - { tool: mod.look, with: { text: "{{ context.token }}" } }
            - { tool: mod.fail, with: { text: "is {{ context.key }}." } }
            - { tool: "mod.{{ context.token }}", with: { x: "{{ context.key }}" } }
            - { tool: mod.look, with: { no: "{{ context.key }}" } }
        - finish: { said: "so {{ context.key }}", open: "o {{ context.token }}" }
`;

const flow = (end: string): string => `workfile: "1"
name: canary
inputs: { token: { type: string, sensitive: true, required: true } }
steps:
  - bad: { mod.fail: { text: "{{ inputs.token }}", shut: "{{ inputs.token }}" }, catch: [ { codes: [mod.refused], steps: [], value: null } ] }
  - broken: { mod.crash: { text: "{{ inputs.token }}" }, catch: [ { codes: ["*"], steps: [], value: null } ] }
  - got: { mod.look: { text: "{{ inputs.token }}" }, if: "{{ inputs.token != 'x' }}" }
  - asked: { ledger.look: { item: "{{ inputs.token }} {{ got.secret }}" } }
  - worked:
      wf.agent: clerk
      goal: "Work on {{ got.secret }}."
      with: { key: "{{ got.secret }}", token: "{{ inputs.token }}" }
      tools: [mod.look, mod.fail]
      returns: { said: { type: string, sensitive: true, required: true }, open: { type: string, required: true } }
      budget: { steps: 9 }
  - told: { wf.notify: "told {{ worked.open }} {{ got.echo }}" }
  - pin:
      wf.ask: "Which, for {{ inputs.token }}?"
      returns: { pin: { type: string, sensitive: true, required: true } }
  - sent: { mod.send: { text: "{{ pin.pin }} {{ got.secret }}", shut: "{{ inputs.token }}" } }
  - each:
      wf.each: "{{ [inputs.token, got.secret] }}"
      as: item
      max: 4
      steps: [ { looked: { mod.look: { shut: "{{ item }}" } } } ]
      yield: "{{ looked.echo }}"
${end}outputs: { echo: "{{ sent.echo }}", all: "{{ each }}", open: "{{ worked.open }}", map: "{{ {'a': inputs.token} }}" }
`;

const ENDS: { readonly [name: string]: string } = {
  ok: "",
  failing: `  - last: { mod.fail: { text: "{{ inputs.token }} {{ pin.pin }}" } }\n`,
  "fails-itself": `  - last: { wf.fail: { code: own.failure, message: "it is {{ pin.pin }}" } }\n`,
  stopped: `  - last: { wf.stop: { outputs: { x: "{{ pin.pin }}", y: "{{ got.echo }}" } } }\n`,
  unknown: `  - last: { mod.lose: { text: "{{ inputs.token }}" }, on_unknown: halt }\n`,
  "unknown-for-good": `  - last: { mod.lose: { text: "{{ inputs.token }}" }, on_unknown: fail }\n`,
  cancelled: `  - last: { wf.wait: 1h }\n`,
};

class Searched extends Workspace {
  readonly places: Place[] = [];

  constructor(end: string) {
    super({
      "ambit.yaml": DEPLOYMENT,
      "mod.mjs": MODULE,
      "mod.yaml": MANIFEST,
      "ledger.yaml": LEDGER,
      "clerk.yaml": AGENT,
      "result.txt": SECRETS.result,
      "a.workfile.yaml": flow(end),
      "inputs.json": JSON.stringify({ token: SECRETS.input }),
      "answer.json": JSON.stringify({ pin: SECRETS.answer }),
      "edit.json": JSON.stringify({ text: "open", shut: SECRETS.edit }),
      "settled.json": JSON.stringify({ secret: SECRETS.settled }),
    });
  }

  /** A command, with all that it prints kept for the search. */
  async said(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const done = await this.ambit(args, ENV);
    this.places.push({ name: "output", text: done.stdout + done.stderr });
    return done;
  }

  /** The store as it lies on the disk at this moment. */
  look(): void {
    const folder = this.path(".ambit");
    for (const name of readdirSync(folder)) {
      if (name === "key") continue;
      const bytes = readFileSync(this.path(".ambit", name));
      // Pages are mostly empty.
      const text = bytes.toString("utf8").replaceAll("\0", "").replaceAll("\ufffd", "");
      this.places.push({ name: "journal", text });
    }
  }

  /** Everything that shows a run. */
  async shown(run: string): Promise<void> {
    this.look();
    await this.said("runs", "show", run);
    await this.said("runs", "show", run, "--json");
    await this.said("runs", "show", run, "--events");
    for (const step of ["worked", "pin", "sent"]) await this.said("runs", "show", run, "--step", step);
    await this.said("unknowns");
    await this.said("replay", run, "--json");
    await this.said("runs", "export", run);
  }

  found(): { secret: string; place: string; form: string; around: string }[] {
    return Object.entries(SECRETS).flatMap(([secret, text]) =>
      leaksOf(text, this.places).map(({ place, form, around }) => ({ secret, place, form, around })),
    );
  }
}

async function answered(space: Searched, run: string): Promise<void> {
  const open = async (): Promise<string> => {
    const done = await space.said("approvals", "--json");
    const { approvals } = JSON.parse(done.stdout) as { approvals: { id: string }[] };
    return approvals[0]?.id ?? "";
  };
  const given = await space.said("answer", await open(), "@answer.json", "--comment", `I say ${SECRETS.answer}`);
  expect(given.code, given.stderr).toBe(0);
  space.look();
  await space.said("approvals");
  expect((await space.said("resume", run, "--json")).code).toBe(6);
  const edited = await space.said("approve", await open(), "--edit", "@edit.json", "--comment", `now ${SECRETS.edit}`);
  expect(edited.code, edited.stderr).toBe(0);
}

describe("canaries in everything that is secret are found nowhere", { timeout: 240_000 }, () => {
  test.each(Object.keys(ENDS))("%s", async (name) => {
    const space = held(new Searched(ENDS[name] ?? ""));
    const began = await space.said("run", "a.workfile.yaml", "--input", "@inputs.json", "--run-id", "one", "--json");
    expect(began.code, began.stdout + began.stderr).toBe(6);
    await answered(space, "one");
    if (name === "cancelled") {
      const killed = space.start(["resume", "one"], ENV);
      await until("the wait", async () =>
        (await space.events("one")).some(({ kind }) => kind === "wait.set") ? true : null,
      );
      space.look();
      killed.kill("SIGKILL");
      const { stdout, stderr } = await killed.done;
      space.places.push({ name: "output", text: stdout + stderr });
      space.look();
      const tail = space.start(["runs", "tail", "one"], ENV);
      const cancelled = await space.said("cancel", "one");
      expect(cancelled.code, cancelled.stderr).toBe(0);
      const told = await tail.done;
      space.places.push({ name: "output", text: told.stdout + told.stderr });
    } else {
      const went = await space.said("resume", "one");
      const { status } = await space.show("one");
      expect({ name, code: went.code, status }).toMatchObject({
        status: { ok: "completed", stopped: "stopped", unknown: "suspended" }[name] ?? "failed",
      });
    }
    if (name === "unknown") {
      await space.said("unknowns");
      const settled = await space.said(
        "resolve",
        "one",
        "last",
        "--succeeded",
        "@settled.json",
        "--comment",
        SECRETS.settled,
      );
      expect(settled.code, settled.stderr).toBe(0);
      expect((await space.said("resume", "one", "--json")).code).toBe(0);
    }
    if (name === "unknown-for-good") {
      const settled = await space.said(
        "resolve",
        "one",
        "last",
        "--succeeded",
        "@settled.json",
        "--comment",
        SECRETS.settled,
      );
      expect(settled.code, settled.stderr).toBe(0);
    }
    await space.said("runs", "tail", "one", "--json");
    await space.shown("one");
    expect(space.found()).toEqual([]);
    expect(existsSync(space.path(".ambit", "key"))).toBe(true);
  });

  test("what is refused before anything runs says no secret either", async () => {
    const space = held(new Searched(""));
    for (const json of [[], ["--json"]]) {
      await space.said("plan", "a.workfile.yaml", ...json);
      await space.said("doctor", ...json);
      await space.said("check", "a.workfile.yaml", ...json);
      await space.said("explain", "history.redacted");
      await space.said("connectors", "list", ...json);
      await space.said("connectors", "check", ...json);
      await space.said("agents", "list", ...json);
    }
    space.write({ "inputs.json": JSON.stringify({ token: [SECRETS.input] }) });
    expect((await space.said("run", "a.workfile.yaml", "--input", "@inputs.json")).code).toBe(2);
    expect(space.found()).toEqual([]);
  });
});
