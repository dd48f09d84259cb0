import type { Json, JsonObject } from "../base/json.ts";
import { isObject } from "../base/json.ts";
import type { Position } from "../plan/position.ts";

/** A fault as records, JSON output and `error` in expressions have it. */
export interface FaultJson {
  code: string;
  position: Position;
  message: string;
  details: JsonObject;
  cause: FaultJson | null;
}

const BRAND = Symbol.for("ambit.fault");

/**
 * A failure in a run. One class, no subclasses: what differs is data. `code` is a registered code, a
 * connector's own (`store.out_of_stock`) or an author's (`wf.fail`).
 */
export class Fault {
  readonly [BRAND] = true;
  readonly code: string;
  readonly at: Position;
  readonly message: string;
  readonly details: JsonObject;
  readonly cause: Fault | null;

  constructor(code: string, at: Position, message: string, details: JsonObject = {}, cause: Fault | null = null) {
    this.code = code;
    this.at = at;
    this.message = message;
    this.details = details;
    this.cause = cause;
  }

  toJSON(): FaultJson {
    return {
      code: this.code,
      position: this.at,
      message: this.message,
      details: this.details,
      cause: this.cause === null ? null : this.cause.toJSON(),
    };
  }

  static from(json: FaultJson): Fault {
    return new Fault(
      json.code,
      json.position,
      json.message,
      json.details ?? {},
      json.cause ? Fault.from(json.cause) : null,
    );
  }
}

/** Recognises a fault by brand, so that two copies of the package agree. */
export function isFault(value: unknown): value is Fault {
  return isObject(value) && (value as { [BRAND]?: unknown })[BRAND] === true;
}

/** Whether a `catch` entry's code list takes a failure: exact, `family.*` or `*`. */
export function matchesCode(patterns: readonly string[], code: string): boolean {
  return patterns.some(
    (pattern) =>
      pattern === "*" || pattern === code || (pattern.endsWith(".*") && code.startsWith(pattern.slice(0, -1))),
  );
}

/**
 * A failure of a command before or beside a run (store, input, deployment): what a port throws. It carries
 * a Fault, so that one printer serves all.
 */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly fault: Fault;
  constructor(code: string, message: string, details: { [key: string]: Json } = {}) {
    super(message);
    this.fault = new Fault(code, "", message, details);
  }
  get code(): string {
    return this.fault.code;
  }
}
