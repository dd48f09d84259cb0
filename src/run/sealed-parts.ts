/**
 * Sensitive values that lie sealed beside a record (DU-09), so that a resume computes with them as if nothing had been.
 *
 * I1: only what an interpreter reads back of a record is sealed; arguments, questions and notices are computed again.
 * I2: a part opens at its own record alone: run, number, identity and hashes of the record are bound to it.
 * I3: what does not open is a value that cannot be read, with the reason; whoever needs it says so (redacted.ts).
 */
import { isObject, type Json, type JsonObject, parseJson } from "../base/json.ts";
import { Refusal } from "../errors/fault.ts";
import type { RunRecord } from "../journal/event.ts";
import type { Journal, RunRequest } from "../journal/journal.ts";
import {
  Marked,
  maskedParts,
  type Redacted,
  redactedValue,
  rehydrate,
  SENSITIVE,
  setOwn,
  type Val,
} from "../plan/marked.ts";
import type { Sealer } from "./sealer.ts";

type LiveBody = { [key: string]: Val };

/** Members of bodies that are read back (I1): inputs, results and answers, the calls of a turn, an agent's result. */
const MEMBERS = ["inputs", "value", "calls", "result"] as const;

/** Values nest no deeper than records do. */
const DEEPEST = 512;

/** What is to be sealed beside the record of a body, as one text; null where nothing of it is sensitive. */
export function sealedText(body: LiveBody): string | null {
  const parts: { [member: string]: Json[] } = {};
  for (const member of MEMBERS) {
    const found = Object.hasOwn(body, member) ? maskedParts(body[member] ?? null) : [];
    if (found.length > 0) parts[member] = found;
  }
  return Object.keys(parts).length === 0 ? null : JSON.stringify(parts);
}

/** I2: what a sealed part of a record is bound to. */
export function placeOf({ run, seq, kind, position, attempt, in: inHash, out }: RunRecord): Json {
  return { run, seq, kind, position, attempt, in: inHash, out };
}

/** Gives the body of a record as a run holds it, its sealed values opened. */
export type OpenBody = (record: RunRecord) => Promise<LiveBody>;

/** Where nothing lies beside the records, as in an export. */
export const nothingSealed: OpenBody = async ({ body }) => rehydrate(body) as LiveBody;

export function opensFrom(journal: Pick<Journal, "sealed">, sealer: Sealer): OpenBody {
  return async (record) => {
    const { run, seq, body } = record;
    if (!MEMBERS.some((member) => hasMask(body[member]))) return rehydrate(body) as LiveBody;
    const sealed = await journal.sealed(run, seq);
    return sealed === null ? nothingSealed(record) : opened(record, sealed, sealer);
  };
}

function hasMask(value: Json | undefined): boolean {
  let masks = 0;
  rehydrate(value ?? null, () => ++masks);
  return masks > 0;
}

function opened(record: RunRecord, sealed: string, sealer: Sealer): LiveBody {
  const read = sealer.open(placeOf(record), sealed);
  const parts = read.is === "open" ? partsIn(read.text) : null;
  const why: Redacted = read.is === "open" ? "damaged" : read.why;
  const out: LiveBody = {};
  for (const key of Object.keys(record.body)) {
    const left = [...(parts?.get(key) ?? [])];
    const value = rehydrate(record.body[key] ?? null, () => {
      const next = left.shift();
      return next === undefined ? redactedValue(isSealed(key) ? why : "unsealed") : new Marked(next, SENSITIVE);
    });
    setOwn(out, key, value);
  }
  return out;
}

function isSealed(key: string): boolean {
  return (MEMBERS as readonly string[]).includes(key);
}

function partsIn(text: string): Map<string, Json[]> | null {
  const parsed = parseJson(text, DEEPEST);
  if (!parsed.ok || !isObject(parsed.value)) return null;
  const parts = new Map<string, Json[]>();
  for (const [member, list] of Object.entries(parsed.value)) if (Array.isArray(list)) parts.set(member, list as Json[]);
  return parts;
}

/** A request whose value is sensitive, sealed for the run's owner: `once` tells it from all others of the run. */
export function sealRequest(sealer: Sealer, run: string, verb: string, by: string, body: JsonObject): JsonObject {
  const { value, ...rest } = body;
  return { ...rest, sealed: sealer.seal(requestPlace({ run, verb, by, body }), JSON.stringify(value ?? null)) };
}

/** A request as it was made. `history.redacted` for one that does not open: nobody may take it for another. */
export function openRequest<R extends Omit<RunRequest, "id" | "at">>(sealer: Sealer, request: R): R {
  const { sealed, ...rest } = request.body;
  if (typeof sealed !== "string") return request;
  const read = sealer.open(requestPlace(request), sealed);
  const parsed = read.is === "open" ? parseJson(read.text, DEEPEST) : null;
  if (parsed?.ok) return { ...request, body: { ...rest, value: parsed.value as Json } };
  const why = read.is === "open" ? "damaged" : read.why;
  throw new Refusal("history.redacted", `What ${request.by} has answered lies sealed, and ${SHUT[why]}.`, {
    run: request.run,
    sealed: why,
  });
}

function requestPlace({ run, verb, by, body }: Omit<RunRequest, "id" | "at">): Json {
  return { run, verb, by, once: body["once"] ?? null };
}

/** Why a sensitive value is not there, as the end of a sentence about it. */
export const SHUT: { readonly [why in Redacted]: string } = {
  unsealed: "nothing lies sealed beside the record, as in an export",
  no_key: "the key of the store is not there",
  other_key: "it was sealed with another key than the store has now",
  moved: "what lies there was sealed for another record",
  damaged: "it was changed since, or is broken",
};
