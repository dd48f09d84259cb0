// An MCP server over stdio: the entries of news feeds, in data/feeds.json.
// Nothing may be printed on stdout here: it carries the protocol.
import { readFile } from "node:fs/promises";
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const feeds = JSON.parse(await readFile(new URL("../data/feeds.json", import.meta.url), "utf8"));

function answer(result) {
  return { content: [{ type: "text", text: JSON.stringify(result) }], structuredContent: result };
}

function refuse(text) {
  return { isError: true, content: [{ type: "text", text }] };
}

function map(properties) {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}

const text = { type: "string" };

serveStdio(() => {
  const server = new McpServer({ name: "news", version: "1.0.0" });
  server.registerTool(
    "entries",
    {
      description: "The entries of a feed.",
      inputSchema: fromJsonSchema(map({ feed: text })),
      outputSchema: fromJsonSchema(map({ entries: { type: "array", items: map({ title: text, at: text }) } })),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    async ({ feed }) => {
      const entries = Object.hasOwn(feeds, feed) ? feeds[feed] : null;
      return entries === null ? refuse(`The feed ${feed} does not answer.`) : answer({ entries });
    },
  );
  return server;
});
