// What a user names to be read: a file, or standard input as "-".
//
// I1: a named file is a regular one and has an end (host/files/regular-file.ts); standard input may be a pipe, and
//     is bounded all the same.
import { readSync } from "node:fs";
import { resolve } from "node:path";
import { readRegularFile } from "../host/files/regular-file.ts";
import { utf8Text } from "../host/files/utf8-text.ts";
import { usage } from "./usage.ts";

/** Of a workflow or a document on the command line. */
export const MAX_TEXT_BYTES = 16 * 1024 * 1024;
/** Of an exported run: about as much as one text can hold. */
export const MAX_RUN_BYTES = 256 * 1024 * 1024;

const STEP_BYTES = 64 * 1024;

/** The text of `file`, or of standard input for `-`. Throws a usage refusal that says why it cannot be read. */
export function readNamed(file: string, most: number): string {
  if (file === "-") return readInput(0, most);
  const read = readRegularFile(resolve(file), most);
  if (!read.ok) throw usage(`${file} cannot be read: ${read.why}.`);
  return read.text;
}

/** All of an open input, which is waited for. */
export function readInput(descriptor: number, most: number): string {
  const chunks: Buffer[] = [];
  let length = 0;
  for (;;) {
    const chunk = Buffer.allocUnsafe(STEP_BYTES);
    let read: number;
    try {
      read = readSync(descriptor, chunk, 0, chunk.length, null);
    } catch {
      throw usage("Standard input cannot be read.");
    }
    if (read === 0) {
      const decoded = utf8Text(Buffer.concat(chunks));
      if (!decoded.ok) throw usage(`Standard input cannot be read: ${decoded.why}.`);
      return decoded.text;
    }
    length += read;
    if (length > most) throw usage(`Standard input has more than ${most / 1_048_576} MiB.`);
    chunks.push(chunk.subarray(0, read));
  }
}
