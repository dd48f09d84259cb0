import { expect, test } from "vitest";
import type { EngineRun, RunEvent } from "../app/engine.ts";
import { foldRecords, toResult } from "../journal/fold.ts";
import { History } from "../journal/testing/history.ts";
import { followRun, printEnded } from "./run-output.ts";
import { paint, type Terminal } from "./terminal.ts";

class Screen implements Terminal {
  readonly color = paint(false);
  readonly json = false;
  written = "";
  data = "";
  say: (line: string) => void = () => {};

  out(text: string): void {
    this.data += text;
  }

  err(text: string): void {
    this.written += text;
  }

  route(to: ((line: string) => void) | null): void {
    this.say = to ?? ((line) => this.err(`${line}\n`));
  }
}

function aRun(history: History, more: Partial<EngineRun>): EngineRun {
  return {
    id: "r1",
    isOver: false,
    seq: 0,
    events: async function* () {},
    result: async () => toResult(foldRecords(history.records)),
    cancel: () => {},
    abandon: () => {},
    ...more,
  };
}

test("what is said while records wait to be shown comes after them, and before what follows", async () => {
  const screen = new Screen();
  const history = new History().accepted().call("a", 1).call("b", 1).ended("completed");
  const records = history.records as unknown as RunEvent[];
  const run = aRun(history, {
    // The run is ahead of what is shown: the second record is there when the line is said.
    seq: 2,
    events: async function* () {
      for (const record of records) {
        if (record.seq === 1) screen.say("said after a");
        yield record;
      }
    },
  });
  expect(await followRun(screen, run, "")).toBe(0);
  const lines = screen.written.split("\n").map((line) => line.trim().slice(0, 12));
  const order = ["✓ a", "said after a", "✓ b"].map((start) => lines.findIndex((line) => line.startsWith(start)));
  expect(order.every((at) => at > 0)).toBe(true);
  expect([...order].sort((x, y) => x - y)).toEqual(order);
});

test("what is said last is not lost", async () => {
  const screen = new Screen();
  const history = new History().accepted().ended("completed");
  const run = aRun(history, {
    seq: 99,
    events: async function* () {
      for (const record of history.records as unknown as RunEvent[]) yield record;
      screen.say("the last word");
    },
  });
  await followRun(screen, run, "");
  expect(screen.written).toContain("the last word\n");
});

test("a run that had ended is said to be over, with how, and its exit code is that of its end", async () => {
  const screen = new Screen();
  const error = { code: "a.b", position: "x", message: "It broke.", details: {}, cause: null };
  const history = new History("r1").accepted().callFailed("x", "a.b").ended("failed", { error });
  expect(await printEnded(screen, aRun(history, { isOver: true }))).toBe(1);
  expect(screen.written).toContain("r1 is over already, and nothing was done.");
  expect(screen.written).toContain("a.b at x: It broke.");
});
