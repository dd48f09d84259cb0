import type { Transport } from "@modelcontextprotocol/client";
import type { Clock } from "../../base/clock.ts";
import type { Json } from "../../base/json.ts";
import {
  type ConnectionSettings,
  defaultConnection,
  openConnection,
  type ResolveSecret,
  unavailable,
} from "./connection.ts";
import { messageOf } from "./guarded.ts";
import { CONNECT_DEADLINE_MS, McpConnector, type McpOptions } from "./mcp.ts";
import { listedTwice, MAX_PAGES } from "./mcp-session.ts";
import { notStarted } from "./not-started.ts";
import { Scrubber } from "./scrubber.ts";

export interface InspectOptions extends Pick<McpOptions, "name" | "server" | "env" | "headers"> {
  connections: readonly ConnectionSettings[];
  resolveSecret: ResolveSecret;
  clock: Clock;
}

export interface Inspected {
  /** The protocol version that client and server agreed on: what a manifest keeps as `protocol`. */
  protocol: string | null;
  server: { name: string; version: string } | null;
  /** Definitions as the server gives them; external text. */
  tools: { name: string; definition: Json }[];
}

/**
 * Looks at an MCP server for `connectors import` and `check`: finds out its version, which a run then takes
 * from the manifest (asking starts a stdio server twice), and lists its tools. Calls nothing. Refuses with
 * `catalog.unavailable` or `deployment.missing_secret`.
 */
export async function inspectMcpServer(options: InspectOptions, signal: AbortSignal): Promise<Inspected> {
  const { name, server, env, headers, clock } = options;
  const settings = defaultConnection(options.connections);
  const { values, secrets } = await openConnection(settings, options.resolveSecret, { env, headers });
  const scrubber = new Scrubber();
  scrubber.addSecrets(secrets);
  const sdk = await import("@modelcontextprotocol/client");
  let transport: Transport;
  if (server.kind === "stdio") {
    const { StdioClientTransport, getDefaultEnvironment } = await import("@modelcontextprotocol/client/stdio");
    // The SDK's own transport: only with it does the probe run on a process of its own.
    transport = new StdioClientTransport({
      command: server.command === "node" ? process.execPath : server.command,
      args: [...server.args],
      cwd: server.cwd,
      env: { ...getDefaultEnvironment(), ...values.env },
      stderr: "ignore",
    });
  } else {
    const sent = new Headers(values.headers);
    const { auth } = values;
    if (auth !== null) sent.set("Authorization", settings.auth?.prefix === undefined ? `Bearer ${auth}` : auth);
    transport = new sdk.StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers: sent } });
  }
  const client = new sdk.Client(
    { name: "ambit", version: "0.1.0" },
    {
      capabilities: {},
      listMaxPages: MAX_PAGES,
      versionNegotiation: { mode: "auto", probe: { timeoutMs: CONNECT_DEADLINE_MS / 2 } },
    },
  );
  client.onerror = () => {};
  const stop = new AbortController();
  const cut = (): void => stop.abort();
  const timer = clock.after(CONNECT_DEADLINE_MS * 2, cut);
  signal.addEventListener("abort", cut, { once: true });
  if (signal.aborted) cut();
  try {
    const request = { signal: stop.signal, timeout: CONNECT_DEADLINE_MS };
    await client.connect(transport, request);
    const { tools } = await client.listTools(undefined, { ...request, cacheMode: "bypass" });
    const twice = listedTwice(tools);
    if (twice !== null) throw new Error(twice);
    const version = client.getServerVersion();
    return {
      protocol: client.getNegotiatedProtocolVersion() ?? null,
      server: version ? { name: version.name, version: version.version } : null,
      tools: tools.map((tool) => ({ name: tool.name, definition: tool as unknown as Json })),
    };
  } catch (error) {
    // The SDK's transport keeps to itself how a process ended and what it printed: ours is asked why.
    if (server.kind === "stdio" && !stop.signal.aborted) await connectsOrSays(options, signal);
    const why = server.kind === "stdio" ? notStarted(error, server.command, server.cwd) : error;
    throw unavailable(name, scrubber.text(messageOf(why, "it cannot be reached")).slice(0, 1_000).toWellFormed());
  } finally {
    timer.cancel();
    signal.removeEventListener("abort", cut);
    await client.close().catch(() => {});
  }
}

/** Refuses in the words of a run's own connection where it fails too. */
async function connectsOrSays(options: InspectOptions, signal: AbortSignal): Promise<void> {
  const connector = new McpConnector({ ...options, actions: [], pinOf: () => null });
  try {
    await connector.connect(signal);
  } finally {
    await connector.close();
  }
}
