/**
 * The digest of a run (DU-52) and the hash of its definition (DU-53).
 *
 * I1: Run id, keys, `seq`, times, durations and counts are not in it, nor the order in which records came.
 * I2: A record costs the bytes of its key and 70 more, whatever its size; a binding 37 more.
 */
import { createHash } from "node:crypto";
import { hashJson } from "../base/hash.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { Position } from "../plan/position.ts";
import type { Definition } from "./bodies.ts";
import { type RunRecord, recordKey } from "./event.ts";
import type { Outcome } from "./outcome.ts";

/** The values (not yet hashed) that stand beside bindings and records in a digest. */
export interface DigestEnd {
  def: string;
  inputs: Json;
  trigger: Json;
  status: Outcome;
  error: { code: string; position: Position } | null;
  outputs: Json;
}

/** Whether records of a kind are in the digest: all but `run.*`, `wait.*` and `call.intent`. */
export function isDigested(kind: RunRecord["kind"]): boolean {
  return !(kind.startsWith("run.") || kind.startsWith("wait.") || kind === "call.intent");
}

/** Gathers a digest while a run goes on, or while it is replayed. */
export class DigestBuilder {
  readonly #bindings = new HashTable(1);
  readonly #records = new HashTable(2);

  /** The value bound at a position, by its hash; a second time replaces the first. */
  bind(position: Position, hash: string): void {
    this.#bindings.add(position, [hash]);
  }

  record(record: Pick<RunRecord, "position" | "kind" | "attempt" | "in" | "out">): void {
    if (isDigested(record.kind)) this.#records.add(recordKey(record), [record.in, record.out]);
  }

  /** `sha256:` and 64 hex digits. May be asked for more than once. */
  finish(end: DigestEnd): string {
    // RFC 8785 sorts keys by their UTF-16 units, as `sort()` does; the parts are written in that order.
    const sum = createHash("sha256");
    sum.update('{"bindings":');
    this.#bindings.write((text) => sum.update(text));
    const error = end.error === null ? null : { code: end.error.code, position: end.error.position };
    sum.update(
      `,"def":${JSON.stringify(end.def)},"error":${JSON.stringify(error)}` +
        `,"inputs":"${hashJson(end.inputs)}","outputs":"${hashJson(end.outputs)}","records":`,
    );
    this.#records.write((text) => sum.update(text));
    sum.update(`,"status":"${end.status}","trigger":"${hashJson(end.trigger)}","v":1}`);
    return `sha256:${sum.digest("hex")}`;
  }
}

const HASH_BYTES = 32;
const CHUNK_BYTES = 1 << 16;
const WRITE_CHUNK = 1 << 16;

/** Keys with one hash or a pair of them, as bytes one after the other: no object stays for an entry. */
class HashTable {
  readonly #width: number;
  /** An entry: length of the key (4 bytes), the key, and for each hash a byte that says whether it is there and 32 more. */
  readonly #chunks: Buffer[] = [];
  #used = CHUNK_BYTES;

  constructor(width: 1 | 2) {
    this.#width = width;
  }

  add(key: string, hashes: readonly (string | null)[]): void {
    const keyBytes = Buffer.byteLength(key);
    const chunk = this.#room(4 + keyBytes + this.#width * (HASH_BYTES + 1));
    let at = chunk.writeUInt32LE(keyBytes, this.#used);
    at += chunk.write(key, at);
    for (const hash of hashes) {
      chunk[at] = hash === null ? 0 : 1;
      if (hash !== null) writeHex(chunk, at + 1, hash);
      at += HASH_BYTES + 1;
    }
    this.#used = at;
  }

  /** RFC 8785 text of the map, in pieces. Of two entries with one key the later stands. */
  write(out: (text: string) => void): void {
    const entries = this.#entries();
    const order = entries.map((_, index) => index);
    order.sort((a, b) => {
      const left = entries[a]?.key ?? "";
      const right = entries[b]?.key ?? "";
      return left < right ? -1 : left > right ? 1 : a - b;
    });
    let text = "{";
    let first = true;
    order.forEach((index, place) => {
      const entry = entries[index];
      if (!entry || entries[order[place + 1] ?? -1]?.key === entry.key) return;
      text += `${first ? "" : ","}${JSON.stringify(entry.key)}:${this.#value(entry)}`;
      first = false;
      if (text.length > WRITE_CHUNK) {
        out(text);
        text = "";
      }
    });
    out(`${text}}`);
  }

  /** The chunk in which the next entry begins at `#used`. */
  #room(bytes: number): Buffer {
    const last = this.#chunks.at(-1);
    if (last && this.#used + bytes <= last.length) return last;
    if (last) this.#chunks[this.#chunks.length - 1] = last.subarray(0, this.#used);
    const fresh = Buffer.allocUnsafeSlow(Math.max(CHUNK_BYTES, bytes));
    this.#chunks.push(fresh);
    this.#used = 0;
    return fresh;
  }

  #entries(): { key: string; chunk: Buffer; at: number }[] {
    const entries: { key: string; chunk: Buffer; at: number }[] = [];
    this.#chunks.forEach((chunk, index) => {
      const end = index === this.#chunks.length - 1 ? this.#used : chunk.length;
      for (let at = 0; at < end; ) {
        const keyEnd = at + 4 + chunk.readUInt32LE(at);
        entries.push({ key: chunk.toString("utf8", at + 4, keyEnd), chunk, at: keyEnd });
        at = keyEnd + this.#width * (HASH_BYTES + 1);
      }
    });
    return entries;
  }

  #value({ chunk, at }: { chunk: Buffer; at: number }): string {
    const parts: string[] = [];
    for (let part = 0; part < this.#width; part++) {
      const from = at + part * (HASH_BYTES + 1);
      parts.push(chunk[from] === 1 ? `"${chunk.toString("hex", from + 1, from + 1 + HASH_BYTES)}"` : "null");
    }
    return this.#width === 1 ? (parts[0] ?? "null") : `[${parts.join(",")}]`;
  }
}

/** Lowercase hex as bytes; for so few of them a call of `Buffer.write` costs more than the work. */
function writeHex(chunk: Buffer, at: number, hash: string): void {
  for (let i = 0; i < HASH_BYTES; i++) {
    chunk[at + i] = (nibble(hash.charCodeAt(2 * i)) << 4) | nibble(hash.charCodeAt(2 * i + 1));
  }
}

function nibble(unit: number): number {
  return unit < 58 ? unit - 48 : unit - 87;
}

/** `def`: the hash of the pinned definition without its report. */
export function definitionHash(definition: Definition | JsonObject): string {
  const rest: JsonObject = { ...(definition as unknown as JsonObject) };
  delete rest["report"];
  return hashJson(rest);
}
