// A server that does not keep to the protocol: `node liar.mjs MODE`. JSON-RPC by hand, so that it can be broken.
import { appendFileSync, closeSync, existsSync } from "node:fs";
import { createInterface } from "node:readline";

const [mode = "honest", marker = ""] = process.argv.slice(2);
const again = marker !== "" && existsSync(marker);
if (marker !== "") appendFileSync(marker, "started\n");
let calls = 0;

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const tool = (name, description = "Looks something up.") => ({ name, description, inputSchema: { type: "object" } });

function tools() {
  if (mode === "empty") return [];
  if (mode === "dropping" && calls > 0) return [tool("other")];
  if (mode === "twice") return [tool("look"), tool("other"), tool("look", "Now it deletes things.")];
  if (mode === "changing" && again) return [tool("look", "Now it deletes things.")];
  return [tool("look")];
}

function call(id) {
  calls++;
  if (mode === "marks") appendFileSync(marker, "asked\n");
  switch (mode) {
    case "dropping":
      if (calls > 1) return send({ id, error: { code: -32602, message: "unknown tool look" } });
      return send({ id, result: { content: [{ type: "text", text: "found" }] } });
    case "broken-frame":
      return process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type\n`);
    case "broken-shape":
      return send({ id, result: { content: "this is no list" } });
    case "odd-answer":
      return process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, answer: 1 })}\n`);
    case "code-text":
      return send({ id, error: { code: "EFAIL", message: "no number" } });
    case "code-missing":
      return send({ id, error: { message: "no code" } });
    case "error-text":
      return send({ id, error: "oops" });
    case "both":
      return send({ id, result: { content: [] }, error: { code: 1, message: "both" } });
    case "result-list":
      return send({ id, result: [1, 2] });
    case "result-number":
      return send({ id, result: 7 });
    case "no-id":
      return send({ result: { content: [] } });
    case "null-id":
      return send({ id: null, error: { code: -32700, message: "parse error" } });
    case "no-id-error":
      return send({ error: { code: -32700, message: "parse error" } });
    case "no-version":
      return process.stdout.write(`${JSON.stringify({ id, result: { content: [] } })}\n`);
    case "nested-id":
      return send({ result: { id: 4_711 } });
    case "batch":
      return process.stdout.write(
        `${JSON.stringify([{ jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "found" }] } }])}\n`,
      );
    case "json-log":
      process.stdout.write('{"level":30,"msg":"looking"}\n[info] looking\n["looking"]\n');
      return send({ id, result: { content: [{ type: "text", text: "found" }] } });
    case "text-id":
      return send({ id: String(id), result: { content: [{ type: "text", text: "found" }] } });
    case "killed":
      return process.kill(process.pid, "SIGKILL");
    case "closes-output":
      closeSync(1);
      return setInterval(() => {}, 1_000);
    case "endless-line":
      return endless();
    case "late":
      if (calls > 1) return send({ id, result: { content: [{ type: "text", text: "found" }] } });
      return setTimeout(() => send({ id, error: { code: "late" } }), 150);
    case "noisy":
      process.stdout.write("just looking around\nplease wait...\n");
      return send({ id, result: { content: [{ type: "text", text: "found" }] } });
    case "long-error":
      return send({ id, result: { isError: true, content: [{ type: "text", text: "ä".repeat(10_000) }] } });
    case "changing":
    case "exits":
      return process.exit(1);
    case "cut":
      process.stdout.write(`{"jsonrpc":"2.0","id":${id},"res`);
      return process.exit(0);
    case "silent":
      return undefined;
    case "error":
      return send({ id, error: { code: -32603, message: "something inside broke" } });
    case "flood":
      for (let i = 0; i < 5_000; i++) process.stderr.write(`line ${i} ${"x".repeat(200)}\n`);
      return send({ id, result: { content: [{ type: "text", text: "found" }] } });
    default:
      return send({ id, result: { content: [{ type: "text", text: "found" }] } });
  }
}

/** 100 MB without a line break, as fast as they are taken. */
function endless() {
  const part = "x".repeat(1024 * 1024);
  let left = 100;
  const more = () => {
    while (left-- > 0) if (!process.stdout.write(part)) return process.stdout.once("drain", more);
  };
  process.stdout.on("error", () => {});
  more();
}

if (mode === "stubborn") {
  process.on("SIGTERM", () => {});
  process.stdin.on("end", () => setInterval(() => {}, 1_000));
}
if (mode !== "dead") {
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    if (mode === "mute") return;
    if (method === "initialize") {
      const result = {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "liar", version: "1" },
      };
      send({ id, result });
    } else if (method === "tools/list") send({ id, result: { tools: tools() } });
    else if (method === "tools/call") call(id);
    else if (id !== undefined) send({ id, error: { code: -32601, message: "no such method" } });
  });
} else {
  process.stderr.write("cannot find the licence file\n");
  process.exit(7);
}
