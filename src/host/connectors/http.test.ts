import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import type { JsonObject } from "../../base/json.ts";
import type { CallRequest, CallResult } from "../../catalog/connector.ts";
import { HttpConnector, type HttpOptions } from "./http.ts";
import { HostList } from "./http-hosts.ts";
import { sendHttp } from "./http-send.ts";

const SECRET = "s3cret/token+ä";
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}

async function serve(answer: (request: Seen, response: ServerResponse) => void): Promise<{ at: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const listener: RequestListener = async (request, response) => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const one = { method: request.method ?? "", url: request.url ?? "", headers: request.headers, body };
    seen.push(one);
    answer(one, response);
  };
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { at: `127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

/** A server that says exactly these bytes. */
async function serveRaw(answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("data", () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function connector(hosts: readonly string[], more: Partial<HttpOptions> = {}): HttpConnector {
  return new HttpConnector({
    name: "http",
    hosts: new HostList(hosts),
    headers: {},
    resolveSecret: async () => SECRET,
    clock: systemClock,
    ...more,
  });
}

const never = (): AbortSignal => new AbortController().signal;

function get(of: HttpConnector, args: JsonObject, signal = never()): Promise<CallResult> {
  return of.call({ action: { name: "http.get" }, args, key: null } as unknown as CallRequest, signal);
}

function send(of: HttpConnector, args: JsonObject, signal = never()): Promise<CallResult> {
  return of.call({ action: { name: "http.request" }, args, key: null } as unknown as CallRequest, signal);
}

const ok = (_seen: Seen, response: ServerResponse): void => void response.end("ok");

describe("what is sent and what comes back", () => {
  test("query and headers go out; a JSON body is parsed, header names are in lower case", async () => {
    const { at, seen } = await serve((_seen, response) => {
      response.writeHead(200, {
        "Content-Type": "application/json; charset=utf-8",
        "X-More": "1",
        "Set-Cookie": "a=b",
      });
      response.end('{"a":[1]}');
    });
    const args = {
      url: `http://${at}/p?x=1`,
      query: { q: "a&b=c", n: 2, many: ["u", "v"] },
      headers: { "X-Note": "hi" },
    };
    const result = await get(connector([at]), args);
    expect(result).toMatchObject({ is: "ok", value: { status: 200, body: { a: [1] } } });
    const { headers } = (result as unknown as { value: { headers: JsonObject } }).value;
    expect(headers["x-more"]).toBe("1");
    expect(headers).not.toHaveProperty("set-cookie");
    expect(seen[0]).toMatchObject({ method: "GET", url: "/p?x=1&q=a%26b%3Dc&n=2&many=u&many=v", body: "" });
    expect(seen[0]?.headers["x-note"]).toBe("hi");
  });

  test.each<[string, JsonObject, string, string]>([
    ["JSON", { body: { a: "ü" } }, '{"a":"ü"}', "application/json"],
    ["a text as it stands", { body: "a=b" }, "a=b", "text/plain; charset=utf-8"],
    ["its own type", { body: "<a/>", headers: { "content-type": "application/xml" } }, "<a/>", "application/xml"],
  ])("a body: %s", async (_name, args, body, type) => {
    const { at, seen } = await serve(ok);
    expect(await send(connector([at]), { url: `http://${at}/`, method: "PUT", ...args })).toMatchObject({ is: "ok" });
    expect(seen[0]).toMatchObject({ method: "PUT", body });
    expect(seen[0]?.headers["content-type"]).toBe(type);
  });

  test("texts, nothing at all, and what is neither", async () => {
    const { at } = await serve(({ url }, response) => {
      if (url === "/text") response.writeHead(200, { "Content-Type": "text/plain" }).end("zwölf");
      else if (url === "/none") response.writeHead(204).end();
      else if (url === "/bytes") response.end(Buffer.from([0xff, 0xfe, 0x00]));
      else response.writeHead(200, { "Content-Type": "application/json" }).end("{oops");
    });
    const of = connector([at]);
    expect(await get(of, { url: `http://${at}/text` })).toMatchObject({ value: { body: "zwölf" } });
    expect(await get(of, { url: `http://${at}/none` })).toMatchObject({ value: { status: 204, body: null } });
    expect(await get(of, { url: `http://${at}/bytes` })).toMatchObject({ is: "unreadable" });
    expect(await get(of, { url: `http://${at}/json` })).toMatchObject({ is: "unreadable" });
  });
});

describe("hosts", () => {
  test("one that is not declared is not spoken to", async () => {
    const { at, seen } = await serve(ok);
    for (const url of [`http://${at}/`, `http://localhost:${at.split(":")[1]}/`]) {
      expect(await get(connector(["api.example.org"]), { url })).toMatchObject({
        is: "failed",
        code: "action.invalid_input",
      });
    }
    expect(seen).toEqual([]);
  });

  test.each(["//evil.example/", "http://user@HOST/", "http://HOST@evil.example/", "http://HOST\\@evil.example/"])(
    "%s is refused before anything is sent",
    async (url) => {
      const { at, seen } = await serve(ok);
      const result = await get(connector([at]), { url: url.replace("HOST", at) });
      expect(result).toMatchObject({ is: "failed", code: "action.invalid_input" });
      expect(seen).toEqual([]);
    },
  );

  test("SB-63: a declared name that leads inside is refused, unless the operator said that it does", async () => {
    const { at, seen } = await serve(ok);
    const port = at.split(":")[1];
    const one = { method: "GET", url: new URL(`http://localhost:${port}/`), headers: {}, body: null, maxBytes: 10 };
    const why = expect.stringContaining("not of the public internet");
    expect(await sendHttp({ ...one, reach: "public" }, never())).toEqual({ is: "never_sent", why });
    const address = { ...one, url: new URL(`http://${at}/`) };
    expect(await sendHttp({ ...address, reach: "public" }, never())).toMatchObject({ is: "never_sent" });
    expect(seen).toEqual([]);
    expect(await sendHttp({ ...one, reach: "anywhere" }, never())).toMatchObject({ is: "answer" });
    const inside = new HostList([], [`localhost:${port}`]);
    expect(await get(connector([], { hosts: inside }), { url: `http://localhost:${port}/` })).toMatchObject({
      is: "ok",
    });
  });

  test("without a declared host nothing is offered", async () => {
    await expect(connector([]).connect(never())).rejects.toMatchObject({ code: "catalog.unavailable" });
    expect(Object.keys((await connector(["a.example"]).connect(never())).actions)).toEqual([
      "http.get",
      "http.request",
    ]);
  });
});

describe("redirects", () => {
  test("a read follows them to declared hosts, a relative one too", async () => {
    const { at, seen } = await serve(({ url }, response) => {
      if (url === "/a") response.writeHead(302, { Location: "/b" }).end();
      else response.end("there");
    });
    expect(await get(connector([at]), { url: `http://${at}/a` })).toMatchObject({ value: { body: "there" } });
    expect(seen.map(({ url }) => url)).toEqual(["/a", "/b"]);
  });

  test.each(["http://OTHER/x", "//OTHER/x", "http://HOST@OTHER/x", "file:///etc/passwd"])(
    "a read does not follow one to %s",
    async (location) => {
      const other = await serve(ok);
      const { at } = await serve((_seen, response) => {
        const to = location.replace("OTHER", other.at).replace("HOST", at);
        response.writeHead(307, { Location: to }).end();
      });
      expect(await get(connector([at]), { url: `http://${at}/` })).toMatchObject({
        is: "failed",
        code: "action.failed",
      });
      expect(other.seen).toEqual([]);
    },
  );

  test("headers of the call and of the deployment stay with their host", async () => {
    const other = await serve(ok);
    const { at } = await serve(
      (_seen, response) => void response.writeHead(302, { Location: `http://${other.at}/` }).end(),
    );
    const headers = { [at]: { Authorization: { env: "TOKEN", prefix: "Bearer " } } };
    const of = connector([at, other.at], { headers });
    expect(await get(of, { url: `http://${at}/`, headers: { "X-Note": "hi" } })).toMatchObject({ is: "ok" });
    expect(other.seen[0]?.headers).not.toHaveProperty("authorization");
    expect(other.seen[0]?.headers).not.toHaveProperty("x-note");
  });

  test("not for ever", async () => {
    const { at, seen } = await serve((_seen, response) => void response.writeHead(302, { Location: "/again" }).end());
    expect(await get(connector([at]), { url: `http://${at}/` })).toMatchObject({ is: "failed", code: "action.failed" });
    expect(seen.length).toBe(6);
  });

  test("a write is never sent on: the redirect is its answer", async () => {
    const { at, seen } = await serve((_seen, response) => void response.writeHead(307, { Location: "/b" }).end());
    const result = await send(connector([at]), { url: `http://${at}/a`, method: "POST", body: 1 });
    expect(result).toMatchObject({ is: "ok", value: { status: 307, headers: { location: "/b" } } });
    expect(seen.length).toBe(1);
  });
});

describe("headers", () => {
  test.each<[string, string]>([
    ["X-Note", "a\r\nX-Evil: 1"],
    ["X-Note", "a\nb"],
    ["X-Note", "a\u0000b"],
    ["X-Note", "€"],
    ["X-Note\r\nX-Evil", "1"],
    ["X Note", "1"],
    ["", "1"],
    ["Authorization", "mine"],
    ["authorization", "mine"],
    ["Cookie", "a=b"],
    ["Host", "evil.example"],
    ["Content-Length", "1"],
    ["Transfer-Encoding", "chunked"],
    ["Connection", "keep-alive"],
    ["Proxy-Authorization", "x"],
    ["x-api-key", "mine"],
  ])("%j: %j is refused", async (name, value) => {
    const { at, seen } = await serve(ok);
    const of = connector([at], { headers: { [at]: { "X-Api-Key": { env: "KEY" } } } });
    const result = await get(of, { url: `http://${at}/`, headers: { [name]: value } });
    expect(result).toMatchObject({ is: "failed", code: "action.invalid_input" });
    expect(seen).toEqual([]);
  });

  test("secret ones are sent to their host, and never come back out", async () => {
    const { at, seen } = await serve(({ headers }, response) => {
      response.writeHead(403, { "Content-Type": "application/json" });
      response.end(JSON.stringify({ error: `no: ${String(headers["authorization"])}`, pad: "x".repeat(2_000) }));
    });
    const of = connector([at], {
      headers: { [at]: { Authorization: { env: "TOKEN", prefix: "Bearer " } } },
      resolveSecret: async () => "Bearer tok-12345",
    });
    const result = await get(of, { url: `http://${at}/` });
    expect(seen[0]?.headers["authorization"]).toBe("Bearer tok-12345");
    expect(result).toMatchObject({ is: "failed", code: "http.status", details: { status: 403 } });
    expect(JSON.stringify(result)).not.toContain("tok-12345");
  });

  test("a secret at the place where a long refusal is cut does not leave its first half", async () => {
    const { at } = await serve(
      (_seen, response) => void response.writeHead(500).end(`${"x".repeat(2_040)}tok-12345-tail`),
    );
    const of = connector([at], {
      headers: { [at]: { "X-Key": { env: "K" } } },
      resolveSecret: async () => "tok-12345-tail",
    });
    expect(JSON.stringify(await get(of, { url: `http://${at}/` }))).not.toContain("tok-1");
  });

  test("secret ones do not go in clear to the internet", async () => {
    const headers = { "api.example.org": { Authorization: { env: "TOKEN" } } };
    const result = await get(connector(["api.example.org"], { headers }), { url: "http://api.example.org/" });
    expect(result).toMatchObject({ is: "failed", code: "action.invalid_input" });
  });
});

describe("what an end means", () => {
  test.each<[number, Partial<CallResult> & { code?: string }]>([
    [400, { is: "failed", code: "http.status" }],
    [401, { is: "failed", code: "http.status" }],
    [404, { is: "failed", code: "http.status" }],
    [500, { is: "failed", code: "http.status" }],
    [429, { is: "failed", code: "action.rate_limited", retryAfter: 2_000 }],
    [503, { is: "failed", code: "action.unavailable", retryAfter: 2_000 }],
    [502, { is: "ambiguous", code: "connection_lost" }],
    [504, { is: "ambiguous", code: "connection_lost" }],
  ])("a status %i", async (status, expected) => {
    const { at } = await serve((_seen, response) => void response.writeHead(status, { "Retry-After": "2" }).end("no"));
    const result = await send(connector([at]), { url: `http://${at}/`, method: "POST" });
    expect(result).toMatchObject({ ...expected, details: { status, body: "no" } });
  });

  test("Retry-After as a date, and nonsense", async () => {
    let after = new Date(systemClock.now() + 60_000).toUTCString();
    const { at } = await serve((_seen, response) => void response.writeHead(503, { "Retry-After": after }).end());
    const first = (await get(connector([at]), { url: `http://${at}/` })) as { retryAfter?: number };
    expect(first.retryAfter).toBeGreaterThan(50_000);
    expect(first.retryAfter).toBeLessThanOrEqual(60_000);
    for (after of ["soon", "-5", "Thu, 01 Jan 1970 00:00:00 GMT"]) {
      expect(await get(connector([at]), { url: `http://${at}/` })).not.toHaveProperty("retryAfter");
    }
  });

  test("a server that is not there was never sent anything", async () => {
    const { at } = await serve(ok);
    for (const close of closing.splice(0)) await close();
    const result = await send(connector([at]), { url: `http://${at}/`, method: "POST" });
    expect(result).toMatchObject({ is: "failed", code: "action.unavailable" });
  });

  test.each<[string, (socket: Socket) => void]>([
    ["hangs up", (socket) => void socket.destroy()],
    ["says half of a status", (socket) => void socket.end("HTTP/1.")],
    ["says half of its body", (socket) => void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")],
    ["says no HTTP", (socket) => void socket.end("SSH-2.0-OpenSSH\r\n")],
    [
      "frames twice",
      (socket) =>
        void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    ],
    [
      "changes the protocol",
      (socket) => void socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"),
    ],
    [
      "sends 100 KiB of headers",
      (socket) => void socket.write(`HTTP/1.1 200 OK\r\n${`X: ${"a".repeat(1_000)}\r\n`.repeat(100)}\r\n`),
    ],
  ])("one that %s leaves a write unknown", async (_name, answer) => {
    const at = await serveRaw(answer);
    const result = await send(connector([at]), { url: `http://${at}/`, method: "POST", body: "x" });
    expect(result).toMatchObject({ is: "ambiguous", code: "connection_lost" });
    expect(JSON.stringify(result)).not.toContain(at);
  });

  test("HO-09: our signal ends one that drips, at once", async () => {
    const at = await serveRaw((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
      const timer = setInterval(() => socket.write("x"), 5);
      socket.once("close", () => clearInterval(timer));
    });
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 50);
    expect(await get(connector([at]), { url: `http://${at}/` }, stop.signal)).toMatchObject({ is: "ambiguous" });
  });

  test("one that was stopped before it was sent was never sent", async () => {
    const { at, seen } = await serve(ok);
    const result = await send(connector([at]), { url: `http://${at}/`, method: "POST" }, AbortSignal.abort());
    expect(result).toMatchObject({ is: "failed", code: "action.unavailable" });
    expect(seen).toEqual([]);
  });
});

describe("sizes", () => {
  test("a claimed GiB is not waited for", async () => {
    const at = await serveRaw(
      (socket) => void socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1073741824\r\n\r\nabc"),
    );
    expect(await get(connector([at]), { url: `http://${at}/` })).toMatchObject({
      is: "failed",
      code: "action.result_too_large",
    });
    // What it wrote stays written, whatever it says about it.
    expect(await send(connector([at]), { url: `http://${at}/`, method: "POST" })).toMatchObject({ is: "unreadable" });
  });

  test("a body without an end is read to the bound", async () => {
    const piece = Buffer.alloc(1024 * 1024, "a");
    const { at } = await serve((_seen, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(piece));
      };
      response.on("drain", more);
      more();
    });
    expect(await get(connector([at]), { url: `http://${at}/` })).toMatchObject({ code: "action.result_too_large" });
  });

  test("a small answer that unpacks to a large one is read to the bound", async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024), { level: 9 });
    const { at } = await serve(({ url }, response) => {
      response.writeHead(200, { "Content-Encoding": url === "/odd" ? "x-odd" : "gzip" });
      response.end(url === "/bomb" ? bomb : url === "/small" ? gzipSync("packed") : "no gzip");
    });
    const of = connector([at]);
    expect(await get(of, { url: `http://${at}/bomb` })).toMatchObject({ code: "action.result_too_large" });
    expect(await get(of, { url: `http://${at}/small` })).toMatchObject({ value: { body: "packed" } });
    expect(await get(of, { url: `http://${at}/broken` })).toMatchObject({ is: "unreadable" });
    expect(await get(of, { url: `http://${at}/odd` })).toMatchObject({ is: "unreadable" });
  });

  test("a request body over 16 MiB is not sent", async () => {
    const { at, seen } = await serve(ok);
    const body = "x".repeat(17 * 1024 * 1024);
    expect(await send(connector([at]), { url: `http://${at}/`, method: "POST", body })).toMatchObject({
      code: "action.invalid_input",
    });
    expect(seen).toEqual([]);
  });
});

test("WX-42: only exact names are performed", async () => {
  const { at, seen } = await serve(ok);
  for (const name of ["http.GET", "http.get ", "http.constructor", "other.get", "http.delete"]) {
    const request = { action: { name }, args: { url: `http://${at}/` }, key: null } as unknown as CallRequest;
    expect((await connector([at]).call(request, never())).is).toBe("failed");
  }
  expect(seen).toEqual([]);
});
