// Starts the published memory server with its file beside this example: it takes a relative path as one below its own
// package, and a deployment file cannot know where it was checked out.
import { fileURLToPath } from "node:url";

process.env.MEMORY_FILE_PATH ??= fileURLToPath(new URL("../reports/memory.jsonl", import.meta.url));
await import("@modelcontextprotocol/server-memory/dist/index.js");
