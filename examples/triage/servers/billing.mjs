// An MCP server over stdio: says which billing account belongs to an account of the CRM (data/billing.json).
// Nothing may be printed on stdout here: it carries the protocol.
import { readFile } from "node:fs/promises";
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const billing = JSON.parse(await readFile(new URL("../data/billing.json", import.meta.url), "utf8"));

serveStdio(() => {
  const server = new McpServer({ name: "billing", version: "1.0.0" });
  server.registerTool(
    "lookup",
    {
      description: "Gives the billing account of a CRM account. Teams have none: theirs is that of their organization.",
      inputSchema: fromJsonSchema({
        type: "object",
        properties: { id: { type: "string", description: "Id of the account in the CRM." } },
        required: ["id"],
        additionalProperties: false,
      }),
      outputSchema: fromJsonSchema({
        type: "object",
        properties: {
          account_id: { type: "string" },
          plan: { type: "string" },
          status: { type: "string" },
        },
        required: ["account_id", "plan", "status"],
      }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    async ({ id }) => {
      if (!Object.hasOwn(billing, id)) {
        return { isError: true, content: [{ type: "text", text: `No billing account belongs to ${id}.` }] };
      }
      const result = billing[id];
      return { content: [{ type: "text", text: JSON.stringify(result) }], structuredContent: result };
    },
  );
  return server;
});
