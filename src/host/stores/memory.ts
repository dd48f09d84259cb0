import { type Clock, isoTime } from "../../base/clock.ts";
import type { RunRecord } from "../../journal/event.ts";
import type {
  ChildProcess,
  Journal,
  Lease,
  Owner,
  RunFilter,
  RunHead,
  RunRequest,
  SealedPart,
  SingleRun,
} from "../../journal/journal.ts";
import {
  checkOf,
  FAILED_STATES,
  identityOf,
  OPEN_STATES,
  sameContent,
  statusAfter,
  toldByFirst,
} from "./first-records.ts";
import {
  alreadyDecided,
  conflict,
  corrupt,
  leaseLost,
  noRunYet,
  queueBusy,
  runBusy,
  runExists,
  runOwned,
  runUnknown,
  unavailable,
} from "./refusals.ts";

interface Row {
  head: RunHead;
  def: string;
  epoch: number;
  since: string;
  processes: ChildProcess[];
  /** JSON text, so that what a caller does to a record later changes nothing here. */
  records: string[];
  /** Identity to index in `records`. */
  identities: Map<string, number>;
  /** By number of the record. */
  sealed: Map<number, string>;
}

export interface MemoryJournalOptions {
  clock: Clock;
}

/**
 * The store of runs that are not kept: bounded requests, tests, `store: memory`. It lives and dies with its
 * process and knows no other, so no owner in it is ever dead.
 */
export function openMemoryJournal(options: MemoryJournalOptions): Journal {
  return new MemoryJournal(options.clock);
}

function isUnknown(text: string): boolean {
  if (!text.includes('"outcome":"unknown"')) return false;
  const { kind, body } = JSON.parse(text) as RunRecord;
  return kind === "call.ended" && body["outcome"] === "unknown";
}

class MemoryJournal implements Journal {
  readonly #clock: Clock;
  readonly #rows = new Map<string, Row>();
  /** The run that had a key last, by key; and places in the queues of keys, the first one first. */
  readonly #singles = new Map<string, string>();
  readonly #places = new Map<number, string>();
  #lastPlace = 0;
  readonly #requests: RunRequest[] = [];
  readonly #watchers = new Set<() => void>();
  #told: NodeJS.Immediate | undefined;
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async create(
    records: RunRecord[],
    owner: Owner,
    sealed: readonly SealedPart[] = [],
    single: SingleRun | null = null,
  ): Promise<Lease> {
    if (single !== null) this.#checkSingle(single);
    const row = this.#add(records, "conflict");
    for (const { seq, text } of sealed) row.sealed.set(seq, text);
    this.#own(row, owner);
    if (single !== null) {
      this.#singles.set(single.key, row.head.run);
      if (single.place !== null) this.#places.delete(single.place);
    }
    return { run: row.head.run, epoch: row.epoch };
  }

  #checkSingle({ key, place }: SingleRun): void {
    this.#open();
    const holder = this.#holder(key);
    if (holder !== null) throw runBusy(holder.run, holder.status, holder.owner, holder.owner !== null);
    const before = this.#waiting(key).filter((id) => place === null || id < place);
    if (before.length > 0) throw queueBusy(before.length);
  }

  #holder(key: string): RunHead | null {
    const head = this.#rows.get(this.#singles.get(key) ?? "")?.head;
    const open: readonly string[] = OPEN_STATES;
    return head !== undefined && open.includes(head.status) ? { ...head } : null;
  }

  #waiting(key: string): number[] {
    return [...this.#places].filter(([, of]) => of === key).map(([place]) => place);
  }

  async queue(key: string, _owner: Owner, most: number): Promise<number> {
    this.#open();
    const waiting = this.#waiting(key).length;
    if (waiting >= most) throw queueBusy(waiting);
    const place = ++this.#lastPlace;
    this.#places.set(place, key);
    return place;
  }

  async turn(key: string, place: number): Promise<"free" | { run: RunHead | null }> {
    this.#open();
    const holder = this.#holder(key);
    if (holder !== null) return { run: holder };
    return this.#waiting(key).some((other) => other < place) ? { run: null } : "free";
  }

  async leaveQueue(place: number): Promise<void> {
    this.#open();
    if (this.#places.delete(place)) this.#changed();
  }

  async acquire(run: string, owner: Owner, force?: "force"): Promise<{ lease: Lease; processes: ChildProcess[] }> {
    const row = this.#row(run);
    if (row.head.owner && force === undefined) throw runOwned(run, row.head.owner, row.since);
    const processes = row.processes;
    this.#own(row, owner);
    return { lease: { run, epoch: row.epoch }, processes };
  }

  async append(lease: Lease, records: RunRecord[], sealed: readonly SealedPart[] = []): Promise<void> {
    const row = this.#held(lease);
    const texts: { key: string; text: string }[] = [];
    let status = row.head.status;
    for (const record of records) {
      checkOf(record, lease.run, row.def, conflict);
      const key = identityOf(record);
      const known = row.identities.get(key);
      if (known !== undefined) {
        if (sameContent(JSON.parse(row.records[known] ?? "null") as RunRecord, record)) continue;
        throw conflict(lease.run, record.seq, `${key} was recorded before with other content`);
      }
      if (texts.some((entry) => entry.key === key)) {
        throw conflict(lease.run, record.seq, `${key} stands twice in one batch`);
      }
      const due = row.records.length + texts.length + 1;
      if (record.seq !== due) throw conflict(lease.run, record.seq, `number ${due} is due`);
      status = statusAfter(status, record);
      texts.push({ key, text: JSON.stringify(record) });
    }
    for (const { key, text } of texts) {
      row.identities.set(key, row.records.length);
      row.records.push(text);
      // What was passed over, since it is there already, keeps what lies beside it.
      const part = sealed.find(({ seq }) => seq === row.records.length);
      if (part !== undefined) row.sealed.set(part.seq, part.text);
    }
    row.head.status = status;
    row.head.records = row.records.length;
    row.head.updatedAt = records.at(-1)?.at ?? row.head.updatedAt;
    this.#changed();
  }

  async setProcesses(lease: Lease, processes: ChildProcess[]): Promise<void> {
    this.#held(lease).processes = processes.map((entry) => ({ ...entry }));
  }

  async release(lease: Lease): Promise<void> {
    const row = this.#row(lease.run);
    if (row.epoch !== lease.epoch) return;
    row.head.owner = null;
    row.epoch++;
    const open: readonly string[] = OPEN_STATES;
    if (!open.includes(row.head.status)) row.processes = [];
    this.#changed();
  }

  async read(run: string, fromSeq: number, limit: number): Promise<RunRecord[]> {
    const from = Math.max(0, fromSeq - 1);
    return this.#row(run)
      .records.slice(from, from + Math.max(0, limit))
      .map((text) => JSON.parse(text) as RunRecord);
  }

  async holdsSealed(): Promise<boolean> {
    return [...this.#rows.values()].some(({ sealed }) => sealed.size > 0);
  }

  async sealed(run: string, seq: number): Promise<string | null> {
    return this.#row(run).sealed.get(seq) ?? null;
  }

  async list(filter: RunFilter): Promise<RunHead[]> {
    this.#open();
    const found: RunHead[] = [];
    for (const { head, records } of [...this.#rows.values()].reverse()) {
      if (found.length >= filter.limit) break;
      if (filter.status !== undefined && head.status !== filter.status) continue;
      if (filter.name !== undefined && head.name !== filter.name) continue;
      if (filter.unknown && !records.some(isUnknown)) continue;
      found.push({ ...head });
    }
    return found;
  }

  async find(wanted: string): Promise<RunHead> {
    this.#open();
    const exact = this.#rows.get(wanted);
    if (exact) return { ...exact.head };
    const heads = [...this.#rows.values()].map((row) => row.head);
    if (wanted === "@last" || wanted === "@failed") {
      const failed: readonly string[] = FAILED_STATES;
      const last = heads.findLast((head) => wanted === "@last" || failed.includes(head.status));
      if (!last) throw noRunYet(wanted);
      return { ...last };
    }
    const matches = wanted === "" ? [] : heads.filter((head) => head.run.startsWith(wanted));
    const [only] = matches;
    if (matches.length !== 1 || !only) {
      throw runUnknown(
        wanted,
        matches.map((head) => head.run),
      );
    }
    return { ...only };
  }

  async import(records: RunRecord[]): Promise<void> {
    this.#add(records, "corrupt");
  }

  async post(request: Omit<RunRequest, "id" | "at">): Promise<void> {
    this.#row(request.run);
    const { run, verb, body } = request;
    const isSame = (other: RunRequest): boolean =>
      other.run === run && other.verb === verb && other.body["once"] === body["once"];
    if (typeof body["once"] === "string" && this.#requests.some(isSame)) throw alreadyDecided(run);
    const at = isoTime(this.#clock.now());
    this.#requests.push({ ...request, body: structuredClone(body), id: this.#requests.length + 1, at });
    this.#changed();
  }

  async requests(run: string, afterId: number): Promise<RunRequest[]> {
    this.#open();
    return this.#requests.filter((request) => request.run === run && request.id > afterId);
  }

  watch(changed: () => void): { stop(): void } {
    const watcher = (): void => changed();
    this.#watchers.add(watcher);
    return { stop: () => this.#watchers.delete(watcher) };
  }

  describe(): { kind: string; path: string | null; durability: string } {
    return { kind: "memory", path: null, durability: "none" };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#watchers.clear();
    if (this.#told) clearImmediate(this.#told);
  }

  #add(records: RunRecord[], refuse: "conflict" | "corrupt"): Row {
    this.#open();
    const told = toldByFirst(records, refuse);
    const run = records[0]?.run ?? "";
    const before = this.#rows.get(run);
    if (before) throw before.head.owner ? runOwned(run, before.head.owner, before.since) : runExists(run);
    const identities = new Map<string, number>();
    records.forEach((record, index) => {
      const key = identityOf(record);
      if (identities.has(key))
        throw (refuse === "conflict" ? conflict : corrupt)(run, record.seq, `${key} stands twice`);
      identities.set(key, index);
    });
    const row: Row = {
      head: {
        run,
        name: told.name,
        status: told.status,
        createdAt: told.createdAt,
        updatedAt: records.at(-1)?.at ?? told.createdAt,
        records: records.length,
        owner: null,
      },
      def: told.def,
      epoch: 0,
      since: "",
      processes: [],
      records: records.map((record) => JSON.stringify(record)),
      identities,
      sealed: new Map(),
    };
    this.#rows.set(run, row);
    this.#changed();
    return row;
  }

  #own(row: Row, owner: Owner): void {
    row.head.owner = { ...owner };
    row.epoch++;
    row.since = isoTime(this.#clock.now());
  }

  #row(run: string): Row {
    this.#open();
    const row = this.#rows.get(run);
    if (!row) throw runUnknown(run, []);
    return row;
  }

  #held(lease: Lease): Row {
    const row = this.#row(lease.run);
    if (row.epoch !== lease.epoch) throw leaseLost(lease.run, row.head.owner, row.since);
    return row;
  }

  #open(): void {
    if (this.#closed) throw unavailable(null, "closed", "has been closed");
  }

  /** One call for all changes of a turn of the event loop, and never inside the call that made them. */
  #changed(): void {
    if (this.#watchers.size === 0 || this.#told) return;
    this.#told = setImmediate(() => {
      this.#told = undefined;
      for (const watcher of [...this.#watchers]) watcher();
    });
  }
}
