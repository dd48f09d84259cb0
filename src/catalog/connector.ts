import type { Json, JsonObject } from "../base/json.ts";
import type { Position } from "../plan/position.ts";
import type { ActionManifest } from "./manifest.ts";

/** One dispatch of one attempt. `args` hold the key in the manifest's field already. */
export interface CallRequest {
  action: ActionManifest;
  /** Name of the connection; the connector holds its settings and resolves its secrets itself. */
  connection: string;
  args: JsonObject;
  key: string | null;
  run: string;
  position: Position;
  attempt: number;
  /** Milliseconds until the engine's signal fires: for servers that want to be told. */
  timeout: number;
  /** Something in the arguments is marked sensitive: not to be kept where it outlives the run. */
  sensitive?: boolean;
}

/** What came of a dispatch. A connector never throws for any of these; if it throws, it is a `failed`. */
export type CallResult =
  | { is: "ok"; value: Json }
  /** Definite: the effect did not happen. `code` is `action.*` or the connector's own `<connector>.<name>`. */
  | { is: "failed"; code: string; message: string; details?: JsonObject; retryAfter?: number }
  /** The outcome is not known: `connection_lost`, or a code of the connector's own. */
  | { is: "ambiguous"; code: string; message: string; details?: JsonObject }
  /** Something came back that cannot be read as a result. */
  | { is: "unreadable"; message: string };

/** A place among the calls that a connector may have under way. */
export interface CallPlace {
  /** Milliseconds that it was waited for. */
  queuedMs: number;
  /** Gives it back; more than once does nothing. */
  leave(): void;
}

/** What a connector says it has once it is connected; checked against the plan and the pins before a run. */
export interface Offer {
  /** By action name (`crm.search`): the pin of what was found, null where the kind has none. */
  actions: { [name: string]: { pin: string | null } };
}

/** Performs actions. Lives in `host/connectors`; one per configured connector. */
export interface Connector {
  readonly name: string;
  /** Connects once; a second call gives the same offer. Refuses by throwing `Refusal` `catalog.unavailable`. */
  connect(signal: AbortSignal): Promise<Offer>;
  call(request: CallRequest, signal: AbortSignal): Promise<CallResult>;
  /**
   * Where the deployment limits the connector: waits for a place, which every dispatch needs. `full`: too many wait
   * already; `stopped`: the signal fired first. Nothing is dispatched then.
   */
  enter?(signal: AbortSignal): Promise<CallPlace | "full" | "stopped">;
  /** Operating system processes that it started and that live (DU-11). */
  processes(): { pid: number; startTime: string }[];
  close(): Promise<void>;
}
