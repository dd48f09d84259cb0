/** The examples' scripted agents against the examples' real servers: what the READMEs promise, without the engine. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Message, ToolAnswer } from "../../src/agent/model.ts";
import { systemClock } from "../../src/base/clock.ts";
import { isObject, type Json, type JsonObject } from "../../src/base/json.ts";
import type { Manifest } from "../../src/catalog/manifest.ts";
import { readManifest } from "../../src/catalog/read-manifest.ts";
import { toolDefinitionPin } from "../../src/catalog/tool-definition.ts";
import { compileSchema } from "../../src/catalog/value-schema.ts";
import { readScripted } from "../../src/host/models/read-scripted.ts";
import { createScriptedModel } from "../../src/host/models/scripted.ts";
import { SourceText, toJson } from "../../src/text/tree.ts";
import { parseYaml } from "../../src/text/yaml.ts";

const EXAMPLES = fileURLToPath(new URL("../../examples/", import.meta.url));

function source(...path: string[]): SourceText {
  const file = join(EXAMPLES, ...path);
  return new SourceText(file, readFileSync(file, "utf8"));
}

function yaml(...path: string[]): JsonObject {
  const { root, diagnostics } = parseYaml(source(...path));
  expect(diagnostics).toEqual([]);
  const value = root === null ? null : toJson(root);
  if (!isObject(value)) throw new Error("no map");
  return value;
}

interface Server {
  manifest: Manifest;
  client: Client;
}

async function start(example: string, connector: string): Promise<Server> {
  const { connectors } = yaml(example, "ambit.yaml") as { connectors: { [name: string]: Json } };
  const { mcp, manifest } = connectors[connector] as { mcp: { command: string; args: string[] }; manifest: string };
  const text = source(example, manifest);
  const { root } = parseYaml(text);
  if (root === null) throw new Error("no manifest");
  const read = readManifest(text, root, { connector });
  expect(read.diagnostics).toEqual([]);
  if (read.manifest === null) throw new Error("no manifest");
  const client = new Client({ name: "test", version: "1.0.0" });
  const command = mcp.command === "node" ? process.execPath : mcp.command;
  await client.connect(
    new StdioClientTransport({ command, args: mcp.args, cwd: join(EXAMPLES, example), stderr: "ignore" }),
  );
  return { manifest: read.manifest, client };
}

/** Calls an action as its manifest says, both schemas checked. */
async function call(servers: Map<string, Server>, action: string, args: JsonObject): Promise<ToolAnswer> {
  const server = servers.get(action.slice(0, action.indexOf(".")));
  const known = server && Object.values(server.manifest.actions).find((each) => each.name === action);
  if (server === undefined || known === undefined) throw new Error(`${action} is in no manifest`);
  for (const schema of [known.input, known.output]) expect(compileSchema(schema)).not.toHaveProperty("error");
  const name = known.tool ?? action.slice(action.indexOf(".") + 1);
  const result = (await server.client.callTool({ name, arguments: args })) as {
    isError?: boolean;
    structuredContent?: Json;
    content: { text?: string }[];
  };
  const base = { id: "", tool: action };
  if (result.isError === true) {
    const message = result.content.map((part) => part.text ?? "").join("\n");
    return { ...base, ok: false, error: { code: "action.failed", message } };
  }
  return { ...base, ok: true, value: result.structuredContent ?? null };
}

/** Plays an agent to its end: its result, or its reason for giving up. */
async function play(
  script: SourceText,
  agent: string,
  step: string,
  context: Json,
  servers: Map<string, Server>,
): Promise<{ results: Json[]; giveUp: string | null; calls: string[] }> {
  const read = readScripted(script);
  expect(read.diagnostics).toEqual([]);
  if (read.script === null) throw new Error("no script");
  const model = createScriptedModel(read.script, { clock: systemClock });
  const messages: Message[] = [{ role: "task", goal: "", context, bounds: {} }];
  const calls: string[] = [];
  for (let turn = 0; turn < 10; turn++) {
    const shared = { run: "run-1", step, agent, tools: [], result: {}, maxOutputTokens: null };
    const outcome = await model.turn({ ...shared, turn, messages }, new AbortController().signal);
    if (outcome.is === "failed") throw new Error(outcome.message);
    if (outcome.results.length > 0 || outcome.giveUp !== null) {
      return { results: outcome.results, giveUp: outcome.giveUp, calls };
    }
    const results: ToolAnswer[] = [];
    for (const { id, tool, args } of outcome.calls) {
      calls.push(tool);
      results.push({ ...(await call(servers, tool, args ?? {})), id });
    }
    messages.push(
      { role: "agent", text: outcome.text, calls: outcome.calls, results: [] },
      { role: "results", results },
    );
  }
  throw new Error("the agent came to no end");
}

const EXAMPLE_SERVERS = { triage: ["crm", "billing"], "folder-report": ["notes", "shelf", "memory"] };

for (const [example, names] of Object.entries(EXAMPLE_SERVERS)) {
  describe(`examples/${example}`, { timeout: 30_000 }, () => {
    const servers = new Map<string, Server>();
    beforeAll(async () => {
      for (const name of names) servers.set(name, await start(example, name));
    }, 30_000);
    afterAll(async () => {
      for (const { client } of servers.values()) await client.close();
    });

    it.each(names)("pins the tools of %s as its server offers them", async (name) => {
      const { manifest, client } = servers.get(name) as Server;
      const { tools } = await client.listTools();
      for (const action of Object.values(manifest.actions)) {
        const tool = tools.find((each) => each.name === (action.tool ?? action.name.split(".")[1]));
        expect([action.name, action.pin]).toEqual([action.name, toolDefinitionPin(tool)]);
      }
    });

    if (example === "triage") {
      const triage = (sender: string) =>
        play(source(example, "triage.scripted.yaml"), "triage_assistant", "resolve", { sender }, servers);

      it("finds the account of the parent organization, which stands in the data only", async () => {
        expect(await triage("ana@example.org")).toEqual({
          results: [{ account_id: "B-7342-KX" }],
          giveUp: null,
          calls: ["crm.search", "billing.lookup"],
        });
        for (const file of ["triage.workfile.yaml", "triage.scripted.yaml", "ambit.yaml", "data/accounts.json"]) {
          expect(source(example, file).text).not.toContain("B-7342-KX");
        }
      });

      it("finds an organization's own account", async () => {
        expect((await triage("hello@kiosk.example")).results).toEqual([{ account_id: "B-1190-QD" }]);
      });

      it("gives up where the sender is unknown", async () => {
        expect(await triage("nobody@example.org")).toMatchObject({
          results: [],
          giveUp: "The CRM does not know nobody@example.org.",
          calls: ["crm.search"],
        });
      });
    } else {
      it("quotes lines of the notes", async () => {
        const { results, calls } = await play(
          source(example, "folder-report.scripted.yaml"),
          "clerk",
          "report",
          {},
          servers,
        );
        const [report] = results as { findings: { file: string; quote: string; open: string }[] }[];
        expect(calls).toEqual(["notes.list", "notes.read", "notes.read", "notes.read"]);
        expect(report?.findings).toHaveLength(3);
        for (const { file, quote, open } of report?.findings ?? []) {
          const lines = source(example, "notes", file).text.split("\n");
          expect(lines).toContain(quote);
          expect(lines).toContain(`Open: ${open}`);
        }
      });

      it("writes only into the folder that the writing side was started for", async () => {
        expect(await call(servers, "shelf.write", { path: "../notes/x.md", content: "" })).toMatchObject({ ok: false });
      });
    }
  });
}
