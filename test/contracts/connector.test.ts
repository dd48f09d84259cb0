import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { NodeStreamableHTTPServerTransport } from "@modelcontextprotocol/node";
import { afterAll, beforeAll } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import type { Connector } from "../../src/catalog/connector.ts";
import { toolDefinitionPin } from "../../src/catalog/tool-definition.ts";
import type { ConnectionSettings } from "../../src/host/connectors/connection.ts";
import { defineConnector, failure } from "../../src/host/connectors/define-connector.ts";
import { McpConnector, type McpOptions } from "../../src/host/connectors/mcp.ts";
import { ModuleConnector } from "../../src/host/connectors/module.ts";
import { OpenApiConnector } from "../../src/host/connectors/openapi.ts";
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

connectorContract("HTTP from an OpenAPI document", async () => {
  const text = { type: "string" };
  const answer = { "200": { content: { "application/json": { schema: {} } } } };
  const operation = (operationId: string) => ({ operationId, responses: answer });
  const body = { content: { "application/json": { schema: { type: "object", properties: { text } } } } };
  const document = {
    openapi: "3.1.0",
    info: { title: "Demo", version: "1" },
    paths: {
      "/echo": { post: { ...operation("echo"), requestBody: body } },
      "/refuse": { get: operation("refuse") },
      "/wait": { get: operation("wait") },
      "/leak": { get: operation("leak") },
    },
  };
  const file = join(documents, "demo.json");
  writeFileSync(file, JSON.stringify(document));
  const inner = new OpenApiConnector({
    name: "demo",
    file,
    baseUrl: service,
    hosts: [],
    actions: ["echo", "refuse", "wait", "leak"].map((name) => ({ name })),
    connections,
    resolveSecret,
    clock: systemClock,
  });
  // The body of an operation is one argument among others; the suite speaks to `echo` without it.
  const call: Connector["call"] = (request, signal) => {
    const isEcho = request.action.name === "demo.echo";
    return inner.call(isEcho ? { ...request, args: { body: request.args } } : request, signal);
  };
  const connector: Connector = {
    name: "demo",
    connect: (signal) => inner.connect(signal),
    call,
    processes: () => inner.processes(),
    close: () => inner.close(),
  };
  return { connector, connection: "main" };
});

let http: Server;
let plain: Server;
let service = "";
const documents = mkdtempSync(join(tmpdir(), "ambit-documents-"));
let url = "";

beforeAll(async () => {
  plain = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const send = (status: number, value: unknown): void => {
      response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(value));
    };
    if (request.url === "/wait") return;
    if (request.url === "/refuse") return send(409, { message: "none left" });
    if (request.url === "/echo") return send(200, JSON.parse(body));
    // Node reads headers as Latin-1, and so were they written.
    const said = String(request.headers.authorization);
    send(200, { said, [said]: Buffer.from(`x${said.slice(7)}`).toString("base64"), encoded: encodeURIComponent(said) });
  });
  await new Promise<void>((resolve) => plain.listen(0, "127.0.0.1", resolve));
  service = `http://127.0.0.1:${(plain.address() as AddressInfo).port}`;
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
  rmSync(documents, { recursive: true, force: true });
  plain.closeAllConnections();
  await new Promise((resolve) => plain.close(resolve));
  http.closeAllConnections();
  await new Promise((resolve) => http.close(resolve));
});
