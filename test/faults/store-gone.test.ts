import { renameSync, unlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type LedgerSpace, serverSpace } from "./ledger.ts";
import { scene } from "./scene.ts";
import { asEnded, lives, until } from "./workspace.ts";

const held = scene();

describe("DU-05, sqlite I6: the store goes away under a run", { timeout: 120_000 }, () => {
  test.each([
    ["the file is removed", (space: LedgerSpace) => unlinkSync(space.path(".ambit/ambit.db"))],
    ["its folder is moved away", (space: LedgerSpace) => renameSync(space.path(".ambit"), space.path("gone"))],
  ])("%s: the run stops with the store's code, dispatches nothing more and leaves no server", async (_what, remove) => {
    const space = held(serverSpace(["look", "charge", "send"]));
    space.hold("look");
    const started = space.start(["run", "ledger.workfile.yaml", "-i", "item=a-7", "--json"]);
    await until("a call of look", () => (space.lines("asked", "look").length > 0 ? true : null));
    remove(space);
    space.letGo();
    const ended = asEnded(await started.done);
    expect(ended.code).toBe(9);
    expect(ended.refused).toMatchObject({ error: { code: "store.unavailable", details: { reason: "removed" } } });
    expect(space.book.filter((line) => line.tool === "charge" || line.tool === "send")).toEqual([]);
    expect(space.book.filter((line) => lives(line.pid))).toEqual([]);
  });
});
