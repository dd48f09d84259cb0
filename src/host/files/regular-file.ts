// Reads a file that somebody named.
//
// I1: only regular files are read. A pipe waits for whoever writes to it, a device may never end: neither is even
//     waited for at the opening.
// I2: what is read is bounded by the number of bytes that come, not by the size that the file system tells.
// I3: what is no UTF-8 is refused and not replaced.
import { closeSync, constants, fstatSync, openSync, readSync, type Stats, statSync } from "node:fs";
import { utf8Text } from "./utf8-text.ts";

export type ReadFile =
  | { ok: true; text: string }
  /** `why` ends a sentence about the file: "cannot be read: it is a folder". `code` is the system's, if it has one. */
  | { ok: false; why: string; code: string | null };

const STEP_BYTES = 256 * 1024;

/** Reads a regular file of at most `most` bytes as UTF-8. Never throws and never waits for anybody. */
export function readRegularFile(path: string, most: number): ReadFile {
  try {
    // Looked at before it is opened, since opening a device may set it in motion.
    const unfit = unfitness(statSync(path), most);
    if (unfit !== null) return refused(unfit);
    const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      // And again, since another file may have come into its place.
      const meanwhile = unfitness(fstatSync(file), most);
      if (meanwhile !== null) return refused(meanwhile);
      const chunks: Buffer[] = [];
      let length = 0;
      for (;;) {
        const chunk = Buffer.allocUnsafe(Math.min(STEP_BYTES, most + 1 - length));
        const read = readSync(file, chunk, 0, chunk.length, null);
        if (read === 0) {
          const decoded = utf8Text(Buffer.concat(chunks));
          return decoded.ok ? decoded : refused(decoded.why);
        }
        length += read;
        if (length > most) return refused(tooLarge(most));
        chunks.push(chunk.subarray(0, read));
      }
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : null;
    return { ok: false, why: said(code), code };
  }
}

/** Why a path is no regular file of at most `most` bytes; null if it is one. For what others are going to read. */
export function whyNotRegular(path: string, most: number): string | null {
  try {
    return unfitness(statSync(path), most);
  } catch (error) {
    return said(error instanceof Error && "code" in error ? String(error.code) : null);
  }
}

function unfitness(stats: Stats, most: number): string | null {
  if (stats.isDirectory()) return "it is a folder";
  if (!stats.isFile()) return "it is no regular file";
  return stats.size > most ? tooLarge(most) : null;
}

function tooLarge(most: number): string {
  const mebi = most / 1_048_576;
  return `it is larger than ${mebi >= 1 ? `${mebi} MiB` : `${Math.ceil(most / 1_024)} KiB`}`;
}

function refused(why: string): ReadFile {
  return { ok: false, why, code: null };
}

function said(code: string | null): string {
  if (code === "ENOENT") return "there is no such file";
  return code === null ? "it cannot be opened" : `it cannot be opened (${code})`;
}
