import { hash } from "node:crypto";
import { canonical, type Json } from "./json.ts";

/** Lowercase hex SHA-256 of the UTF-8 bytes of a text. */
export function sha256(text: string | Uint8Array): string {
  return hash("sha256", text, "hex");
}

/** Lowercase hex SHA-256 of the RFC 8785 bytes of a value. */
export function hashJson(value: Json): string {
  return sha256(canonical(value));
}
