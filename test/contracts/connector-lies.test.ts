import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import type { CallResult } from "../../src/catalog/connector.ts";
import { toolDefinitionPin } from "../../src/catalog/tool-definition.ts";
import { Refusal } from "../../src/errors/fault.ts";
import type { ConnectionSettings } from "../../src/host/connectors/connection.ts";
import { McpConnector, type McpOptions, negotiationFor } from "../../src/host/connectors/mcp.ts";
import { isProcessAlive } from "../../src/host/processes/process-identity.ts";
import { never, requestOf } from "./connector.ts";

const liar = fileURLToPath(new URL("./servers/liar.mjs", import.meta.url));
const honest = fileURLToPath(new URL("./servers/honest.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "ambit-lies-"));
const open: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0)) await close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function connectorTo(args: string[], more: Partial<McpOptions> = {}): McpConnector {
  const connector = new McpConnector({
    name: "demo",
    server: { kind: "stdio", command: "node", args, cwd: fileURLToPath(new URL(".", import.meta.url)) },
    env: {},
    headers: {},
    actions: [{ name: "look" }],
    connections: [],
    resolveSecret: async () => "",
    pinOf: toolDefinitionPin,
    clock: systemClock,
    ...more,
  });
  open.push(() => connector.close());
  return connector;
}

async function refusal(connecting: Promise<unknown>): Promise<Refusal> {
  const error: unknown = await connecting.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(Refusal);
  return error as Refusal;
}

async function look(mode: string, times = 1): Promise<CallResult> {
  const connector = connectorTo([liar, mode]);
  await connector.connect(never());
  let result: CallResult | undefined;
  for (let i = 0; i < times; i++) result = await connector.call(requestOf("demo.look"), never());
  if (!result) throw new Error("no call");
  return result;
}

describe("a server that lies", () => {
  test("HO-08 (a): one that offers nothing connects, and its offer says so", async () => {
    expect(await connectorTo([liar, "empty"]).connect(never())).toEqual({ actions: {} });
  });

  test("HO-08 (b): one that cannot be started, ends at once or does not answer refuses the connection", async () => {
    const absent = connectorTo([], { server: { kind: "stdio", command: "/no/such/program", args: [], cwd: "/" } });
    const refused = await refusal(absent.connect(never()));
    expect(refused.code).toBe("catalog.unavailable");
    expect(refused.message).toContain("demo");
    const dead = await refusal(connectorTo([liar, "dead"]).connect(never()));
    expect(dead.code).toBe("catalog.unavailable");
    const mute = connectorTo([liar, "mute"], { connectDeadline: 300 });
    expect((await refusal(mute.connect(never()))).message).toMatch(/did not answer within 300ms/);
    expect(mute.processes()).toEqual([]);
  });

  test.each([
    ["console.error('no key k-12345678'); process.exit(3)", "exit code 3", "no key [redacted]"],
    ["process.kill(process.pid, 'SIGKILL')", "signal SIGKILL", null],
    ["process.stdin.destroy(); console.error('going'); setTimeout(() => process.exit(4), 100)", "exit code 4", "going"],
    ["console.error('x'.repeat(9000)); console.error('last'); process.exit(5)", "exit code 5", "last"],
    ["throw new Error('no configuration')", "exit code 1", "no configuration"],
  ])("mcp I4: of one that ends at its start the end is told, and the last lines, %s", async (code, end, said) => {
    const env = { KEY: { env: "KEY" } };
    const refused = await refusal(
      connectorTo(["-e", code], { env, resolveSecret: async () => "k-12345678" }).connect(never()),
    );
    expect(refused.message).toContain(`its process ended with ${end} before it answered`);
    if (said !== null) expect(refused.message).toContain(said);
    expect(refused.message).not.toContain("k-12345678");
    expect(refused.message.length).toBeLessThan(2_200);
  });

  test("HO-08 (c): a tool that disappears fails its call with action.unavailable", async () => {
    expect(await look("dropping", 1)).toEqual({ is: "ok", value: { text: "found" } });
    expect(await look("dropping", 2)).toMatchObject({ is: "failed", code: "action.unavailable" });
  });

  test("mcp I2: a definition that has changed after a restart is not called", async () => {
    const marker = join(folder, "marker");
    const connector = connectorTo([liar, "changing", marker]);
    await connector.connect(never());
    expect(await connector.call(requestOf("demo.look"), never())).toMatchObject({ is: "ambiguous" });
    const again = await connector.call(requestOf("demo.look"), never());
    expect(again).toMatchObject({ is: "failed", code: "action.unavailable" });
    expect(again.is === "failed" && again.message).toMatch(/changed/);
    expect(readFileSync(marker, "utf8")).toBe("started\nstarted\n");
  });

  test.each([
    "broken-frame",
    "broken-shape",
    "odd-answer",
    "code-text",
    "code-missing",
    "error-text",
    "both",
    "result-list",
    "result-number",
    "no-id",
    "null-id",
    "no-id-error",
    "no-version",
    "nested-id",
    "endless-line",
  ])("stdio-transport I1, %s: what cannot be read is unreadable, at once", async (mode) => {
    expect((await look(mode)).is).toBe("unreadable");
  });

  test.each(["batch", "json-log", "text-id"])("%s: what can be read is read", async (mode) => {
    expect(await look(mode, 2)).toEqual({ is: "ok", value: { text: "found" } });
  });

  test.each(["closes-output", "endless-line"])(
    "stdio-transport I2, I3, %s: its process is ended, and the next call starts it again",
    async (mode) => {
      const connector = connectorTo([liar, mode]);
      await connector.connect(never());
      const [child] = connector.processes();
      await connector.call(requestOf("demo.look"), never());
      await connector.call(requestOf("demo.look"), never());
      expect(connector.processes().map(({ pid }) => pid)).not.toContain(child?.pid);
      expect(isProcessAlive(child?.pid ?? 0, child?.startTime ?? "")).toBe(false);
    },
  );

  test("an answer that comes after its call was given up is nobody's, however it looks", async () => {
    const connector = connectorTo([liar, "late"]);
    await connector.connect(never());
    const stop = new AbortController();
    const given = connector.call(requestOf("demo.look"), stop.signal);
    await new Promise((resolve) => setTimeout(resolve, 50));
    stop.abort();
    expect(await given).toMatchObject({ is: "ambiguous", code: "connection_lost" });
    const next = connector.call(requestOf("demo.look"), never());
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await next).toEqual({ is: "ok", value: { text: "found" } });
    expect(await connector.call(requestOf("demo.look"), never())).toEqual({ is: "ok", value: { text: "found" } });
  });

  test("a list that has a tool twice refuses the connection, and names it", async () => {
    const refused = await refusal(connectorTo([liar, "twice"]).connect(never()));
    expect(refused.code).toBe("catalog.unavailable");
    expect(refused.message).toContain('the tool "look" twice');
  });

  test.each([
    [
      "a folder that is missing",
      "node",
      join(folder, "none"),
      `its working folder ${join(folder, "none")} does not exist`,
    ],
    ["a file in its place", "node", liar, `its working folder ${liar} is no folder`],
    ["an unknown program", "no-such-program", folder, 'there is no command "no-such-program" on the PATH'],
    ["a whole command line", "node x.mjs", folder, "what follows it belongs into args"],
    ["a path", "./no-such", folder, `relative paths start from ${folder}`],
    ["a text", liar, folder, "is not executable"],
  ])("%s is named, not what the system made of it", async (_what, command, cwd, said) => {
    const connector = connectorTo([], { server: { kind: "stdio", command, args: [], cwd } });
    const refused = await refusal(connector.connect(never()));
    expect(refused.code).toBe("catalog.unavailable");
    expect(refused.message).toContain(said);
  });

  test.each(["exits", "cut", "killed", "closes-output"])(
    "%s: an end in the middle of a call leaves its outcome unknown",
    async (mode) => {
      expect(await look(mode)).toMatchObject({ is: "ambiguous", code: "connection_lost" });
    },
  );

  test("words on its standard output do not disturb", async () => {
    expect(await look("noisy")).toEqual({ is: "ok", value: { text: "found" } });
  });

  test("isError is a failure with at most 4 KiB of its text", async () => {
    const result = await look("long-error");
    expect(result).toMatchObject({ is: "failed", code: "action.failed" });
    const message = result.is === "failed" ? result.message : "";
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(4_096);
    expect(message.startsWith("ää")).toBe(true);
    expect(message).not.toContain("\ufffd");
  });

  test("an error of the protocol is a failure", async () => {
    expect(await look("error")).toMatchObject({ is: "failed", code: "action.failed" });
  });

  test("mcp I1: one that never answers is left at our signal", async () => {
    const connector = connectorTo([liar, "silent"]);
    await connector.connect(never());
    const stop = new AbortController();
    const calling = connector.call(requestOf("demo.look"), stop.signal);
    await new Promise((resolve) => setTimeout(resolve, 50));
    stop.abort();
    expect(await calling).toMatchObject({ is: "ambiguous" });
  });

  test("mcp I4: a flood on its standard error is no harm, and is kept by nobody", async () => {
    const connector = connectorTo([liar, "flood"]);
    await connector.connect(never());
    expect(await connector.call(requestOf("demo.look"), never())).toMatchObject({ is: "ok" });
  });

  test("mcp I4: of what a server prints that does not start, the last lines stand in the refusal, without secrets", async () => {
    const print = `for (let i = 0; i < 50; i++) console.error("line " + i);
      console.error("x".repeat(1_990) + process.env.TOKEN); process.exit(1)`;
    const connector = connectorTo(["-e", print], {
      env: { TOKEN: { env: "T" } },
      resolveSecret: async () => "hunter2-and-more",
    });
    const { message } = (await refusal(connector.connect(never()))).fault;
    expect(message).toContain("line 49");
    expect(message).not.toContain("line 45");
    expect(message).not.toContain("xhun");
    expect(message.length).toBeLessThan(2_200);
  });

  test("an opening does not die with the first who asked for it", async () => {
    const connector = connectorTo([honest], { actions: [{ name: "echo" }] });
    const first = new AbortController();
    const gone = connector.connect(first.signal);
    const stays = connector.connect(never());
    first.abort();
    expect((await refusal(gone)).code).toBe("catalog.unavailable");
    expect(Object.keys((await stays).actions)).not.toEqual([]);
  });

  test("nor does a session that two calls wait for", async () => {
    const connector = connectorTo([honest], { actions: [{ name: "echo" }] });
    const first = new AbortController();
    const gone = connector.call(requestOf("demo.echo", { text: "a" }), first.signal);
    const stays = connector.call(requestOf("demo.echo", { text: "a" }), never());
    first.abort();
    expect((await gone).is).not.toBe("ok");
    expect(await stays).toMatchObject({ is: "ok" });
    expect(connector.processes()).toHaveLength(1);
  });
});

describe("DU-11: the processes of a connector", () => {
  test("are listed with their start time while they live, and end with it", async () => {
    const connector = connectorTo([honest], { actions: [{ name: "echo" }, { name: "die" }] });
    expect(connector.processes()).toEqual([]);
    await connector.connect(never());
    const [child] = connector.processes();
    expect(child?.pid).toBeGreaterThan(0);
    expect(isProcessAlive(child?.pid ?? 0, child?.startTime ?? "")).toBe(true);
    await connector.close();
    expect(isProcessAlive(child?.pid ?? 0, child?.startTime ?? "")).toBe(false);
    expect(connector.processes()).toEqual([]);
  });

  test("one that ignores the end of its input and SIGTERM is killed", async () => {
    const connector = connectorTo([liar, "stubborn"]);
    await connector.connect(never());
    const [child] = connector.processes();
    await connector.close();
    expect(isProcessAlive(child?.pid ?? 0, child?.startTime ?? "")).toBe(false);
  });

  test("mcp I5: a server is listed before anything is asked of it, at first and when it was started again", async () => {
    const marker = join(folder, "asked");
    const connector = connectorTo([honest], { actions: [{ name: "echo" }, { name: "die" }] });
    const seen: number[][] = [];
    connector.beforeUse(async () => void seen.push(connector.processes().map(({ pid }) => pid)));
    await connector.connect(never());
    const first = connector.processes().map(({ pid }) => pid);
    await connector.call(requestOf("demo.die"), never());
    expect(seen).toEqual([first]);
    await connector.call(requestOf("demo.echo", { text: "a" }), never());
    expect(seen).toEqual([first, connector.processes().map(({ pid }) => pid)]);
    expect(seen[1]).not.toEqual(first);

    const unlisted = connectorTo([liar, "marks", marker]);
    unlisted.beforeUse(() => Promise.reject(new Error("the store is gone")));
    await unlisted.connect(never());
    expect(await unlisted.call(requestOf("demo.look"), never())).toMatchObject({
      is: "failed",
      code: "action.unavailable",
      message: "the store is gone",
    });
    expect(readFileSync(marker, "utf8")).toBe("started\n");
  });

  test("mcp I2: after an end in the middle of a call the next call starts it again, once", async () => {
    const connector = connectorTo([honest], { actions: [{ name: "echo" }, { name: "die" }] });
    await connector.connect(never());
    const [before] = connector.processes();
    expect(await connector.call(requestOf("demo.die"), never())).toMatchObject({ is: "ambiguous" });
    expect(await connector.call(requestOf("demo.echo", { text: "a" }), never())).toMatchObject({ is: "ok" });
    expect(connector.processes()).toHaveLength(1);
    expect(connector.processes()[0]?.pid).not.toBe(before?.pid);
  });
});

describe("what a server is given and gives", () => {
  test("mcp I3: each connection has a server of its own, with what is its own", async () => {
    const connection = (name: string): ConnectionSettings => ({
      name,
      isDefault: name === "one",
      env: { [`OWN_${name}`]: "1" },
      headers: {},
    });
    const connections = [connection("one"), connection("two")];
    const connector = connectorTo([honest], { actions: [{ name: "environment" }], connections });
    for (const name of ["one", "two", "one"]) {
      const result = await connector.call(requestOf("demo.environment", {}, { connection: name }), never());
      const names = result.is === "ok" ? String((result.value as { text: string }).text).split(" ") : [];
      expect(names.filter((entry) => entry.startsWith("OWN_"))).toEqual([`OWN_${name}`]);
    }
    expect(connector.processes()).toHaveLength(2);
  });

  test("only safe variables of ours, and its own", async () => {
    process.env["AMBIT_TEST_SECRET"] = "do not hand on";
    const connector = connectorTo([honest], { actions: [{ name: "environment" }], env: { OWN: "1" } });
    await connector.connect(never());
    const result = await connector.call(requestOf("demo.environment"), never());
    delete process.env["AMBIT_TEST_SECRET"];
    const names = result.is === "ok" ? String((result.value as { text: string }).text).split(" ") : [];
    expect(names).toContain("OWN");
    expect(names).toContain("PATH");
    expect(names).not.toContain("AMBIT_TEST_SECRET");
  });

  test("the shapes of results: texts joined, other content as it came, another name for the tool", async () => {
    const connector = connectorTo([honest], { actions: [{ name: "two_words", tool: "words" }, { name: "picture" }] });
    const offer = await connector.connect(never());
    expect(offer.actions["demo.two_words"]?.pin).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(await connector.call(requestOf("demo.two_words"), never())).toEqual({
      is: "ok",
      value: { text: "one\ntwo" },
    });
    expect(await connector.call(requestOf("demo.picture"), never())).toMatchObject({
      is: "ok",
      value: { content: [{ type: "image", data: "aGk=" }] },
    });
  });

  test("a version of the manifest decides the handshake", () => {
    expect(negotiationFor(undefined)).toBe("legacy");
    expect(negotiationFor("2025-06-18")).toBe("legacy");
    expect(negotiationFor("2026-07-28")).toEqual({ pin: "2026-07-28" });
    expect(negotiationFor("latest")).toBe("legacy");
  });
});

describe("a server over HTTP that lies", () => {
  type Answer = (id: unknown, response: ServerResponse) => void;

  async function serve(answer: Answer): Promise<McpConnector> {
    const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
      if (request.method !== "POST") {
        response.writeHead(405).end();
        return;
      }
      let body = "";
      for await (const chunk of request) body += String(chunk);
      const { id, method } = JSON.parse(body) as { id?: unknown; method: string };
      const json = (value: unknown): void => {
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
      };
      if (id === undefined) response.writeHead(202).end();
      else if (method === "initialize") {
        const result = {
          protocolVersion: "2025-06-18",
          capabilities: { tools: {} },
          serverInfo: { name: "x", version: "1" },
        };
        json({ jsonrpc: "2.0", id, result });
      } else if (method === "tools/list") {
        json({ jsonrpc: "2.0", id, result: { tools: [{ name: "look", inputSchema: { type: "object" } }] } });
      } else answer(id, response);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    open.push(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    return connectorTo([], { server: { kind: "http", url } });
  }

  const cases: [string, Answer, Partial<CallResult> & { code?: string }][] = [
    [
      "no JSON",
      (_id, r) => r.writeHead(200, { "content-type": "application/json" }).end("{not json"),
      { is: "unreadable" },
    ],
    [
      "another content",
      (_id, r) => r.writeHead(200, { "content-type": "text/html" }).end("<p>hi"),
      { is: "unreadable" },
    ],
    [
      "a stream that ends early",
      (_id, r) => r.writeHead(200, { "content-type": "text/event-stream" }).end(": hi\n\n"),
      { is: "ambiguous", code: "connection_lost" },
    ],
    [
      "a stream of garbage",
      (_id, r) => r.writeHead(200, { "content-type": "text/event-stream" }).end("data: {oops\n\n"),
      { is: "unreadable" },
    ],
    [
      "a stream that stays open behind an answer that is none",
      (id, r) =>
        r
          .writeHead(200, { "content-type": "text/event-stream" })
          .write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, error: { code: "E", message: "no number" } })}\n\n`),
      { is: "unreadable" },
    ],
    [
      "an error whose code is no number",
      (id, r) =>
        r
          .writeHead(200, { "content-type": "application/json" })
          .end(JSON.stringify({ jsonrpc: "2.0", id, error: { code: null, message: "no number" } })),
      { is: "unreadable" },
    ],
    ["a cut connection", (_id, r) => r.socket?.destroy(), { is: "ambiguous", code: "connection_lost" }],
    ["401", (_id, r) => r.writeHead(401).end(), { is: "failed", code: "action.auth" }],
    ["429", (_id, r) => r.writeHead(429).end(), { is: "failed", code: "action.rate_limited" }],
    ["503", (_id, r) => r.writeHead(503).end(), { is: "failed", code: "action.unavailable" }],
    ["502", (_id, r) => r.writeHead(502).end(), { is: "ambiguous", code: "connection_lost" }],
    [
      "a redirect to another host",
      (_id, r) => r.writeHead(307, { location: "http://example.org/" }).end(),
      { is: "failed" },
    ],
  ];
  test.each(cases)("%s", async (_name, answer, expected) => {
    const connector = await serve(answer);
    await connector.connect(never());
    expect(await connector.call(requestOf("demo.look"), never())).toMatchObject(expected);
  });

  test("what one call got of garbage is not laid to the next", async () => {
    let calls = 0;
    const connector = await serve((_id, r) => {
      r.writeHead(200, { "content-type": "text/event-stream" }).end(calls++ === 0 ? "data: {oops\n\n" : ": hi\n\n");
    });
    await connector.connect(never());
    expect(await connector.call(requestOf("demo.look"), never())).toMatchObject({ is: "unreadable" });
    const next = await connector.call(requestOf("demo.look"), never());
    expect(next).toMatchObject({ is: "ambiguous", code: "connection_lost" });
  });

  test("one that is not there refuses the connection", async () => {
    const connector = connectorTo([], { server: { kind: "http", url: "http://127.0.0.1:1/mcp" } });
    expect((await refusal(connector.connect(never()))).code).toBe("catalog.unavailable");
  });
});
