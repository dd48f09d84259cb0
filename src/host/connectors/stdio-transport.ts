// MCP over the standard streams of a child process.
//
// The SDK has such a transport; this one differs where a run needs it to: the server leads a process group of
// its own (a Ctrl-C in the terminal must reach the engine, which then still needs the server for cleanups, and
// what the server started must end with it), and its end is noticed at `exit` even if somebody keeps its pipes
// open.
//
// I1: whatever a server says in the place of an answer ends the request at once, where it can be told which one
//     is meant: the one whose id is shown, or the only one there is.
// I2: a server that can answer no more (it ended, closed its output, sends a line without end) ends all requests
//     at once; what is left of its process is ended behind that.
// I3: of a server that says too much no more than one line is kept.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { type Clock, sleep } from "../../base/clock.ts";
import { isObject, type Json, MAX_JSON_DEPTH, parseJson } from "../../base/json.ts";
import { endProcess, type ProcessId } from "../processes/child-process.ts";
import { isProcessAlive, startTimeOf } from "../processes/process-identity.ts";
import { BROKEN_FRAME, PARSE_ERROR } from "./broken-answer.ts";
import { notStarted } from "./not-started.ts";

export interface StdioOptions {
  command: string;
  args: readonly string[];
  env: { readonly [name: string]: string };
  cwd: string;
  clock: Clock;
  /** Complete lines of the server's standard error. */
  onStderr: (line: string) => void;
  /** Whether the protocol layer takes a message as the answer to a request; it passes over all others. */
  isAnswer: (message: unknown) => boolean;
}

/** A line may hold a result of 16 MiB, escaped. */
const MAX_LINE_BYTES = 40 * 1024 * 1024;
const MAX_STDERR_LINE = 2_000;
const GRACE = { before: 1_000, after: 2_000 };

/** How much later than its closed pipes the end of a process, and what it said last, may show. */
const END_SHOWS_MS = 500;

/** A result as deep as ours may be, within its envelope. */
const MESSAGE_DEPTH = MAX_JSON_DEPTH + 16;

/** What answers have, whole or not. */
const ANSWER_KEYS = ["jsonrpc", "id", "result", "error"];

/** Servers that run. A process that ends without closing them (a second Ctrl-C) takes them along. */
const live = new Set<number>();

let takesAlong = false;

/** Told to the process with the first server only: who speaks to servers over HTTP has nothing to take along. */
function takeAlongAtExit(): void {
  if (takesAlong) return;
  takesAlong = true;
  process.on("exit", () => {
    for (const pid of live) {
      try {
        process.kill(-pid, "SIGKILL");
      } catch {
        // It has just ended.
      }
    }
  });
}

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: StdioOptions;
  /** Requests that have neither been answered nor given up. */
  readonly #pending = new Set<string | number>();
  #child: ChildProcessWithoutNullStreams | null = null;
  #id: ProcessId | null = null;
  #chunks: Buffer[] = [];
  #size = 0;
  #closed = false;
  #ending: Promise<void> | null = null;
  /** How its process ended while nobody had asked it to. */
  #ended: string | null = null;
  /** It takes or says nothing any more, whether its process is known to have ended or not. */
  #silent = false;
  readonly #gone = new AbortController();

  constructor(options: StdioOptions) {
    this.#options = options;
  }

  /** The server's process while it runs. */
  get process(): ProcessId | null {
    return this.#id !== null && isProcessAlive(this.#id.pid, this.#id.startTime) ? this.#id : null;
  }

  /**
   * How the server ended of itself: `exit code 3`, `signal SIGKILL`; null where it lives or we have ended it.
   * The end of a process shows later than its closed pipes do: where those say so, it is waited for, for a moment.
   */
  async endOfItself(): Promise<string | null> {
    if (this.#silent && this.#ending === null) await sleep(this.#options.clock, END_SHOWS_MS, this.#gone.signal);
    return this.#ended;
  }

  start(): Promise<void> {
    const { command, args, env, cwd } = this.#options;
    return new Promise((resolve, reject) => {
      let child: ChildProcessWithoutNullStreams;
      try {
        child = spawn(command, [...args], { env: { ...env }, cwd, detached: true, shell: false, windowsHide: true });
      } catch (error) {
        // Some of what goes wrong is thrown, and the rest is told by an event.
        reject(notStarted(error, command, cwd));
        return;
      }
      this.#child = child;
      const { pid } = child;
      if (pid !== undefined) {
        this.#id = { pid, startTime: startTimeOf(pid) };
        takeAlongAtExit();
        live.add(pid);
      }
      child.once("spawn", resolve);
      child.on("error", (error) => {
        reject(notStarted(error, command, cwd));
        this.#end();
      });
      child.once("exit", (code, signal) => {
        if (pid !== undefined) live.delete(pid);
        if (this.#ending === null) this.#ended = signal === null ? `exit code ${code}` : `signal ${signal}`;
        // What it said before it went is still in the pipes; nobody else's open pipe may keep us waiting.
        const last = this.#options.clock.after(END_SHOWS_MS, () => this.#gone.abort());
        child.stderr.once("close", () => {
          last.cancel();
          this.#gone.abort();
        });
        setImmediate(() => this.#end());
      });
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on("error", () => {});
      child.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
      child.stdout.once("end", () => this.#giveUp());
      this.#followStderr(child);
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const child = this.#child;
    if (child === null || this.#closed) throw new Error("The server is not running.");
    this.#note(message);
    await new Promise<void>((resolve, reject) => {
      child.stdin.write(`${JSON.stringify(message)}\n`, (error) => {
        if (!error) return resolve();
        this.#silent = true;
        reject(error);
      });
    });
  }

  /** Ends the server, and waits for its end. */
  close(): Promise<void> {
    this.#ending ??= this.#endServer();
    return this.#ending;
  }

  async #endServer(): Promise<void> {
    const id = this.#id;
    this.#child?.stdin.end();
    if (id !== null) await endProcess(id, this.#options.clock, GRACE);
    this.#end();
    this.#child?.stderr.destroy();
  }

  #note(message: JSONRPCMessage): void {
    if (!("method" in message)) return;
    if ("id" in message && message.id !== undefined) this.#pending.add(message.id);
    if (message.method !== "notifications/cancelled") return;
    const id = message.params?.["requestId"];
    if (typeof id === "string" || typeof id === "number") this.#pending.delete(id);
  }

  /** Nothing can be answered any more (I2). */
  #giveUp(): void {
    this.#end();
    void this.endOfItself().then(() => this.close());
  }

  #end(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#silent = true;
    this.#chunks = [];
    const child = this.#child;
    child?.stdin.destroy();
    child?.stdout.destroy();
    this.onclose?.();
  }

  #read(chunk: Buffer): void {
    if (this.#closed) return;
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
    if (this.#size <= MAX_LINE_BYTES) return;
    this.#unreadable(this.#onlyOne(), "The server's answer is longer than 40 MiB.");
    this.#giveUp();
  }

  #line(line: string): void {
    if (line.trim() === "") return;
    const parsed = parseJson(line, MESSAGE_DEPTH);
    if (!parsed.ok) this.#garbled(line);
    // Older versions of the protocol let several messages stand in one line.
    else if (Array.isArray(parsed.value)) for (const item of parsed.value) this.#message(item);
    else this.#message(parsed.value);
  }

  #message(value: Json): void {
    if (!isObject(value)) return;
    if (typeof value["method"] === "string") {
      this.onmessage?.(value as unknown as JSONRPCMessage);
      return;
    }
    // A log in JSON is no answer, and no harm.
    if (!ANSWER_KEYS.some((key) => Object.hasOwn(value, key))) return;
    const { id } = value as { id?: unknown };
    const named = typeof id === "string" || Number.isSafeInteger(id);
    if (named && this.#options.isAnswer(value)) {
      // The protocol layer takes "7" for 7.
      this.#pending.delete(Number(id));
      this.onmessage?.(value as unknown as JSONRPCMessage);
      return;
    }
    this.#unreadable(named ? Number(id) : this.#onlyOne(), "The server's answer cannot be read.");
  }

  /** Servers print words where they must not, and those are passed over; what begins as a message was meant as one. */
  #garbled(line: string): void {
    if (!line.trimStart().startsWith("{")) return;
    const shown = /"id"\s*:\s*(\d{1,15})\b/.exec(line.slice(0, 64 * 1024));
    this.#unreadable(shown ? Number(shown[1]) : this.#onlyOne(), "The server's answer cannot be read.");
  }

  #onlyOne(): string | number | undefined {
    return this.#pending.size === 1 ? [...this.#pending][0] : undefined;
  }

  #unreadable(id: string | number | undefined, message: string): void {
    this.onerror?.(new Error("The server sent something that is no message."));
    if (id === undefined || !this.#pending.delete(id)) return;
    this.onmessage?.({ jsonrpc: "2.0", id, error: { code: PARSE_ERROR, message, data: BROKEN_FRAME } });
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
        // Cut so that a secret across the cut can still be told (base/secret-texts.ts).
        if (line.length <= MAX_STDERR_LINE) line += part;
        if (line.length > MAX_STDERR_LINE) line = `${line.slice(0, MAX_STDERR_LINE - 2)}...`;
      }
    });
    child.stderr.on("close", () => {
      if (line !== "") this.#options.onStderr(line);
      line = "";
    });
  }
}
