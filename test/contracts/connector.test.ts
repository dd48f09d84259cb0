import { randomUUID } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { NodeStreamableHTTPServerTransport } from "@modelcontextprotocol/node";
import { afterAll, beforeAll } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { toolDefinitionPin } from "../../src/catalog/tool-definition.ts";
import type { ConnectionSettings } from "../../src/host/connectors/connection.ts";
import { defineConnector, failure } from "../../src/host/connectors/define-connector.ts";
import { McpConnector, type McpOptions } from "../../src/host/connectors/mcp.ts";
import { ModuleConnector } from "../../src/host/connectors/module.ts";
import { StubConnector } from "../../src/host/connectors/stub.ts";
import { stubOf } from "../../src/host/connectors/testing/stub-text.ts";
import { SourceText } from "../../src/text/tree.ts";
import { CANARY, connectorContract } from "./connector.ts";
// @ts-expect-error: a plain JavaScript file, since node starts it as it is.
import { honestServer } from "./servers/honest-tools.mjs";

const connections: ConnectionSettings[] = [
  {
    name: "main",
    isDefault: true,
    env: { DEMO_TOKEN: { env: "DEMO_TOKEN" } },
    headers: {},
    auth: { env: "DEMO_TOKEN" },
  },
];
const resolveSecret = async (): Promise<string> => CANARY;
const honest = fileURLToPath(new URL("./servers/honest.mjs", import.meta.url));
const folder = fileURLToPath(new URL(".", import.meta.url));

const mcp: Omit<McpOptions, "server"> = {
  name: "demo",
  env: {},
  headers: {},
  actions: ["echo", "refuse", "wait", "leak"].map((name) => ({ name })),
  connections,
  resolveSecret,
  pinOf: toolDefinitionPin,
  clock: systemClock,
};

connectorContract("stub", async () => {
  const text = `
actions:
  demo.echo: [ { return: { text: "{{ args.text }}" } } ]
  demo.refuse: [ { fail: { code: gone, message: none left } } ]
  demo.wait: [ { hang: true } ]
  demo.leak: [ { return: { secret: ${JSON.stringify(CANARY)}, encoded: "${Buffer.from(`x${CANARY}`).toString("base64")}" } } ]
`;
  const { script, diagnostics } = stubOf(new SourceText("tools.yaml", text), folder);
  if (diagnostics.length > 0) throw new Error(JSON.stringify(diagnostics));
  const actions = ["echo", "refuse", "wait", "leak"];
  const connector = new StubConnector({
    name: "demo",
    actions,
    script,
    connections,
    resolveSecret,
    clock: systemClock,
  });
  return { connector, connection: "main" };
});

connectorContract("module", async () => {
  const module = defineConnector({
    actions: {
      echo: (args) => ({ text: args["text"] ?? null }),
      refuse: () => {
        throw failure("gone", "none left");
      },
      wait: (_args, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve("late"))),
      leak: (_args, { connection }) => ({ said: `it is ${connection.env["DEMO_TOKEN"]}`, [CANARY]: connection.auth }),
    },
  });
  return { connector: new ModuleConnector({ name: "demo", module, connections, resolveSecret }), connection: "main" };
});

connectorContract("MCP over stdio", async () => {
  const server = { kind: "stdio", command: "node", args: [honest], cwd: folder } as const;
  return { connector: new McpConnector({ ...mcp, server }), connection: "main" };
});

connectorContract("MCP over streamable HTTP", async () => {
  return { connector: new McpConnector({ ...mcp, server: { kind: "http", url } }), connection: "main" };
});

let http: Server;
let url = "";

beforeAll(async () => {
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  process.env["DEMO_TOKEN"] = CANARY;
  http = createServer(async (request, response) => {
    // The secret arrives as a header; the tool `leak` says it out of the environment.
    if (
      request.headers.authorization !== `Bearer ${encodeURI(CANARY)}` &&
      request.headers.authorization === undefined
    ) {
      response.writeHead(401).end();
      return;
    }
    const id = request.headers["mcp-session-id"];
    let transport = typeof id === "string" ? sessions.get(id) : undefined;
    if (!transport) {
      const made = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (session) => void sessions.set(session, made),
      });
      transport = made;
      await honestServer().connect(transport);
    }
    await transport.handleRequest(request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
});

afterAll(async () => {
  delete process.env["DEMO_TOKEN"];
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
});
