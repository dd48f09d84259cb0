// MCP over the standard streams of a child process.
//
// The SDK has such a transport; this one differs where a run needs it to: the server leads a process group of
// its own (a Ctrl-C in the terminal must reach the engine, which then still needs the server for cleanups, and
// what the server started must end with it), its end is noticed at `exit` even if somebody keeps its pipes
// open, and a broken frame ends the call it answers instead of being dropped.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { Clock } from "../../base/clock.ts";
import { isObject, MAX_JSON_DEPTH, parseJson } from "../../base/json.ts";
import { isProcessAlive, startTimeOf } from "../stores/process-identity.ts";
import { endProcess, type ProcessId } from "./child-process.ts";

export interface StdioOptions {
  command: string;
  args: readonly string[];
  env: { readonly [name: string]: string };
  cwd: string;
  clock: Clock;
  /** Complete lines of the server's standard error. */
  onStderr: (line: string) => void;
}

/** JSON-RPC's own code for what cannot be parsed; `data` tells ours from one that a server sent. */
export const PARSE_ERROR = -32_700;
export const BROKEN_FRAME = "ambit.broken_frame";
export const LOST = "ambit.connection_lost";

/** A line may hold a result of 16 MiB, escaped. */
const MAX_LINE_BYTES = 40 * 1024 * 1024;
const MAX_STDERR_LINE = 2_000;
const GRACE = { before: 1_000, after: 2_000 };

/** A result as deep as ours may be, within its envelope. */
const MESSAGE_DEPTH = MAX_JSON_DEPTH + 16;

/** Servers that run. A process that ends without closing them (a second Ctrl-C) takes them along. */
const live = new Set<number>();

process.on("exit", () => {
  for (const pid of live) {
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // It has just ended.
    }
  }
});

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: StdioOptions;
  readonly #pending = new Set<string | number>();
  #child: ChildProcessWithoutNullStreams | null = null;
  #id: ProcessId | null = null;
  #chunks: Buffer[] = [];
  #size = 0;
  #closed = false;

  constructor(options: StdioOptions) {
    this.#options = options;
  }

  /** The server's process while it runs. */
  get process(): ProcessId | null {
    return this.#id !== null && isProcessAlive(this.#id.pid, this.#id.startTime) ? this.#id : null;
  }

  start(): Promise<void> {
    const { command, args, env, cwd } = this.#options;
    return new Promise((resolve, reject) => {
      const child = spawn(command, [...args], {
        env: { ...env },
        cwd,
        detached: true,
        shell: false,
        windowsHide: true,
      });
      this.#child = child;
      child.once("spawn", () => {
        const pid = child.pid ?? 0;
        this.#id = { pid, startTime: startTimeOf(pid) };
        live.add(pid);
        resolve();
      });
      child.once("error", (error) => {
        reject(error);
        this.#end();
      });
      child.once("exit", () => {
        live.delete(child.pid ?? 0);
        // What it said before it went is still in the pipe; nobody else's open pipe may keep us waiting.
        setImmediate(() => this.#end());
      });
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on("error", () => {});
      child.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
      this.#followStderr(child);
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const child = this.#child;
    if (child === null || this.#closed) throw new Error("The server is not running.");
    if ("id" in message && "method" in message && message.method === "tools/call" && message.id !== undefined) {
      this.#pending.add(message.id);
    }
    await new Promise<void>((resolve, reject) => {
      child.stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
    });
  }

  async close(): Promise<void> {
    const id = this.#id;
    this.#child?.stdin.end();
    if (id !== null) await endProcess(id, this.#options.clock, GRACE);
    this.#end();
  }

  #end(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#chunks = [];
    const child = this.#child;
    child?.stdin.destroy();
    child?.stdout.destroy();
    child?.stderr.destroy();
    this.onclose?.();
  }

  #read(chunk: Buffer): void {
    let rest = chunk;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      this.#chunks.push(rest.subarray(0, end));
      const line = Buffer.concat(this.#chunks).toString("utf8");
      this.#chunks = [];
      this.#size = 0;
      rest = rest.subarray(end + 1);
      this.#line(line.endsWith("\r") ? line.slice(0, -1) : line);
      if (this.#closed) return;
    }
    this.#chunks.push(rest);
    this.#size += rest.length;
    if (this.#size > MAX_LINE_BYTES) {
      this.onerror?.(new Error("The server sent a line that is too long."));
      void this.close();
    }
  }

  #line(line: string): void {
    if (line.trim() === "") return;
    const parsed = parseJson(line, MESSAGE_DEPTH);
    if (!parsed.ok || !isJsonRpc(parsed.value)) {
      this.#broken(line);
      return;
    }
    const message = parsed.value as unknown as JSONRPCMessage;
    if ("id" in message && message.id !== undefined && !("method" in message)) this.#pending.delete(message.id);
    this.onmessage?.(message);
  }

  /**
   * A line that is no message. Servers print words where they must not, and those are passed over; what looks
   * like a message was the answer to the call whose id it shows, or to the only one there is.
   */
  #broken(line: string): void {
    this.onerror?.(new Error("The server sent a line that is no message."));
    if (!line.trimStart().startsWith("{")) return;
    const shown = /"id"\s*:\s*(\d{1,15})\b/.exec(line.slice(0, 64 * 1024));
    const id = shown ? Number(shown[1]) : this.#pending.size === 1 ? [...this.#pending][0] : undefined;
    if (id === undefined || !this.#pending.delete(id)) return;
    const error = { code: PARSE_ERROR, message: "The server's answer cannot be read.", data: BROKEN_FRAME };
    this.onmessage?.({ jsonrpc: "2.0", id, error });
  }

  #followStderr(child: ChildProcessWithoutNullStreams): void {
    let line = "";
    child.stderr.setEncoding("utf8");
    child.stderr.on("data", (text: string) => {
      for (const [i, part] of text.split("\n").entries()) {
        if (i > 0) {
          this.#options.onStderr(line);
          line = "";
        }
        line = (line + part).slice(0, MAX_STDERR_LINE);
      }
    });
    child.stderr.on("close", () => {
      if (line !== "") this.#options.onStderr(line);
      line = "";
    });
  }
}

function isJsonRpc(value: unknown): boolean {
  if (!isObject(value) || value["jsonrpc"] !== "2.0") return false;
  if (typeof value["method"] === "string") return true;
  const { id } = value as { id?: unknown };
  if (typeof id !== "string" && typeof id !== "number") return false;
  return isObject(value["result"]) || isObject(value["error"]);
}
