/**
 * The digest of a run (DU-52) and the hash of its definition (DU-53).
 *
 * I1: Run id, keys, `seq`, times, durations and counts are not in it, nor the order in which records came.
 * I2: A record costs one key and 66 bytes here, whatever its size; a binding likewise.
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
const FIRST_SLOTS = 64;
const WRITE_CHUNK = 1 << 16;

/** Keys with one hash or a pair of them, kept small: hashes as bytes in one array. */
class HashTable {
  readonly #width: number;
  readonly #keys: string[] = [];
  /** A byte that says whether the hash is there (1) or null (0), and its 32 bytes. */
  #hashes: Buffer;

  constructor(width: 1 | 2) {
    this.#width = width;
    this.#hashes = Buffer.alloc(FIRST_SLOTS * this.#slot);
  }

  get #slot(): number {
    return this.#width * (HASH_BYTES + 1);
  }

  add(key: string, hashes: readonly (string | null)[]): void {
    let at = this.#keys.length * this.#slot;
    if (at === this.#hashes.length) {
      const larger = Buffer.alloc(this.#hashes.length * 2);
      this.#hashes.copy(larger);
      this.#hashes = larger;
    }
    this.#keys.push(key);
    for (const hash of hashes) {
      if (hash !== null) {
        this.#hashes[at] = 1;
        this.#hashes.write(hash, at + 1, HASH_BYTES, "hex");
      }
      at += HASH_BYTES + 1;
    }
  }

  /** RFC 8785 text of the map, in pieces. Of two entries with one key the later stands. */
  write(out: (text: string) => void): void {
    const keys = this.#keys;
    const order = keys.map((_, index) => index);
    order.sort((a, b) => {
      const left = keys[a] ?? "";
      const right = keys[b] ?? "";
      return left < right ? -1 : left > right ? 1 : a - b;
    });
    let text = "{";
    let first = true;
    order.forEach((index, place) => {
      const next = order[place + 1];
      if (next !== undefined && keys[next] === keys[index]) return;
      text += `${first ? "" : ","}${JSON.stringify(keys[index])}:${this.#value(index)}`;
      first = false;
      if (text.length > WRITE_CHUNK) {
        out(text);
        text = "";
      }
    });
    out(`${text}}`);
  }

  #value(index: number): string {
    const parts: string[] = [];
    for (let part = 0; part < this.#width; part++) {
      const at = index * this.#slot + part * (HASH_BYTES + 1);
      parts.push(this.#hashes[at] === 1 ? `"${this.#hashes.toString("hex", at + 1, at + 1 + HASH_BYTES)}"` : "null");
    }
    return this.#width === 1 ? (parts[0] ?? "null") : `[${parts.join(",")}]`;
  }
}

/** `def`: the hash of the pinned definition without its report. */
export function definitionHash(definition: Definition | JsonObject): string {
  const rest: JsonObject = { ...(definition as unknown as JsonObject) };
  delete rest["report"];
  return hashJson(rest);
}
