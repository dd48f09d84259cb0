/**
 * WX-09, 103, 104, 105, 106 and WC-47: what the records of an agent tell is all that a later evaluation takes.
 * A case file cannot count sockets or take records away, so these rows stand here.
 */
import dgram from "node:dgram";
import dns from "node:dns";
import { mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import tls from "node:tls";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { createEngine, type Engine } from "../../src/app/engine.ts";
import type { RunRecord } from "../../src/journal/event.ts";
import { readExport } from "../../src/journal/export.ts";
import { foldRecords, toResult } from "../../src/journal/fold.ts";
import { type Played, play } from "./played.ts";

/** Turns of models and makings of models, of any kind, in this process. */
const contacted = { models: 0, turns: 0 };

vi.mock("../../src/host/models/create-model.ts", async (original) => {
  const actual = await original<typeof import("../../src/host/models/create-model.ts")>();
  return {
    ...actual,
    createModel: (...given: Parameters<typeof actual.createModel>) => {
      contacted.models++;
      const model = actual.createModel(...given);
      return {
        ...model,
        port: {
          turn: (...asked: Parameters<typeof model.port.turn>) => {
            contacted.turns++;
            return model.port.turn(...asked);
          },
        },
      };
    },
  };
});

describe("the records of a run with agents", () => {
  let played: Played;
  let elsewhere: string;
  let bare: Engine;

  beforeAll(async () => {
    played = await play("WX-106-replay-repeats-no-tool");
    elsewhere = mkdtempSync(join(tmpdir(), "ambit-elsewhere-"));
    bare = await createEngine({ cwd: elsewhere, store: "memory", env: {}, deployment: {}, say: () => {} });
  });

  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });

  afterAll(async () => {
    await bare.close();
    await played.end();
    rmSync(elsewhere, { recursive: true, force: true });
  });

  test("WX-105, WX-106: a replay makes no model, asks for no turn, opens no socket and calls no tool", async () => {
    expect(contacted.turns).toBeGreaterThan(0);
    const before = { ...contacted };
    const calls = played.folder.dispatches().length;
    const sockets = [
      vi.spyOn(net, "connect"),
      vi.spyOn(net, "createConnection"),
      vi.spyOn(net.Socket.prototype, "connect"),
      vi.spyOn(tls, "connect"),
      vi.spyOn(http, "request"),
      vi.spyOn(https, "request"),
      vi.spyOn(dns, "lookup"),
      vi.spyOn(dgram, "createSocket"),
      vi.spyOn(globalThis, "fetch"),
    ];
    expect((await played.engine.replay(played.run)).is).toBe("equal");
    expect((await played.engine.replay(played.records)).is).toBe("equal");
    for (const socket of sockets) expect(socket).not.toHaveBeenCalled();
    expect(contacted).toEqual(before);
    expect(played.folder.dispatches()).toHaveLength(calls);
    // Among them were one that failed, one that nobody knows of, and a retry.
    const outcomes = played.records.filter((record) => record.kind === "call.ended").map(({ body }) => body["outcome"]);
    expect(new Set(outcomes)).toEqual(new Set(["ok", "failed", "unknown"]));
  });

  test("WX-103: without agents, connectors and deployment the same state comes out of the export", async () => {
    expect(toResult(foldRecords(readExport(played.exported).records))).toEqual(played.result);
    const replayed = await bare.replay([...readExport(played.exported).records]);
    expect(replayed).toMatchObject({ is: "equal", status: played.result.status, digest: played.result.digest });
  });

  test("WX-09: ten evaluations at other times and with other chances agree in every binding and hand-over", async () => {
    for (let i = 0; i < 10; i++) {
      const instant = Date.UTC(1990 + 7 * i, i, 1 + i);
      vi.spyOn(Date, "now").mockReturnValue(instant);
      vi.spyOn(Math, "random").mockReturnValue(i / 10);
      // The digest covers what was bound at every position and the hash of everything that was handed over.
      expect(await bare.replay(played.records)).toMatchObject({ is: "equal", digest: played.result.digest });
    }
  });

  test("WX-104: a history that lacks a turn, a call or the agent's start is refused and not filled in", async () => {
    const before = { ...contacted };
    const calls = played.folder.dispatches().length;
    const lacking = (left: (record: RunRecord) => boolean): RunRecord[] =>
      played.records.filter((record) => !left(record)).map((record, i) => ({ ...record, seq: i + 1 }));
    const holes: [string, (record: RunRecord) => boolean][] = [
      ["a turn", (record) => record.kind === "agent.turn" && record.position === "resolve.(turns)[1]"],
      ["all turns", (record) => record.kind === "agent.turn"],
      ["a call", (record) => record.kind === "call.ended" && record.position === "resolve.(tools)[0]"],
      ["the whole agent", (record) => record.position.startsWith("resolve")],
    ];
    for (const [name, left] of holes) {
      const told = await played.engine.replay(lacking(left)).then(
        (report) => report.is,
        (error: { code?: string }) => error.code,
      );
      expect([name, told]).toEqual([name, expect.stringMatching(/^(diverged|history\.mismatch|journal\.corrupt)$/)]);
    }
    expect(contacted).toEqual(before);
    expect(played.folder.dispatches()).toHaveLength(calls);
  });

  test("WX-104: what the agent returned is taken from its record, whatever it would say now", async () => {
    const changed = await play("WX-106-replay-repeats-no-tool");
    try {
      changed.folder.write("scripted.yaml", "agents:\n  helper:\n    - turns: [ { give_up: not any more } ]\n");
      changed.folder.write("tools.yaml", "actions: {}\n");
      expect(await changed.engine.replay(changed.run)).toMatchObject({ is: "equal", digest: changed.result.digest });
    } finally {
      await changed.end();
    }
  });
});
