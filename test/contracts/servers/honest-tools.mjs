// The tools of the honest test server, over whatever transport.
import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";

const none = fromJsonSchema({ type: "object", properties: {} });

export function honestServer() {
  const server = new McpServer({ name: "honest", version: "1.0.0" });
  server.registerTool(
    "echo",
    {
      description: "Says the text again.",
      inputSchema: fromJsonSchema({ type: "object", properties: { text: { type: "string" } }, required: ["text"] }),
      outputSchema: fromJsonSchema({ type: "object", properties: { text: { type: "string" } }, required: ["text"] }),
    },
    async ({ text }) => ({ content: [{ type: "text", text }], structuredContent: { text } }),
  );
  server.registerTool("words", { description: "Two text parts.", inputSchema: none }, async () => ({
    content: [
      { type: "text", text: "one" },
      { type: "text", text: "two" },
    ],
  }));
  server.registerTool("picture", { description: "A picture.", inputSchema: none }, async () => ({
    content: [{ type: "image", data: "aGk=", mimeType: "image/png" }],
  }));
  server.registerTool("refuse", { description: "Fails.", inputSchema: none }, async () => ({
    isError: true,
    content: [{ type: "text", text: "none left" }],
  }));
  server.registerTool("leak", { description: "Tells its secret.", inputSchema: none }, async () => {
    const secret = process.env.DEMO_TOKEN ?? "";
    const encoded = Buffer.from(`user:${secret}`).toString("base64");
    return { content: [{ type: "text", text: JSON.stringify({ secret, encoded, url: encodeURIComponent(secret) }) }] };
  });
  server.registerTool("wait", { description: "Until its signal.", inputSchema: none }, async (_args, context) => {
    await new Promise((resolve) => context.mcpReq.signal.addEventListener("abort", resolve, { once: true }));
    process.stderr.write("saw the signal\n");
    return { content: [{ type: "text", text: "stopped" }] };
  });
  server.registerTool("die", { description: "Ends the server.", inputSchema: none }, async () => {
    setTimeout(() => process.exit(3), 10);
    await new Promise(() => {});
  });
  server.registerTool("environment", { description: "Names of its variables.", inputSchema: none }, async () => ({
    content: [{ type: "text", text: Object.keys(process.env).sort().join(" ") }],
  }));
  return server;
}
