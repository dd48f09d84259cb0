import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createEngine, readRunFile } from "../../src/app/engine.ts";
import { foldRecords, toResult } from "../../src/journal/fold.ts";

const here = import.meta.dirname;
const versions = readdirSync(here, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
const files = versions.flatMap((version) => readdirSync(join(here, version)).map((name) => `${version}/${name}`));

async function replay(text: string) {
  const engine = await createEngine({ cwd: here, store: "memory", say: () => {} });
  try {
    return await engine.replay(readRunFile(text));
  } finally {
    await engine.close();
  }
}

describe("histories of every released format replay for ever (DU-22)", () => {
  test("there are some", () => {
    expect(versions).toContain("0.1.0");
    expect(files.length).toBeGreaterThanOrEqual(7);
  });

  test.each(files)("%s", async (file) => {
    const text = readFileSync(join(here, file), "utf8");
    const records = readRunFile(text);
    const ended = records.at(-1);
    expect(ended?.kind).toBe("run.ended");
    expect(await replay(text)).toEqual({
      is: "equal",
      digest: ended?.body["digest"],
      status: ended?.body["status"],
      events: records.length,
    });
    // What the end says is what the records before it tell.
    const before = toResult(foldRecords(records.slice(0, -1)));
    expect(ended?.body["unknown"]).toEqual(before.unknown);
    expect(ended?.body["counts"]).toMatchObject({ ...before.counts, events: records.length });
  });

  test("between them they hold every kind of record that agents, calls and stops write", () => {
    const kinds = new Set(files.flatMap((file) => readRunFile(readFileSync(join(here, file), "utf8")).map((r) => r.kind)));
    for (const kind of [
      "run.accepted",
      "run.started",
      "run.resumed",
      "run.ended",
      "stop.decided",
      "agent.started",
      "agent.turn",
      "agent.ended",
      "call.intent",
      "call.ended",
    ] as const) {
      expect(kinds).toContain(kind);
    }
  });
});
