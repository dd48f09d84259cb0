/**
 * Notes of a run (DU-51): made by branches, written with the next delivery, and read back in the same order.
 *
 * I1: a note is made before it is read back; one that is read first was not written by this plan. What an effect
 *     writes by itself (`call.intent`) is the exception: it is made nowhere.
 * I2: whatever was noted before a branch began to wait is on disk before what it waited for.
 * I3: a note that was read back is not written again.
 */
import { type Json, jsonEqual } from "../base/json.ts";
import { type RunRecord, recordKey } from "../journal/event.ts";
import { outOfJson } from "../journal/hashes.ts";
import { type Position, positionName } from "../plan/position.ts";
import { HistoryMismatch } from "./history.ts";
import type { Draft } from "./recorder.ts";

/** Kinds that an effect writes before it goes on; all other notes are made by branches. */
const BY_EFFECTS: readonly string[] = ["call.intent", "wait.set", "ask.vote", "code.fetch"];

export class Notes {
  #pending: { draft: Draft; number: number }[] = [];
  readonly #open = new Map<string, RunRecord>();
  #made = 0;

  /** How many notes there have been: what was noted before now has a smaller number. */
  get made(): number {
    return this.#made;
  }

  get isEmpty(): boolean {
    return this.#pending.length === 0;
  }

  /** Whether a note of an effect has been read back whose result has not. */
  get hasOpen(): boolean {
    return this.#open.size > 0;
  }

  make(draft: Draft): void {
    this.#pending.push({ draft, number: this.#made++ });
  }

  /** What is to be written with the next record. */
  take(): Draft[] {
    return this.#pending.splice(0).map(({ draft }) => draft);
  }

  read(record: RunRecord): void {
    if (record.kind.startsWith("run.")) return;
    const key = recordKey(record);
    const at = this.#pending.findIndex(({ draft }) => recordKey(draft) === key);
    if (at === -1) {
      if (BY_EFFECTS.includes(record.kind)) {
        this.#open.set(key, record);
        return;
      }
      throw surplus(record);
    }
    const [entry] = this.#pending.splice(at, 1);
    if (!entry || jsonEqual(entry.draft.body, record.body)) return;
    const message = `${record.kind} at ${positionName(record.position)} is recorded otherwise than it happens now`;
    throw new HistoryMismatch(record.position, message, {
      kind: record.kind,
      seq: record.seq,
      expected: outOfJson(entry.draft.kind, entry.draft.body),
      recorded: record.out,
    });
  }

  /** An effect's own note that has been read back. */
  has(key: string): boolean {
    return this.#open.has(key);
  }

  /** The notes of an effect that have been read back, in the order of their attempts. */
  of(kind: RunRecord["kind"], position: Position): RunRecord[] {
    return [...this.#open.values()]
      .filter((record) => record.kind === kind && record.position === position)
      .sort((a, b) => a.attempt - b.attempt);
  }

  /** Takes an effect's own note away: its result is there. Null where there was none. */
  settle(key: string): RunRecord | null {
    const record = this.#open.get(key) ?? null;
    this.#open.delete(key);
    return record;
  }

  /** I2: before a recorded delivery whose branch began to wait when `made` notes had been made. */
  checkBefore(made: number, record: RunRecord): void {
    const late = this.#pending.find(({ number }) => number < made);
    if (late) throw missing(late.draft, record.seq);
  }

  /** After the end of a recorded run: each note was made, and each that was made is recorded. */
  checkAll(): void {
    const [first] = this.#pending;
    if (first) throw missing(first.draft, null);
    for (const record of this.#open.values()) if (record.kind === "call.intent") throw surplus(record);
  }
}

function missing(draft: Draft, seq: number | null): HistoryMismatch {
  const message = `${draft.kind} at ${positionName(draft.position)} is not recorded where it belongs`;
  const recorded: Json = null;
  return new HistoryMismatch(draft.position, message, { seq, expected: draft.kind, recorded });
}

function surplus({ kind, position, seq }: RunRecord): HistoryMismatch {
  const message = `${kind} at ${positionName(position)} is recorded, and the plan has nothing of the kind there`;
  return new HistoryMismatch(position, message, { seq, expected: null, recorded: kind });
}
