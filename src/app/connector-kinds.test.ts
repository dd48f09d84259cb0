import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { parse } from "yaml";
import type { JsonObject } from "../base/json.ts";
import { importManifest } from "./connector-tools.ts";
import { createEngine, type Engine, type EngineOptions } from "./engine.ts";

interface Seen {
  line: string;
  headers: IncomingHttpHeaders;
  body: string;
}

const seen: Seen[] = [];
const service = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  seen.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
  response.setHeader("Content-Type", "application/json");
  if (request.method === "POST") response.writeHead(201).end(JSON.stringify({ id: "n-1", ...JSON.parse(body) }));
  else response.end(JSON.stringify({ id: "n-1", text: "kept" }));
});
let at = "";
let folder = "";
const engines: Engine[] = [];

beforeAll(async () => {
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  at = `127.0.0.1:${(service.address() as AddressInfo).port}`;
});
afterAll(async () => {
  service.closeAllConnections();
  await new Promise((resolve) => service.close(resolve));
});
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ambit-kinds-"));
  writeFileSync(join(folder, "package.json"), "{}");
  seen.length = 0;
});
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close();
  rmSync(folder, { recursive: true, force: true });
});

const put = (name: string, text: string): void => writeFileSync(join(folder, name), text);

async function engineOn(more: EngineOptions = {}): Promise<Engine> {
  const env = { TOKEN: "tok-12345", PATH: process.env["PATH"] };
  const engine = await createEngine({ cwd: folder, env, say: () => {}, ...more });
  engines.push(engine);
  return engine;
}

async function run(engine: Engine, steps: string, outputs = "{}"): Promise<JsonObject> {
  put("w.workfile.yaml", `workfile: "1"\nname: kinds\nsteps:\n${steps}\noutputs: ${outputs}\n`);
  const started = await engine.start("w.workfile.yaml");
  return (await started.result()) as unknown as JsonObject;
}

const DOCUMENT = `openapi: 3.0.3
info: { title: Notes, version: 2.1.0 }
paths:
  /notes/{id}:
    get:
      operationId: notes/get-one
      summary: One note
      parameters: [ { name: id, in: path, required: true, schema: { type: string } } ]
      responses: { 200: { description: ok, content: { application/json: { schema: { $ref: "#/components/schemas/Note" } } } } }
  /notes:
    post:
      operationId: add
      parameters:
        - { name: Idempotency-Key, in: header, required: true, schema: { type: string, minLength: 8 } }
      requestBody: { required: true, content: { application/json: { schema: { $ref: "#/components/schemas/Note" } } } }
      responses: { 201: { description: made, content: { application/json: { schema: { $ref: "#/components/schemas/Note" } } } } }
    trace: { operationId: tracing }
    put: { summary: It has no id }
components:
  schemas:
    Note:
      type: object
      required: [id, text]
      properties: { id: { type: string, readOnly: true }, text: { type: string } }
`;

const deployment = (): string => `connectors:
  notes:
    http: { openapi: ./notes.yaml, base_url: "http://${at}/v1" }
    connections: { main: { default: true, auth: { env: TOKEN } } }
`;

test("an OpenAPI document is imported, reviewed, and its operations are actions", async () => {
  put("notes.yaml", DOCUMENT);
  put("ambit.yaml", deployment());
  const engine = await engineOn();
  const text = await importManifest(await engine.deploymentOfConnector("notes"), "notes", {});
  expect(text).toContain("# Left out: PUT /notes has no operationId.");
  const manifest = parse(text) as { version: string; actions: { [name: string]: JsonObject } };
  expect(manifest.version).toBe("2.1.0");
  expect(Object.keys(manifest.actions)).toEqual(["notes_get-one", "add"]);
  expect(manifest.actions["notes_get-one"]).toMatchObject({
    tool: "notes/get-one",
    effects: "read",
    idempotency: "natural",
    description: "One note (GET /notes/{id})",
    pin: expect.stringMatching(/^sha256:/),
  });
  expect(manifest.actions["add"]).toMatchObject({ effects: "write", idempotency: { keyed: "Idempotency-Key" } });

  put("notes.manifest.yaml", text);
  put("ambit.yaml", `${deployment()}    manifest: ./notes.manifest.yaml\n`);
  const steps = `
  - made: { notes.add: { body: { text: "kept" } } }
  - read: { "notes.notes_get-one": { id: "{{ made.id }}" } }`;
  expect(await run(await engineOn(), steps, `{ text: "{{ read.text }}" }`)).toMatchObject({
    status: "completed",
    outputs: { text: "kept" },
  });
  expect(seen.map(({ line }) => line)).toEqual(["POST /v1/notes", "GET /v1/notes/n-1"]);
  expect(seen[0]?.headers["idempotency-key"]).toMatch(/^wf-step-v1:[0-9a-f]{64}$/);
  expect(seen.map(({ headers }) => headers.authorization)).toEqual(["Bearer tok-12345", "Bearer tok-12345"]);

  // Another document than the reviewed one is refused before anything is sent.
  put("notes.yaml", DOCUMENT.replace("minLength: 8", "minLength: 9"));
  await expect(run(await engineOn(), steps)).rejects.toMatchObject({ fault: { code: "catalog.drift" } });
  put("notes.yaml", DOCUMENT.replace("operationId: add", "operationId: gone"));
  await expect(run(await engineOn(), steps)).rejects.toMatchObject({ fault: { code: "catalog.unavailable" } });
  put("notes.yaml", "swagger: '2.0'");
  await expect(importManifest(await engine.deploymentOfConnector("notes"), "notes", {})).rejects.toThrow("OpenAPI");
  expect(seen.length).toBe(2);
});

test("http.get and http.request reach declared hosts with the deployment's headers", async () => {
  put("ambit.yaml", `connectors: { http: { hosts: ["${at}"], headers: { "${at}": { X-Token: { env: TOKEN } } } } }`);
  const steps = `
  - a: { http.get: { url: "http://${at}/a", query: { q: 1 } } }
  - b: { http.request: { url: "http://${at}/b", method: POST, body: { n: 1 } } }`;
  const result = await run(await engineOn(), steps, `{ id: "{{ a.body.id }}", status: "{{ b.status }}" }`);
  expect(result).toMatchObject({ status: "completed", outputs: { id: "n-1", status: 201 } });
  expect(seen.map(({ line, headers }) => [line, headers["x-token"]])).toEqual([
    ["GET /a?q=1", "tok-12345"],
    ["POST /b", "tok-12345"],
  ]);
  const engine = await engineOn();
  const { admission } = await engine.plan("w.workfile.yaml");
  expect(JSON.stringify(admission.admitted?.report)).toContain("env TOKEN");
});

test("WX-31: what the deployment does not declare refuses the run before any step", async () => {
  put("ambit.yaml", "{}");
  for (const step of ["http.get: { url: https://example.org/ }", "shell.run: { command: id }"]) {
    const steps = `  - keep: { state.put: { key: a, value: 1 } }\n  - b: { ${step} }`;
    await expect(run(await engineOn(), steps)).rejects.toMatchObject({ fault: { code: "catalog.unavailable" } });
  }
});

test("state is kept from run to run in the store, by the workflow's name, and not in memory", async () => {
  put("ambit.yaml", "{}");
  const steps = "  - n: { state.add: { key: runs } }";
  const count = async (more: EngineOptions = {}): Promise<unknown> => {
    const result = await run(await engineOn(more), steps, `{ n: "{{ n.value }}" }`);
    return (result["outputs"] as JsonObject)["n"];
  };
  expect([await count(), await count(), await count({ store: "memory" })]).toEqual([1, 2, 1]);
  expect(await count()).toBe(3);
});

test("limits hold across the runs of one engine", async () => {
  let under = 0;
  let most = 0;
  const slow = createServer((_request, response) => {
    most = Math.max(most, ++under);
    setTimeout(() => {
      under--;
      response.end("{}");
    }, 20);
  });
  await new Promise<void>((resolve) => slow.listen(0, "127.0.0.1", resolve));
  const here = `127.0.0.1:${(slow.address() as AddressInfo).port}`;
  put("ambit.yaml", `connectors: { http: { hosts: ["${here}"], limits: { concurrency: 1 } } }`);
  put(
    "w.workfile.yaml",
    `workfile: "1"\nname: kinds\nsteps:\n  - all: { wf.each: [1, 2, 3], concurrency: 3, steps: [ { a: { http.get: { url: "http://${here}/" } } } ] }\n`,
  );
  const engine = await engineOn({ store: "memory" });
  const runs = await Promise.all([1, 2, 3].map(() => engine.start("w.workfile.yaml")));
  const results = await Promise.all(runs.map((started) => started.result()));
  expect(results.map(({ status }) => status)).toEqual(["completed", "completed", "completed"]);
  expect(most).toBe(1);
  await new Promise((resolve) => slow.close(resolve));
});
