import { isInterrupted } from "../../app/open-runs.ts";
import { readRunFile, readSavedRun, type SavedRun } from "../../app/saved-run.ts";
import { sleep, systemClock } from "../../base/clock.ts";
import { didYouMean } from "../../base/nearest.ts";
import { isAlive } from "../../host/processes/process-identity.ts";
import { exportLine } from "../../journal/export.ts";
import { toResult } from "../../journal/fold.ts";
import type { Journal, Owner, RunHead } from "../../journal/journal.ts";
import { OUTCOMES, type RunStatus } from "../../journal/outcome.ts";
import { runView } from "../../view/run-view.ts";
import type { StepNode } from "../../view/step-tree.ts";
import { Timeline } from "../../view/timeline.ts";
import { counted, lasted } from "../../view/words.ts";
import { dryRunLines } from "../dry-run-lines.ts";
import { withEngine } from "../engine-command.ts";
import { MAX_RUN_BYTES, readNamed } from "../named-file.ts";
import { type CommonOptions, usage } from "../options.ts";
import { recordLine } from "../record-line.ts";
import { shown } from "../shown.ts";
import { escapedJson, jsonText, oneLine, type Paint, safeText, type Terminal } from "../terminal.ts";
import { VERSION } from "../version.ts";

const MOST_LISTED = 1_000;
const TAIL_EVERY_MS = 100;

export interface ListOptions extends CommonOptions {
  status?: string;
  workflow?: string;
  limit?: string;
}

export function listCommand(options: ListOptions): Promise<number> {
  return withEngine(options, "ambit runs list", async (engine, terminal) => {
    const limit = Number(options.limit ?? "20");
    if (!Number.isInteger(limit) || limit < 1 || limit > MOST_LISTED) throw usage(`--limit takes 1 to ${MOST_LISTED}.`);
    const { status } = options;
    if (status !== undefined && !(STATUSES as readonly string[]).includes(status)) {
      const near = didYouMean(status, STATUSES);
      throw usage(
        `--status takes ${STATUSES.join(", ")}, not ${JSON.stringify(status)}.${near === "" ? "" : ` ${near}`}`,
      );
    }
    const journal = await engine.journal(null);
    const heads = await journal.list({
      limit,
      ...(options.status === undefined ? {} : { status: options.status }),
      ...(options.workflow === undefined ? {} : { name: options.workflow }),
    });
    const dry = await dryRunsAmong(journal, heads);
    if (terminal.json) terminal.out(`${jsonText({ runs: heads.map((head) => headJson(head, dry.has(head.run))) })}\n`);
    else if (heads.length === 0) terminal.err(`${noRuns(options, engine.storePath)}\n`);
    else for (const head of heads) terminal.out(`${headLine(head, dry.has(head.run), terminal.color)}\n`);
    if (!terminal.json && heads.some(isInterrupted)) {
      terminal.err("Interrupted runs have no process any more: ambit resume RUN goes on with one.\n");
    }
    return 0;
  });
}

const STATUSES: readonly RunStatus[] = ["running", ...OUTCOMES];

function noRuns({ status, workflow }: ListOptions, store: string | null): string {
  const filters = [
    status === undefined ? "" : `with the status ${status}`,
    workflow === undefined ? "" : `of the workflow ${oneLine(workflow)}`,
  ].filter((part) => part !== "");
  if (filters.length > 0) return `No runs ${filters.join(" and ")}. All runs: ambit runs list`;
  return `No runs yet${store === null ? "" : ` in ${oneLine(store, 400)}`}. Start one with: ambit run FILE`;
}

/** Which of the runs did nothing but what a dry run may: their first records say so. */
async function dryRunsAmong(journal: Journal, heads: readonly RunHead[]): Promise<ReadonlySet<string>> {
  const dry = new Set<string>();
  for (const { run } of heads) {
    const [accepted] = await journal.read(run, 1, 1).catch(() => []);
    if (accepted?.body["dry_run"] === true) dry.add(run);
  }
  return dry;
}

function headJson(head: RunHead, dryRun: boolean): { [key: string]: unknown } {
  const { run, name, status, createdAt, updatedAt, records, owner } = head;
  return {
    run,
    workflow: name,
    status,
    interrupted: isInterrupted(head),
    created_at: createdAt,
    updated_at: updatedAt,
    events: records,
    dry_run: dryRun,
    owner: ownerJson(owner),
  };
}

/** `alive`: null for a process of another place, which cannot be asked. */
function ownerJson(owner: Owner | null): { [key: string]: unknown } | null {
  return owner === null ? null : { pid: owner.pid, label: owner.label, alive: isAlive(owner) };
}

function headLine(head: RunHead, dryRun: boolean, color: Paint): string {
  const word = isInterrupted(head) ? "interrupted" : head.status.replace("_", " ");
  const tint =
    head.status === "completed"
      ? color.green
      : head.status === "failed" || head.status === "timed_out"
        ? color.red
        : color.yellow;
  const gone = head.owner !== null && isAlive(head.owner) === false;
  const owner =
    head.owner === null
      ? ""
      : gone
        ? color.yellow(` pid ${head.owner.pid} is gone`)
        : color.dim(` pid ${head.owner.pid}`);
  return `${oneLine(head.run)}  ${tint(oneLine(word).padEnd(11))}  ${oneLine(head.name, 40)}  ${color.dim(head.createdAt)}${dryRun ? color.yellow(" dry run") : ""}${owner}`;
}

export interface ShowOptions extends CommonOptions {
  step?: string;
  events?: boolean;
  failed?: boolean;
}

export function showCommand(run: string, options: ShowOptions): Promise<number> {
  return withEngine(options, "ambit runs show", async (engine, terminal) => {
    const journal = await engine.journal(null);
    const head = await journal.find(options.failed ? "@failed" : run);
    const saved = await readSavedRun(journal, head.run);
    const { step } = options;
    if (step !== undefined && !isPlace(saved, step)) {
      throw usage(nothingAt(saved, head.run, step));
    }
    if (options.events) return showEvents(saved, step, terminal);
    if (terminal.json && step !== undefined) {
      const records = saved.records.filter((record) => record.position === step);
      const row = saved.rows.find((entry) => entry.position === step) ?? null;
      terminal.out(`${jsonText({ type: "step", run: head.run, position: step, step: row, events: records })}\n`);
      return 0;
    }
    if (terminal.json) {
      terminal.out(
        `${jsonText({ ...toResult(saved.state), interrupted: isInterrupted(head), owner: ownerJson(head.owner), steps: saved.rows })}\n`,
      );
      return 0;
    }
    if (step !== undefined) return showStep(saved, step, terminal);
    terminal.out(showText(saved, head, terminal.color));
    return 0;
  });
}

function nothingAt(saved: SavedRun, run: string, step: string): string {
  const positions = saved.rows.map((row) => row.position);
  const near = didYouMean(step, positions);
  return `The run has nothing at ${JSON.stringify(step)}.${near === "" ? "" : ` ${near}`} ambit runs show ${run} names the steps.`;
}

function isPlace(saved: SavedRun, position: string): boolean {
  return [...saved.rows, ...saved.records].some((entry) => entry.position === position);
}

/** One JSON record a line: the records of DU-50. */
function showEvents(saved: SavedRun, step: string | undefined, terminal: Terminal): number {
  for (const record of saved.records)
    if (step === undefined || record.position === step) terminal.out(escapedJson(exportLine(record)));
  return 0;
}

function showStep(saved: SavedRun, step: string, terminal: Terminal): number {
  const timeline = new Timeline();
  let found = false;
  for (const record of saved.records) {
    for (const line of timeline.add(record)) {
      if (line.position !== step && !isOwnPart(line.position, step)) continue;
      found = true;
      const part = line.position === step ? "" : `${oneLine(line.position.slice(step.length + 1), 40)} `;
      terminal.out(
        `${terminal.color.dim(line.at)}  ${part}${safeText(line.text)}${line.key === null ? "" : `  key ${oneLine(line.key)}`}${line.effect === null ? "" : `  effect ${oneLine(line.effect)}`}\n`,
      );
      const isCall = line.kind === "call.ended";
      if (isCall && line.args !== null) terminal.out(`${indent(`arguments ${jsonText(shown(line.args), 2)}`)}\n`);
      if (line.detail !== null && line.detail !== line.args)
        terminal.out(`${indent(`${isCall ? "result " : ""}${jsonText(shown(line.detail), 2)}`)}\n`);
    }
  }
  if (found) return 0;
  terminal.err(`Nothing is recorded of ${oneLine(step)}: it did not run, or did nothing that is recorded.\n`);
  return 0;
}

/** What an agent did for its step: its turns and the calls of its tools. */
function isOwnPart(position: string, step: string): boolean {
  return (
    position.startsWith(`${step}.(`) && /^\.\((?:turns|tools|extract|evaluate)\)/.test(position.slice(step.length))
  );
}

function showText(saved: SavedRun, head: RunHead, color: Paint): string {
  const view = runView(saved.state, saved.rows, isInterrupted(head));
  const { result } = view;
  const lines = [
    color.bold(`${oneLine(view.name)}  ${oneLine(result.run)}`),
    safeText(view.verdict),
    ...view.remarks.map((remark) => color.yellow(safeText(remark))),
    ...dryRunLines(result, color),
    "",
    ...view.tree.flatMap((node) => treeLines(node, "  ", color)),
    "",
    color.dim(
      `started ${view.startedAt ?? "never"} · ${lasted(result.duration_ms)} · ${counted(result.counts.tool_attempts, "tool attempt")} · ${counted(result.counts.tokens, "token")} · ${counted(result.counts.events, "record")}`,
    ),
  ];
  if (head.owner !== null) {
    const gone = isAlive(head.owner) === false ? ", which is gone" : "";
    lines.push(`run by pid ${head.owner.pid} (${oneLine(head.owner.label)})${gone}`);
  }
  if (result.digest !== null) lines.push(color.dim(`digest ${oneLine(result.digest)}`));
  if (isFilled(result.outputs)) lines.push("", jsonText(shown(result.outputs), 2));
  return `${lines.join("\n")}\n`;
}

function isFilled(outputs: unknown): boolean {
  return typeof outputs === "object" && outputs !== null && Object.keys(outputs).length > 0;
}

/** By the word that a step stands with. */
const MARKS: { [word: string]: string } = {
  completed: "✓",
  failed: "✗",
  "timed out": "✗",
  unknown: "?",
  handled: "!",
  skipped: "-",
  cancelled: "■",
  interrupted: "■",
  running: "…",
  waiting: "…",
  "not started": "·",
  suppressed: "○",
  undetermined: "?",
};

function treeLines(node: StepNode, pad: string, color: Paint): string[] {
  const { row, word } = node;
  const mark = MARKS[word] ?? " ";
  const tint =
    word === "completed" ? color.green : word === "failed" || word === "timed out" ? color.red : color.yellow;
  const facts = [
    row.kind,
    word,
    row.duration_ms === null ? "" : lasted(row.duration_ms),
    row.attempts > 1 ? `${row.attempts} attempts` : "",
    oneLine(row.code ?? "", 80),
    row.late ? "late" : "",
  ];
  const line = `${pad}${tint(mark)} ${oneLine(node.label, 60)}  ${color.dim(facts.filter((fact) => fact !== "").join(" · "))}`;
  return [line, ...node.children.flatMap((child) => treeLines(child, `${pad}  `, color))];
}

function indent(text: string): string {
  return text
    .split("\n")
    .map((line) => `    ${safeText(line)}`)
    .join("\n");
}

/** Follows a run of any process until it ends; NDJSON with --json. */
export function tailCommand(run: string, options: CommonOptions): Promise<number> {
  return withEngine(options, "ambit runs tail", async (engine, terminal) => {
    const journal = await engine.journal(null);
    const { run: id } = await journal.find(run);
    if (terminal.json) terminal.out(`${jsonText({ type: "version", ambit: VERSION, record: 1 })}\n`);
    let told = false;
    const stopping = new AbortController();
    const stop = (): void => stopping.abort();
    process.once("SIGINT", stop);
    for (let seq = 1; !stopping.signal.aborted; ) {
      const page = await journal.read(id, seq, 256);
      for (const record of page) {
        seq = record.seq + 1;
        const line = terminal.json ? jsonText({ type: "event", ...record }) : recordLine(record, terminal.color);
        if (line !== null) terminal.out(`${line}\n`);
        if (record.kind !== "run.ended") continue;
        const { state } = await readSavedRun(journal, id);
        if (terminal.json) terminal.out(`${jsonText(toResult(state))}\n`);
        else terminal.out(`${toResult(state).status}\n`);
        stop();
      }
      if (page.length > 0) continue;
      if (!told && isInterrupted(await journal.find(id))) {
        terminal.err(
          `The run is interrupted, its process is gone: ambit resume ${oneLine(id)} goes on with it. Ctrl-C ends this.\n`,
        );
        told = true;
      }
      await sleep(systemClock, TAIL_EVERY_MS, stopping.signal);
    }
    process.off("SIGINT", stop);
    return 0;
  });
}

/** The records of a run as JSON lines on stdout. */
export function exportCommand(run: string, options: CommonOptions): Promise<number> {
  return withEngine(options, "ambit runs export", async (engine, terminal) => {
    const journal = await engine.journal(null);
    const { run: id } = await journal.find(run);
    const saved = await readSavedRun(journal, id);
    for (const record of saved.records) terminal.out(escapedJson(exportLine(record)));
    return 0;
  });
}

/** Takes over an exported run, as one without an owner. */
export function importCommand(file: string, options: CommonOptions): Promise<number> {
  return withEngine(options, "ambit runs import", async (engine, terminal) => {
    const records = readRunFile(readNamed(file, MAX_RUN_BYTES));
    await engine.import(records);
    const run = records[0]?.run ?? "";
    if (terminal.json) terminal.out(`${jsonText({ type: "imported", run, events: records.length })}\n`);
    else terminal.out(`${oneLine(run)}: ${counted(records.length, "record")}.\n`);
    return 0;
  });
}
