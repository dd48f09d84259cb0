import { afterEach, expect, test } from "vitest";
import type { EngineRun } from "../app/engine.ts";
import { Interrupted, Interrupts } from "./interrupts.ts";
import { printRefusal } from "./refusal.ts";
import { paint, type Terminal } from "./terminal.ts";

let open: Interrupts | null = null;
afterEach(() => open?.end());

function fixture(json = false): { interrupts: Interrupts; terminal: Terminal; out: string[]; err: string[] } {
  const out: string[] = [];
  const err: string[] = [];
  const terminal: Terminal = {
    out: (text) => void out.push(text),
    err: (text) => void err.push(text),
    say: (line) => void err.push(line),
    route: () => {},
    color: paint(false),
    json,
  };
  open = new Interrupts(terminal);
  return { interrupts: open, terminal, out, err };
}

/** As if the process had got it: the listener that came last is ours. */
function send(name: "SIGINT" | "SIGTERM"): void {
  process.listeners(name).at(-1)?.(name);
}

const aRun = (told: string[]): EngineRun => ({
  id: "r1",
  isOver: false,
  seq: 0,
  events: async function* () {},
  result: () => Promise.reject(new Error("none")),
  cancel: () => void told.push("cancel"),
  abandon: () => void told.push("abandon"),
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("I1: %s stops a start, and the command ends with %i", async (name, exit) => {
  const { interrupts, terminal, out, err } = fixture();
  const started = interrupts.start(
    (signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("it was cut off")))),
  );
  send(name);
  const error = await started.catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Interrupted);
  expect(printRefusal(terminal, error, { nothing: true })).toBe(exit);
  expect(out).toEqual([]);
  expect(err.join("")).toContain(`Stopped by ${name} before anything ran.`);
});

test("I2: the second one waits for no start", async () => {
  const { interrupts, terminal, out } = fixture(true);
  const started = interrupts.start(() => new Promise(() => {}));
  send("SIGTERM");
  send("SIGINT");
  const error = await started.catch((thrown: unknown) => thrown);
  expect(printRefusal(terminal, error)).toBe(143);
  expect(out).toHaveLength(1);
  expect(JSON.parse(out[0] ?? "")).toMatchObject({ type: "refused", exit: 143, error: { code: "run.cancelled" } });
});

test("I2: a run is cancelled by the first, through the signal it was given, and given up by the second", async () => {
  const { interrupts } = fixture();
  const told: string[] = [];
  await interrupts.start(async (signal) => {
    signal.addEventListener("abort", () => told.push("signal"));
    return aRun(told);
  });
  send("SIGINT");
  expect(told).toEqual(["signal"]);
  expect(interrupts.first).toBe("SIGINT");
  send("SIGTERM");
  expect(told).toEqual(["signal", "abandon"]);
  expect(interrupts.first).toBe("SIGINT");
});

test("a start that fails by itself says why", async () => {
  const { interrupts } = fixture();
  await expect(interrupts.start(() => Promise.reject(new Error("taken")))).rejects.toThrow("taken");
});

test("afterwards nobody listens any more", () => {
  const before = process.listenerCount("SIGINT");
  const { interrupts } = fixture();
  expect(process.listenerCount("SIGINT")).toBe(before + 1);
  interrupts.end();
  expect(process.listenerCount("SIGINT")).toBe(before);
});
