import { hashJson } from "../base/hash.ts";
import { recorded, type Val } from "../plan/marked.ts";

/**
 * The hash of the value that came with the last record: what a step binds is most often that very result, and a
 * branch goes on before the next record is delivered. Values of a run are never changed, so an object keeps its hash.
 */
let last: { value: object; hash: string } | null = null;

/** `hash` belongs to a record's `value` member, where there is one. */
export function rememberHash(value: Val | undefined, hash: string | null): void {
  last = typeof value === "object" && value !== null && hash !== null ? { value, hash } : null;
}

/** The hash of a value as records have it: sensitive parts masked. */
export function hashValue(value: Val): string {
  return last !== null && value === last.value ? last.hash : hashJson(recorded(value));
}
