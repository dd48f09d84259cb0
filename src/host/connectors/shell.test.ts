import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { systemClock } from "../../base/clock.ts";
import type { CallRequest, CallResult } from "../../catalog/connector.ts";
import { isProcessAlive } from "../processes/process-identity.ts";
import type { DeclaredCommand } from "./command-line.ts";
import { ShellConnector } from "./shell.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "ambit-shell-")));
const open: ShellConnector[] = [];

afterEach(async () => {
  for (const connector of open.splice(0)) await connector.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function shell(commands: readonly DeclaredCommand[], cwd = folder): ShellConnector {
  const path = process.env["PATH"] ?? "";
  const connector = new ShellConnector({ name: "shell", commands, cwd, path, clock: systemClock });
  open.push(connector);
  return connector;
}

/** A command that runs JavaScript of the test's own. */
const node = (script: string): { line: string; command: DeclaredCommand } => ({
  line: `'${process.execPath}' -e '${script}'`,
  command: { argv: [process.execPath, "-e", script] },
});

function run(
  connector: ShellConnector,
  command: string,
  more: { stdin?: string; signal?: AbortSignal } = {},
): Promise<CallResult> {
  const args = { command, ...(more.stdin === undefined ? {} : { stdin: more.stdin }) };
  const request = { action: { name: "shell.run" }, args } as unknown as CallRequest;
  return connector.call(request, more.signal ?? new AbortController().signal);
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe("what a command gets and gives", () => {
  test("input, output, its folder", async () => {
    const line = "cat; pwd; echo oops >&2";
    const result = await run(shell([{ line }]), line, { stdin: "héllo\n" });
    expect(result).toEqual({ is: "ok", value: { stdout: `héllo\n${folder}\n`, stderr: "oops\n" } });
  });

  test("WX-28: none of the engine's variables but PATH", async () => {
    process.env["AMBIT_TEST_SECRET"] = "canary-7f3a";
    const result = await run(shell([{ line: "env" }]), "env");
    delete process.env["AMBIT_TEST_SECRET"];
    expect(result.is).toBe("ok");
    expect(JSON.stringify(result)).not.toContain("canary-7f3a");
    const { stdout } = (result as unknown as { value: { stdout: string } }).value;
    const names = stdout.split("\n").map((entry) => entry.split("=")[0]);
    // The shell adds the last three by itself.
    const allowed = ["PATH", "LANG", "PWD", "SHLVL", "_", ""];
    expect(names.filter((name) => !allowed.includes(name ?? ""))).toEqual([]);
  });

  test("one that reads no input does not break the call", async () => {
    expect(await run(shell([{ line: "true" }]), "true", { stdin: "x".repeat(1_000_000) })).toMatchObject({ is: "ok" });
  });

  test("its exit code is a failure of its own", async () => {
    const line = "echo half; echo why >&2; exit 7";
    expect(await run(shell([{ line }]), line)).toMatchObject({
      is: "failed",
      code: "shell.exit",
      details: { exit: 7, stdout: "half\n", stderr: "why\n" },
    });
    expect(await run(shell([{ line: "kill -9 $$" }]), "kill -9 $$")).toMatchObject({
      code: "shell.exit",
      details: { exit: null, signal: "SIGKILL" },
    });
  });

  test("each stream is kept up to 64 KiB, and says that it was cut", async () => {
    const { line, command } = node(
      'process.stdout.write("é".repeat(1000000)); process.stderr.write(Buffer.alloc(300000, 255))',
    );
    const result = await run(shell([command]), line);
    const { stdout, stderr } = (result as unknown as { value: { stdout: string; stderr: string } }).value;
    for (const [text, size] of [
      [stdout, 2_000_000],
      [stderr, 300_000],
    ] as const) {
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(64 * 1024);
      expect(text.isWellFormed()).toBe(true);
      expect(text.endsWith(`[cut: ${size} bytes in all]`)).toBe(true);
    }
    expect(stdout.startsWith("éé")).toBe(true);
  });
});

describe("what is not started", () => {
  test.each(["id", "echo a; id", "echo $(id)", "echo", ""])("%j, which is not declared", async (command) => {
    const connector = shell([{ line: "echo a" }]);
    expect(await run(connector, command)).toMatchObject({ is: "failed", code: "action.invalid_input" });
  });

  test("signs of a shell in an argument are signs", async () => {
    const { command } = node("console.log(JSON.stringify(process.argv.slice(1)))");
    const argv = [...(command as { argv: string[] }).argv, "*", "*"];
    const line = `${node("console.log(JSON.stringify(process.argv.slice(1)))").line} '$(touch x)' ';id|cat>y&'`;
    const result = await run(shell([{ argv }]), line);
    expect(result).toMatchObject({ is: "ok", value: { stdout: '["$(touch x)",";id|cat>y&"]\n' } });
    expect(existsSync(join(folder, "x")) || existsSync(join(folder, "y"))).toBe(false);
  });

  test("an option in the place of a star", async () => {
    const connector = shell([{ argv: ["touch", "*"] }]);
    expect(await run(connector, "touch --reference=a")).toMatchObject({ code: "action.invalid_input" });
  });

  test("a program that is not there was never started", async () => {
    const connector = shell([{ argv: ["no-such-program-7f3a"] }]);
    expect(await run(connector, "no-such-program-7f3a")).toMatchObject({ is: "failed", code: "action.unavailable" });
  });

  test("nothing after the signal", async () => {
    const line = "touch started";
    const result = await run(shell([{ line }]), line, { signal: AbortSignal.abort() });
    expect(result).toMatchObject({ is: "failed" });
    expect(existsSync(join(folder, "started"))).toBe(false);
  });

  test("without commands, or without its folder, nothing is offered", async () => {
    const signal = new AbortController().signal;
    await expect(shell([]).connect(signal)).rejects.toMatchObject({ code: "catalog.unavailable" });
    const nowhere = shell([{ line: "true" }], join(folder, "not-there"));
    await expect(nowhere.connect(signal)).rejects.toMatchObject({ code: "catalog.unavailable" });
    expect(await shell([{ line: "true" }]).connect(signal)).toEqual({ actions: { "shell.run": { pin: null } } });
  });
});

describe("the end of a command", () => {
  const pidIn = (name: string): number => Number(readFileSync(join(folder, name), "utf8"));

  test("HO-09: our signal ends it and what it started, and nobody knows what it had done", async () => {
    const line = "sleep 300 & echo $! > child; echo $$ > leader; wait";
    const stop = new AbortController();
    const connector = shell([{ line }]);
    const running = run(connector, line, { signal: stop.signal });
    await until(() => existsSync(join(folder, "leader")) && readFileSync(join(folder, "leader"), "utf8") !== "");
    expect(connector.processes().map(({ pid }) => pid)).toEqual([pidIn("leader")]);
    stop.abort();
    expect(await running).toMatchObject({ is: "ambiguous", code: "connection_lost" });
    expect(isProcessAlive(pidIn("leader"), "")).toBe(false);
    expect(isProcessAlive(pidIn("child"), "")).toBe(false);
    expect(connector.processes()).toEqual([]);
  });

  test("one that hears no SIGTERM is killed", async () => {
    const line = "trap '' TERM; echo $$ > deaf; while true; do sleep 0.05; done";
    const stop = new AbortController();
    const running = run(shell([{ line }]), line, { signal: stop.signal });
    await until(() => existsSync(join(folder, "deaf")) && readFileSync(join(folder, "deaf"), "utf8") !== "");
    stop.abort();
    expect(await running).toMatchObject({ is: "ambiguous" });
    expect(isProcessAlive(pidIn("deaf"), "")).toBe(false);
  });

  test("what it leaves behind ends with it, though it holds the output open", async () => {
    const line = "sleep 300 & echo $! > left; echo done";
    expect(await run(shell([{ line }]), line)).toEqual({ is: "ok", value: { stdout: "done\n", stderr: "" } });
    await until(() => !isProcessAlive(pidIn("left"), ""));
  });

  test("closing the connector ends what runs", async () => {
    const line = "echo $$ > closed; sleep 300";
    const connector = shell([{ line }]);
    const running = run(connector, line);
    await until(() => existsSync(join(folder, "closed")) && readFileSync(join(folder, "closed"), "utf8") !== "");
    await connector.close();
    expect((await running).is).toBe("failed");
    expect(isProcessAlive(pidIn("closed"), "")).toBe(false);
  });
});

test("WX-42: only the exact name is performed", async () => {
  for (const name of ["shell.RUN", "shell.run ", "other.run", "shell.constructor"]) {
    const request = { action: { name }, args: { command: "true" } } as unknown as CallRequest;
    expect((await shell([{ line: "true" }]).call(request, new AbortController().signal)).is).toBe("failed");
  }
});
