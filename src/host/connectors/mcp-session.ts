import type { CallToolResult, Client, Tool, VersionNegotiationMode } from "@modelcontextprotocol/client";
import type { Clock } from "../../base/clock.ts";
import { formatDuration } from "../../base/duration.ts";
import type { ProcessId } from "../processes/child-process.ts";
import type { ConnectionValues } from "./define-connector.ts";
import { messageOf } from "./guarded.ts";
import { watchedHttpTransport } from "./http-transport.ts";
import { StdioTransport } from "./stdio-transport.ts";

/** How a server is reached; secrets come with the connection. */
export type McpServer =
  | { kind: "stdio"; command: string; args: readonly string[]; cwd: string }
  | { kind: "http"; url: string };

export interface SessionOptions {
  server: McpServer;
  values: ConnectionValues;
  /** The `Authorization` header, ready to be sent. */
  authorization: string | null;
  negotiation: VersionNegotiationMode;
  clock: Clock;
  /** Milliseconds for connecting and listing. */
  deadline: number;
  onStderr: (line: string) => void;
}

export const MAX_PAGES = 64;
/** The protocol layer's own timeout lies above ours, so that ours is always the one that ends a call. */
const ABOVE_OURS_MS = 60_000;

/** One live connection to one server. */
export class McpSession {
  readonly #client: Client;
  readonly #stdio: StdioTransport | null;
  #tools: ReadonlyMap<string, Tool> = new Map();
  #open = true;

  private constructor(client: Client, stdio: StdioTransport | null) {
    this.#client = client;
    this.#stdio = stdio;
  }

  /** Connects and lists the tools, or throws an error with a message for people. */
  static async open(options: SessionOptions, signal: AbortSignal): Promise<McpSession> {
    const sdk = await import("@modelcontextprotocol/client");
    const client = new sdk.Client(
      { name: "ambit", version: "0.1.0" },
      {
        capabilities: {},
        versionNegotiation: { mode: options.negotiation },
        listMaxPages: MAX_PAGES,
        // Schemas of servers are compiled and checked by the catalog's validator, and by no other.
        jsonSchemaValidator: {
          getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
        },
        inputRequired: { autoFulfill: false },
      },
    );
    const { server } = options;
    const stdio =
      server.kind === "stdio"
        ? new StdioTransport({
            command: server.command === "node" ? process.execPath : server.command,
            args: server.args,
            cwd: server.cwd,
            env: {
              ...(await import("@modelcontextprotocol/client/stdio")).getDefaultEnvironment(),
              ...options.values.env,
            },
            clock: options.clock,
            onStderr: options.onStderr,
            isAnswer: (message) => sdk.isJSONRPCResultResponse(message) || sdk.isJSONRPCErrorResponse(message),
          })
        : null;
    const transport = stdio ?? httpTransport(sdk, server.kind === "http" ? server.url : "", options);
    const session = new McpSession(client, stdio);
    client.onclose = () => {
      session.#open = false;
    };
    client.onerror = () => {};
    const ended = new AbortController();
    const stop = (): void => ended.abort();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    const timer = options.clock.after(options.deadline, stop);
    try {
      const cut = cutOff(ended.signal);
      const request = { signal: ended.signal, timeout: options.deadline + ABOVE_OURS_MS };
      await Promise.race([client.connect(transport, request), cut]);
      await Promise.race([session.#list(ended.signal, options.deadline), cut]);
      return session;
    } catch (error) {
      const end = ended.signal.aborted ? null : await session.endOfItself();
      await session.close();
      if (signal.aborted) throw new Error("it was stopped");
      if (ended.signal.aborted) throw new Error(`it did not answer within ${formatDuration(options.deadline)}`);
      if (end !== null) throw new Error(`its process ended with ${end} before it answered`);
      throw new Error(messageOf(error, "it cannot be reached"));
    } finally {
      timer.cancel();
      signal.removeEventListener("abort", stop);
    }
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /** How its process ended of itself: `exit code 3`, `signal SIGKILL`; null where it did not, or there is none. */
  async endOfItself(): Promise<string | null> {
    return (await this.#stdio?.endOfItself()) ?? null;
  }

  get protocol(): string | undefined {
    return this.#client.getNegotiatedProtocolVersion();
  }

  get process(): ProcessId | null {
    return this.#stdio?.process ?? null;
  }

  /** As listed last, by the server's own names. */
  get tools(): ReadonlyMap<string, Tool> {
    return this.#tools;
  }

  /** Asks for the list again. */
  async refresh(signal: AbortSignal, deadline: number): Promise<void> {
    await this.#list(signal, deadline);
  }

  async #list(signal: AbortSignal, deadline: number): Promise<void> {
    const { tools } = await this.#client.listTools(undefined, {
      signal,
      timeout: deadline + ABOVE_OURS_MS,
      cacheMode: "bypass",
    });
    const twice = listedTwice(tools);
    if (twice !== null) throw new Error(twice);
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
  }

  call(tool: string, args: { [name: string]: unknown }, signal: AbortSignal, timeout: number): Promise<CallToolResult> {
    const known = this.#tools.get(tool);
    // Without an output schema the client does not judge the result: it is the manifest's that counts.
    const { outputSchema: _unused, ...definition } = known ?? { name: tool, inputSchema: { type: "object" as const } };
    return this.#client.callTool(
      { name: tool, arguments: args },
      { signal, timeout: timeout + ABOVE_OURS_MS, resetTimeoutOnProgress: false, toolDefinition: definition },
    );
  }

  async close(): Promise<void> {
    this.#open = false;
    // The client's own close may wait for a server that does not answer; the process ends either way.
    await Promise.all([this.#stdio?.close(), this.#client.close().catch(() => {})]);
  }
}

/** What is wrong with a list in which a name stands twice: which of the two would be called is anybody's guess. */
export function listedTwice(tools: readonly { name: string }[]): string | null {
  const seen = new Set<string>();
  for (const { name } of tools) {
    if (seen.has(name)) return `its list has the tool ${JSON.stringify(name.slice(0, 200).toWellFormed())} twice`;
    seen.add(name);
  }
  return null;
}

type Sdk = typeof import("@modelcontextprotocol/client");

function httpTransport(sdk: Sdk, url: string, options: SessionOptions) {
  const headers = new Headers();
  for (const [name, value] of Object.entries(options.values.headers)) headers.set(name, value);
  if (options.authorization !== null) headers.set("Authorization", options.authorization);
  return watchedHttpTransport(
    (fetch) =>
      new sdk.StreamableHTTPClientTransport(new URL(url), {
        requestInit: { headers },
        fetch,
        redirectPolicy: "same-origin",
      }),
    options.clock,
  );
}

function cutOff(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const cut = (): void => reject(new Error("it was cut off"));
    if (signal.aborted) cut();
    else signal.addEventListener("abort", cut, { once: true });
  });
}
