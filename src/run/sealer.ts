import type { Json } from "../base/json.ts";
import type { Redacted } from "../plan/marked.ts";

export type Unsealed = { is: "open"; text: string } | { is: "shut"; why: Exclude<Redacted, "unsealed"> };

/**
 * Seals texts that a store keeps and nobody may read there (DU-09). `place` says what the text belongs to: it is
 * bound to it, and opens nowhere else. Synchronous, as everything between two deliveries is (DU-34).
 */
export interface Sealer {
  /** `store.unavailable` where there is no key and none can be made. */
  seal(place: Json, text: string): string;
  open(place: Json, sealed: string): Unsealed;
}
