import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import type * as FsPromises from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { systemIds } from "../../base/ids.ts";
import type { CallRequest, CallResult } from "../../catalog/connector.ts";
import { FilesConnector } from "./files.ts";

type Step = "open" | "writeFile" | "sync" | "close" | "rename";
const disk = vi.hoisted(() => ({ failing: null as string | null }));

function full(): Error {
  return Object.assign(new Error("no space left"), { code: "ENOSPC" });
}

vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof FsPromises>();
  const open = async (...args: Parameters<typeof real.open>): Promise<FsPromises.FileHandle> => {
    if (disk.failing === "open") throw full();
    const file = await real.open(...args);
    return new Proxy(file, {
      get(target, name) {
        const found = Reflect.get(target, name) as unknown;
        if (typeof found !== "function") return found;
        return async (...given: unknown[]) => {
          if (name === disk.failing && name === "writeFile") await target.write((given[0] as Buffer).subarray(0, 2));
          else await (found as (...all: unknown[]) => Promise<unknown>).apply(target, given);
          if (name === disk.failing) throw full();
        };
      },
    });
  };
  const rename = async (from: string, to: string): Promise<void> => {
    if (disk.failing === "rename") throw full();
    await real.rename(from, to);
  };
  return { ...real, open, rename };
});

const root = realpathSync(mkdtempSync(join(tmpdir(), "ambit-writing-")));
const file = join(root, "a.txt");
beforeEach(() => writeFileSync(file, "old"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function during(failing: Step, action: string): Promise<CallResult> {
  const connector = new FilesConnector({ name: "files", root, write: true, ids: systemIds });
  const request = { action: { name: `files.${action}` }, args: { path: "a.txt", text: "more" } };
  disk.failing = failing;
  try {
    return await connector.call(request as unknown as CallRequest, new AbortController().signal);
  } finally {
    disk.failing = null;
  }
}

test.each<Step>(["writeFile", "sync", "close"])(
  "I5: nobody knows what an append has left that failed at %s",
  async (at) => {
    const result = await during(at, "append");
    expect(result).toMatchObject({ is: "ambiguous", code: "connection_lost" });
    expect(JSON.stringify(result)).toContain("ENOSPC");
    expect(readFileSync(file, "utf8")).not.toBe("old");
  },
);

test("I5: one that could not begin has done nothing", async () => {
  expect(await during("open", "append")).toMatchObject({ is: "failed", code: "action.failed" });
  expect(readFileSync(file, "utf8")).toBe("old");
});

test.each<Step>(["open", "writeFile", "sync", "close", "rename"])(
  "I3: a write that failed at %s has failed: the old file is there, and nothing beside it",
  async (at) => {
    expect(await during(at, "write")).toMatchObject({ is: "failed", code: "action.failed" });
    expect(readFileSync(file, "utf8")).toBe("old");
    expect(readdirSync(root)).toEqual(["a.txt"]);
  },
);
