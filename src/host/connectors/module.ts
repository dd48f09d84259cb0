import { pathToFileURL } from "node:url";
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
import { loadConnectorModule } from "./load-module.ts";
import { Once } from "./once.ts";
import { Scrubber } from "./scrubber.ts";

export interface ModuleOptions {
  name: string;
  /** Absolute path of the module, or what `defineConnector` made. */
  module: string | DefinedConnector;
  connections: readonly ConnectionSettings[];
  resolveSecret: ResolveSecret;
}

/** Actions as functions of a JavaScript module, in our own process. */
export class ModuleConnector implements Connector {
  readonly name: string;
  readonly #options: ModuleOptions;
  readonly #scrubber = new Scrubber();
  readonly #opened = new Map<string, Once<ConnectionValues>>();
  #definition: DefinedConnector | null = null;
  readonly #offer = new Once<Offer>();

  constructor(options: ModuleOptions) {
    this.name = options.name;
    this.#options = options;
  }

  connect(signal: AbortSignal): Promise<Offer> {
    return this.#offer.get(() => this.#connect(signal));
  }

  async #connect(signal: AbortSignal): Promise<Offer> {
    const definition = await this.#load();
    const values = await this.#open(defaultConnection(this.#options.connections));
    try {
      await definition.connect?.(values, signal);
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
    const definition = await this.#load();
    const short = request.action.name.slice(this.name.length + 1);
    const perform = Object.hasOwn(definition.actions, short) ? definition.actions[short] : undefined;
    const settings = connectionNamed(this.#options.connections, request.connection);
    if (!perform || !settings) {
      return { is: "failed", code: "action.unavailable", message: `The module does not offer ${request.action.name}.` };
    }
    const connection = await this.#open(settings);
    try {
      const { key, run, position, attempt, timeout } = request;
      const value = await perform(request.args, { connection, signal, key, run, position, attempt, timeout });
      return { is: "ok", value };
    } catch (error) {
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

  async #load(): Promise<DefinedConnector> {
    if (this.#definition) return this.#definition;
    const { module } = this.#options;
    if (typeof module !== "string") {
      this.#definition = module;
      return module;
    }
    const loaded = await loadConnectorModule(pathToFileURL(module).href);
    if (!loaded.ok) throw unavailable(this.name, loaded.message);
    this.#definition = loaded.definition;
    return loaded.definition;
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
      await this.#definition?.close?.();
    } catch {
      // A connector that fails to close has nothing left to say to a run that is over.
    }
  }
}
