// An MCP server over stdio: takes money for bookings and writes it into ledger/charges.jsonl.
// Nothing may be printed on stdout here: it carries the protocol.
import { randomUUID } from "node:crypto";
import { appendFile, readFile } from "node:fs/promises";
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const bookings = JSON.parse(await readFile(new URL("../data/bookings.json", import.meta.url), "utf8"));
const ledger = new URL("../ledger/charges.jsonl", import.meta.url);

async function charges() {
  const text = await readFile(ledger, "utf8").catch(() => "");
  return text.split("\n").filter(Boolean).map(JSON.parse);
}

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
  const server = new McpServer({ name: "payments", version: "1.0.0" });
  server.registerTool(
    "booking",
    {
      description: "What a booking costs.",
      inputSchema: fromJsonSchema(map({ booking: text })),
      outputSchema: fromJsonSchema(map({ cents: { type: "integer" } })),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    async ({ booking }) => {
      if (!Object.hasOwn(bookings, booking)) return refuse(`There is no booking ${booking}.`);
      return answer({ cents: bookings[booking].cents });
    },
  );
  server.registerTool(
    "charge",
    {
      description: "Takes the money. Twice is twice.",
      inputSchema: fromJsonSchema(map({ booking: text, cents: { type: "integer" } })),
      outputSchema: fromJsonSchema(map({ id: text })),
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
    },
    async ({ booking, cents }) => {
      // The process goes away in the middle, as a network does: its caller cannot know on which side of the charge.
      const line = bookings[booking]?.line;
      if (line === "cut before the charge") process.exit(1);
      const charge = { id: randomUUID(), booking, cents };
      await appendFile(ledger, `${JSON.stringify(charge)}\n`);
      if (line === "cut after the charge") process.exit(1);
      return answer({ id: charge.id });
    },
  );
  server.registerTool(
    "find",
    {
      description: "All charges of a booking.",
      inputSchema: fromJsonSchema(map({ booking: text })),
      outputSchema: fromJsonSchema(
        map({ charges: { type: "array", items: map({ id: text, booking: text, cents: { type: "integer" } }) } }),
      ),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    async ({ booking }) => answer({ charges: (await charges()).filter((charge) => charge.booking === booking) }),
  );
  return server;
});
