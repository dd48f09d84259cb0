import { hashJson } from "../base/hash.ts";
import { recorded, type Val } from "../plan/marked.ts";

/**
 * Hashes of values that came with a record: a result is hashed when it is recorded, and what a step binds is
 * most often that very result. Values of a run are never changed, so an object keeps its hash.
 */
const known = new WeakMap<object, string>();

/** `hash` belongs to a record's `value` member, where there is one. */
export function rememberHash(value: Val | undefined, hash: string | null): void {
  if (typeof value === "object" && value !== null && hash !== null) known.set(value, hash);
}

/** The hash of a value as records have it: sensitive parts masked. */
export function hashValue(value: Val): string {
  if (typeof value === "object" && value !== null) {
    const hash = known.get(value);
    if (hash !== undefined) return hash;
  }
  return hashJson(recorded(value));
}
