import { spawn } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ensureBuilt, type Finished, main, root } from "../built/built.ts";
import { clerk, LEDGER_MANIFEST, LEDGER_WORKFILE, type LedgerSpace, serverSpace, stubSpace } from "../faults/ledger.ts";
import { scene } from "../faults/scene.ts";
import { lives, until, Workspace } from "../faults/workspace.ts";

const TOOLS = "actions:\n  ledger.look: [ { return: { done: look, of: a-7 } } ]\n";
const BROKEN = LEDGER_WORKFILE.replace("wf.agent:", "wf.agnet:");
const RUN = ["run", "ledger.workfile.yaml", "-i", "item=a-7"];
const STACK = /^\s+at .*[:(]\d+|node:internal|file:\/\/\//m;

/** A server that never answers, and ends for nobody who only asks. */
const DEAF_SERVER = `import { writeFileSync } from "node:fs";
process.on("SIGTERM", () => {});
writeFileSync("deaf.pid", String(process.pid));
setInterval(() => {}, 1_000);
`;
const NOTICE = `workfile: "1"
name: notice
inputs: { secret: { type: string, required: true, sensitive: true } }
steps:
  - tell: { wf.notify: "the secret is {{ inputs.secret }}" }
outputs: { done: true }
`;

const POST = `workfile: "1"
name: post
steps:
  - look: { ledger.look: { item: a-7 } }
  - tell: { messaging.post: { channel: sales, text: told } }
`;

let space: LedgerSpace;

beforeAll(async () => {
  ensureBuilt();
  space = stubSpace(clerk("look"), TOOLS);
  space.write({
    "broken.workfile.yaml": BROKEN,
    "not-yaml.workfile.yaml": "workfile: [\n",
    "broken/ambit.yaml": "agents: 5\n",
    "broken/ledger.workfile.yaml": LEDGER_WORKFILE,
    "broken-yaml/ambit.yaml": "agents: [\n",
    "broken-yaml/ledger.workfile.yaml": LEDGER_WORKFILE,
    "empty-folder/notes.txt": "",
    "folder/one.workfile.yaml": NOTICE,
    "folder/deeper/two.workfile.yaml": BROKEN,
    "failing/ambit.yaml": space.read("ambit.yaml").replaceAll("./", "../").replace("tools.yaml", "failing/tools.yaml"),
    "failing/ledger.workfile.yaml": LEDGER_WORKFILE,
    "failing/tools.yaml": "actions:\n  ledger.look: [ { fail: { code: unavailable, message: not now } } ]\n",
    "junk.jsonl": '{"v":1}\n',
    "notice.workfile.yaml": NOTICE,
    "post.workfile.yaml": POST,
  });
  await space.ambit([...RUN, "--run-id", "done"]);
  const exported = await space.ambit(["runs", "export", "done"]);
  space.write({
    "done.jsonl": exported.stdout,
    "shapeless.jsonl": exported.stdout.replace('"outcome":"ok"', '"outcome":null'),
    "last.jsonl": exported.stdout.replaceAll('"run":"done"', '"run":"@last"'),
    "escapes.jsonl": exported.stdout.replaceAll('"run":"done"', '"run":"\\u001b[2J\\u202e"'),
    "other.jsonl": exported.stdout.replace('"tool_attempts":1', '"tool_attempts":2'),
  });
}, 150_000);

afterAll(() => space.remove());

/** Whether a command without `--json` prints data on stdout when it succeeds. */
type Data = "json" | "text" | "none";

const GOOD: [string[], number, Data][] = [
  [["check", "ledger.workfile.yaml"], 0, "none"],
  [["plan", "ledger.workfile.yaml"], 0, "text"],
  [["redteam", "ledger.workfile.yaml"], 0, "text"],
  [RUN, 0, "json"],
  [["runs", "list"], 0, "text"],
  [["runs", "show", "done"], 0, "text"],
  [["runs", "show", "done", "--step", "settle"], 0, "text"],
  [["runs", "show", "done", "--events"], 0, "json"],
  [["runs", "tail", "done"], 0, "text"],
  [["runs", "export", "done"], 0, "json"],
  [["replay", "done"], 0, "text"],
  [["replay", "done.jsonl"], 0, "text"],
  [["resume", "done"], 0, "json"],
  [["cancel", "done"], 0, "text"],
  [["explain", "flow.timeout"], 0, "text"],
  [["explain", "functions"], 0, "text"],
  [["connectors", "list"], 0, "text"],
  [["connectors", "check"], 0, "text"],
  [["agents", "list"], 0, "text"],
  [["doctor"], 0, "text"],
  [["doctor", "--capabilities"], 0, "text"],
];

const BAD: [string[], number][] = [
  [["check", "broken.workfile.yaml"], 3],
  [["check", "not-yaml.workfile.yaml"], 3],
  [["check", "nowhere.workfile.yaml"], 2],
  [["plan", "broken.workfile.yaml"], 3],
  [["redteam", "broken.workfile.yaml"], 3],
  [["redteam", "notice.workfile.yaml"], 2],
  [["redteam", "nowhere.workfile.yaml"], 2],
  [["redteam", "ledger.workfile.yaml", "-i", "itme=1"], 2],
  [["redteam", "ledger.workfile.yaml", "--agent", "nobody=x"], 2],
  [["redteam", "broken/ledger.workfile.yaml"], 4],
  [["run", "broken.workfile.yaml"], 3],
  [["run", "nowhere.workfile.yaml"], 2],
  [["run", "ledger.workfile.yaml"], 2],
  [["run", "ledger.workfile.yaml", "-i", "itme=1"], 2],
  [["run", "ledger.workfile.yaml", "-i", "no-equals"], 2],
  [["run", "ledger.workfile.yaml", "--input", "@nowhere.json"], 2],
  [["run", "ledger.workfile.yaml", "--input", "[1]"], 2],
  [[...RUN, "--deadline", "soon"], 2],
  [[...RUN, "--run-id", "a/b"], 2],
  [[...RUN, "--run-id", "@last"], 2],
  [[...RUN, "--run-id", ".."], 2],
  [[...RUN, "--run-id", "a\u202eb"], 2],
  [["run", "broken-yaml/ledger.workfile.yaml", "-i", "item=a"], 4],
  [["plan", "broken-yaml/ledger.workfile.yaml"], 4],
  [[...RUN, "--run-id", "done"], 9],
  [[...RUN, "--agent", "nobody"], 2],
  [[...RUN, "--agent", "nobody=x"], 2],
  [["plan", "ledger.workfile.yaml", "--agent", "nobody=x"], 2],
  [["check", "empty-folder"], 2],
  [["plan", "ledger.workfile.yaml", "--agent", "nobody"], 2],
  [["run", "broken/ledger.workfile.yaml", "-i", "item=a"], 4],
  [["run", "failing/ledger.workfile.yaml", "-i", "item=a"], 1],
  [[...RUN, "--config", "nowhere.yaml"], 4],
  [["runs", "show", "nothing-like-it"], 2],
  [["runs", "show", "done", "--step", "nowhere"], 2],
  [["runs", "list", "--limit", "many"], 2],
  [["runs", "list", "--status", "complete"], 2],
  [["runs", "export", "nothing-like-it"], 2],
  [["runs", "import", "done.jsonl"], 9],
  [["runs", "import", "junk.jsonl"], 7],
  [["runs", "import", "nowhere.jsonl"], 2],
  [["runs", "import", "shapeless.jsonl"], 7],
  [["runs", "import", "last.jsonl"], 7],
  [["runs", "import", "escapes.jsonl"], 7],
  [["replay", "nothing-like-it"], 2],
  [["replay", "junk.jsonl"], 7],
  [["replay", "shapeless.jsonl"], 7],
  [["replay", "escapes.jsonl"], 7],
  [["resume", "nothing-like-it"], 2],
  [["cancel", "nothing-like-it"], 2],
  [["explain", "no.such_code"], 2],
  [["runs", "list", "--store", "ambit.yaml"], 9],
];

function expectJsonLines(text: string): unknown[] {
  const lines = text.split("\n");
  expect(lines.pop()).toBe("");
  return lines.map((line) => {
    expect(() => JSON.parse(line), line).not.toThrow();
    return JSON.parse(line);
  });
}

function expectNoStack({ stdout, stderr }: Finished): void {
  expect(stdout).not.toMatch(STACK);
  expect(stderr).not.toMatch(STACK);
}

const named = <T extends unknown[]>(cases: [string[], ...T][]): [string, string[], ...T][] =>
  cases.map(([args, ...rest]) => [args.join(" "), args, ...rest]);

describe("stdout is data, stderr is talk", { timeout: 60_000 }, () => {
  test.each(named(GOOD))("%s", async (_, args, code, data) => {
    const [plain, json] = await Promise.all([space.ambit(args), space.ambit([...args, "--json"])]);
    expect(plain.code, plain.stderr).toBe(code);
    expectNoStack(plain);
    if (data === "none") expect(plain.stdout).toBe("");
    else expect(plain.stdout.trim()).not.toBe("");
    if (data === "json") {
      const whole = plain.stdout.trim();
      if (whole.startsWith("{\n")) JSON.parse(whole);
      else expectJsonLines(plain.stdout);
    }
    expect(json.code, json.stderr).toBe(code);
    expectNoStack(json);
    expect(expectJsonLines(json.stdout).length).toBeGreaterThan(0);
  });

  test.each(named(BAD))("%s (refused or failed)", async (_, args, code) => {
    const [plain, json] = await Promise.all([space.ambit(args), space.ambit([...args, "--json"])]);
    expect({ code: plain.code, said: plain.stderr !== "" }).toEqual({ code, said: true });
    expect(plain.stdout).toBe("");
    expectNoStack(plain);
    expect(json.code).toBe(code);
    expectNoStack(json);
    const last = expectJsonLines(json.stdout).at(-1) as { type?: string; exit?: number; ok?: boolean };
    if (args[0] === "check" && code === 3) expect(last.ok).toBe(false);
    else if (code === 1) expect(last.type).toBe("result");
    else expect(last).toMatchObject({ type: "refused", exit: code });
  });

  test.each([[[]], [["frobnicate"]], [["run"]], [["run", "--no-such-option"]], [["runs", "frobnicate"]]])(
    "usage: ambit %s",
    async (args: string[]) => {
      const done = await space.ambit(args);
      expect(done.code).toBe(2);
      expect(done.stdout).toBe("");
      expect(done.stderr).not.toBe("");
      expectNoStack(done);
    },
  );

  test("help is data", async () => {
    for (const args of [["--help"], ["run", "--help"], ["help", "run"]]) {
      const done = await space.ambit(args);
      expect(done).toMatchObject({ code: 0, stderr: "" });
      expect(done.stdout).toContain("Usage");
    }
  });

  test("--step is one document about one position", async () => {
    const done = await space.ambit(["runs", "show", "done", "--step", "settle.(tools)[0]", "--json"]);
    const [shown] = expectJsonLines(done.stdout) as {
      position: string;
      events: { kind: string; position: string }[];
    }[];
    expect(shown).toMatchObject({ type: "step", run: "done", position: "settle.(tools)[0]" });
    expect(shown?.events.map((event) => [event.kind, event.position])).toEqual([["call.ended", "settle.(tools)[0]"]]);
  });

  test("a run streams a version line, its events and a result", async () => {
    const lines = expectJsonLines((await space.ambit([...RUN, "--json"])).stdout) as { type: string; seq?: number }[];
    expect(lines[0]).toMatchObject({ type: "version" });
    expect(lines.at(-1)).toMatchObject({ type: "result", status: "completed" });
    expect(lines.slice(1, -1).every((line) => line.type === "event")).toBe(true);
    expect(lines.slice(1, -1).map((line) => line.seq)).toEqual(lines.slice(1, -1).map((_, i) => i + 1));
  });

  test("a reader that stops reading ends no run", async () => {
    const child = spawn(process.execPath, [main, ...RUN, "--json", "--run-id", "deaf"], {
      cwd: space.folder,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.stdout.once("data", () => child.stdout.destroy());
    const code = await new Promise((settle) => child.on("close", settle));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect((await space.show("deaf")).status).toBe("completed");
  });
});

describe("what is said of a run", { timeout: 60_000 }, () => {
  const own = scene();

  test("a sensitive notice is a word in the progress", async () => {
    const done = await space.ambit(["run", "notice.workfile.yaml", "-i", "secret=s3cr3t"]);
    expect(done.code, done.stderr).toBe(0);
    expect(done.stderr).toContain("• tell [sensitive]");
    expect(done.stderr).not.toContain("object Object");
    expect(done.stderr).not.toContain("s3cr3t");
  });

  test("a folder is checked with every workflow below it, and more is said where to read on", async () => {
    const done = await space.ambit(["check", "folder"]);
    expect(done.code).toBe(3);
    expect(done.stderr).toContain("folder/deeper/two.workfile.yaml:");
    expect(done.stderr).toContain("More: ambit explain workfile.unknown_key");
    const json = JSON.parse((await space.ambit(["check", "folder", "--json"])).stdout) as { files: string[] };
    expect(json.files).toEqual(["folder/deeper/two.workfile.yaml", "folder/one.workfile.yaml"]);
  });

  test("of a run that is over, resume says so and how it ended", async () => {
    const done = await space.ambit(["resume", "done"]);
    expect(done.stderr).toContain("done is over already, and nothing was done.");
    expect(done.stderr).toContain("Completed in");
    expect(done.stderr).not.toContain("settle");
  });

  test("a list that is empty says why", async () => {
    expect((await space.ambit(["runs", "list", "--status", "suspended"])).stderr).toContain(
      "No runs with the status suspended.",
    );
    expect((await space.ambit(["runs", "list", "--store", "memory"])).stderr).toContain("No runs yet");
  });

  test("a step of an agent is shown with its turns, and its calls with arguments and results", async () => {
    const shown = (await space.ambit(["runs", "show", "done", "--step", "settle"])).stdout;
    expect(shown).toContain("(turns)[0] turn: ledger.look");
    expect(shown).toContain("(tools)[0] ledger.look ok in");
    expect(shown).toMatch(/arguments \{[\s\S]*result \{/);
  });

  test("what a connector says comes after the lines of what went before it", async () => {
    const { stderr } = await space.ambit(["run", "post.workfile.yaml"]);
    const at = (text: string): number => stderr.indexOf(text);
    expect(at("✓ look ")).toBeGreaterThan(0);
    expect(at("[sales] told")).toBeGreaterThan(at("✓ look "));
    expect(at("✓ tell ")).toBeGreaterThan(at("[sales] told"));
  });

  test("every command has an example in its help, and no help shows an empty default", async () => {
    const names = [...GOOD.map(([args]) => args), ["runs", "import"], ["connectors", "import"]].map((args) =>
      args.slice(0, ["runs", "connectors", "agents"].includes(args[0] ?? "") ? 2 : 1),
    );
    for (const name of new Map(names.map((args) => [args.join(" "), args])).values()) {
      const { stdout } = await space.ambit([...name, "--help"]);
      expect(stdout, name.join(" ")).toContain(`Example:\n  ambit ${name.join(" ")}`);
      expect(stdout).not.toContain("[]");
    }
  });

  test("only a start that is refused says that nothing ran", async () => {
    expect((await space.ambit(["run", "broken.workfile.yaml"])).stderr).toContain("Nothing ran.");
    expect((await space.ambit(["runs", "show", "nothing-like-it"])).stderr).not.toContain("Nothing ran");
  });

  test("a damaged export names its line and its record, and shows no escapes", async () => {
    const shapeless = await space.ambit(["replay", "shapeless.jsonl"]);
    expect(shapeless.stderr).toMatch(/Line \d+ of the file is damaged: record \d+ \(call\.ended\): `outcome`/);
    expect((await space.ambit(["replay", "escapes.jsonl"])).stderr).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
  });

  test("a replay that diverges carries its code", async () => {
    const done = await space.ambit(["replay", "other.jsonl", "--json"]);
    expect(done.code).toBe(7);
    expect(expectJsonLines(done.stdout)).toMatchObject([
      { type: "replay", result: "diverged", code: "history.mismatch" },
    ]);
  });

  test("of a run whose process is gone it is said, in the list too", async () => {
    const one = own(serverSpace(["look"]));
    one.hold("look");
    const started = one.start([...RUN, "--run-id", "left"]);
    await until("a call", () => (one.lines("asked").length > 0 ? true : null));
    const listed = await one.ambit(["runs", "list"]);
    expect(listed.stdout).toContain(`pid ${started.pid}`);
    expect(listed.stdout).not.toContain("is gone");
    started.kill("SIGKILL");
    await started.done;
    expect((await one.ambit(["runs", "list"])).stdout).toContain(`pid ${started.pid} is gone`);
    expect((await one.ambit(["runs", "show", "left"])).stdout).toContain("is gone");
    const json = JSON.parse((await one.ambit(["runs", "list", "--json"])).stdout) as { runs: object[] };
    expect(json.runs).toMatchObject([{ run: "left", owner: { pid: started.pid, alive: false } }]);
    one.letGo();
    const resumed = await one.ambit(["resume", "left"]);
    expect(resumed.code, resumed.stderr).toBe(0);
  });

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("%s while a server is connected ends the server and the command", async (signal, code) => {
    const one = own(serverSpace(["look"], { command: "node", args: ["deaf.mjs"] }));
    one.write({ "deaf.mjs": DEAF_SERVER });
    const started = one.start([...RUN, "--json"]);
    const server = await until("a server", () => {
      try {
        return Number(one.read("deaf.pid")) || null;
      } catch {
        return null;
      }
    });
    started.kill(signal);
    const done = await started.done;
    expect({ code: done.code, signal: done.signal }, done.stderr).toEqual({ code, signal: null });
    expect(lives(server)).toBe(false);
    expect(expectJsonLines(done.stdout).at(-1)).toMatchObject({
      type: "refused",
      exit: code,
      error: { code: "run.cancelled" },
    });
    expect((await one.ambit(["runs", "list", "--json"])).stdout).toBe('{"runs":[]}\n');
  });
});

describe("what is loaded", { timeout: 60_000 }, () => {
  const held = scene();

  /** The packages that a command loads, and how many modules of our own. */
  async function loadedBy(args: string[]): Promise<{ packages: string[]; own: string[] }> {
    const own = held(new Workspace({ "ledger.workfile.yaml": LEDGER_WORKFILE, "manifest.yaml": LEDGER_MANIFEST }));
    const list = own.path("modules");
    const hook = join(root, "test/e2e/module-list.mjs");
    const done = await own.ambit(args, { AMBIT_MODULE_LIST: list, NODE_OPTIONS: `--import=${hook}` });
    expect(done.code, done.stderr).toBe(0);
    const paths = [...new Set(own.read("modules").split("\n"))];
    const packages = paths.flatMap((path) => {
      const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
      return name === undefined ? [] : [name];
    });
    return {
      packages: [...new Set(packages)].sort(),
      own: paths.flatMap((path) => /\/dist\/(.*)$/.exec(path)?.[1] ?? []).filter((path) => path.endsWith(".js")),
    };
  }

  const HEAVY = /^(ajv|ajv-formats|ai|@ai-sdk\/.*|@modelcontextprotocol\/.*|@photostructure\/sqlite)$/;

  test("ambit --version loads no package", async () => {
    const { packages, own } = await loadedBy(["--version"]);
    expect(packages).toEqual([]);
    expect(own.sort()).toEqual(["cli/main.js", "cli/version.js"]);
  });

  test("ambit check loads no validator, no model, no protocol, no store", async () => {
    const { packages } = await loadedBy(["check", "ledger.workfile.yaml"]);
    // The list can be trusted: what is there is seen.
    expect(packages).toContain("commander");
    expect(packages).toContain("yaml");
    expect(packages.filter((name) => HEAVY.test(name))).toEqual([]);
  });
});
