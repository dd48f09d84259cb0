// An MCP server over stdio: the tickets of a help desk, in data/tickets.json.
// Nothing may be printed on stdout here: it carries the protocol.
import { readFile } from "node:fs/promises";
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const tickets = JSON.parse(await readFile(new URL("../data/tickets.json", import.meta.url), "utf8"));

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
  const server = new McpServer({ name: "tickets", version: "1.0.0" });
  server.registerTool(
    "list",
    {
      description: "Ids of all open tickets.",
      inputSchema: fromJsonSchema(map({})),
      outputSchema: fromJsonSchema(map({ ids: { type: "array", items: text } })),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    async () => answer({ ids: tickets.map(({ id }) => id) }),
  );
  server.registerTool(
    "read",
    {
      description: "One ticket.",
      inputSchema: fromJsonSchema(map({ id: text })),
      outputSchema: fromJsonSchema(map({ id: text, subject: text, text })),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    async ({ id }) => {
      const ticket = tickets.find((entry) => entry.id === id);
      if (ticket === undefined) return refuse(`There is no ticket ${id}.`);
      return ticket.text === null ? refuse(`The text of ${id} is damaged.`) : answer(ticket);
    },
  );
  return server;
});
