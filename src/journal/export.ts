/**
 * A run as one JSONL file (DU-23): its records in order, one per line, without checksums.
 *
 * I1: A file is whole or refused: numbers, identities, run, definition and `out` hashes are checked.
 * I2: Only an unfinished last line is dropped, and said.
 * I3: A body has the shape of its kind, and an id is one that a run may have: nobody behind this looks again.
 * I4: What a refusal quotes of the file can be shown as it is.
 */
import { parseGivenJson } from "../base/given-json.ts";
import { findNotJson, isObject, type JsonObject, parseJson } from "../base/json.ts";
import { Refusal } from "../errors/fault.ts";
import { bodyProblem, isPlainName } from "./body-shape.ts";
import { definitionHash } from "./digest.ts";
import {
  DELIVERY_KINDS,
  type EventKind,
  NOTE_KINDS,
  RECORD_VERSION,
  type RunRecord,
  recordKey,
  TRAIL_WHATS,
  type TrailEntry,
} from "./event.ts";
import { HashCheck } from "./hashes.ts";
import { mapIn } from "./members.ts";
import { runIdProblem } from "./run-id.ts";

/** One line of an export, the line break included. */
export function exportLine(record: RunRecord): string {
  const { v, run, seq, at, def, kind, position, attempt, in: inHash, out: outHash, trail, body } = record;
  return `${JSON.stringify({ v, run, seq, at, def, kind, position, attempt, in: inHash, out: outHash, trail, body })}\n`;
}

export interface ReadExport {
  records: RunRecord[];
  /** What was left out of the end of the file, in words; null where nothing was. */
  dropped: string | null;
}

/** The records of an exported file. `journal.corrupt` naming the line. */
export function readExport(text: string): ReadExport {
  const lines = text.split("\n");
  // After the last line break there is nothing, or a line that was not finished.
  const rest = lines.pop() ?? "";
  const reader = new ExportReader();
  for (const line of lines) reader.add(line);
  let dropped: string | null = null;
  if (rest.trim() !== "") {
    if (parseJson(rest, DEEPEST).ok) reader.add(rest);
    else dropped = `line ${lines.length + 1} is unfinished and was left out`;
  }
  if (reader.records.length === 0) throw damaged(1, "the file holds no record");
  return { records: reader.records, dropped };
}

class ExportReader {
  readonly records: RunRecord[] = [];
  readonly #seen = new Set<string>();
  readonly #hashes = new HashCheck();
  #line = 0;

  add(text: string): void {
    this.#line++;
    const line = this.#line;
    const parsed = parseGivenJson(text, { maxDepth: DEEPEST, isOwn: true });
    if (!parsed.ok) {
      throw damaged(line, parsed.isJson ? quoted(parsed.message.replace(/ \(line 1, /, " (")) : "it is no JSON");
    }
    const bad = findNotJson(parsed.value, DEEPEST);
    if (bad) throw damaged(line, `\`${quoted(bad.path)}\` holds ${bad.reason}`);
    const record = asRecord(parsed.value, line);
    const first = this.records[0] ?? record;
    const due = this.records.length + 1;
    if (record.seq !== due) throw damaged(line, `record ${due} was due, not ${record.seq}`);
    if (record.run !== first.run) throw damaged(line, "it belongs to another run");
    if (record.def !== first.def) throw damaged(line, "it names another definition");
    if (due === 1) checkFirst(record, line);
    const shape = bodyProblem(record.kind, record.body);
    if (shape) {
      const where = shape.path === "" ? "the body" : `\`${quoted(shape.path)}\``;
      throw damaged(line, `record ${record.seq} (${record.kind}): ${where} must be ${shape.expected}`);
    }
    const key = recordKey(record);
    if (this.#seen.has(key)) throw damaged(line, `${key} stands in the file twice`);
    const fault = this.#hashes.check(record);
    if (fault) throw damaged(line, `its body does not fit its \`${fault.which}\` hash`);
    this.#seen.add(key);
    this.records.push(record);
  }
}

function checkFirst(record: RunRecord, line: number): void {
  if (record.kind !== "run.accepted") throw damaged(line, `a run begins with run.accepted, not with ${record.kind}`);
  const definition = mapIn(record.body, "definition");
  if (definition === null || definitionHash(definition) !== record.def) {
    throw damaged(line, "its definition does not fit the hash `def`");
  }
}

/** Plans nest deeper than values do; beyond this nothing of ours was ever written. */
const DEEPEST = 512;

const KINDS: ReadonlySet<string> = new Set([...DELIVERY_KINDS, ...NOTE_KINDS]);
const WHATS: ReadonlySet<string> = new Set(TRAIL_WHATS);
const HASH = /^[0-9a-f]{64}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

function asRecord(value: unknown, line: number): RunRecord {
  if (!isObject(value)) throw damaged(line, "it is no record");
  if (value["v"] !== RECORD_VERSION) {
    throw damaged(
      line,
      `it has format ${quoted(JSON.stringify(value["v"] ?? null))}, and this version reads ${RECORD_VERSION}`,
    );
  }
  const { run, seq, at, def, kind, position, attempt, in: inHash, out: outHash, trail, body } = value;
  if (typeof run !== "string") throw damaged(line, "`run` is missing");
  const idProblem = runIdProblem(run);
  if (idProblem !== null) throw damaged(line, `its run id ${idProblem}`);
  if (!isCount(seq)) throw damaged(line, "`seq` is no number from 1");
  if (typeof at !== "string" || !TIME.test(at) || Number.isNaN(Date.parse(at))) throw damaged(line, "`at` is no time");
  if (typeof def !== "string" || !HASH.test(def)) throw damaged(line, "`def` is no hash");
  if (typeof kind !== "string" || !KINDS.has(kind))
    throw damaged(line, `the kind ${quoted(JSON.stringify(kind))} is unknown`);
  if (typeof position !== "string" || !isPlainName(position)) throw damaged(line, "`position` is no position");
  if (!isCount(attempt)) throw damaged(line, "`attempt` is no number from 1");
  if (!isHashOrNull(inHash)) throw damaged(line, "`in` is no hash");
  if (!isHashOrNull(outHash)) throw damaged(line, "`out` is no hash");
  if (!Array.isArray(trail) || !trail.every(isTrailEntry)) throw damaged(line, "`trail` cannot be read");
  if (!isObject(body)) throw damaged(line, "`body` is missing");
  return {
    v: RECORD_VERSION,
    run,
    seq,
    at,
    def,
    kind: kind as EventKind,
    position,
    attempt,
    in: inHash,
    out: outHash,
    trail,
    body: body as JsonObject,
  };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

function isHashOrNull(value: unknown): value is string | null {
  return value === null || (typeof value === "string" && HASH.test(value));
}

function isTrailEntry(value: unknown): value is TrailEntry {
  return (
    isObject(value) &&
    typeof value["position"] === "string" &&
    isPlainName(value["position"]) &&
    typeof value["what"] === "string" &&
    WHATS.has(value["what"]) &&
    Object.hasOwn(value, "detail")
  );
}

/** I4: part of the file in a message. */
function quoted(text: string): string {
  const short = text.length > 200 ? `${text.slice(0, 200)}...` : text;
  return short.toWellFormed().replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "\ufffd");
}

function damaged(line: number, what: string): Refusal {
  return new Refusal("journal.corrupt", `Line ${line} of the file is damaged: ${what}.`, { line });
}
