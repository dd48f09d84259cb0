// Prints the pin of each tool of an MCP server: node examples/pins.mjs COMMAND ARGS...
// A pin is the SHA-256 of the canonical JSON of the tool's definition as `tools/list` gives it, without `_meta`.
import { createHash } from "node:crypto";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import canonicalize from "canonicalize";

const [command, ...args] = process.argv.slice(2);
if (command === undefined) {
  console.error("usage: node examples/pins.mjs COMMAND ARGS...");
  process.exit(2);
}
const client = new Client({ name: "pins", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
try {
  const { tools } = await client.listTools();
  for (const { _meta, ...definition } of tools) {
    const hash = createHash("sha256").update(canonicalize(definition)).digest("hex");
    console.log(`${definition.name}: sha256:${hash}`);
  }
} finally {
  await client.close();
}
