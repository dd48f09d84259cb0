import { pathToFileURL } from "node:url";
import { type Clock, systemClock } from "../../base/clock.ts";
import { formatDuration } from "../../base/duration.ts";
import type { CallRequest, CallResult, Connector, Offer } from "../../catalog/connector.ts";
import { isRegistered } from "../../errors/codes.ts";
import {
  type ConnectionSettings,
  connectionNamed,
  defaultConnection,
  openConnection,
  type ResolveSecret,
  unavailable,
} from "./connection.ts";
import { type ConnectionValues, type DefinedConnector, isConnectorFailure } from "./define-connector.ts";
import { guardedCall, messageOf } from "./guarded.ts";
import { within } from "./in-time.ts";
import { LOAD_DEADLINE_MS, loadConnectorModule } from "./load-module.ts";
import { isExitTried, withoutExit } from "./no-exit.ts";
import { Once } from "./once.ts";
import { Scrubber } from "./scrubber.ts";

export interface ModuleOptions {
  name: string;
  /** Absolute path of the module, or what `defineConnector` made. */
  module: string | DefinedConnector;
  connections: readonly ConnectionSettings[];
  resolveSecret: ResolveSecret;
  clock?: Clock;
  /** Milliseconds for loading, for connecting and for closing, each. */
  deadline?: number;
}

/** Actions as functions of a JavaScript module, in our own process. */
export class ModuleConnector implements Connector {
  readonly name: string;
  readonly #options: ModuleOptions;
  readonly #scrubber = new Scrubber();
  readonly #opened = new Map<string, Once<ConnectionValues>>();
  #definition: DefinedConnector | null = null;
  readonly #loading = new Once<DefinedConnector>(() => unavailable(this.name, "it was stopped"));
  readonly #offer = new Once<Offer>(() => unavailable(this.name, "it was stopped"));

  constructor(options: ModuleOptions) {
    this.name = options.name;
    this.#options = options;
  }

  connect(signal: AbortSignal): Promise<Offer> {
    return this.#offer.get((stop) => this.#connect(stop), signal);
  }

  async #connect(signal: AbortSignal): Promise<Offer> {
    const definition = await this.#load(signal);
    const values = await this.#open(defaultConnection(this.#options.connections));
    try {
      await this.#inTime(signal, "connected", () => definition.connect?.(values, signal));
    } catch (error) {
      throw unavailable(this.name, this.#scrubber.text(messageOf(error, "it refused to connect")));
    }
    const names = Object.keys(definition.actions).map((action) => `${this.name}.${action}`);
    return { actions: Object.fromEntries(names.map((name) => [name, { pin: null }])) };
  }

  async call(request: CallRequest, signal: AbortSignal): Promise<CallResult> {
    return guardedCall(request, signal, this.#scrubber, () => this.#perform(request, signal));
  }

  async #perform(request: CallRequest, signal: AbortSignal): Promise<CallResult> {
    const definition = await this.#load(signal);
    const short = request.action.name.slice(this.name.length + 1);
    const perform = Object.hasOwn(definition.actions, short) ? definition.actions[short] : undefined;
    const settings = connectionNamed(this.#options.connections, request.connection);
    if (!perform || !settings) {
      return { is: "failed", code: "action.unavailable", message: `The module does not offer ${request.action.name}.` };
    }
    const connection = await this.#open(settings);
    try {
      const { key, run, position, attempt, timeout } = request;
      const context = { connection, signal, key, run, position, attempt, timeout };
      const value = await withoutExit(() => perform(request.args, context));
      return { is: "ok", value };
    } catch (error) {
      // It has given up in the middle of its work, as if the process had died: nobody knows how far it came.
      if (isExitTried(error)) return { is: "ambiguous", code: "executor_lost", message: error.message };
      if (!isConnectorFailure(error)) throw error;
      const { message } = error;
      const details = error.details === undefined ? {} : { details: error.details };
      const code = this.#fullCode(error.code);
      if (error.outcome === "unknown") return { is: "ambiguous", code, message, ...details };
      const retry = error.retryAfter === undefined ? {} : { retryAfter: error.retryAfter };
      return { is: "failed", code, message, ...details, ...retry };
    }
  }

  #fullCode(code: string): string {
    if (code.includes(".") || code === "connection_lost") return code;
    return isRegistered(`action.${code}`) ? `action.${code}` : `${this.name}.${code}`;
  }

  #load(signal: AbortSignal): Promise<DefinedConnector> {
    return this.#loading.get(async (stop) => {
      const { module, clock, deadline } = this.#options;
      this.#definition = typeof module === "string" ? await this.#import(module, stop, clock, deadline) : module;
      return this.#definition;
    }, signal);
  }

  async #import(file: string, signal: AbortSignal, clock?: Clock, deadline?: number): Promise<DefinedConnector> {
    const options = {
      signal,
      ...(clock === undefined ? {} : { clock }),
      ...(deadline === undefined ? {} : { deadline }),
    };
    const loaded = await loadConnectorModule(pathToFileURL(file).href, options);
    if (!loaded.ok) throw unavailable(this.name, loaded.message);
    return loaded.definition;
  }

  /** Something of the module that the engine waits for, and that no run's limit ends. */
  #inTime(signal: AbortSignal | undefined, what: string, work: () => unknown): Promise<unknown> {
    const { clock = systemClock, deadline = LOAD_DEADLINE_MS } = this.#options;
    return within(clock, deadline, signal, withoutExit(work), `it was not ${what} within ${formatDuration(deadline)}`);
  }

  #open(settings: ConnectionSettings): Promise<ConnectionValues> {
    const opened = this.#opened.get(settings.name) ?? new Once();
    this.#opened.set(settings.name, opened);
    return opened.get(async () => {
      const { values, secrets, fields } = await openConnection(settings, this.#options.resolveSecret);
      this.#scrubber.addSecrets(secrets);
      this.#scrubber.addFields(fields);
      return values;
    });
  }

  processes(): { pid: number; startTime: string }[] {
    return [];
  }

  async close(): Promise<void> {
    try {
      await this.#inTime(undefined, "closed", () => this.#definition?.close?.());
    } catch {
      // A connector that fails to close has nothing left to say to a run that is over.
    }
  }
}
