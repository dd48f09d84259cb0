import { byteLength, canonical, type Json } from "../../base/json.ts";
import {
  MAX_STATE_KEYS,
  MAX_STATE_VALUE_BYTES,
  type StateAnswer,
  type StateCall,
  type StateChange,
} from "../connectors/state-store.ts";

/** What a store has to do for a change: nothing, put a text in place, or take the value away. */
export interface StatePlan {
  answer: StateAnswer;
  /** Undefined: it stays as it is; null: it goes. */
  text?: string | null;
}

/** Decides a change from what is kept. `keys` counts the keys of the workflow. */
export function planChange(change: StateChange, kept: string | null, keys: number): StatePlan {
  switch (change.is) {
    case "delete":
      return { answer: { is: "deleted", found: kept !== null }, text: null };
    case "put":
      return putting(canonical(change.value), { is: "put" }, kept, keys);
    case "add": {
      const before = kept === null ? 0 : (JSON.parse(kept) as Json);
      if (typeof before !== "number") return { answer: { is: "no_number" } };
      const value = before + change.by;
      const isExact = Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
      if (!isExact) return { answer: { is: "out_of_range" } };
      return putting(canonical(value), { is: "added", value: value === 0 ? 0 : value }, kept, keys);
    }
  }
}

function putting(text: string, answer: StateAnswer, kept: string | null, keys: number): StatePlan {
  const bytes = byteLength(text);
  if (bytes > MAX_STATE_VALUE_BYTES) return { answer: { is: "too_large", bytes } };
  if (kept === null && keys >= MAX_STATE_KEYS) return { answer: { is: "full" } };
  return { answer, text };
}

/** What tells a call from all others of its workflow. */
export function callIdentity({ run, position, requestKey }: StateCall): string {
  return requestKey === null ? `at ${run} ${position}` : `key ${requestKey}`;
}
