// `state.*`: what a workflow keeps from run to run.
//
// I1: a value belongs to the workflow in whose file the step stands; no argument names another.
// I2: the same call changes the state once, however often it comes (state-store.ts).
// I3: sensitive values are not kept: they would outlive the run that may hold them.
import type { Json, JsonObject } from "../../base/json.ts";
import type { CallRequest, CallResult, Connector, Offer } from "../../catalog/connector.ts";
import type { Position } from "../../plan/position.ts";
import { unavailable } from "./connection.ts";
import { guardedCall, messageOf } from "./guarded.ts";
import { Scrubber } from "./scrubber.ts";
import {
  MAX_STATE_KEYS,
  MAX_STATE_VALUE_BYTES,
  type StateAnswer,
  type StateChange,
  type StateKey,
  type StateStore,
} from "./state-store.ts";

export interface StateOptions {
  name: string;
  /** Opened by the first who asks; whoever gives it closes it. */
  store: () => Promise<StateStore>;
  /** The name of the workflow in whose file the step at a position stands. */
  workflowAt: (position: Position) => string;
}

const ACTIONS = ["get", "put", "add", "delete"];
const MAX_KEY = 256;

export class StateConnector implements Connector {
  readonly name: string;
  readonly #options: StateOptions;
  readonly #scrubber = new Scrubber();

  constructor(options: StateOptions) {
    this.name = options.name;
    this.#options = options;
  }

  async connect(_signal: AbortSignal): Promise<Offer> {
    try {
      await this.#options.store();
    } catch (error) {
      throw unavailable(this.name, messageOf(error, "its store cannot be opened"));
    }
    return { actions: Object.fromEntries(ACTIONS.map((action) => [`${this.name}.${action}`, { pin: null }])) };
  }

  call(request: CallRequest, signal: AbortSignal): Promise<CallResult> {
    return guardedCall(request, signal, this.#scrubber, () => this.#call(request));
  }

  async #call(request: CallRequest): Promise<CallResult> {
    const { args, position, run, key: requestKey } = request;
    const { key } = args;
    if (typeof key !== "string" || key === "" || [...key].length > MAX_KEY) {
      return invalid(`A key is a text of 1 to ${MAX_KEY} characters.`);
    }
    if (request.sensitive === true) return invalid("Sensitive values are not kept from run to run.");
    const at: StateKey = { workflow: this.#options.workflowAt(position), key };
    const store = await this.#options.store();
    switch (request.action.name) {
      case `${this.name}.get`:
        return { is: "ok", value: { ...(await store.read(at)) } };
      case `${this.name}.put`:
      case `${this.name}.add`:
      case `${this.name}.delete`: {
        const change = changeOf(request.action.name.slice(this.name.length + 1), args);
        if (change === null) return invalid("by must be a number.");
        return resultOf(await store.change(at, change, { run, position, requestKey }));
      }
      default:
        return { is: "failed", code: "action.unavailable", message: `There is no action ${request.action.name}.` };
    }
  }

  processes(): { pid: number; startTime: string }[] {
    return [];
  }

  async close(): Promise<void> {}
}

function changeOf(action: string, args: JsonObject): StateChange | null {
  if (action === "put") return { is: "put", value: args["value"] ?? null };
  if (action === "delete") return { is: "delete" };
  const by: Json = args["by"] ?? 1;
  return typeof by === "number" && Number.isFinite(by) ? { is: "add", by } : null;
}

function resultOf(answer: StateAnswer): CallResult {
  switch (answer.is) {
    case "put":
      return { is: "ok", value: { ok: true } };
    case "added":
      return { is: "ok", value: { value: answer.value } };
    case "deleted":
      return { is: "ok", value: { found: answer.found } };
    case "full":
      return failed("state.full", `The workflow keeps ${MAX_STATE_KEYS} keys already.`, { limit: MAX_STATE_KEYS });
    case "too_large": {
      const { bytes } = answer;
      const message = `The value has ${bytes} bytes as JSON, and ${MAX_STATE_VALUE_BYTES} are the most.`;
      return failed("state.too_large", message, { bytes, limit: MAX_STATE_VALUE_BYTES });
    }
    case "no_number":
      return failed("action.failed", "What is kept under this key is no number.");
    case "out_of_range":
      return failed("action.failed", "The sum is beyond the numbers that are kept exactly.");
  }
}

function invalid(message: string): CallResult {
  return failed("action.invalid_input", message);
}

function failed(code: string, message: string, details: JsonObject = {}): CallResult {
  return { is: "failed", code, message, details };
}
