import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import type { CallRequest, CallResult } from "../../catalog/connector.ts";
import { MessagingConnector } from "./messaging.ts";

const signal = new AbortController().signal;
const request = {
  action: { name: "messaging.post" },
  args: { channel: "ops", text: "hello\nthere" },
} as unknown as CallRequest;
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function to(url: string): MessagingConnector {
  return new MessagingConnector({
    name: "messaging",
    post: { to: "webhook", url: { env: "HOOK" } },
    resolveSecret: async () => url,
  });
}

async function hook(
  status: number,
  headers: { [name: string]: string } = {},
  body = "",
): Promise<{ url: string; got: string[] }> {
  const got: string[] = [];
  const server = createServer(async (incoming, response) => {
    let text = "";
    for await (const chunk of incoming) text += String(chunk);
    got.push(text);
    response.writeHead(status, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-token-path`, got };
}

describe("on the console", () => {
  test("each line with its channel, without the signs that repaint a terminal", async () => {
    const lines: string[] = [];
    const connector = new MessagingConnector({
      name: "messaging",
      post: { to: "console", say: (line) => lines.push(line) },
      resolveSecret: async () => "",
    });
    const odd = { ...request, args: { channel: "a\nb", text: "x\u001b[2J\ny" } };
    expect(await connector.call(odd, signal)).toEqual({ is: "ok", value: { ok: true, id: null } });
    expect(lines).toEqual(["[a b] x [2J", "[a b] y"]);
  });

  test("one that cannot be written to is a failure, and behind our signal nobody knows", async () => {
    const connector = new MessagingConnector({
      name: "messaging",
      post: {
        to: "console",
        say: () => {
          throw new Error("the pipe is closed");
        },
      },
      resolveSecret: async () => "",
    });
    expect(await connector.call(request, signal)).toMatchObject({ is: "failed", code: "action.failed" });
    expect(await connector.call(request, AbortSignal.abort())).toMatchObject({ is: "ambiguous" });
  });
});

describe("to a webhook", () => {
  test("one that our signal cuts off may have been posted", async () => {
    const stop = new AbortController();
    const server = createServer(() => stop.abort());
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closing.push(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    expect(await to(url).call(request, stop.signal)).toMatchObject({ is: "ambiguous", code: "connection_lost" });
  });

  test("as JSON; the id is the answer's", async () => {
    const { url, got } = await hook(200, {}, '{"id":"m-1"}');
    expect(await to(url).call(request, signal)).toEqual({ is: "ok", value: { ok: true, id: "m-1" } });
    expect(JSON.parse(got[0] ?? "")).toEqual({ channel: "ops", text: "hello\nthere" });
  });

  test.each<[number, Partial<CallResult> & { code?: string }]>([
    [204, { is: "ok" }],
    [403, { is: "failed", code: "action.auth" }],
    [429, { is: "failed", code: "action.rate_limited", retryAfter: 2_000 }],
    [503, { is: "failed", code: "action.unavailable" }],
    [504, { is: "ambiguous", code: "connection_lost" }],
    [500, { is: "failed", code: "action.failed" }],
    [404, { is: "failed", code: "action.failed" }],
  ])("an answer %i", async (status, expected) => {
    const { url } = await hook(status, { "retry-after": "2" });
    expect(await to(url).call(request, signal)).toMatchObject(expected);
  });

  test("a redirect is not followed", async () => {
    const other = await hook(200);
    const { url } = await hook(307, { location: other.url });
    expect((await to(url).call(request, signal)).is).not.toBe("ok");
    expect(other.got).toEqual([]);
  });

  test("one that is not there, and one that is no URL", async () => {
    const { url } = await hook(200);
    for (const close of closing.splice(0)) await close();
    const gone = await to(url).call(request, signal);
    expect(gone).toMatchObject({ is: "failed", code: "action.unavailable" });
    expect(JSON.stringify(gone)).not.toContain("secret-token-path");
    await expect(to("file:///etc/passwd").connect(signal)).rejects.toMatchObject({ code: "catalog.unavailable" });
    expect((await to("file:///etc/passwd").call(request, signal)).is).toBe("failed");
  });
});
