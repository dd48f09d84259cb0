import { isObject, type Json, type JsonObject } from "../../base/json.ts";

const DEFINED = Symbol.for("ambit.connector");
const FAILURE = Symbol.for("ambit.connector.failure");

/** A connection as `ambit.yaml` gives it, its secrets in clear: hand them on, never return or throw them. */
export interface ConnectionValues {
  name: string;
  env: { readonly [name: string]: string };
  headers: { readonly [name: string]: string };
  auth: string | null;
}

/** What an action is given beside its arguments. */
export interface ActionContext {
  connection: ConnectionValues;
  /** Fires when the engine no longer waits: stop the work, or let it end and be recorded as late. */
  signal: AbortSignal;
  /** The idempotency key of a keyed action; it stands in its argument too. */
  key: string | null;
  run: string;
  position: string;
  /** From 1. */
  attempt: number;
  /** Milliseconds until the signal fires at the latest. */
  timeout: number;
}

/** Does the action and returns plain JSON; throws {@link failure} or {@link unknownOutcome} otherwise. */
export type ActionFunction = (args: JsonObject, context: ActionContext) => Json | Promise<Json>;

export interface ConnectorDefinition {
  /** As in a manifest file; `connector` may be left out. Not needed where `ambit.yaml` names a manifest. */
  manifest?: { readonly [key: string]: unknown };
  /** By the action's short name. What is not here is not offered. */
  actions: { readonly [name: string]: ActionFunction };
  /** Called once before a run's first step; throw if the service cannot be reached. */
  connect?: (connection: ConnectionValues, signal: AbortSignal) => void | Promise<void>;
  close?: () => void | Promise<void>;
}

export interface DefinedConnector extends ConnectorDefinition {
  readonly [DEFINED]: true;
}

/** Declares a connector; export it from the module that `connectors.NAME.module` names. */
export function defineConnector(definition: ConnectorDefinition): DefinedConnector {
  if (!isObject(definition) || !isObject(definition.actions)) throw new TypeError("A connector needs actions.");
  for (const [name, perform] of Object.entries(definition.actions)) {
    if (typeof perform !== "function") throw new TypeError(`The action ${name} is no function.`);
  }
  return Object.freeze({ ...definition, [DEFINED]: true as const });
}

/** Recognises a definition by brand, so that a module may bring its own copy of the package. */
export function isDefinedConnector(value: unknown): value is DefinedConnector {
  return isObject(value) && (value as { [DEFINED]?: unknown })[DEFINED] === true;
}

/** What {@link failure} and {@link unknownOutcome} make. */
export interface ConnectorFailure extends Error {
  readonly [FAILURE]: true;
  readonly outcome: "failed" | "unknown";
  readonly code: string;
  readonly details: JsonObject | undefined;
  readonly retryAfter: number | undefined;
}

/**
 * To be thrown where the effect definitely did not happen. `code` is short (`out_of_stock`, or one of
 * `unavailable`, `rate_limited`, `auth`, `failed`) or whole; `retryAfter` is in milliseconds.
 */
export function failure(
  code: string,
  message: string,
  more: { details?: JsonObject; retryAfter?: number } = {},
): ConnectorFailure {
  return make("failed", code, message, more.details, more.retryAfter);
}

/** To be thrown where nobody knows whether the effect happened. */
export function unknownOutcome(code: string, message: string, details?: JsonObject): ConnectorFailure {
  return make("unknown", code, message, details, undefined);
}

function make(
  outcome: "failed" | "unknown",
  code: string,
  message: string,
  details: JsonObject | undefined,
  retryAfter: number | undefined,
): ConnectorFailure {
  return Object.assign(new Error(message), { [FAILURE]: true as const, outcome, code, details, retryAfter });
}

export function isConnectorFailure(value: unknown): value is ConnectorFailure {
  return value instanceof Error && (value as { [FAILURE]?: unknown })[FAILURE] === true;
}
