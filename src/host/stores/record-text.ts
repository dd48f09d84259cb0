/** A record as a row of the store, and back. */
import { hash } from "node:crypto";
import { byteLength, isObject, type Json, type JsonObject } from "../../base/json.ts";
import type { EventKind, RunRecord, TrailEntry } from "../../journal/event.ts";
import { corrupt, unavailable } from "./refusals.ts";

/** A value of a body above this lies in the blob table (DU-06). */
const INLINE_BYTES = 256 * 1024;
/** No value of a body may be larger. */
const LARGEST_BYTES = 16 * 1024 * 1024;

/** What a row holds; `sum` covers all the rest, and the run and its definition. */
export interface RecordRow {
  seq: number;
  kind: string;
  position: string;
  attempt: number;
  /** JSON of `[v, at, in, out, trail, body]`. */
  data: string;
  /** JSON list of the keys of `body` whose value lies in the blob table, or null. */
  blobs: string | null;
  sum: string;
}

export interface Blob {
  hash: string;
  text: string;
}

/** One `JSON.stringify` and one hash for the ordinary record; blobs only where one is large. */
export function toRow(record: RunRecord): { row: RecordRow; large: Blob[] } {
  let data = dataOf(record, record.body);
  let blobs: string | null = null;
  let large: Blob[] = [];
  // A UTF-16 unit is at most 3 bytes.
  if (data.length * 3 > INLINE_BYTES && byteLength(data) > INLINE_BYTES) {
    const split = splitLarge(record);
    large = split.large;
    if (large.length > 0) {
      data = dataOf(record, split.body);
      blobs = JSON.stringify(split.keys);
    }
  }
  const { seq, kind, position, attempt } = record;
  const row: RecordRow = { seq, kind, position, attempt, data, blobs, sum: "" };
  row.sum = checksum(record.run, record.def, row);
  return { row, large };
}

function dataOf(record: RunRecord, body: JsonObject): string {
  return JSON.stringify([record.v, record.at, record.in, record.out, record.trail, body]);
}

function splitLarge(record: RunRecord): { body: JsonObject; keys: string[]; large: Blob[] } {
  const body: JsonObject = {};
  const keys: string[] = [];
  const large: Blob[] = [];
  for (const [key, value] of Object.entries(record.body)) {
    const text = JSON.stringify(value);
    const bytes = byteLength(text);
    if (bytes > LARGEST_BYTES) {
      throw unavailable(
        null,
        "too_large",
        `holds no value of ${bytes} bytes (\`${key}\` of ${record.kind}; 16 MiB at most)`,
      );
    }
    if (bytes > INLINE_BYTES) {
      const sum = hash("sha256", text, "hex");
      large.push({ hash: sum, text });
      keys.push(key);
      body[key] = { $blob: `sha256:${sum}` };
    } else {
      body[key] = value;
    }
  }
  return { body, keys, large };
}

/** The record of a row. `blob` gives the text of a large value; `journal.corrupt` for anything that does not fit. */
export function fromRow(
  run: string,
  def: string,
  row: RecordRow,
  blob: (hash: string) => string | undefined,
): RunRecord {
  if (checksum(run, def, row) !== row.sum) throw corrupt(run, row.seq, "its checksum does not fit");
  const [v, at, inHash, outHash, trail, body] = partsOf(run, row);
  if (row.blobs !== null) {
    const keys = jsonOf(row.blobs);
    if (!Array.isArray(keys)) throw corrupt(run, row.seq, "it is no record");
    for (const key of keys as string[]) body[key] = largeValue(run, row.seq, body[key], blob);
  }
  return {
    v,
    run,
    seq: row.seq,
    at,
    def,
    kind: row.kind as EventKind,
    position: row.position,
    attempt: row.attempt,
    in: inHash,
    out: outHash,
    trail,
    body,
  };
}

type Parts = [RunRecord["v"], string, string | null, string | null, TrailEntry[], JsonObject];

/** A checksum says that nobody damaged a row, not that whoever wrote it was us. */
function partsOf(run: string, row: RecordRow): Parts {
  const parts = jsonOf(row.data);
  if (!Array.isArray(parts)) throw corrupt(run, row.seq, "it is no record");
  const [, at, inHash, outHash, trail, body] = parts;
  const isHash = (value: unknown): boolean => value === null || typeof value === "string";
  const fits = typeof at === "string" && isHash(inHash) && isHash(outHash) && Array.isArray(trail) && isObject(body);
  if (!fits || !trail.every(isObject)) throw corrupt(run, row.seq, "it is no record");
  return parts as Parts;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function largeValue(
  run: string,
  seq: number,
  place: Json | undefined,
  blob: (hash: string) => string | undefined,
): Json {
  const sum = String((place as JsonObject | undefined)?.["$blob"] ?? "").replace(/^sha256:/, "");
  const text = blob(sum);
  if (text === undefined) throw corrupt(run, seq, "a large value of it is missing");
  if (hash("sha256", text, "hex") !== sum) throw corrupt(run, seq, "a large value of it does not fit its checksum");
  const value = jsonOf(text);
  if (value === null && text !== "null") throw corrupt(run, seq, "a large value of it is no JSON");
  return value as Json;
}

function checksum(run: string, def: string, row: RecordRow): string {
  return hash(
    "sha256",
    `${run}\n${def}\n${row.seq} ${row.kind} ${row.position} ${row.attempt}\n${row.blobs ?? ""}\n${row.data}`,
    "base64",
  );
}
