import { isObject, type Json, type JsonObject } from "../base/json.ts";
import { isAlive } from "../host/processes/process-identity.ts";
import { Cursor, pagesOfRun } from "../journal/cursor.ts";
import type { Journal, Owner, RunFilter, RunHead, RunRequest } from "../journal/journal.ts";
import { textIn } from "../journal/members.ts";
import { OPEN_STATES } from "../journal/outcome.ts";
import type { Position } from "../plan/position.ts";
import type { Sealer } from "../run/sealer.ts";

/** More runs than a person could look through; a store that has more shows the newest. */
export const MOST_RUNS = 10_000;

/** What opens and seals values of a run, by the `origin` of its acceptance. */
export type SealerOf = (origin: Json | undefined) => Promise<Sealer>;

/** Runs that may still ask something of a person, the newest first. */
export async function openHeads(journal: Journal, filter: Pick<RunFilter, "unknown"> = {}): Promise<RunHead[]> {
  const heads: RunHead[] = [];
  for (const status of OPEN_STATES) {
    heads.push(...(await journal.list({ ...filter, status, limit: MOST_RUNS })));
  }
  return heads.sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
}

/** What was asked of a run's owner with a verb, the oldest first. */
export async function requestsOf(journal: Journal, run: string, verb: string): Promise<RunRequest[]> {
  const found: RunRequest[] = [];
  for (let last = 0; ; ) {
    const page = await journal.requests(run, last);
    if (page.length === 0) return found;
    for (const request of page) last = Math.max(last, request.id);
    found.push(...page.filter((request) => request.verb === verb));
  }
}

/** What was left for a run: whether somebody takes it at once, or `resume` has to. */
export interface Receipt {
  run: string;
  position: Position;
  /** No living process has the run: what was left waits for `ambit resume`. */
  waits: boolean;
  /** The number of the last record when it was left. */
  seq: number;
}

/** Where a run stands behind a request that was just posted. */
export async function receiptOf(journal: Journal, run: string, position: Position, seq: number): Promise<Receipt> {
  const { owner } = await journal.find(run);
  return { run, position, waits: !lives(owner), seq };
}

/** The run has taken it; a living owner has it before it; nobody has the run, and it waits for `resume`. */
export type Fate = "taken" | "left" | "waits";

/** Taken is what has a record at its position. */
export async function fateOf(journal: Journal, { run, position, seq }: Receipt): Promise<Fate> {
  const { owner } = await journal.find(run);
  for await (const record of new Cursor(pagesOfRun(journal, run), seq + 1)) {
    if (record.position === position && TAKEN.has(record.kind)) return "taken";
  }
  return lives(owner) ? "left" : "waits";
}

const TAKEN: ReadonlySet<string> = new Set(["ask.vote", "ask.ended", "call.settled"]);

/** It is recorded as running, and nobody runs it: its process was killed, or could write no more. `resume` goes on. */
export function isInterrupted({ status, owner }: RunHead): boolean {
  return status === "running" && !lives(owner);
}

/** One that cannot be judged from here counts as alive: it may take what is left for it. */
export function lives(owner: Owner | null): boolean {
  return owner !== null && isAlive(owner) !== false;
}

/** The pinned manifest of an action, as far as the record has it. */
export function pinnedManifest(definition: unknown, action: string): JsonObject | null {
  const manifests = isObject(definition) ? definition["manifests"] : null;
  if (!isObject(manifests)) return null;
  for (const [name, entry] of Object.entries(manifests)) {
    const manifest = isObject(entry) ? entry["manifest"] : null;
    if (isObject(manifest) && (name === action || textIn(manifest, "name") === action)) return manifest as JsonObject;
  }
  return null;
}
