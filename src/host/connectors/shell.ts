// `shell.run`: command lines that the deployment declares, and no others.
//
// I1: nothing of a call is read by a shell: a line runs under one only if the operator wrote all of it.
// I2: a command sees PATH, LANG and its folder; no variable of the engine, and so no secret of it.
// I3: the whole group of a command ends with its call: SIGTERM at the signal, SIGKILL after a grace, and at the
//     command's own end what it left behind.
// I4: what a command prints is kept up to a bound and read to its end, so that it never blocks on a full pipe.
import { type ChildProcess, spawn } from "node:child_process";
import { stat } from "node:fs/promises";
import { type Clock, sleep } from "../../base/clock.ts";
import type { CallRequest, CallResult, Connector, Offer } from "../../catalog/connector.ts";
import { endProcess, type ProcessId } from "../processes/child-process.ts";
import { startTimeOf } from "../processes/process-identity.ts";
import { type DeclaredCommand, matchCommand, type Started } from "./command-line.ts";
import { unavailable } from "./connection.ts";
import { guardedCall } from "./guarded.ts";
import { Scrubber } from "./scrubber.ts";

export interface ShellOptions {
  name: string;
  commands: readonly DeclaredCommand[];
  /** Absolute. */
  cwd: string;
  /** Where programs are looked for. */
  path: string;
  clock: Clock;
}

const MAX_STREAM_BYTES = 64 * 1024;
const KILL_AFTER_MS = 2_000;
/** What was printed before the end is in the pipe by then; a child that went on living may hold it open for ever. */
const DRAIN_MS = 250;

export class ShellConnector implements Connector {
  readonly name: string;
  readonly #options: ShellOptions;
  readonly #scrubber = new Scrubber();
  readonly #live = new Map<ChildProcess, ProcessId>();

  constructor(options: ShellOptions) {
    this.name = options.name;
    this.#options = options;
  }

  async connect(_signal: AbortSignal): Promise<Offer> {
    const { commands, cwd } = this.#options;
    if (commands.length === 0) {
      throw unavailable(this.name, "ambit.yaml declares no command (shell: { commands: [...] })");
    }
    const isFolder = await stat(cwd).then(
      (found) => found.isDirectory(),
      () => false,
    );
    if (!isFolder) throw unavailable(this.name, "its cwd in ambit.yaml is no folder");
    return { actions: { [`${this.name}.run`]: { pin: null } } };
  }

  call(request: CallRequest, signal: AbortSignal): Promise<CallResult> {
    return guardedCall(request, signal, this.#scrubber, () => this.#call(request, signal));
  }

  async #call(request: CallRequest, signal: AbortSignal): Promise<CallResult> {
    if (request.action.name !== `${this.name}.run`) {
      return { is: "failed", code: "action.unavailable", message: `There is no action ${request.action.name}.` };
    }
    const { command, stdin } = request.args;
    const match = matchCommand(this.#options.commands, typeof command === "string" ? command : "");
    if (match.is === "refused") return { is: "failed", code: "action.invalid_input", message: match.why };
    if (match.is === "none") {
      const message = "The command is none of those that ambit.yaml declares (shell: { commands: [...] }).";
      return { is: "failed", code: "action.invalid_input", message };
    }
    // Nothing has been started yet, and now nothing will be.
    if (signal.aborted) return { is: "failed", code: "action.unavailable", message: "Stopped before it was started." };
    return this.#run(match.start, typeof stdin === "string" ? stdin : "", signal);
  }

  async #run(start: Started, stdin: string, signal: AbortSignal): Promise<CallResult> {
    const { cwd, path, clock } = this.#options;
    const child = spawn(start.file, start.args, {
      cwd,
      env: { PATH: path, LANG: "C.UTF-8" },
      shell: false,
      // The leader of a group of its own, so that what it starts ends with it (I3).
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
      windowsHide: true,
    });
    const stdout = new Kept(child.stdout);
    const stderr = new Kept(child.stderr);
    child.stdin.on("error", () => {
      // A command that reads no input closes it.
    });
    const ended = new Promise<{ code: number | null; by: string | null } | Error>((resolve) => {
      child.once("error", resolve);
      child.once("exit", (code, by) => resolve({ code, by }));
    });
    const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
    if (child.pid === undefined) {
      const error = await ended;
      const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
      return { is: "failed", code: "action.unavailable", message: `The command cannot be started (${code}).` };
    }
    const id: ProcessId = { pid: child.pid, startTime: startTimeOf(child.pid) };
    this.#live.set(child, id);
    const stop = (): void => void endProcess(id, clock, { before: 0, after: KILL_AFTER_MS });
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    child.stdin.end(stdin);
    try {
      const end = await ended;
      const drained = new AbortController();
      await Promise.race([closed, sleep(clock, DRAIN_MS, drained.signal)]);
      drained.abort();
      await endProcess(id, clock, { before: 0, after: KILL_AFTER_MS });
      if (signal.aborted) return { is: "ambiguous", code: "connection_lost", message: "The command was cut off." };
      if (end instanceof Error) return { is: "ambiguous", code: "connection_lost", message: "The command was lost." };
      const said = { stdout: stdout.text(), stderr: stderr.text() };
      if (end.code === 0) return { is: "ok", value: said };
      const how = end.code === null ? `was ended by ${end.by ?? "a signal"}` : `ended with ${end.code}`;
      const details = { exit: end.code, ...(end.by === null ? {} : { signal: end.by }), ...said };
      return { is: "failed", code: "shell.exit", message: `The command ${how}.`, details };
    } finally {
      signal.removeEventListener("abort", stop);
      child.stdout.destroy();
      child.stderr.destroy();
      this.#live.delete(child);
    }
  }

  processes(): ProcessId[] {
    return [...this.#live.values()];
  }

  async close(): Promise<void> {
    const { clock } = this.#options;
    await Promise.all(this.processes().map((id) => endProcess(id, clock, { before: 0, after: KILL_AFTER_MS })));
  }
}

/** The first 64 KiB of a stream, and how much there was. */
class Kept {
  readonly #chunks: Buffer[] = [];
  #kept = 0;
  #size = 0;

  constructor(stream: NodeJS.ReadableStream) {
    stream.on("error", () => {
      // What came before it is kept.
    });
    stream.on("data", (chunk: Buffer) => {
      this.#size += chunk.length;
      const part = chunk.subarray(0, MAX_STREAM_BYTES - this.#kept);
      this.#kept += part.length;
      if (part.length > 0) this.#chunks.push(part);
    });
  }

  /** With a mark where it was cut: a cut text must not look whole. */
  text(): string {
    const bytes = Buffer.concat(this.#chunks);
    if (this.#size <= MAX_STREAM_BYTES) return fitting(bytes);
    const mark = `\n[cut: ${this.#size} bytes in all]`;
    return fitting(bytes.subarray(0, MAX_STREAM_BYTES - mark.length)).replace(/\ufffd+$/, "") + mark;
  }
}

/** What is no UTF-8 stands as U+FFFD, which takes more room than the byte that it stands for. */
function fitting(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  if (Buffer.byteLength(text) <= MAX_STREAM_BYTES) return text;
  return Buffer.from(text, "utf8")
    .subarray(0, MAX_STREAM_BYTES)
    .toString("utf8")
    .replace(/\ufffd$/, "");
}
