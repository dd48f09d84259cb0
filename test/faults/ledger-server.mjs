// An MCP server over stdio that keeps a book of what it is asked and of what it does: `book.jsonl` in the folder
// given as first argument. While `hold-TOOL` lies there it does not answer calls of that tool. It ends neither with its engine nor, with
// `stubborn` there, on SIGTERM: the worst server that a run can leave behind.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as later } from "node:timers/promises";
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

const folder = process.argv[2];
const book = join(folder, "book.jsonl");
const LONGEST_MS = 60_000;

function write(line) {
  appendFileSync(book, `${JSON.stringify({ pid: process.pid, ...line })}\n`);
}

function lines() {
  if (!existsSync(book)) return [];
  return readFileSync(book, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

async function held(tool) {
  const end = performance.now() + LONGEST_MS;
  while (existsSync(join(folder, `hold-${tool}`)) && performance.now() < end) await later(10);
}

async function work(tool, args, effect) {
  const { key = null, ...rest } = args;
  write({ phase: "asked", tool, args: rest, key });
  if (existsSync(join(folder, "early"))) effect(rest, key);
  await held(tool);
  if (!existsSync(join(folder, "early"))) effect(rest, key);
  write({ phase: "answered", tool, args: rest, key });
  return { done: tool, of: rest.item };
}

const nothing = () => {};
const once = (tool) => (args, key) => {
  const again = key !== null && lines().some((line) => line.phase === "done" && line.key === key);
  write({ phase: again ? "deduplicated" : "done", tool, args, key });
};

const input = (more) =>
  fromJsonSchema({
    type: "object",
    properties: { item: { type: "string" }, ...more },
    required: ["item", ...Object.keys(more)],
    additionalProperties: false,
  });
const output = fromJsonSchema({
  type: "object",
  properties: { done: { type: "string" }, of: { type: "string" } },
  required: ["done", "of"],
});

const server = new McpServer({ name: "ledger", version: "1.0.0" });
for (const [tool, more, effect] of [
  ["look", {}, nothing],
  ["charge", { key: { type: "string" } }, once("charge")],
  ["send", {}, once("send")],
]) {
  server.registerTool(
    tool,
    { description: `Does ${tool}.`, inputSchema: input(more), outputSchema: output },
    async (args) => {
      const value = await work(tool, args, effect);
      return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
    },
  );
}

// A broken pipe is what an engine leaves that was killed.
process.stdout.on("error", () => {});
process.on("SIGTERM", () => {
  write({ phase: "told to end" });
  if (!existsSync(join(folder, "stubborn"))) process.exit(0);
});
write({ phase: "started" });
// Ends with its engine only when nothing is under way: the timers of a held call keep it.
await server.connect(new StdioServerTransport());
