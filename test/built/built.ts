import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

export const root = resolve(import.meta.dirname, "../..");
export const main = join(root, "dist/cli/main.js");

const stamp = join(root, "dist/.built");
const lock = join(root, "node_modules/.ambit-build-lock");
const WAIT_MS = 120_000;

/** Builds `dist/` if a source is newer: tests of the command line run what users run. */
export function ensureBuilt(): void {
  const until = Date.now() + WAIT_MS;
  while (!fresh()) {
    try {
      mkdirSync(lock);
    } catch {
      if (existsSync(lock) && Date.now() - statSync(lock).mtimeMs > WAIT_MS)
        rmSync(lock, { recursive: true, force: true });
      if (Date.now() > until) throw new Error("another build does not end");
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
      continue;
    }
    try {
      if (fresh()) return;
      const now = new Date();
      execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.build.json"], {
        cwd: root,
        stdio: "inherit",
      });
      writeFileSync(stamp, "");
      utimesSync(stamp, now, now);
      // What changed since is the next caller's: somebody may be editing all the time.
      return;
    } finally {
      rmSync(lock, { recursive: true, force: true });
    }
  }
}

function fresh(): boolean {
  if (!existsSync(main) || !existsSync(stamp)) return false;
  const built = statSync(stamp).mtimeMs;
  return readdirSync(join(root, "src"), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts") && !entry.name.endsWith(".test.ts"))
    .every((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs <= built);
}

export interface Finished {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface Started {
  pid: number;
  done: Promise<Finished>;
  /** What it has said on standard error so far. */
  talk(): string;
  kill(signal: NodeJS.Signals): void;
}

/** Starts the built command line in a folder, without the caller's own Ambit or color variables. */
export function startAmbit(
  args: readonly string[],
  cwd: string,
  env: { [name: string]: string } = {},
  script = main,
): Started {
  const child = spawn(process.execPath, [script, ...args], {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const done = new Promise<Finished>((settle, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => settle({ code, signal, stdout, stderr }));
  });
  return { pid: child.pid ?? -1, done, talk: () => stderr, kill: (signal) => void child.kill(signal) };
}

export function ambit(args: readonly string[], cwd: string, env: { [name: string]: string } = {}): Promise<Finished> {
  return startAmbit(args, cwd, env).done;
}

/** The last line of NDJSON output: the result, or the refusal. */
export function lastJson(text: string): { [key: string]: unknown } {
  const lines = text.trim().split("\n");
  return JSON.parse(lines[lines.length - 1] ?? "null") as { [key: string]: unknown };
}
