import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import type { CallRequest, CallResult } from "../../src/catalog/connector.ts";
import { StateConnector } from "../../src/host/connectors/state.ts";
import { openSqliteJournal } from "../../src/host/stores/sqlite.ts";
import { openMemoryState } from "../../src/host/stores/state-memory.ts";
import { openSqliteState } from "../../src/host/stores/state-sqlite.ts";
import { stateContract } from "./state.ts";

const folder = mkdtempSync(join(tmpdir(), "ambit-state-"));
let files = 0;
const file = (): string => join(folder, `${files++}.db`);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

stateContract("memory", { make: async () => async () => openMemoryState(), isKept: false });
stateContract("SQLite", {
  make: async () => {
    const path = file();
    return () => openSqliteState({ path, durability: "process" });
  },
  isKept: true,
});

test("the state lies in the file of the runs, whichever of them was first", async () => {
  for (const stateFirst of [true, false]) {
    const path = file();
    const openJournal = () => openSqliteJournal({ path, durability: "process", clock: systemClock });
    const openState = () => openSqliteState({ path, durability: "process" });
    const state = stateFirst ? await openState() : null;
    const journal = await openJournal();
    const later = state ?? (await openState());
    await later.change(
      { workflow: "w", key: "k" },
      { is: "put", value: 1 },
      { run: "r", position: "p", requestKey: null },
    );
    expect(await journal.list({ limit: 10 })).toEqual([]);
    await journal.close();
    await later.close();
  }
});

test("a file of another program is refused and left as it is", async () => {
  const path = file();
  writeFileSync(path, "no database at all, but a text");
  await expect(openSqliteState({ path, durability: "process" })).rejects.toMatchObject({ code: "store.unavailable" });
});

test("old notes of calls go, and the newest stay", async () => {
  const store = openMemoryState();
  const at = { workflow: "w", key: "n" };
  const add = (requestKey: string) => store.change(at, { is: "add", by: 1 }, { run: "r", position: "p", requestKey });
  for (let i = 0; i < 10_001; i++) await add(`k${i}`);
  expect(await add("k10000")).toEqual({ is: "added", value: 10_001 });
  expect(await add("k0")).toEqual({ is: "added", value: 10_002 });
});

function call(name: string, args: object, more: Partial<CallRequest> = {}): Promise<CallResult> {
  const connector = new StateConnector({
    name: "state",
    store: async () => shared,
    workflowAt: (position) => (position.startsWith("callee") ? "other" : "triage"),
  });
  const request = { action: { name }, args, key: null, run: "r", position: `p${files++}`, ...more };
  return connector.call(request as unknown as CallRequest, new AbortController().signal);
}
const shared = openMemoryState();

test("the actions give what the manifest says", async () => {
  expect(await call("state.get", { key: "a" })).toEqual({ is: "ok", value: { found: false, value: null } });
  expect(await call("state.put", { key: "a", value: { n: 1 } })).toEqual({ is: "ok", value: { ok: true } });
  expect(await call("state.get", { key: "a" })).toEqual({ is: "ok", value: { found: true, value: { n: 1 } } });
  expect(await call("state.add", { key: "n", by: 3 }, { key: "k1" })).toEqual({ is: "ok", value: { value: 3 } });
  expect(await call("state.add", { key: "n" }, { key: "k2" })).toEqual({ is: "ok", value: { value: 4 } });
  expect(await call("state.delete", { key: "a" })).toEqual({ is: "ok", value: { found: true } });
});

test("a step of a called file keeps things under that file's name", async () => {
  await call("state.put", { key: "whose", value: 1 });
  expect(await call("state.get", { key: "whose" }, { position: "callee.x" })).toMatchObject({
    value: { found: false },
  });
});

test("what is too much, sensitive or no key is refused", async () => {
  expect(await call("state.put", { key: "b", value: "x".repeat(20_000) })).toMatchObject({ code: "state.too_large" });
  expect(await call("state.put", { key: "b", value: 1 }, { sensitive: true })).toMatchObject({
    code: "action.invalid_input",
  });
  expect(await call("state.put", { key: "", value: 1 })).toMatchObject({ code: "action.invalid_input" });
  expect(await call("state.put", { key: "x".repeat(257), value: 1 })).toMatchObject({ code: "action.invalid_input" });
  expect(await call("state.add", { key: "b", by: "1" }, { key: "k3" })).toMatchObject({ code: "action.invalid_input" });
  expect(await call("state.constructor", { key: "b" })).toMatchObject({ is: "failed", code: "action.unavailable" });
  expect(await call("state.get", { key: "b" })).toMatchObject({ value: { found: false } });
});
