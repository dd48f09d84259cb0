import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../base/json.ts";
import { closedMaps, STRANGER } from "../../text/testing/closed-maps.ts";
import { SourceText, type TreeNode, toJson } from "../../text/tree.ts";
import { parseYaml } from "../../text/yaml.ts";
import { readDeployment } from "../deployment.ts";
import { deploymentSchema } from "./deployment-schema.ts";

const root = resolve(import.meta.dirname, "../../..");
const schema = deploymentSchema();
const takes = new Ajv({ strict: false }).compile(schema);

async function read(text: string, folder = root) {
  const source = new SourceText("ambit.yaml", text);
  const node = parseYaml(source).root as TreeNode;
  return { ...(await readDeployment(source, node, { file: null, folder }, {})), json: toJson(node) };
}

/** What the reader wants to see before it looks at a key. */
function beside(definition: string, key: string): JsonObject {
  if (definition === "connector" && key !== "mcp" && key !== "http") return { mcp: { command: "node" } };
  if (definition === "server" || definition === "pasted-server")
    return key === "headers" ? { url: "http://127.0.0.1/" } : { command: "node" };
  return definition === "manifest" ? { connector: "crm", version: "1" } : {};
}

/** Every deployment of the cases and examples. */
const files = ["conformance", "examples"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name === "ambit.yaml")
    .map((entry) => join(entry.parentPath, entry.name)),
);

describe("the schema of ambit.yaml", () => {
  test.each(closedMaps(schema, beside))("knows the keys of the reader: $at", async ({ document, keys }) => {
    const { diagnostics } = await read(JSON.stringify(document));
    const stranger = diagnostics.find((entry) => entry.path.endsWith(STRANGER));
    expect(
      /keys: (.*)\.$/
        .exec(stranger?.help ?? "")?.[1]
        ?.split(", ")
        .sort(),
      JSON.stringify(document),
    ).toEqual(keys.sort());
  });

  test("takes the deployments of all cases and examples that the reader takes", async () => {
    expect(files.length).toBeGreaterThan(50);
    for (const file of files) {
      const { deployment, json } = await read(readFileSync(file, "utf8"), dirname(file));
      if (deployment !== null) expect(takes(json), `${file}: ${JSON.stringify(takes.errors)}`).toBe(true);
    }
  });

  test.each([
    "agents: { a: { provider: anthropic, model: m, api_key: { env: KEY }, effort: no, temperature: 0.2 } }",
    "agents: { a: [ { provider: scripted, script: ./a.yaml, default: true }, { provider: openai-compatible, model: m, base_url: 'http://127.0.0.1:1/v1' } ] }",
    "models: { low: some-model, high: { provider: google, model: m } }",
    "mcpServers: { crm: { command: node, args: [a.mjs], env: { A: b }, disabled: true, type: stdio } }",
    "mcpServers: { mcpServers: { crm: { url: 'https://a.example/mcp' } } }",
    "mcpServers: { inputs: [], servers: { crm: { url: 'https://a.example/mcp', headers: { A: b } } } }",
    "connectors: { crm: { mcp: { command: node, env: { A: { env: B, prefix: 'x ' } } }, knowledge: true, limits: { concurrency: none, rate: 10/s }, connections: { main: { default: true, auth: { file: ./key } } } } }",
    "connectors: { messaging: { webhook: { env: HOOK } }, files: { root: none }, http: { hosts: [a], headers: { a: { B: { env: C } } } }, shell: { commands: [ls, { argv: [git, '*'] }] }, state: { limits: { rate: none } } }",
    "policy: { deny: ['a.*'], approve: [a.b], agents: { x: { state.get: { max: 1, fix: { key: c } } } }, ceiling: { tokens: 0, duration: 1h } }",
    "capabilities: { deny: [wf.agent-execution, run-python] }",
    "limits: { deadline: 1h, depth: 0, drain_grace: 0s }",
    "store: { path: memory, durability: process, retention: none }",
    "store: { path: a.db, retention: 30d, key: { env: KEY } }",
    "store: memory",
    "notify: { action: messaging.post, with: { channel: ops } }",
    "serve: { port: 0, webhooks: { /triage: { secret: { env: S } } }, body_limit: 1MiB, rate: 50/s }",
    "awl: { tools: all, goal_interval: none }",
    "sandbox: { languages: [python], memory: { python: 128MiB }, fetch: { calls: 0 } }",
    "coordinate: { entry: { cli: [a.b] }, allow: { '*': [] }, deadline: 30s }",
    'version: "1"\nworkflows: ["**/*.workfile.yaml"]\nsettings: { prices: { small: 0.8 } }',
  ])("takes what the reader takes: %s", async (text) => {
    const { diagnostics, json } = await read(text);
    const faults = diagnostics.filter(
      ({ message, severity }) => severity === "error" && !/not in this version/.test(message),
    );
    expect(faults).toEqual([]);
    expect(takes(json), JSON.stringify(takes.errors)).toBe(true);
  });

  test.each([
    "version: 1",
    "agents: { a: { provider: anthropic } }",
    "agents: { a: { provider: scripted, model: m } }",
    "agents: { a: { provider: openai, model: m, script: ./a.yaml } }",
    "agents: { a: { provider: openai-compatible, model: m } }",
    "agents: { a: { provider: openai, model: m, api_key: sk-literal } }",
    "agents: { a: { provider: openai, model: m, api_key: { env: A, file: b } } }",
    "agents: { a: { provider: openai, model: m, temperature: 3 } }",
    "agents: { a: [] }",
    "connectors: { wf: { stub: ./package.json } }",
    "connectors: { crm: { mcp: { command: a, url: 'http://b' } } }",
    "connectors: { crm: { mcp: {} } }",
    "connectors: { crm: { stub: ./package.json, limits: { rate: 10 } } }",
    "connectors: { files: { rot: a } }",
    "policy: { deny: [a] }",
    "policy: { agents: { x: { nodot: {} } } }",
    "capabilities: { deny: [wf.agents] }",
    "limits: { deadline: 60 }",
    "limits: { concurrency: 0 }",
    "store: { durability: none }",
    "notify: { with: {} }",
    "serve: { webhooks: { triage: { secret: { env: S } } } }",
    "serve: { body_limit: 1MB }",
    "awl: { tools: none }",
    "sandbox: { languages: [ruby] }",
  ])("refuses what the reader refuses: %s", async (text) => {
    const { deployment, json } = await read(text);
    expect(deployment).toBeNull();
    expect(takes(json)).toBe(false);
  });
});
