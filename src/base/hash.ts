import { hash } from "node:crypto";
import { canonical, type Json } from "./json.ts";

/** Lowercase hex SHA-256 of the UTF-8 bytes of a text. */
export function sha256(text: string | Uint8Array): string {
  return hash("sha256", text, "hex");
}

/** Lowercase hex SHA-256 of the RFC 8785 bytes of a value. */
export function hashJson(value: Json): string {
  const text = canonical(value);
  if (text.length > REMEMBERED_UNITS) return sha256(text);
  // What is handed over is hashed where it is recorded, and at once again where it is held against the plan.
  for (const known of last) if (known.text === text) return known.hash;
  const entry = { text, hash: sha256(text) };
  last[next] = entry;
  next = (next + 1) % REMEMBERED;
  return entry.hash;
}

const REMEMBERED = 4;
const REMEMBERED_UNITS = 4_096;
const last: { text: string; hash: string }[] = [];
let next = 0;
