import { type Clock, isoTime } from "../base/clock.ts";
import { hashJson } from "../base/hash.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { type EventKind, RECORD_VERSION, type RunRecord, type TrailEntry } from "../journal/event.ts";
import { outOfJson } from "../journal/hashes.ts";
import type { Journal, Lease } from "../journal/journal.ts";
import type { Position } from "../plan/position.ts";

/** A record before it has its place: what the interpreter, or an effect, wants written. */
export interface Draft {
  kind: EventKind;
  position: Position;
  attempt: number;
  /** What was handed over, to be hashed; undefined where there is nothing. */
  in: Json | undefined;
  body: JsonObject;
}

export function inHash(draft: Pick<Draft, "in">): string | null {
  return draft.in === undefined ? null : hashJson(draft.in);
}

/**
 * Gives records their `seq`, time and trail, and appends them. One per run and process; in a replay it
 * writes nothing and only keeps the trail from growing.
 */
export class Recorder {
  readonly run: string;
  readonly def: string;
  readonly #journal: Journal | null;
  readonly #clock: Clock;
  readonly #listener: (record: RunRecord) => void;
  #lease: Lease | null;
  #also: () => void = () => {};
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
  }) {
    this.run = options.run;
    this.def = options.def;
    this.#journal = options.journal;
    this.#lease = options.lease;
    this.#clock = options.clock;
    this.#listener = options.listener;
  }

  get seq(): number {
    return this.#seq;
  }

  /** Called after each append. */
  also(work: () => void): void {
    this.#also = work;
  }

  setLease(lease: Lease): void {
    this.#lease = lease;
  }

  /** A record that was read back: the next one written comes after it. */
  observe(record: RunRecord): void {
    this.#seq = record.seq;
    this.#lastAt = Math.max(this.#lastAt, Date.parse(record.at));
    this.#trail = [];
  }

  trail(position: Position, what: TrailEntry["what"], detail: Json = null): void {
    if (this.#journal !== null) this.#trail.push({ position, what, detail });
  }

  /** Makes records of drafts. Times never run backwards within a run, whatever the clock does. */
  make(drafts: readonly Draft[]): RunRecord[] {
    const now = Math.max(this.#clock.now(), this.#lastAt);
    this.#lastAt = now;
    const at = isoTime(now);
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
      in: inHash(draft),
      out: outOfJson(draft.kind, draft.body),
      trail: i === drafts.length - 1 ? trail : [],
      body: draft.body,
    }));
  }

  /** Appends; resolves when the records are on disk. */
  async append(drafts: readonly Draft[]): Promise<RunRecord[]> {
    const records = this.make(drafts);
    if (this.#journal !== null && this.#lease !== null) await this.#journal.append(this.#lease, records);
    for (const record of records) this.#listener(record);
    this.#also();
    return records;
  }
}
