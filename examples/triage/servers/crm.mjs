// An MCP server over stdio: looks up accounts in data/accounts.json.
// Nothing may be printed on stdout here: it carries the protocol.
import { readFile } from "node:fs/promises";
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const accounts = JSON.parse(await readFile(new URL("../data/accounts.json", import.meta.url), "utf8"));

serveStdio(() => {
  const server = new McpServer({ name: "crm", version: "1.0.0" });
  server.registerTool(
    "find-accounts",
    {
      description: "Finds accounts by a part of their name or by an address.",
      inputSchema: fromJsonSchema({
        type: "object",
        properties: { query: { type: "string", description: "A name, a part of one, or an e-mail address." } },
        required: ["query"],
        additionalProperties: false,
      }),
      outputSchema: fromJsonSchema({
        type: "object",
        properties: {
          accounts: {
            type: "array",
            items: {
              type: "object",
              properties: {
                id: { type: "string" },
                name: { type: "string" },
                kind: { type: "string" },
                parent: { type: ["string", "null"] },
              },
              required: ["id", "name", "kind", "parent"],
            },
          },
        },
        required: ["accounts"],
      }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    async ({ query }) => {
      const wanted = query.trim().toLowerCase();
      const found = accounts
        .filter(
          ({ name, emails }) => wanted !== "" && [name, ...emails].some((text) => text.toLowerCase().includes(wanted)),
        )
        .map(({ id, name, kind, parent }) => ({ id, name, kind, parent }));
      const result = { accounts: found };
      return { content: [{ type: "text", text: JSON.stringify(result) }], structuredContent: result };
    },
  );
  return server;
});
