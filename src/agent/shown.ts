import { byteLength, type Json } from "../base/json.ts";

/** Bytes of a tool result that the model is shown; history keeps it whole. */
const MAX_SHOWN_BYTES = 65_536;

/** A tool result as the model sees it: whole, or its first 64 KiB of JSON text with the full size. */
export function shownToModel(value: Json): { value: Json; truncated?: { bytes: number } } {
  const text = JSON.stringify(value);
  const bytes = byteLength(text);
  if (bytes <= MAX_SHOWN_BYTES) return { value };
  const cut = Buffer.from(text, "utf8").subarray(0, MAX_SHOWN_BYTES).toString("utf8").replace(/�+$/u, "");
  return { value: cut, truncated: { bytes } };
}
