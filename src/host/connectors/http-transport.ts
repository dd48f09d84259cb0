import type { FetchLike, JSONRPCMessage, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Clock } from "../../base/clock.ts";
import { isObject, parseJson } from "../../base/json.ts";
import { BROKEN_FRAME, LOST, PARSE_ERROR } from "./broken-answer.ts";

/** More than the largest result, escaped, and its frame. */
const MAX_RESPONSE_BYTES = 40 * 1024 * 1024;
/** What was in a stream reaches the protocol layer within moments of its end. */
const SETTLE_MS = 250;

type MakeTransport = (fetch: FetchLike) => StreamableHTTPClientTransport;

/**
 * MCP over streamable HTTP. The SDK goes on waiting when the stream that was to bring an answer ends without
 * it; here such a call ends: lost, or unreadable if something came that was no message. No answer is larger
 * than 40 MiB.
 */
export function watchedHttpTransport(make: MakeTransport, clock: Clock): StreamableHTTPClientTransport {
  const pending = new Set<string | number>();
  /** Of those, what was under way when something came that was no message. */
  const garbled = new Set<string | number>();
  const forget = (id: string | number): boolean => {
    garbled.delete(id);
    return pending.delete(id);
  };
  const settle = (id: string | number): void => {
    const isGarbled = garbled.has(id);
    if (!forget(id)) return;
    const error = isGarbled
      ? { code: PARSE_ERROR, message: "The server's answer cannot be read.", data: BROKEN_FRAME }
      : { code: PARSE_ERROR, message: "The connection to the server was lost.", data: LOST };
    const answer: JSONRPCMessage = { jsonrpc: "2.0", id, error };
    transport.onmessage?.(answer);
  };
  const watched: FetchLike = async (url, init) => {
    const id = init?.method === "POST" ? callId(init.body) : null;
    if (id !== null) pending.add(id);
    let response: Response;
    try {
      response = await fetch(url, init);
    } catch (error) {
      if (id !== null) forget(id);
      throw error;
    }
    if (init?.method !== "POST" || response.body === null) return response;
    let resumable = false;
    const body = bounded(
      response.body,
      (text) => {
        resumable ||= /^id:/m.test(text);
      },
      () => {
        // A stream with event ids is taken up again by the SDK.
        if (id !== null && !resumable) clock.after(SETTLE_MS, () => settle(id));
      },
    );
    return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers });
  };
  const transport = make(watched);
  transport.onmessage = (message) => {
    if ("id" in message && !("method" in message) && message.id !== undefined) forget(message.id);
  };
  transport.onerror = (error) => {
    if (error instanceof SyntaxError || error.name.includes("ZodError")) {
      for (const id of pending) garbled.add(id);
      // Servers may keep a stream open behind it: with one call under way there is no doubt what it was to answer.
      const [only] = pending.size === 1 ? [...pending] : [];
      if (only !== undefined) clock.after(SETTLE_MS, () => settle(only));
    }
    if (error.message.includes("Maximum reconnection attempts")) for (const id of [...pending]) settle(id);
  };
  return transport;
}

/** The id of the call in a request's body; null for all other messages. */
function callId(body: unknown): string | number | null {
  const parsed = typeof body === "string" ? parseJson(body) : null;
  if (!parsed?.ok || !isObject(parsed.value) || parsed.value["method"] !== "tools/call") return null;
  const { id } = parsed.value as { id?: unknown };
  return typeof id === "string" || typeof id === "number" ? id : null;
}

function bounded(
  stream: ReadableStream<Uint8Array>,
  seen: (text: string) => void,
  ended: () => void,
): ReadableStream<Uint8Array> {
  const reader = stream.getReader();
  let size = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          ended();
          return;
        }
        if (size < 4_096) seen(Buffer.from(value).toString("latin1").slice(0, 4_096));
        size += value.byteLength;
        if (size > MAX_RESPONSE_BYTES) throw new Error("The server's answer is too large.");
        controller.enqueue(value);
      } catch (error) {
        controller.error(error);
        ended();
        await reader.cancel().catch(() => {});
      }
    },
    async cancel(reason) {
      ended();
      await reader.cancel(reason).catch(() => {});
    },
  });
}
