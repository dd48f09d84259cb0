// Tools of an MCP server as actions.
//
// I1: what ended a call is judged by our signal first; an abort comes back as a timeout of the client's.
// I2: a server that went away is started again by the next call at most once, and must then offer the same
//     definitions as at first.
// I3: one client per connection: credentials of one never meet calls of another.
// I4: nothing that a server prints reaches our standard streams; of its standard error the last lines stand in the
//     refusal of a server that did not start.
// I5: nothing is asked of a server before it is told of as a process (run/processes.ts).
import type { VersionNegotiationMode } from "@modelcontextprotocol/client";
import type { Clock } from "../../base/clock.ts";
import type { CallRequest, CallResult, Connector, Offer } from "../../catalog/connector.ts";
import type { ProcessStarter } from "../../run/processes.ts";
import type { ProcessId } from "../processes/child-process.ts";
import {
  type ConnectionSettings,
  connectionNamed,
  defaultConnection,
  openConnection,
  type ResolveSecret,
  type SecretReference,
  unavailable,
} from "./connection.ts";
import { guardedCall, messageOf, thrownResult } from "./guarded.ts";
import { mayLackTool, readMcpError } from "./mcp-failure.ts";
import { readMcpResult } from "./mcp-result.ts";
import { type McpServer, McpSession } from "./mcp-session.ts";
import { Once, Shared } from "./once.ts";
import { Scrubber } from "./scrubber.ts";

export interface McpOptions {
  name: string;
  server: McpServer;
  /** Of the server itself, before those of the connection. */
  env: { readonly [name: string]: string | SecretReference };
  headers: { readonly [name: string]: string | SecretReference };
  /** Short names of the manifest's actions, and the server's own where it differs. */
  actions: readonly { name: string; tool?: string }[];
  /** The manifest's protocol version; the older handshake without one. */
  protocol?: string;
  connections: readonly ConnectionSettings[];
  resolveSecret: ResolveSecret;
  /** The pin of a tool definition. */
  pinOf: (tool: unknown) => string | null;
  clock: Clock;
  /** Milliseconds for connecting. */
  connectDeadline?: number;
}

export const CONNECT_DEADLINE_MS = 10_000;
/** The first version without the older handshake. */
const FIRST_DISCOVERED_VERSION = "2026-07-28";
const STDERR_TAIL = 5;

/** How to open a session with a server whose version the manifest says (or does not say). */
export function negotiationFor(protocol: string | undefined): VersionNegotiationMode {
  if (protocol === undefined || !/^\d{4}-\d{2}-\d{2}$/.test(protocol)) return "legacy";
  return protocol >= FIRST_DISCOVERED_VERSION ? { pin: protocol } : "legacy";
}

export class McpConnector implements Connector, ProcessStarter {
  readonly name: string;
  readonly #options: McpOptions;
  readonly #scrubber = new Scrubber();
  /** Each is opened for all calls that wait for it: the end of one of them is not the end of the opening. */
  readonly #sessions = new Map<string, Shared<McpSession>>();
  readonly #live = new Set<McpSession>();
  readonly #pins = new Map<string, string | null>();
  readonly #stderrTail: string[] = [];
  readonly #offer = new Once<Offer>(() => unavailable(this.name, "it was stopped"));
  #closed = false;
  #listed: () => Promise<void> = async () => {};

  constructor(options: McpOptions) {
    this.name = options.name;
    this.#options = options;
  }

  connect(signal: AbortSignal): Promise<Offer> {
    return this.#offer.get((stop) => this.#connect(stop), signal);
  }

  beforeUse(listed: () => Promise<void>): void {
    this.#listed = listed;
  }

  async #connect(signal: AbortSignal): Promise<Offer> {
    const session = await this.#session(defaultConnection(this.#options.connections), signal);
    const offer: Offer = { actions: {} };
    for (const { action, tool } of this.#names()) {
      const found = session.tools.get(tool);
      if (!found) continue;
      const pin = this.#options.pinOf(found);
      this.#pins.set(tool, pin);
      offer.actions[action] = { pin };
    }
    return offer;
  }

  #names(): { action: string; tool: string }[] {
    return this.#options.actions.map(({ name, tool }) => ({ action: `${this.name}.${name}`, tool: tool ?? name }));
  }

  async call(request: CallRequest, signal: AbortSignal): Promise<CallResult> {
    return guardedCall(request, signal, this.#scrubber, () => this.#call(request, signal));
  }

  async #call(request: CallRequest, signal: AbortSignal): Promise<CallResult> {
    const settings = connectionNamed(this.#options.connections, request.connection);
    const tool = this.#names().find(({ action }) => action === request.action.name)?.tool;
    if (!settings || tool === undefined) return gone(`${request.action.name} is not offered.`);
    let session: McpSession;
    try {
      session = await this.#session(settings, signal);
      // I5: it may have been started just now.
      await this.#listed();
    } catch (error) {
      return gone(messageOf(error, "The server cannot be reached."));
    }
    const changed = this.#whatChanged(session, tool);
    if (changed !== null) return gone(changed);
    try {
      return readMcpResult(await session.call(tool, request.args, signal, request.timeout));
    } catch (error) {
      // I1
      if (signal.aborted) return thrownResult(signal, "The call was cut off.");
      const judged = readMcpError(error);
      if (judged.is === "ambiguous") {
        const end = await session.endOfItself();
        return end === null ? judged : { ...judged, message: `The server's process ended with ${end}.` };
      }
      if (mayLackTool(error) && (await this.#hasLost(session, tool, signal))) {
        return gone(`The server no longer offers ${tool}.`);
      }
      return judged;
    }
  }

  /** Why a tool cannot be called any more, by what the server listed last (I2); null if it can. */
  #whatChanged(session: McpSession, tool: string): string | null {
    const found = session.tools.get(tool);
    if (!found) return `The server does not offer ${tool}.`;
    if (!this.#pins.has(tool)) return null;
    return this.#pins.get(tool) === this.#options.pinOf(found)
      ? null
      : `The server's definition of ${tool} has changed.`;
  }

  async #hasLost(session: McpSession, tool: string, signal: AbortSignal): Promise<boolean> {
    try {
      await session.refresh(signal, this.#deadline);
      return !session.tools.has(tool);
    } catch {
      return false;
    }
  }

  get #deadline(): number {
    return this.#options.connectDeadline ?? CONNECT_DEADLINE_MS;
  }

  async #session(settings: ConnectionSettings, signal: AbortSignal): Promise<McpSession> {
    const known = this.#sessions.get(settings.name);
    if (known) {
      const session = await known.wait(signal).catch(() => null);
      if (signal.aborted) throw unavailable(this.name, "it was stopped");
      if (session?.isOpen) return session;
      if (session) await this.#drop(session);
      if (this.#sessions.get(settings.name) === known) this.#sessions.delete(settings.name);
    }
    if (this.#closed) throw unavailable(this.name, "it has been closed");
    let opening = this.#sessions.get(settings.name);
    if (!opening) {
      opening = new Shared((stop) => this.#open(settings, stop));
      this.#sessions.set(settings.name, opening);
    }
    return opening.wait(signal);
  }

  async #open(settings: ConnectionSettings, signal: AbortSignal): Promise<McpSession> {
    const { env, headers, resolveSecret, server, clock } = this.#options;
    const { values, secrets, fields } = await openConnection(settings, resolveSecret, { env, headers });
    this.#scrubber.addSecrets(secrets);
    this.#scrubber.addFields(fields);
    const { auth } = values;
    const whole = auth === null || settings.auth?.prefix !== undefined ? auth : `Bearer ${auth}`;
    try {
      const session = await McpSession.open(
        {
          server,
          values,
          authorization: whole,
          negotiation: negotiationFor(this.#options.protocol),
          clock,
          deadline: this.#deadline,
          onStderr: (line) => this.#onStderr(line),
        },
        signal,
      );
      this.#live.add(session);
      return session;
    } catch (error) {
      const said = this.#stderrTail.length > 0 ? `; it printed: ${this.#stderrTail.join(" | ")}` : "";
      const why = this.#scrubber.text(`${messageOf(error, "it cannot be reached")}${said}`);
      throw unavailable(this.name, why.slice(0, 2_000).toWellFormed());
    }
  }

  #onStderr(line: string): void {
    // What a crash of Node says stands above its stack.
    if (/^\s*(?:at .*|[{}])?$/.test(line)) return;
    const clean = this.#scrubber.message(line);
    this.#stderrTail.push(clean.slice(0, 300).toWellFormed());
    if (this.#stderrTail.length > STDERR_TAIL) this.#stderrTail.shift();
  }

  async #drop(session: McpSession): Promise<void> {
    await session.close();
    this.#live.delete(session);
  }

  processes(): ProcessId[] {
    return [...this.#live].flatMap((session) => session.process ?? []);
  }

  async close(): Promise<void> {
    this.#closed = true;
    const opening = [...this.#sessions.values()].map((session) => session.promise.catch(() => null));
    this.#sessions.clear();
    const sessions = await Promise.all(opening);
    await Promise.all([...new Set([...this.#live, ...sessions])].map((session) => session && this.#drop(session)));
  }
}

function gone(message: string): CallResult {
  return { is: "failed", code: "action.unavailable", message };
}
