import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { honestServer } from "./honest-tools.mjs";

process.stderr.write("up\n");
await honestServer().connect(new StdioServerTransport());
