import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import type { Json, JsonObject } from "../../base/json.ts";
import type { CallRequest, CallResult } from "../../catalog/connector.ts";
import type { ConnectionSettings } from "./connection.ts";
import { OpenApiConnector, type OpenApiOptions } from "./openapi.ts";

const folder = mkdtempSync(join(tmpdir(), "ambit-openapi-"));
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}

async function serve(
  answer: (request: Seen, response: ServerResponse) => void = (_seen, response) => void response.end(),
): Promise<{ at: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const one = { method: request.method ?? "", url: request.url ?? "", headers: request.headers, body };
    seen.push(one);
    answer(one, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { at: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

const text = { type: "string" };
const DOCUMENT: JsonObject = {
  openapi: "3.1.0",
  info: { title: "Notes", version: "1.2.3" },
  servers: [{ url: "http://127.0.0.1:9/from-the-document" }],
  security: [{ token: [] }],
  paths: {
    "/notes/{id}": {
      parameters: [{ name: "id", in: "path", required: true, schema: text }],
      get: {
        operationId: "getNote",
        parameters: [
          { name: "tag", in: "query", schema: { type: "array", items: text } },
          { name: "csv", in: "query", explode: false, schema: { type: "array", items: text } },
          { name: "where", in: "query", style: "deepObject", schema: { type: "object" } },
          { name: "X-Trace", in: "header", schema: text },
        ],
      },
      delete: { operationId: "deleteNote", security: [{ login: [] }] },
    },
    "/notes/{a}{b}": {
      get: {
        operationId: "twoParts",
        parameters: [
          { name: "a", in: "path", required: true, schema: text },
          { name: "b", in: "path", required: true, schema: text },
        ],
      },
    },
    "/notes": {
      post: { operationId: "addNote", requestBody: { content: { "application/json": { schema: {} } } } },
      put: {
        operationId: "formNote",
        security: [{ key: [] }],
        requestBody: { content: { "application/x-www-form-urlencoded": { schema: { type: "object" } } } },
      },
    },
    "/open": { get: { operationId: "open", security: [] } },
  },
  components: {
    securitySchemes: {
      token: { type: "http", scheme: "bearer" },
      login: { type: "http", scheme: "basic" },
      key: { type: "apiKey", in: "query", name: "api_key" },
    },
  },
};

let files = 0;
function connector(
  baseUrl: string | null,
  more: Partial<OpenApiOptions> = {},
  document: Json = DOCUMENT,
): OpenApiConnector {
  const file = join(folder, `${files++}.json`);
  writeFileSync(file, JSON.stringify(document));
  const ids = ["getNote", "deleteNote", "twoParts", "addNote", "formNote", "open"];
  return new OpenApiConnector({
    name: "notes",
    file,
    baseUrl,
    hosts: [],
    actions: ids.map((name) => ({ name })),
    connections: [],
    resolveSecret: async () => "tok-12345/ü",
    clock: systemClock,
    ...more,
  });
}

const withAuth = (more: Partial<ConnectionSettings> = {}): Partial<OpenApiOptions> => ({
  connections: [{ name: "main", isDefault: true, env: {}, headers: {}, auth: { env: "TOKEN" }, ...more }],
  resolveSecret: async () => "tok-12345",
});

const never = (): AbortSignal => new AbortController().signal;

function call(
  of: OpenApiConnector,
  action: string,
  args: JsonObject,
  more: Partial<CallRequest> = {},
  signal = never(),
): Promise<CallResult> {
  const manifest = { name: `notes.${action}`, idempotency: { kind: "none" } };
  return of.call({ action: manifest, connection: "main", args, key: null, ...more } as unknown as CallRequest, signal);
}

describe("what is sent", () => {
  test("path, query in each of its styles, headers", async () => {
    const { at, seen } = await serve((_seen, response) => {
      response.writeHead(200, { "Content-Type": "application/problem+json" }).end('{"a":1}');
    });
    const args = { id: "a b/ü?#%", tag: ["x&y", "z"], csv: ["1", "2"], where: { k: "v" }, "X-Trace": "t1" };
    expect(await call(connector(`${at}/api/`), "getNote", args)).toEqual({ is: "ok", value: { a: 1 } });
    expect(seen[0]?.url).toBe("/api/notes/a%20b%2F%C3%BC%3F%23%25?tag=x%26y&tag=z&csv=1%2C2&where%5Bk%5D=v");
    expect(seen[0]?.headers["x-trace"]).toBe("t1");
  });

  test("bodies as JSON and as fields", async () => {
    const { at, seen } = await serve();
    const of = connector(at);
    expect(await call(of, "addNote", { body: { n: [1, null] } })).toEqual({ is: "ok", value: null });
    expect(await call(of, "formNote", { body: { a: "1&2", b: ["x", "y"] } })).toEqual({ is: "ok", value: null });
    expect(seen.map(({ method, body }) => `${method} ${body}`)).toEqual(['POST {"n":[1,null]}', "PUT a=1%262&b=x&b=y"]);
    expect(seen[0]?.headers["content-type"]).toBe("application/json");
  });

  test("the key of a keyed action goes as a header, and not among the arguments", async () => {
    const { at, seen } = await serve();
    const keyed = { name: "notes.addNote", idempotency: { kind: "keyed", field: "request_key" } };
    const more = { action: keyed, key: "wf-step-v1:aa" } as unknown as Partial<CallRequest>;
    await call(connector(at), "addNote", { body: 1, request_key: "wf-step-v1:aa" }, more);
    expect(seen[0]).toMatchObject({ url: "/notes", body: "1" });
    expect(seen[0]?.headers["idempotency-key"]).toBe("wf-step-v1:aa");
  });

  test("an argument that the operation does not have is refused", async () => {
    const { at, seen } = await serve();
    for (const name of ["other", "__proto__", "constructor"]) {
      const args = JSON.parse(`{"id":"1","${name}":"x"}`) as JsonObject;
      expect(await call(connector(at), "getNote", args)).toMatchObject({ code: "action.invalid_input" });
    }
    expect(seen).toEqual([]);
  });
});

describe("no argument leads elsewhere", () => {
  test.each([
    "..",
    ".",
    "../admin",
    "a/../../admin",
    "..\\admin",
    "%2e%2e",
    "%2e%2e%2fadmin",
    "%252e%252e%252fadmin",
    "..;x/admin",
    "",
    "a\r\nHost: evil.example",
    "a\u0000b",
  ])("the path parameter %j is refused", async (id) => {
    const { at, seen } = await serve();
    expect(await call(connector(`${at}/api`), "getNote", { id })).toMatchObject({
      is: "failed",
      code: "action.invalid_input",
    });
    expect(seen).toEqual([]);
  });

  test.each([
    "//evil.example/",
    "@evil.example",
    "\\\\evil.example",
    "?x=1#y",
    "a:b@c",
    "https://evil.example/",
    "...",
    "a..b",
  ])("the path parameter %j stays one step of the path", async (id) => {
    const { at, seen } = await serve();
    expect(await call(connector(`${at}/api`), "getNote", { id })).toMatchObject({ is: "ok" });
    expect(seen[0]?.url).toBe(`/api/notes/${encodeURIComponent(id)}`);
    expect(`http://${seen[0]?.headers.host}`).toBe(at);
  });

  test("nor do two that make a step together", async () => {
    const { at, seen } = await serve();
    for (const args of [
      { a: ".", b: "." },
      { a: ".", b: "x" },
      { a: "x", b: "%2e" },
    ]) {
      const result = await call(connector(`${at}/api`), "twoParts", args);
      expect(result).toMatchObject({ code: "action.invalid_input" });
    }
    expect(seen).toEqual([]);
  });

  test.each(["a\r\nX-Evil: 1", "a\nb", "€"])("a header parameter %j is refused", async (trace) => {
    const { at, seen } = await serve();
    expect(await call(connector(at), "getNote", { id: "1", "X-Trace": trace })).toMatchObject({
      code: "action.invalid_input",
    });
    expect(seen).toEqual([]);
  });
});

describe("credentials", () => {
  test("go where the document says that they go", async () => {
    const { at, seen } = await serve();
    const of = connector(at, withAuth());
    await call(of, "getNote", { id: "1" });
    await call(of, "deleteNote", { id: "1" });
    await call(of, "formNote", { body: {} });
    await call(of, "open", {});
    expect(seen.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ["/notes/1", "Bearer tok-12345"],
      ["/notes/1", `Basic ${Buffer.from("tok-12345").toString("base64")}`],
      ["/notes?api_key=tok-12345", undefined],
      ["/open", undefined],
    ]);
  });

  test("one that is written with its prefix is sent as it is", async () => {
    const { at, seen } = await serve();
    const more = withAuth({ auth: { env: "TOKEN", prefix: "Token " } });
    await call(connector(at, { ...more, resolveSecret: async () => "Token tok-12345" }), "getNote", { id: "1" });
    expect(seen[0]?.headers.authorization).toBe("Token tok-12345");
  });

  test("headers of the connection are sent, and no argument takes their place", async () => {
    const { at, seen } = await serve();
    const of = connector(at, withAuth({ headers: { "x-trace": "ours" } }));
    expect(await call(of, "getNote", { id: "1", "X-Trace": "theirs" })).toMatchObject({ code: "action.invalid_input" });
    expect(await call(of, "getNote", { id: "1" })).toMatchObject({ is: "ok" });
    expect(seen.map(({ headers }) => headers["x-trace"])).toEqual(["ours"]);
  });

  test("do not follow a redirect to another host", async () => {
    const other = await serve();
    const { at, seen } = await serve(
      (_seen, response) => void response.writeHead(302, { Location: `${other.at}/x` }).end(),
    );
    const undeclared = await call(connector(at, withAuth()), "getNote", { id: "1" });
    expect(undeclared).toMatchObject({ is: "failed", code: "action.failed" });
    expect(other.seen).toEqual([]);
    const declared = connector(at, { ...withAuth({ headers: { "X-Own": "1" } }), hosts: [other.at.slice(7)] });
    expect(await call(declared, "getNote", { id: "1" })).toMatchObject({ is: "ok" });
    expect(seen[1]?.headers.authorization).toBe("Bearer tok-12345");
    expect(other.seen[0]?.headers).not.toHaveProperty("authorization");
    expect(other.seen[0]?.headers).not.toHaveProperty("x-own");
  });
});

describe("where the service is", () => {
  test("a server that only the document names is not spoken to unless it is declared", async () => {
    await expect(connector(null).connect(never())).rejects.toMatchObject({ code: "catalog.unavailable" });
    const { at, seen } = await serve();
    const document = { ...DOCUMENT, servers: [{ url: `${at}/v2` }] };
    await expect(connector(null, {}, document).connect(never())).rejects.toMatchObject({ code: "catalog.unavailable" });
    const of = connector(null, { hosts: [at.slice(7)] }, document);
    expect(await call(of, "open", {})).toMatchObject({ is: "ok" });
    expect(seen.map(({ url }) => url)).toEqual(["/v2/open"]);
  });

  test.each(["http://u:p@127.0.0.1/", "ftp://127.0.0.1/", "//127.0.0.1"])("a base URL %s is refused", async (url) => {
    await expect(connector(url).connect(never())).rejects.toMatchObject({ code: "catalog.unavailable" });
  });

  test("offers what the document has, with a pin; what it has lost is not offered", async () => {
    const { at } = await serve();
    const actions = [{ name: "fetch", tool: "getNote" }, { name: "gone" }];
    const offer = await connector(at, { actions }).connect(never());
    expect(offer.actions).toEqual({ "notes.fetch": { pin: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) } });
  });

  test("a document that is none refuses", async () => {
    const { at } = await serve();
    await expect(connector(at, {}, { swagger: "2.0" }).connect(never())).rejects.toMatchObject({
      code: "catalog.unavailable",
    });
  });
});

describe("what an answer means", () => {
  test.each<[number, Partial<CallResult> & { code?: string }]>([
    [400, { is: "failed", code: "action.failed" }],
    [401, { is: "failed", code: "action.auth" }],
    [403, { is: "failed", code: "action.auth" }],
    [429, { is: "failed", code: "action.rate_limited", retryAfter: 3_000 }],
    [500, { is: "failed", code: "action.failed" }],
    [502, { is: "ambiguous" }],
    [503, { is: "failed", code: "action.unavailable", retryAfter: 3_000 }],
    [504, { is: "ambiguous" }],
    [303, { is: "unreadable" }],
    [307, { is: "failed", code: "action.failed" }],
  ])("a status %i of a write", async (status, expected) => {
    const { at, seen } = await serve((_seen, response) => {
      response.writeHead(status, { "Retry-After": "3", Location: "/elsewhere" }).end();
    });
    expect(await call(connector(at), "addNote", { body: 1 })).toMatchObject(expected);
    expect(seen.length).toBe(1);
  });

  test("the service's own words are the message, without secrets", async () => {
    const { at } = await serve(({ headers }, response) => {
      response.writeHead(422, { "Content-Type": "application/problem+json" });
      response.end(JSON.stringify({ detail: `bad for ${String(headers.authorization)}`, field: "id" }));
    });
    const result = await call(connector(at, withAuth()), "getNote", { id: "1" });
    expect(result).toMatchObject({
      message: "bad for Bearer [redacted]",
      details: { status: 422, body: { field: "id" } },
    });
    expect(JSON.stringify(result)).not.toContain("tok-12345");
  });

  test("one that goes away after a write leaves it unknown; one that was never there does not", async () => {
    const { at } = await serve((_seen, response) => void response.socket?.destroy());
    expect(await call(connector(at), "addNote", { body: 1 })).toMatchObject({
      is: "ambiguous",
      code: "connection_lost",
    });
    for (const close of closing.splice(0)) await close();
    expect(await call(connector(at), "addNote", { body: 1 })).toMatchObject({
      is: "failed",
      code: "action.unavailable",
    });
  });
});
