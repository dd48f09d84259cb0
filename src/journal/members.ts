/** Reads single members of bodies that somebody else may have written: what does not fit is as good as absent. */
import { isObject, type Json, type JsonObject } from "../base/json.ts";
import type { FaultJson } from "../errors/fault.ts";

export function memberOf(body: unknown, key: string): Json | undefined {
  return isObject(body) && Object.hasOwn(body, key) ? (body[key] as Json) : undefined;
}

export function textIn(body: unknown, key: string): string | null {
  const value = memberOf(body, key);
  return typeof value === "string" ? value : null;
}

export function numberIn(body: unknown, key: string): number {
  const value = memberOf(body, key);
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

export function listIn(body: unknown, key: string): Json[] | null {
  const value = memberOf(body, key);
  return Array.isArray(value) ? value : null;
}

export function mapIn(body: unknown, key: string): JsonObject | null {
  const value = memberOf(body, key);
  return isObject(value) ? (value as JsonObject) : null;
}

export function faultIn(body: unknown, key: string): FaultJson | null {
  const fault = mapIn(body, key);
  const code = textIn(fault, "code");
  if (fault === null || code === null) return null;
  return {
    code,
    position: textIn(fault, "position") ?? "",
    message: textIn(fault, "message") ?? "",
    details: mapIn(fault, "details") ?? {},
    cause: faultIn(fault, "cause"),
  };
}

/** Milliseconds since 1970 of a record's time; 0 where it is none. */
export function timeOf(at: string): number {
  const ms = Date.parse(at);
  return Number.isFinite(ms) ? ms : 0;
}
