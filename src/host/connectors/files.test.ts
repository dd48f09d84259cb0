import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { systemIds } from "../../base/ids.ts";
import type { JsonObject } from "../../base/json.ts";
import type { CallRequest, CallResult } from "../../catalog/connector.ts";
import { FilesConnector } from "./files.ts";
import { compileGlob } from "./glob.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "ambit-files-")));
const root = join(base, "root");
const outside = join(base, "outside");
const beside = join(base, "root-beside");

beforeEach(() => {
  for (const folder of [root, outside, beside]) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
  }
  writeFileSync(join(root, "a.txt"), "hello ä");
  writeFileSync(join(outside, "secret.txt"), "secret");
  writeFileSync(join(beside, "secret.txt"), "secret");
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

function connector(write = true): FilesConnector {
  return new FilesConnector({ name: "files", root, write, ids: systemIds });
}

function call(
  action: string,
  args: JsonObject,
  subject = connector(),
  signal = new AbortController().signal,
): Promise<CallResult> {
  const request = { action: { name: `files.${action}` }, args } as unknown as CallRequest;
  return subject.call(request, signal);
}

test("what the file system refuses is a failure, and once the signal has fired nobody knows", async () => {
  const path = "x".repeat(300);
  expect(await call("write", { path, text: "t" })).toMatchObject({ is: "failed", code: "action.failed" });
  expect(await call("write", { path, text: "t" }, connector(), AbortSignal.abort())).toMatchObject({
    is: "ambiguous",
    code: "connection_lost",
  });
});

describe("reading", () => {
  test("a text with its bytes", async () => {
    expect(await call("read", { path: "a.txt" })).toEqual({ is: "ok", value: { text: "hello ä", bytes: 8 } });
    expect(await call("read", { path: "./a.txt" })).toMatchObject({ is: "ok" });
  });

  test("a byte order mark is part of the text", async () => {
    writeFileSync(join(root, "bom.txt"), "\ufeffx");
    expect(await call("read", { path: "bom.txt" })).toEqual({ is: "ok", value: { text: "\ufeffx", bytes: 4 } });
  });

  test("what is not there, a folder and no path", async () => {
    for (const path of ["none.txt", "none/none.txt", "a.txt/b", ".", ""]) {
      expect(await call("read", { path })).toMatchObject({ is: "failed", code: "files.not_found" });
    }
  });

  test("what is no UTF-8, and what is more than 1 MiB", async () => {
    writeFileSync(join(root, "bin"), Buffer.from([0xff, 0xfe, 0x00]));
    expect(await call("read", { path: "bin" })).toMatchObject({ is: "failed", code: "files.not_text" });
    writeFileSync(join(root, "big"), "");
    truncateSync(join(root, "big"), 1024 * 1024 + 1);
    expect(await call("read", { path: "big" })).toMatchObject({ is: "failed", code: "action.result_too_large" });
    truncateSync(join(root, "big"), 1024 * 1024);
    expect(await call("read", { path: "big" })).toMatchObject({ is: "ok" });
  });

  test("I4: a pipe does not hold the run", async () => {
    execFileSync("mkfifo", [join(root, "pipe")]);
    for (const action of ["read", "append"]) {
      expect(await call(action, { path: "pipe", text: "x" })).toMatchObject({ is: "failed", code: "files.not_found" });
    }
  });
});

describe("files-path I1: nothing outside the root", () => {
  const escapes = [
    "../outside/secret.txt",
    "x/../../outside/secret.txt",
    "..",
    "/etc/hostname",
    "link/secret.txt",
    "link",
    "file-link.txt",
    "beside/secret.txt",
    "..\\outside\\secret.txt",
    "a.txt\0/../../outside/secret.txt",
    "C:/windows",
  ];

  beforeEach(() => {
    symlinkSync(outside, join(root, "link"));
    symlinkSync(join(outside, "secret.txt"), join(root, "file-link.txt"));
    symlinkSync(beside, join(root, "beside"));
    symlinkSync(join(outside, "new.txt"), join(root, "dangling"));
  });

  test.each(escapes)("%j", async (path) => {
    for (const action of ["read", "list", "append"]) {
      const result = await call(action, { path, text: "x" });
      expect(result.is).toBe("failed");
      expect(JSON.stringify(result)).not.toContain(base);
    }
    await call("write", { path, text: "overwritten" });
    await call("delete", { path });
    expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("secret");
    expect(readFileSync(join(beside, "secret.txt"), "utf8")).toBe("secret");
    expect(readdirSync(outside)).toEqual(["secret.txt"]);
  });

  test("a link that leads nowhere is not filled at its target", async () => {
    expect((await call("append", { path: "dangling", text: "x" })).is).toBe("failed");
    expect((await call("append", { path: "dangling/deep.txt", text: "x" })).is).toBe("failed");
    expect(existsSync(join(outside, "new.txt"))).toBe(false);
  });

  test("a write puts a file in the place of a link, and a delete takes the link away", async () => {
    expect(await call("write", { path: "file-link.txt", text: "mine" })).toMatchObject({ is: "ok" });
    expect(await call("read", { path: "file-link.txt" })).toMatchObject({ value: { text: "mine" } });
    expect(await call("delete", { path: "link" })).toEqual({ is: "ok", value: { found: true } });
    expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("secret");
  });

  test("a listing follows no link", async () => {
    const result = await call("list", { path: ".", glob: "**" });
    expect(JSON.stringify(result)).not.toContain("secret");
  });

  test("a link inside the root is a way like any other", async () => {
    symlinkSync(join(root, "a.txt"), join(root, "again.txt"));
    expect(await call("read", { path: "again.txt" })).toMatchObject({ value: { text: "hello ä" } });
  });
});

describe("writing", () => {
  test("I3: whole, with its folders, the mode kept, nothing left over", async () => {
    expect(await call("write", { path: "new/deep/b.txt", text: "ü" })).toEqual({ is: "ok", value: { bytes: 2 } });
    expect(readFileSync(join(root, "new/deep/b.txt"), "utf8")).toBe("ü");
    writeFileSync(join(root, "private.txt"), "x", { mode: 0o600 });
    await call("write", { path: "private.txt", text: "y" });
    expect(statSync(join(root, "private.txt")).mode & 0o777).toBe(0o600);
    expect(readdirSync(root).filter((name) => name.includes(".tmp"))).toEqual([]);
  });

  test("appending, and deleting twice", async () => {
    await call("append", { path: "log.txt", text: "1" });
    expect(await call("append", { path: "log.txt", text: "2" })).toEqual({ is: "ok", value: { bytes: 1 } });
    expect(readFileSync(join(root, "log.txt"), "utf8")).toBe("12");
    expect(await call("delete", { path: "log.txt" })).toEqual({ is: "ok", value: { found: true } });
    expect(await call("delete", { path: "log.txt" })).toEqual({ is: "ok", value: { found: false } });
  });

  test("a folder is neither overwritten nor deleted", async () => {
    mkdirSync(join(root, "folder"));
    for (const action of ["write", "append", "delete"]) {
      expect((await call(action, { path: "folder", text: "x" })).is).toBe("failed");
    }
    expect(existsSync(join(root, "folder"))).toBe(true);
  });

  test("more than 1 MiB is refused", async () => {
    const text = "x".repeat(1024 * 1024 + 1);
    for (const action of ["write", "append"]) {
      expect(await call(action, { path: "big.txt", text })).toMatchObject({
        is: "failed",
        code: "action.invalid_input",
      });
    }
    expect(existsSync(join(root, "big.txt"))).toBe(false);
  });

  test("only where the deployment says so: neither offered nor done", async () => {
    const reader = connector(false);
    const offer = await reader.connect(new AbortController().signal);
    expect(Object.keys(offer.actions)).toEqual(["files.read", "files.list"]);
    for (const action of ["write", "append", "delete"]) {
      expect(await call(action, { path: "a.txt", text: "x" }, reader)).toMatchObject({ is: "failed" });
    }
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("hello ä");
  });

  test("without a root nothing can be used", async () => {
    const none = new FilesConnector({ name: "files", root: null, write: true, ids: systemIds });
    await expect(none.connect(new AbortController().signal)).rejects.toMatchObject({ code: "catalog.unavailable" });
    expect((await call("read", { path: "a.txt" }, none)).is).toBe("failed");
  });
});

describe("listing", () => {
  beforeEach(() => {
    mkdirSync(join(root, "sub/deep"), { recursive: true });
    mkdirSync(join(root, ".hidden"));
    for (const path of ["b.md", "sub/c.txt", "sub/deep/d.txt", ".env", ".hidden/e.txt"])
      writeFileSync(join(root, path), "1");
  });

  async function listed(args: JsonObject): Promise<string[]> {
    const result = await call("list", args);
    if (result.is !== "ok") throw new Error(JSON.stringify(result));
    return (result.value as { files: { path: string }[] }).files.map((file) => file.path);
  }

  test.each<[JsonObject, string[]]>([
    [{}, ["a.txt", "b.md"]],
    [{ glob: "*.txt" }, ["a.txt"]],
    [{ glob: "**/*.txt" }, ["a.txt", "sub/c.txt", "sub/deep/d.txt"]],
    [{ glob: "sub/*" }, ["sub/c.txt"]],
    [{ path: "sub" }, ["sub/c.txt"]],
    [{ path: "sub", glob: "**/d.???" }, ["sub/deep/d.txt"]],
    [{ glob: ".*" }, [".env"]],
    [{ glob: "**/.hidden/*" }, [".hidden/e.txt"]],
  ])("%j", async (args, expected) => {
    expect(await listed(args)).toEqual(expected);
  });

  test("what is listed has bytes and time, and can be read by its path", async () => {
    const result = await call("list", { path: "sub" });
    expect(result).toMatchObject({
      value: { files: [{ path: "sub/c.txt", bytes: 1, modified: expect.stringMatching(/Z$/) }] },
    });
    expect(await call("read", { path: "sub/c.txt" })).toMatchObject({ is: "ok" });
  });

  test("I6: what lies deeper than is looked is refused, and not left out", async () => {
    const deep = join(root, ...Array.from({ length: 33 }, () => "d"));
    mkdirSync(deep, { recursive: true });
    writeFileSync(join(deep, "x.txt"), "");
    const refused = await call("list", { glob: "**/*.txt" });
    expect(refused).toMatchObject({ is: "failed", code: "action.result_too_large" });
    expect(JSON.stringify(refused)).toContain("32 deep");
    expect(await call("list", { path: "d", glob: "**/*.txt" })).toMatchObject({ is: "ok" });
    // Where no name that fits lies so deep, nothing is left out.
    expect(await call("list", { glob: "d/*" })).toMatchObject({ is: "ok" });
  });

  test("I6: a listing that was cut off is none", async () => {
    expect(await call("list", {}, connector(), AbortSignal.abort())).toMatchObject({ is: "ambiguous" });
    const stop = new AbortController();
    const listing = call("list", { glob: "**" }, connector(), stop.signal);
    stop.abort();
    expect(await listing).toMatchObject({ is: "ambiguous" });
  });

  test("too many are refused, a folder that is none is not found", async () => {
    mkdirSync(join(root, "many"));
    for (let i = 0; i < 1_001; i++) writeFileSync(join(root, "many", `${i}`), "");
    expect(await call("list", { path: "many" })).toMatchObject({ is: "failed", code: "action.result_too_large" });
    expect(await call("list", { path: "a.txt" })).toMatchObject({ is: "failed", code: "files.not_found" });
  });
});

test("a glob takes no exponential time, and a long one is refused", () => {
  const fits = compileGlob("**/a*a*a*a*a*a*a*a*a*a*b/**/**/**/x");
  expect(fits?.(`${"a".repeat(5_000)}/${"y/".repeat(200)}z`)).toBe(false);
  expect(compileGlob("*".repeat(1_000))).toBeNull();
});
