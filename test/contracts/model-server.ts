/** A loopback server that answers model calls byte by byte as a test wants: for faults that no mock produces. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { isObject } from "../../src/base/json.ts";

export interface SeenRequest {
  url: string;
  headers: IncomingHttpHeaders;
  body: { [key: string]: unknown };
  /** Whether the caller has hung up before the answer was over. */
  hungUp: boolean;
}

export type Answer = {
  status?: number;
  headers?: { [name: string]: string };
  /** Pieces of the body; an object becomes JSON. */
  pieces: (string | object)[];
  /** What comes after the last piece: the end, silence, or a broken connection. */
  after?: "end" | "silence" | "break";
};

export interface ModelServer {
  url: string;
  seen: SeenRequest[];
  /** The next answers, in order. Without one left it answers 500. */
  answer(...answers: Answer[]): void;
  /** Adds a piece to the answer that is silent. */
  push(piece: string): void;
  close(): Promise<void>;
}

export async function modelServer(): Promise<ModelServer> {
  const queue: Answer[] = [];
  const seen: SeenRequest[] = [];
  let open: ServerResponse | null = null;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8") || "{}");
      const entry: SeenRequest = {
        url: request.url ?? "",
        headers: request.headers,
        body: isObject(body) ? body : {},
        hungUp: false,
      };
      seen.push(entry);
      response.on("close", () => {
        entry.hungUp = !response.writableFinished;
      });
      const answer: Answer = queue.shift() ?? { status: 500, pieces: [{ error: { message: "nothing to say" } }] };
      const plain = answer.pieces.some((piece) => typeof piece === "object");
      response.writeHead(answer.status ?? 200, {
        "content-type": plain ? "application/json" : "text/event-stream",
        ...answer.headers,
      });
      for (const piece of answer.pieces) response.write(typeof piece === "string" ? piece : JSON.stringify(piece));
      if (answer.after === "silence") open = response;
      else if (answer.after === "break") setImmediate(() => response.destroy());
      else response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    answer: (...answers) => void queue.push(...answers),
    push: (piece) => void open?.write(piece),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** One event of a stream, named as Anthropic and OpenAI's Responses name theirs. */
export function event(data: { type: string; [key: string]: unknown }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** One piece of a chat completion. */
export function chunk(delta: object, finish: string | null = null, more: object = {}): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: "c-1", object: "chat.completion.chunk", created: 1, model: "m", choices, ...more })}\n\n`;
}

export const CHAT_DONE = "data: [DONE]\n\n";

/** The start of an Anthropic message. */
export function messageStart(usage: object = { input_tokens: 10, output_tokens: 1 }): string {
  const message = { id: "m-1", type: "message", role: "assistant", model: "m", content: [], usage };
  return event({ type: "message_start", message });
}

export function textBlock(index: number, text: string): string {
  return (
    event({ type: "content_block_start", index, content_block: { type: "text", text: "" } }) +
    event({ type: "content_block_delta", index, delta: { type: "text_delta", text } }) +
    event({ type: "content_block_stop", index })
  );
}

export function toolBlock(index: number, id: string, name: string, json: string): string {
  return (
    event({ type: "content_block_start", index, content_block: { type: "tool_use", id, name, input: {} } }) +
    event({ type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json: json } }) +
    event({ type: "content_block_stop", index })
  );
}

export function messageEnd(stop: string, usage: object | null = { output_tokens: 5 }): string {
  return (
    event({
      type: "message_delta",
      delta: { stop_reason: stop, stop_sequence: null },
      ...(usage === null ? {} : { usage }),
    }) + event({ type: "message_stop" })
  );
}

/** An answer of OpenAI's Responses with one function call. */
export function responseCall(callId: string, name: string, args: string, usage: object | null): string {
  const item = { type: "function_call", id: "fc_1", call_id: callId, name, arguments: "", status: "in_progress" };
  const response = { id: "r-1", object: "response", created_at: 1, model: "m", status: "in_progress", output: [] };
  return (
    event({ type: "response.created", response }) +
    event({ type: "response.output_item.added", output_index: 0, item }) +
    event({ type: "response.function_call_arguments.delta", item_id: "fc_1", output_index: 0, delta: args }) +
    event({ type: "response.function_call_arguments.done", item_id: "fc_1", output_index: 0, arguments: args }) +
    event({
      type: "response.output_item.done",
      output_index: 0,
      item: { ...item, arguments: args, status: "completed" },
    }) +
    event({
      type: "response.completed",
      response: { ...response, status: "completed", ...(usage === null ? {} : { usage }) },
    })
  );
}
