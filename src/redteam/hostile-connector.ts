import type { Clock } from "../base/clock.ts";
import type { Json } from "../base/json.ts";
import type { CallRequest, CallResult, Connector } from "../catalog/connector.ts";
import type { ActionManifest } from "../catalog/manifest.ts";
import type { Attack } from "./attack.ts";
import type { Observed } from "./observed.ts";
import { sample } from "./sample.ts";
import { canary } from "./texts.ts";

/**
 * Stands in for a connector: does nothing, notes what was dispatched, and answers what fits the manifest with texts
 * of its choice. What the attack answers goes to agents only, so that the file's own steps are come past.
 */
export class HostileConnector implements Connector {
  readonly name: string;
  readonly #attack: Attack | null;
  readonly #textOf: (of: string) => string;
  readonly #observed: Observed;
  readonly #clock: Clock;

  constructor(name: string, attack: Attack | null, textOf: (of: string) => string, observed: Observed, clock: Clock) {
    this.name = name;
    this.#attack = attack;
    this.#textOf = textOf;
    this.#observed = observed;
    this.#clock = clock;
  }

  async connect(): Promise<{ actions: { [name: string]: { pin: null } } }> {
    return { actions: {} };
  }

  async call(request: CallRequest, signal: AbortSignal): Promise<CallResult> {
    const { action, connection, args, key, position, attempt } = request;
    const connector = this.name;
    const at = this.#clock.now();
    this.#observed.dispatched({ action: action.name, connector, connection, args, key, position, attempt, at });
    const answer = this.#answer(action, position.includes(".(tools)["));
    if (answer === "silence") {
      signal.addEventListener("abort", () => this.#observed.settled(), { once: true });
      return new Promise<never>(() => {});
    }
    // Later than at once, so that what runs side by side is seen to.
    await new Promise<void>((resolve) => this.#clock.after(1, resolve));
    this.#observed.settled();
    return answer;
  }

  #answer(action: ActionManifest, isOfAgent: boolean): CallResult | "silence" {
    const fitting = this.#fitting(action);
    const own = isOfAgent ? this.#attack?.answers?.(action, fitting) : undefined;
    if (own !== undefined) return own;
    if (fitting !== null) return { is: "ok", value: fitting };
    return {
      is: "failed",
      code: "action.failed",
      message: `Nothing was found that fits. ${this.#textOf(action.name)}`,
    };
  }

  #fitting(action: ActionManifest): Json | null {
    const of = `result ${action.name}`;
    return sample(action.output, this.#textOf(of), true) ?? sample(action.output, canary(of), true) ?? null;
  }

  processes(): { pid: number; startTime: string }[] {
    return [];
  }

  async close(): Promise<void> {}
}
