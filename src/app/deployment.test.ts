import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { type AgentConfig, DEFAULT_LIMITS } from "../admit/deployment.ts";
import { systemClock } from "../base/clock.ts";
import { makeConnector } from "./deployment/make-connectors.ts";
import { secretResolver } from "./deployment/secrets.ts";
import { findDeployment, loadDeployment } from "./deployment.ts";
import { ModelShop } from "./models.ts";
import { readWorkflow } from "./workflow-file.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "ambit-deployment-")));
const file = join(folder, "ambit.yaml");
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
});

function put(name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

async function load(text: string, env: { [name: string]: string } = {}) {
  put("ambit.yaml", text);
  const { deployment, diagnostics } = await loadDeployment(file, env);
  if (deployment === null) throw new Error(JSON.stringify(diagnostics, null, 1));
  return { deployment, diagnostics };
}

async function problems(text: string): Promise<string[]> {
  put("ambit.yaml", text);
  const { deployment, diagnostics } = await loadDeployment(file, {});
  expect(deployment).toBeNull();
  return diagnostics.map((entry) => `${entry.code} ${entry.path}`);
}

function scriptedAgent(script: string): AgentConfig {
  const settings = { maxOutputTokens: 1, tools: true, tokenMethod: "reported", stall: 1, retries: 0 } as const;
  return { name: "a", id: "a", isDefault: true, provider: "scripted", model: "scripted", ...settings, script };
}

const manifest = `connector: crm
version: "1"
actions: { search: { input: {}, effects: read } }
`;

describe("finding the file", () => {
  test("upwards from the workflow's folder, then from the working folder; the override wins", () => {
    put("ambit.yaml", "");
    mkdirSync(join(folder, "a/b"), { recursive: true });
    expect(findDeployment([join(folder, "a/b")])).toBe(file);
    const elsewhere = mkdtempSync(join(tmpdir(), "ambit-none-"));
    expect(findDeployment([elsewhere, join(folder, "a")])).toBe(file);
    expect(findDeployment([elsewhere])).toBeNull();
    expect(findDeployment([folder], join(elsewhere, "other.yaml"))).toBe(join(elsewhere, "other.yaml"));
    rmSync(elsewhere, { recursive: true });
  });
});

describe("without a file, or with an empty one", () => {
  test("there are the built-in connectors and the usual limits", async () => {
    const { deployment } = await loadDeployment(null, {});
    expect(Object.keys(deployment?.connectors ?? {}).sort()).toEqual(["files", "http", "messaging", "shell", "state"]);
    expect(deployment?.limits).toEqual(DEFAULT_LIMITS);
    expect(deployment).toMatchObject({ file: null, store: { path: null, durability: "full" }, notify: null });
    put("ambit.yaml", "{}");
    expect((await loadDeployment(file, {})).deployment?.file).toBe(file);
  });

  test("a file that is not there is said to be so", async () => {
    const { deployment, diagnostics } = await loadDeployment(join(folder, "none.yaml"), {});
    expect(deployment).toBeNull();
    expect(diagnostics[0]).toMatchObject({
      code: "deployment.invalid",
      message: expect.stringContaining("does not exist"),
    });
  });
});

test("every key that the page shows is known", async () => {
  put("manifests/crm.yaml", manifest);
  put("tools.yaml", "actions: {}");
  const { deployment, diagnostics } = await load(`
version: "1"
workflows: ["flows/*.workfile.yaml"]
agents:
  triager: { provider: anthropic, model: claude-sonnet-4-6, effort: medium, api_key: { env: KEY }, temperature: 0.2, max_output_tokens: 100, tools: false, token_method: none, stall: 10s, retries: 0 }
  several:
    - { id: local, provider: openai-compatible, model: qwen, base_url: "http://127.0.0.1:11434/v1" }
    - { provider: scripted, script: ./x.scripted.yaml, default: true, effort: no }
models: { default: claude-sonnet-4-6, low: { provider: scripted, script: ./x.scripted.yaml } }
mcpServers: {}
connectors:
  crm:
    mcp: { command: node, args: [./crm.mjs], env: { A: b, T: { env: T } }, cwd: ./servers }
    manifest: ./manifests/crm.yaml
    knowledge: true
    limits: { concurrency: none, rate: 10/s }
    connections: { main: { default: true, scopes: [crm.read], env: {}, headers: {}, auth: { file: ./token, prefix: "Bearer " } } }
  stubbed: { stub: ./tools.yaml, manifest: { connector: stubbed, version: "1", actions: {} } }
  messaging: { webhook: { env: HOOK }, limits: { concurrency: 2 } }
  files: { root: ./data, write: true }
  http: { hosts: [], private_hosts: [], headers: { api.example.org: { Authorization: { env: TOKEN, prefix: "Bearer " } } } }
  shell: { commands: [git status, { argv: [git, fetch, "*"] }], cwd: . }
  state: {}
settings: { channel: ops, prices: { small: 0.8 } }
policy:
  deny: [billing.refund, crm.*]
  approve: [mail.send]
  agents: { triager: { crm.search: { max: 1, fix: { project: app } } } }
  ceiling: { tool_attempts: 200, tokens: 500000, duration: 1h, depth: 2, width: 8 }
capabilities: { deny: [wf.agent-execution] }
limits: { deadline: 2h, steps: 5, depth: 1, wait: 1d, concurrency: 2, drain_grace: 0s, cleanup_grace: 1s }
store: { path: ./s.db, durability: process, retention: none, key: { env: K } }
notify: { action: messaging.post, with: { channel: ops } }
sandbox: { languages: [python], require_os_layer: false, private_hosts: [], memory: { python: 128MiB, javascript: 64MiB }, result: 1MiB, fetch: { at_once: 4, calls: 64, bytes: 1MiB } }
coordinate: { entry: { cli: [a.b] }, allow: { "*": [a.b] }, depth: 4, children: 16, group: 8, deadline: 30s, max_deadline: 300s, concurrent: 64, drain_grace: 5s, cleanup_grace: 2s }
awl: { tools: all, max_steps: 50, max_tool_calls: 100, stall: 120s, goal_interval: none }
serve: { host: 127.0.0.1, port: 4747, auth_token_file: none, public_url: none, webhook_secret: { env: W }, webhooks: { /triage: { secret: { env: W }, header: X-A, delivery: X-B } }, body_limit: 1MiB, rate: 50/s }
`);
  expect(diagnostics.map(({ code, path }) => [code, path])).toEqual(
    [
      "workflows",
      "models",
      "connectors.crm.knowledge",
      "policy.deny[0]",
      "policy.approve[0]",
      "sandbox",
      "coordinate",
      "awl",
      "serve",
    ].map((path) => ["deployment.no_effect", path]),
  );
  expect(deployment.agents["triager"]?.[0]).toMatchObject({
    id: "claude-sonnet-4-6",
    apiKey: { env: "KEY" },
    effort: "medium",
    temperature: 0.2,
    tools: false,
    tokenMethod: "none",
    stall: 10_000,
    retries: 0,
    maxOutputTokens: 100,
  });
  expect(deployment.agents["several"]?.map((agent) => [agent.id, agent.isDefault])).toEqual([
    ["local", false],
    ["scripted", true],
  ]);
  expect(deployment.agents["several"]?.[1]).toMatchObject({ script: join(folder, "x.scripted.yaml") });
  expect(deployment.agents["several"]?.[1]).not.toHaveProperty("effort");
  expect(deployment.models).toMatchObject({ default: "claude-sonnet-4-6", low: { provider: "scripted" } });
  expect(deployment.connectors["crm"]).toMatchObject({
    how: {
      kind: "mcp",
      command: "node",
      args: ["./crm.mjs"],
      env: { A: "b", T: { env: "T" } },
      cwd: join(folder, "servers"),
    },
    knowledge: true,
    connections: [
      { name: "main", isDefault: true, scopes: ["crm.read"], auth: { file: join(folder, "token"), prefix: "Bearer " } },
    ],
  });
  expect(deployment.connectors["crm"]?.manifest.actions["search"]?.name).toBe("crm.search");
  expect(deployment.connectorLimits).toEqual({ crm: { rate: 10 }, messaging: { concurrency: 2 } });
  expect(deployment.connectors["messaging"]?.how).toEqual({ kind: "builtin", settings: { webhook: { env: "HOOK" } } });
  expect(deployment.connectors["files"]?.how).toEqual({
    kind: "builtin",
    settings: { root: join(folder, "data"), write: true },
  });
  expect(deployment.policy).toEqual({
    deny: ["billing.refund", "crm.*"],
    approve: ["mail.send"],
    agents: { triager: { "crm.search": { max: 1, fix: { project: "app" } } } },
    ceiling: { toolAttempts: 200, tokens: 500_000, duration: 3_600_000, depth: 2, width: 8 },
  });
  expect(deployment.limits).toEqual({
    deadline: 7_200_000,
    steps: 5,
    depth: 1,
    wait: 86_400_000,
    concurrency: 2,
    drainGrace: 0,
    cleanupGrace: 1_000,
  });
  expect(deployment).toMatchObject({
    workflows: ["flows/*.workfile.yaml"],
    settings: { channel: "ops", prices: { small: 0.8 } },
    deniedCapabilities: ["wf.agent-execution"],
    store: { path: join(folder, "s.db"), durability: "process" },
    notify: { action: "messaging.post", with: { channel: "ops" } },
  });
});

describe("deployment.invalid, at its place", () => {
  test.each([
    ["agent: {}", "deployment.invalid agent"],
    ["limits: { dedline: 1h }", "deployment.invalid limits.dedline"],
    ["agents: { a: { provider: anthropik, model: x } }", "deployment.invalid agents.a.provider"],
    ["agents: { a: { provider: anthropic } }", "deployment.invalid agents.a"],
    ["agents: { a: { provider: scripted } }", "deployment.invalid agents.a"],
    ["agents: { a: { provider: openai-compatible, model: x } }", "deployment.invalid agents.a"],
    ["agents: { a: { provider: anthropic, model: x, api_key: sk-1 } }", "deployment.invalid agents.a.api_key"],
    ["agents: { a: [] }", "deployment.invalid agents.a"],
    [
      "agents: { a: [ { provider: google, model: x }, { provider: google, model: x } ] }",
      "deployment.invalid agents.a",
    ],
    ["connectors: { wf: { stub: ./a } }", "deployment.invalid connectors.wf"],
    ["connectors: { crm: {} }", "deployment.invalid connectors.crm"],
    ["connectors: { crm: { stub: ./none.yaml } }", "deployment.invalid connectors.crm.stub"],
    ["connectors: { crm: { mcp: { command: a, url: 'http://x' } } }", "deployment.invalid connectors.crm.mcp"],
    ["connectors: { crm: { mcp: { url: 'ftp://x' } } }", "deployment.invalid connectors.crm.mcp.url"],
    [
      "connectors: { crm: { mcp: { command: a }, manifest: ./none.yaml } }",
      "deployment.invalid connectors.crm.manifest",
    ],
    [
      "connectors: { crm: { mcp: { command: a }, manifest: { connector: crm, version: '1', actions: { a: {} } } } }",
      "catalog.invalid_manifest connectors.crm.manifest.actions.a",
    ],
    [
      "connectors: { crm: { mcp: { command: a }, connections: { m: { auth: secret } } } }",
      "deployment.invalid connectors.crm.connections.m.auth",
    ],
    [
      "connectors: { crm: { mcp: { command: a }, limits: { rate: fast } } }",
      "deployment.invalid connectors.crm.limits.rate",
    ],
    ["connectors: { crm: { http: { base_url: 'http://x' } } }", "deployment.invalid connectors.crm.http"],
    ["connectors: { crm: { http: { openapi: a, base_url: x } } }", "deployment.invalid connectors.crm.http.base_url"],
    ["connectors: { crm: { http: { openapi: a, hosts: ['*'] } } }", "deployment.invalid connectors.crm.http.hosts"],
    ["connectors: { crm: { workflows: { a: ./a.yaml } } }", "deployment.invalid connectors.crm.workflows.a"],
    ["connectors: { crm: { workflows: {}, limits: {} } }", "deployment.invalid connectors.crm.limits"],
    ["connectors: { http: { hosts: ['https://x'] } }", "deployment.invalid connectors.http.hosts"],
    ["connectors: { http: { private_hosts: ['a/b'] } }", "deployment.invalid connectors.http.private_hosts"],
    ["connectors: { http: { headers: { 'a b': { X: '1' } } } }", 'deployment.invalid connectors.http.headers["a b"]'],
    ["connectors: { http: { headers: { a: { X: [1] } } } }", "deployment.invalid connectors.http.headers.a.X"],
    ["connectors: { shell: { commands: [' '] } }", "deployment.invalid connectors.shell.commands[0]"],
    ["connectors: { shell: { commands: [{ argv: ['*'] }] } }", "deployment.invalid connectors.shell.commands[0]"],
    ["connectors: { shell: { commands: [{ line: id }] } }", "deployment.invalid connectors.shell.commands[0].line"],
    ["connectors: { state: { path: x } }", "deployment.invalid connectors.state.path"],
    ["connectors: { files: { rot: . } }", "deployment.invalid connectors.files.rot"],
    ["policy: { deny: [refund] }", "deployment.invalid policy.deny[0]"],
    ["policy: { agents: { a: { b: {} } } }", "deployment.invalid policy.agents.a.b"],
    ["policy: { ceiling: { tokens: -1 } }", "deployment.invalid policy.ceiling.tokens"],
    ["notify: { action: post }", "deployment.invalid notify.action"],
    ["sandbox: { memory: { python: lots } }", "deployment.invalid sandbox.memory.python"],
    ["sandbox: { languages: [ruby] }", "deployment.invalid sandbox.languages[0]"],
    ["serve: { webhooks: { triage: { secret: { env: A } } } }", "deployment.invalid serve.webhooks.triage"],
    ["version: 1", "deployment.invalid version"],
    ["store: { durability: none }", "deployment.invalid store.durability"],
    ["settings: []", "deployment.invalid settings"],
  ])("%s", async (text, expected) => {
    expect(await problems(text)).toContain(expected);
  });

  test("a capability that is none is pointed at where it is denied", async () => {
    put("ambit.yaml", "capabilities:\n  deny:\n    - wf.agent-execution\n    - wf.agent-exection\n");
    const { deployment, diagnostics } = await loadDeployment(file, {});
    expect(deployment).toBeNull();
    expect(diagnostics).toMatchObject([
      { code: "deployment.invalid", path: "capabilities.deny[1]", line: 4, column: 7 },
    ]);
    expect(diagnostics[0]?.help).toContain('Did you mean "wf.agent-execution"?');
    expect((await load("capabilities: { deny: [agent-nodes, run-python] }")).diagnostics).toEqual([]);
  });

  test("all at once, in the order of the text, with a hint", async () => {
    put("ambit.yaml", "limits: { step: 5 }\npolciy: {}\n");
    const { diagnostics } = await loadDeployment(file, {});
    expect(diagnostics.map((entry) => [entry.path, entry.line])).toEqual([
      ["limits.step", 1],
      ["polciy", 2],
    ]);
    expect(diagnostics[1]?.help).toContain('Did you mean "policy"?');
  });

  test("a finding in a manifest's own file names that file", async () => {
    put("manifests/crm.yaml", manifest.replace("effects: read", "effects: reads"));
    put("ambit.yaml", "connectors: { crm: { mcp: { command: a }, manifest: ./manifests/crm.yaml } }");
    const { diagnostics } = await loadDeployment(file, {});
    expect(diagnostics[0]).toMatchObject({
      code: "catalog.invalid_manifest",
      file: join(folder, "manifests/crm.yaml"),
      line: 3,
    });
  });

  test("YAML that is none", async () => {
    expect((await problems("a: [1"))[0]).toMatch(/^yaml\./);
  });
});

describe("mcpServers as people paste them", () => {
  const server = `{ "command": "npx", "args": ["-y", "x", "\${ROOT}/y", "\${NONE:-z}"], "env": { "TOKEN": "\${TOKEN}", "MODE": "fast" } }`;

  test.each([
    ["in ambit.yaml", `mcpServers: { crm: ${server} }`, null],
    ["a whole block in ambit.yaml", `mcpServers: { "mcpServers": { "crm": ${server} } }`, null],
    ["a file of .mcp.json form", "mcpServers: ./.mcp.json", `{ "mcpServers": { "crm": ${server} } }`],
    [
      "a file of .vscode form",
      "mcpServers: ./.mcp.json",
      `{ "servers": { "crm": ${server.replace('{ "command"', '{ "type": "stdio", "command"')} }, "inputs": [] }`,
    ],
  ])("%s", async (_name, text, pasted) => {
    if (pasted !== null) put(".mcp.json", pasted);
    const { deployment } = await load(text, { ROOT: "/r", TOKEN: "secret" });
    const { how, manifest: found } = deployment.connectors["crm"] ?? {};
    expect(how).toMatchObject({ kind: "mcp", command: "npx", args: ["-y", "x", "/r/y", "z"], cwd: folder });
    expect(how).toMatchObject({ env: { TOKEN: { env: "TOKEN" }, MODE: "fast" } });
    // Importing a server grants nothing.
    expect(found?.actions).toEqual({});
  });

  test("a remote one keeps its header as a reference", async () => {
    const { deployment } = await load(
      `mcpServers: { crm: { type: http, url: "https://x.example/mcp", headers: { Authorization: "Bearer \${T}" } } }`,
    );
    expect(deployment.connectors["crm"]?.how).toEqual({
      kind: "mcp-http",
      url: "https://x.example/mcp",
      headers: { Authorization: { env: "T", prefix: "Bearer " } },
    });
  });

  test("its manifest may stand under connectors, or in manifests/", async () => {
    put("manifests/crm.yaml", manifest);
    const plain = await load("mcpServers: { crm: { command: a } }");
    expect(Object.keys(plain.deployment.connectors["crm"]?.manifest.actions ?? {})).toEqual(["search"]);
    const both = await load(
      "mcpServers: { crm: { command: a } }\nconnectors: { crm: { manifest: ./manifests/crm.yaml, knowledge: true } }",
    );
    expect(both.deployment.connectors["crm"]).toMatchObject({ knowledge: true, how: { command: "a" } });
  });

  test("twice is an error, switched off is none, a missing variable is a warning", async () => {
    expect(
      await problems("mcpServers: { crm: { command: a } }\nconnectors: { crm: { mcp: { command: b } } }"),
    ).toContain("deployment.invalid connectors.crm");
    const off = await load("mcpServers: { crm: { command: a, disabled: true } }");
    expect(off.deployment.connectors["crm"]).toBeUndefined();
    const { diagnostics } = await load(`mcpServers: { crm: { command: a, args: ["\${GONE}"] } }`);
    expect(diagnostics).toMatchObject([{ code: "deployment.missing_secret", severity: "warning" }]);
  });
});

describe("a pipe, a device or a folder in the place of a file is refused at once", () => {
  const pipe = (name: string): string => {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    execFileSync("mkfifo", [path]);
    return path;
  };
  const stub = "{ stub: ./tools.yaml, manifest: ./crm.yaml }";

  test("of the deployment itself, or of what it names", async () => {
    pipe("ambit.yaml");
    const { deployment, diagnostics } = await loadDeployment(file, {});
    expect(deployment).toBeNull();
    expect(diagnostics).toMatchObject([{ code: "deployment.invalid" }]);
    expect(diagnostics[0]?.message).toContain("it is no regular file");
    rmSync(file);
    pipe("crm.yaml");
    expect(await problems("connectors: { crm: { mcp: { command: a }, manifest: ./crm.yaml } }")).toEqual([
      "deployment.invalid connectors.crm.manifest",
    ]);
    expect(await problems("mcpServers: ./crm.yaml")).toEqual(["deployment.invalid mcpServers"]);
    expect(await problems("connectors: { crm: { module: ./crm.yaml } }")).toEqual(["catalog.invalid_manifest "]);
    pipe("manifests/crm.yaml");
    expect(await problems("connectors: { crm: { mcp: { command: a } } }")).toEqual(["catalog.invalid_manifest "]);
  });

  test("of a stub, of its log, of an agent's script", async () => {
    put("crm.yaml", manifest);
    pipe("tools.yaml");
    const { deployment } = await load(`connectors: { crm: ${stub} }`);
    const crm = deployment.connectors["crm"];
    if (crm === undefined) throw new Error("no connector");
    expect(() => makeConnector(crm, { env: {} })).toThrow(/tools\.yaml cannot be read: it is no regular file/);
    rmSync(join(folder, "tools.yaml"));
    pipe("calls.jsonl");
    put("tools.yaml", "log: ./calls.jsonl\nactions: { crm.search: [ { return: {} } ] }");
    const logging = makeConnector(crm, { env: {} });
    await logging.connect(new AbortController().signal);
    const action = crm.manifest.actions["search"];
    if (action === undefined) throw new Error("no action");
    const request = {
      action,
      connection: "default",
      args: {},
      key: null,
      run: "r",
      position: "p",
      attempt: 1,
      timeout: 1,
    };
    const result = await logging.call(request, new AbortController().signal).catch(() => ({ is: "failed" }));
    expect(result).toMatchObject({ is: "failed" });
    const script = pipe("script.yaml");
    const shop = new ModelShop(systemClock, {});
    const agent = scriptedAgent(script);
    expect(() => shop.describe(agent)).toThrow(/script\.yaml cannot be read: it is no regular file/);
  });

  test("of a secret, which names no more than its path", async () => {
    const resolve = secretResolver({});
    for (const path of [pipe("secret"), folder, "/dev/zero", put("large", "x".repeat(64 * 1024 + 1))]) {
      await expect(resolve({ file: path })).rejects.toMatchObject({
        code: "deployment.missing_secret",
        message: expect.stringContaining(`${path} cannot be read: it is`),
      });
    }
  });

  test("of a workflow", () => {
    pipe("a.workfile.yaml");
    expect(() => readWorkflow("a.workfile.yaml", folder)).toThrow(/cannot be read: it is no regular file/);
    expect(() => readWorkflow(".", folder)).toThrow(/cannot be read: it is a folder/);
  });
});

describe("secrets", () => {
  test("come from the environment or a file, with what has to stand before them", async () => {
    const resolve = secretResolver({ A: "x" });
    const path = put("token", "y\n");
    expect(await resolve({ env: "A", prefix: "Bearer " })).toBe("Bearer x");
    expect(await resolve({ file: path })).toBe("y");
  });

  test("deployment.missing_secret when they are needed, not when the file is read", async () => {
    await load("connectors: { crm: { mcp: { command: a, env: { T: { env: GONE } } } } }");
    const resolve = secretResolver({ EMPTY: "" });
    for (const ref of [{ env: "GONE" }, { env: "EMPTY" }, { env: "toString" }, { file: join(folder, "none") }]) {
      await expect(resolve(ref)).rejects.toMatchObject({ code: "deployment.missing_secret" });
    }
  });
});

describe("connectors of a deployment", () => {
  test("a configured one replaces a built-in one of its name", async () => {
    put("tools.yaml", "actions: { messaging.post: [ { return: { ok: true, id: m } } ] }");
    const { deployment } = await load(
      "connectors: { messaging: { stub: ./tools.yaml, manifest: { connector: messaging, version: '1', actions: { post: { input: {}, effects: write } } } } }",
    );
    const config = deployment.connectors["messaging"];
    expect(config?.how.kind).toBe("stub");
    const connector = config && makeConnector(config, { env: {} });
    expect(Object.keys((await connector?.connect(new AbortController().signal))?.actions ?? {})).toEqual([
      "messaging.post",
    ]);
  });

  test("a module brings its own manifest", async () => {
    put(
      "crm.mjs",
      `export default { [Symbol.for("ambit.connector")]: true, actions: { search: () => ({}) },
      manifest: { version: "1", actions: { search: { input: { type: "object" }, effects: "read" } } } };`,
    );
    const { deployment } = await load("connectors: { crm: { module: ./crm.mjs } }");
    const config = deployment.connectors["crm"];
    expect(config?.manifest.actions["search"]?.name).toBe("crm.search");
    const offer = config && (await makeConnector(config, { env: {} }).connect(new AbortController().signal));
    expect(offer?.actions).toEqual({ "crm.search": { pin: null } });
    put("bare.mjs", 'export default { [Symbol.for("ambit.connector")]: true, actions: {} };');
    expect(await problems("connectors: { crm: { module: ./bare.mjs } }")).toEqual(["catalog.invalid_manifest "]);
  });

  test("a broken stub file refuses with its place", async () => {
    put("tools.yaml", "actions: { a.b: [ { retrun: 1 } ] }");
    const { deployment } = await load("connectors: { a: { stub: ./tools.yaml } }");
    const config = deployment.connectors["a"];
    expect(() => config && makeConnector(config, { env: {} })).toThrow(/tools\.yaml:1:/);
  });

  test("messages go to what the context says", async () => {
    const { deployment } = await loadDeployment(null, {});
    const config = deployment?.connectors["messaging"];
    const lines: string[] = [];
    const connector = config && makeConnector(config, { env: {}, say: (line) => lines.push(line) });
    const action = config?.manifest.actions["post"];
    if (!connector || !action) throw new Error("no messaging");
    const request = {
      action,
      connection: "default",
      args: { channel: "ops", text: "hi" },
      key: null,
      run: "r",
      position: "p",
      attempt: 1,
      timeout: 1,
    };
    expect(await connector.call(request, new AbortController().signal)).toMatchObject({ is: "ok" });
    expect(lines).toEqual(["[ops] hi"]);
  });
});
