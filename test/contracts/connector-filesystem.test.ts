import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { toolDefinitionPin } from "../../src/catalog/tool-definition.ts";
import { McpConnector } from "../../src/host/connectors/mcp.ts";
import { never, requestOf, textIn } from "./connector.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "ambit-files-")));
const outside = realpathSync(mkdtempSync(join(tmpdir(), "ambit-outside-")));
writeFileSync(join(folder, "note.txt"), "seen by the server");
writeFileSync(join(outside, "secret.txt"), "not for the server");
afterAll(() => {
  for (const path of [folder, outside]) rmSync(path, { recursive: true, force: true });
});

const manifest = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-filesystem/package.json");
const server = {
  kind: "stdio",
  command: "node",
  args: [join(dirname(manifest), "dist", "index.js"), folder],
  cwd: folder,
} as const;

test("the published file system server, over stdio, as the manifest names its tools", async () => {
  const connector = new McpConnector({
    name: "disk",
    server,
    env: {},
    headers: {},
    actions: [{ name: "read", tool: "read_text_file" }, { name: "list_directory" }, { name: "not_there" }],
    connections: [],
    resolveSecret: async () => "",
    pinOf: toolDefinitionPin,
    clock: systemClock,
  });
  try {
    const offer = await connector.connect(never());
    expect(Object.keys(offer.actions).sort()).toEqual(["disk.list_directory", "disk.read"]);
    const read = await connector.call(requestOf("disk.read", { path: join(folder, "note.txt") }), never());
    expect(read.is === "ok" && textIn(read.value)).toContain("seen by the server");
    const refused = await connector.call(requestOf("disk.read", { path: join(outside, "secret.txt") }), never());
    expect(refused).toMatchObject({ is: "failed", code: "action.failed" });
    expect(JSON.stringify(refused)).not.toContain("not for the server");
    expect(connector.processes()).toHaveLength(1);
  } finally {
    await connector.close();
  }
});
