import { isUtf8 } from "node:buffer";

/**
 * Bytes as text. Those that are no UTF-8 would come out as other signs than somebody wrote: `why` says where the
 * first of them stands, counted from 0, and ends a sentence about the file.
 */
export function utf8Text(bytes: Buffer): { ok: true; text: string } | { ok: false; why: string } {
  if (isUtf8(bytes)) return { ok: true, text: bytes.toString("utf8") };
  const [first, second] = bytes;
  const utf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  const guess = utf16 ? ", which looks like UTF-16" : "";
  return { ok: false, why: `it is no UTF-8 from byte offset ${firstInvalid(bytes)} on${guess}` };
}

/** Where the first character begins that is none. */
function firstInvalid(bytes: Buffer): number {
  // Blocks are cut where a character begins, so that each is judged by itself.
  let start = 0;
  for (;;) {
    let end = Math.min(start + BLOCK, bytes.length);
    while (end < bytes.length && end > start + BLOCK - LONGEST && isInside(bytes[end])) end--;
    if (!isUtf8(bytes.subarray(start, end))) break;
    if (end === bytes.length) return end;
    start = end;
  }
  for (let at = start; at < bytes.length; ) {
    const length = [1, 2, 3, LONGEST].find((count) => isUtf8(bytes.subarray(at, at + count)));
    if (length === undefined) return at;
    at += length;
  }
  return bytes.length;
}

const BLOCK = 4_096;
/** Bytes of a character. */
const LONGEST = 4;

function isInside(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
