import { type Clock, isoTime } from "../base/clock.ts";
import { hashJson } from "../base/hash.ts";
import { type Json, type JsonObject, jsonEqual } from "../base/json.ts";
import { type EventKind, RECORD_VERSION, type RunRecord, type TrailEntry } from "../journal/event.ts";
import { outOfJson } from "../journal/hashes.ts";
import type { Journal, Lease, SealedPart } from "../journal/journal.ts";
import type { Val } from "../plan/marked.ts";
import { type Position, positionName } from "../plan/position.ts";
import { HistoryMismatch } from "./history.ts";
import { placeOf, sealedText } from "./sealed-parts.ts";
import type { Sealer } from "./sealer.ts";

/** A record before it has its place: what the interpreter, or an effect, wants written. */
export interface Draft {
  kind: EventKind;
  position: Position;
  attempt: number;
  /** What was handed over, to be hashed; undefined where there is nothing. */
  in: Json | undefined;
  body: JsonObject;
  /** The body as the run holds it, where parts of it are sealed beside the record. */
  clear?: { [key: string]: Val };
}

export function inHash(draft: Pick<Draft, "in">): string | null {
  return draft.in === undefined ? null : hashJson(draft.in);
}

/**
 * Gives records their `seq`, time and trail, and appends them. One per run and process; in a replay it
 * writes nothing.
 */
export class Recorder {
  readonly run: string;
  readonly def: string;
  readonly #journal: Journal | null;
  readonly #clock: Clock;
  readonly #listener: (record: RunRecord) => void;
  readonly #sealer: Sealer | null;
  #lease: Lease | null;
  #afterAppend: () => void = () => {};
  #seq = 0;
  #lastAt = 0;
  #trail: TrailEntry[] = [];

  constructor(options: {
    run: string;
    def: string;
    journal: Journal | null;
    lease: Lease | null;
    clock: Clock;
    /** Told of each record once it is on disk. */
    listener: (record: RunRecord) => void;
    /** Null where nothing sensitive is written that a resume reads back. */
    sealer: Sealer | null;
  }) {
    this.run = options.run;
    this.def = options.def;
    this.#journal = options.journal;
    this.#lease = options.lease;
    this.#clock = options.clock;
    this.#listener = options.listener;
    this.#sealer = options.sealer;
  }

  get seq(): number {
    return this.#seq;
  }

  /** Called after each append. */
  afterAppend(work: () => void): void {
    this.#afterAppend = work;
  }

  setLease(lease: Lease): void {
    this.#lease = lease;
  }

  /**
   * A record that was read back: the next one written comes after it, and what its trail tells is not told again.
   * What happened since a record was made stands in a later one, so a trail is part of what is told by now. In a
   * replay an entry that did not happen is a divergence.
   */
  observe(record: RunRecord): void {
    this.#seq = record.seq;
    if (this.#journal !== null) this.#lastAt = Math.max(this.#lastAt, Date.parse(record.at));
    for (const entry of record.trail) {
      const at = this.#trail.findIndex((own) => sameEntry(own, entry));
      if (at !== -1) this.#trail.splice(at, 1);
      else if (this.#journal === null) throw untold(record, entry);
    }
  }

  /** At the end of a replay: everything that happened is told somewhere. */
  checkTrail(): void {
    const [entry] = this.#trail;
    if (entry === undefined) return;
    const message = `${entry.what} at ${positionName(entry.position)} stands in no record`;
    throw new HistoryMismatch(entry.position, message, { expected: entry.what, recorded: null });
  }

  trail(position: Position, what: TrailEntry["what"], detail: Json = null): void {
    this.#trail.push({ position, what, detail });
  }

  /** Makes records of drafts. Times never run backwards within a run, whatever the clock does. */
  make(drafts: readonly Draft[]): RunRecord[] {
    const now = Math.max(this.#clock.now(), this.#lastAt);
    this.#lastAt = now;
    const at = isoTime(now);
    // Hashed first: what cannot be hashed must not use up a number.
    const hashes = drafts.map((draft) => ({ in: inHash(draft), out: outOfJson(draft.kind, draft.body) }));
    const trail = this.#trail;
    this.#trail = [];
    return drafts.map((draft, i) => ({
      v: RECORD_VERSION,
      run: this.run,
      seq: ++this.#seq,
      at,
      def: this.def,
      kind: draft.kind,
      position: draft.position,
      attempt: draft.attempt,
      in: hashes[i]?.in ?? null,
      out: hashes[i]?.out ?? null,
      trail: i === drafts.length - 1 ? trail : [],
      body: draft.body,
    }));
  }

  /** What lies sealed beside the records that were made of drafts. */
  seal(records: readonly RunRecord[], drafts: readonly Draft[]): SealedPart[] {
    const sealed: SealedPart[] = [];
    for (const [i, record] of records.entries()) {
      const text = this.#sealer === null ? null : sealedText(drafts[i]?.clear ?? {});
      if (text !== null && this.#sealer !== null) {
        sealed.push({ seq: record.seq, text: this.#sealer.seal(placeOf(record), text) });
      }
    }
    return sealed;
  }

  /** Appends; resolves when the records are on disk. */
  async append(drafts: readonly Draft[]): Promise<RunRecord[]> {
    const records = this.make(drafts);
    if (this.#journal !== null && this.#lease !== null) {
      await this.#journal.append(this.#lease, records, this.seal(records, drafts));
    }
    for (const record of records) this.#listener(record);
    this.#afterAppend();
    return records;
  }
}

function sameEntry(a: TrailEntry, b: TrailEntry): boolean {
  return a.position === b.position && a.what === b.what && jsonEqual(a.detail, b.detail);
}

function untold(record: RunRecord, entry: TrailEntry): HistoryMismatch {
  const message = `record ${record.seq} tells of ${entry.what} at ${positionName(entry.position)}, which does not happen`;
  return new HistoryMismatch(entry.position, message, { seq: record.seq, expected: null, recorded: entry.what });
}
