import type { Json } from "../../base/json.ts";
import {
  MAX_STATE_NOTES,
  type StateAnswer,
  type StateCall,
  type StateChange,
  type StateKey,
  type StateStore,
} from "../connectors/state-store.ts";
import { unavailable } from "./refusals.ts";
import { callIdentity, planChange } from "./state-answer.ts";

interface Kept {
  values: Map<string, string>;
  notes: Map<string, StateAnswer>;
}

/** State that lasts as long as the process, beside a store that is not kept. */
export function openMemoryState(): StateStore {
  return new MemoryState();
}

class MemoryState implements StateStore {
  readonly #workflows = new Map<string, Kept>();
  #closed = false;

  async read({ workflow, key }: StateKey): Promise<{ found: boolean; value: Json }> {
    const text = this.#of(workflow).values.get(key);
    return text === undefined ? { found: false, value: null } : { found: true, value: JSON.parse(text) as Json };
  }

  async change({ workflow, key }: StateKey, change: StateChange, call: StateCall): Promise<StateAnswer> {
    const { values, notes } = this.#of(workflow);
    const identity = callIdentity(call);
    const earlier = notes.get(identity);
    if (earlier) return earlier;
    const { answer, text } = planChange(change, values.get(key) ?? null, values.size);
    if (text === undefined) return answer;
    if (text === null) values.delete(key);
    else values.set(key, text);
    notes.set(identity, answer);
    const [oldest] = notes.keys();
    if (notes.size > MAX_STATE_NOTES && oldest !== undefined) notes.delete(oldest);
    return answer;
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #of(workflow: string): Kept {
    if (this.#closed) throw unavailable(null, "closed", "has been closed");
    let kept = this.#workflows.get(workflow);
    if (!kept) {
      kept = { values: new Map(), notes: new Map() };
      this.#workflows.set(workflow, kept);
    }
    return kept;
  }
}
