import type { EngineRun } from "../app/engine.ts";
import { type OpenAsk, OpenAsks } from "../app/questions.ts";
import { isObject, type Json } from "../base/json.ts";
import type { RunRecord } from "../journal/event.ts";
import { exitOf, isPlainSuccess, type RunResult } from "../journal/result.ts";
import { counted, faultText, lasted } from "../view/words.ts";
import { dryRunLines } from "./dry-run-lines.ts";
import type { Interrupts } from "./interrupts.ts";
import { LiveBlock } from "./live-block.ts";
import type { CommonOptions } from "./options.ts";
import { recordLine } from "./record-line.ts";
import { shown } from "./shown.ts";
import { jsonText, oneLine, type Paint, safeText, type Terminal } from "./terminal.ts";
import { VERSION } from "./version.ts";
import { resumeLine, unknownLines, waitingLines } from "./waiting-text.ts";

/** How a run came to rest here, and what it asks of people. */
export interface Followed {
  result: RunResult;
  asks: OpenAsk[];
  /** Who started it. */
  initiator: string;
  /** The number of its last record. */
  seq: number;
}

/** What a printed run needs beside itself: the line that says where to look, and options that commands about it take. */
export interface Hints {
  goOn: string;
  /** `--store` and `--config` as they were given. */
  place?: CommonOptions;
}

/**
 * Follows a run to its end and prints it: events and result as NDJSON, or progress on stderr and the outputs
 * on stdout. Gives the exit code.
 */
export async function followRun(
  terminal: Terminal,
  run: EngineRun,
  hints: Hints,
  interrupts: Pick<Interrupts, "first"> = { first: null },
): Promise<number> {
  const { result, asks } = await follow(terminal, run);
  printResult(terminal, result, hints, asks);
  return exitOf(result, interrupts.first);
}

/** Prints the records of a run as they come, those behind `from`, until it rests. */
export async function follow(terminal: Terminal, run: EngineRun, from = 0): Promise<Followed> {
  const block = new LiveBlock(
    terminal,
    !terminal.json && process.stderr.isTTY === true && process.env["TERM"] !== "dumb",
  );
  const talk = new Talk(run, (line) => block.line(line));
  terminal.route((line) => talk.say(line));
  const asks = new OpenAsks();
  let initiator = "";
  let seq = from;
  try {
    for await (const record of run.events()) {
      asks.read(record);
      if (record.kind === "run.accepted") initiator = record.body.identity;
      if (record.seq <= from) continue;
      seq = record.seq;
      printRecord(terminal, record, block);
      talk.shown(record.seq);
    }
    talk.end();
    block.end();
    return { result: await run.result(), asks: asks.all(), initiator, seq };
  } finally {
    talk.end();
    block.end();
    terminal.route(null);
  }
}

/** Most lines of talk that are held back: beyond that the first go out, in whatever order. */
const MAX_HELD = 1_000;

/** What connectors say while a run goes on, in the order of its records: a line waits for those before it. */
class Talk {
  readonly #run: Pick<EngineRun, "seq">;
  readonly #print: (line: string) => void;
  readonly #held: { line: string; after: number }[] = [];
  #seen = 0;

  constructor(run: Pick<EngineRun, "seq">, print: (line: string) => void) {
    this.#run = run;
    this.#print = print;
  }

  say(line: string): void {
    this.#held.push({ line, after: this.#run.seq });
    this.shown(this.#seen);
  }

  /** The records up to this one are printed. */
  shown(seq: number): void {
    this.#seen = seq;
    for (;;) {
      const [first] = this.#held;
      if (first === undefined || (first.after > seq && this.#held.length <= MAX_HELD)) return;
      this.#held.shift();
      this.#print(first.line);
    }
  }

  end(): void {
    for (const { line } of this.#held.splice(0)) this.#print(line);
  }
}

/** A run that had ended before it was to go on: its outputs, and how it ended. Gives its exit code. */
export async function printEnded(terminal: Terminal, run: EngineRun): Promise<number> {
  const result = await run.result();
  terminal.err(`${oneLine(result.run)} is over already, and nothing was done. It ended like this:\n`);
  printResult(terminal, result, { goOn: `Look at it with: ambit runs show ${oneLine(result.run)}` });
  return exitOf(result);
}

export function printVersionLine(terminal: Terminal): void {
  if (terminal.json) terminal.out(`${jsonText({ type: "version", ambit: VERSION, record: 1 })}\n`);
}

function printRecord(terminal: Terminal, record: RunRecord, block: LiveBlock): void {
  if (terminal.json) {
    terminal.out(`${jsonText({ type: "event", ...record })}\n`);
    return;
  }
  const line = recordLine(record, terminal.color);
  if (line !== null) block.line(line);
  block.see(record);
}

export function printResult(
  terminal: Terminal,
  result: RunResult,
  { goOn, place = {} }: Hints,
  asks: readonly OpenAsk[] = [],
): void {
  if (terminal.json) {
    terminal.out(`${jsonText(result)}\n`);
    return;
  }
  for (const line of dryRunLines(result, terminal.color)) terminal.err(`${line}\n`);
  if (hasOutputs(result.outputs)) terminal.out(`${jsonText(shown(result.outputs), 2)}\n`);
  terminal.err(`${verdict(result, terminal)}\n`);
  if (result.status === "suspended") {
    for (const line of waitingLines(result, asks, terminal.color, place)) terminal.err(`${line}\n`);
    // The command that goes on, and not only one that shows it (DU-13).
    terminal.err(terminal.color.dim(`Go on with it: ${resumeLine(result.run, place)}\n`));
  } else for (const line of unknownLines(result, place)) terminal.err(`${terminal.color.dim(line)}\n`);
  if (result.status === "suspended" || result.unknown.length > 0)
    terminal.err(terminal.color.dim(`${safeText(goOn)}\n`));
}

function hasOutputs(outputs: Json): boolean {
  return isObject(outputs) && Object.keys(outputs).length > 0;
}

const WORDS: { [status: string]: string } = {
  completed: "Completed",
  stopped: "Stopped by the file",
  failed: "Failed",
  timed_out: "Timed out",
  cancelled: "Cancelled",
  suspended: "Suspended",
  running: "Still running",
};

function mark(status: string, plain: boolean, color: Paint): string {
  if (status === "suspended") return color.yellow("‖");
  if (status !== "completed" && status !== "stopped") return color.red("✗");
  return plain ? color.green("✓") : color.yellow("!");
}

/** The last line: never plain success where something was forgiven, skipped, cut or is unknown. */
function verdict(result: RunResult, terminal: Terminal): string {
  const { color } = terminal;
  const ended = WORDS[result.status] ?? result.status;
  const word = result.dry_run ? `Dry run: ${ended.toLowerCase()}` : ended;
  const plain = isPlainSuccess(result);
  const parts = [`${mark(result.status, plain, color)} ${color.bold(word)} in ${lasted(result.duration_ms)}`];
  if (result.error !== null) {
    const at = result.error.position === "" ? "" : ` at ${oneLine(result.error.position)}`;
    parts.push(`${color.red(oneLine(result.error.code))}${at}: ${safeText(faultText(result.error))}`);
  }
  const { counts } = result;
  parts.push(`${counted(counts.tool_attempts, "tool attempt")}, ${counted(counts.tokens, "token")}`);
  const lists: [string, readonly { at?: string; position?: string }[]][] = [
    ["forgiven", result.forgiven],
    ["skipped", result.skipped],
    ["truncated", result.truncated],
    ["unknown outcome", result.unknown],
    ["not done", result.suppressed ?? []],
    ["undetermined", result.undetermined ?? []],
    ["failed cleanup", result.cleanup.filter((entry) => entry.status === "failed")],
  ];
  for (const [name, entries] of lists) {
    if (entries.length === 0) continue;
    const places = entries.slice(0, 5).map((entry) => oneLine(entry.at ?? entry.position ?? "", 80));
    parts.push(
      color.yellow(`${name}: ${places.join(", ")}${entries.length > 5 ? `, and ${entries.length - 5} more` : ""}`),
    );
  }
  return parts.join(" · ");
}
