/** Folders of their own for tests that drive the built command line, and what such tests ask again and again. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as later } from "node:timers/promises";
import type { RunRecord } from "../../src/journal/event.ts";
import type { RunResult } from "../../src/journal/result.ts";
import { ambit, type Finished, lastJson, root, type Started, startAmbit } from "../built/built.ts";

export interface Shown extends RunResult {
  owner: { pid: number; label: string } | null;
  steps: { position: string; status: string; code: string | null; attempts: number }[];
}

export interface Refused {
  type: "refused";
  exit: number;
  error: { code: string; message: string; details: { [key: string]: unknown } };
}

/** How a command with `--json` ended. */
export interface Ended extends Finished {
  result: RunResult;
  refused: Refused;
}

/** What `replay --json` prints. */
export interface Replayed extends Finished {
  report: {
    result: "equal" | "unfinished" | "reevaluated" | "diverged";
    digest?: string;
    status?: string;
    position?: string;
    expected?: unknown;
    recorded?: unknown;
    seq?: number | null;
  };
  refused: Refused;
}

/** A temporary folder with its own store. */
export class Workspace {
  readonly folder: string;

  constructor(files: { [path: string]: string } = {}) {
    this.folder = mkdtempSync(join(tmpdir(), "ambit-test-"));
    // The nearest folder with one of these is the project's root: no other than this.
    mkdirSync(join(this.folder, ".ambit"));
    this.write(files);
  }

  /** A copy of an example at `examples/NAME`, below packages of its own as in a checkout. */
  static ofExample(name: string): Workspace {
    const space = new Workspace();
    // What somebody's own runs have left behind stays where it is.
    const left = /[\\/](?:(?:reports|ledger)[\\/](?!\.gitignore$).+|\.ambit)$/;
    cpSync(join(root, "examples", name), space.path("examples", name), {
      recursive: true,
      filter: (source) => !left.test(source),
    });
    symlinkSync(join(root, "node_modules"), space.path("node_modules"));
    return space;
  }

  path(...parts: string[]): string {
    return join(this.folder, ...parts);
  }

  write(files: { [path: string]: string }): void {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(this.path(path)), { recursive: true });
      writeFileSync(this.path(path), text);
    }
  }

  read(path: string): string {
    return readFileSync(this.path(path), "utf8");
  }

  ambit(args: readonly string[], env: { [name: string]: string } = {}): Promise<Finished> {
    return ambit(args, this.folder, env);
  }

  start(args: readonly string[], env: { [name: string]: string } = {}): Started {
    return startAmbit(args, this.folder, env);
  }

  /** A command with `--json` to its end. */
  async json(args: readonly string[], env: { [name: string]: string } = {}): Promise<Ended> {
    return asEnded(await this.ambit([...args, "--json"], env));
  }

  async show(run: string): Promise<Shown> {
    const done = await this.ambit(["runs", "show", run, "--json"]);
    if (done.code !== 0) throw new Error(`runs show ${run}: ${done.stdout}${done.stderr}`);
    return JSON.parse(done.stdout) as Shown;
  }

  async events(run: string): Promise<RunRecord[]> {
    const done = await this.ambit(["runs", "show", run, "--events"]);
    if (done.code !== 0) throw new Error(`runs show ${run} --events: ${done.stderr}`);
    return readRecords(done.stdout);
  }

  async export(run: string): Promise<RunRecord[]> {
    const done = await this.ambit(["runs", "export", run]);
    if (done.code !== 0) throw new Error(`runs export ${run}: ${done.stderr}`);
    return readRecords(done.stdout);
  }

  async replay(run: string): Promise<Replayed> {
    const done = await this.ambit(["replay", run, "--json"]);
    const last = lastJson(done.stdout) as unknown;
    return { ...done, report: last as Replayed["report"], refused: last as Refused };
  }

  /** The run's owner as it says itself, once it has one. */
  async owner(run: string): Promise<number> {
    return until(`an owner of ${run}`, async () => {
      const done = await this.ambit(["runs", "show", run, "--json"]);
      return done.code === 0 ? ((JSON.parse(done.stdout) as Shown).owner?.pid ?? null) : null;
    });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

export function asEnded(done: Finished): Ended {
  const last = (done.stdout.trim() === "" ? {} : lastJson(done.stdout)) as unknown;
  return { ...done, result: last as RunResult, refused: last as Refused };
}

export function readRecords(text: string): RunRecord[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as RunRecord);
}

/** Long for a machine with much else to do; nothing waits that long on one that is free. */
const PATIENCE_MS = 60_000;
const LOOK_MS = 15;

/** Looks again and again until there is something; says what was missed if it never comes. */
export async function until<T>(what: string, look: () => T | null | Promise<T | null>): Promise<T> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (performance.now() > end) throw new Error(`There was never ${what}.`);
    await later(LOOK_MS);
  }
}

/** The lines of a JSONL file, none while it is not there. */
export function linesOf<T>(path: string): T[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);
}

export function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    // A zombie still answers to signals, and does nothing more.
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return !existsSync("/proc");
  }
}
