import {
  closeSync,
  fchmodSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Refused } from "../app/refused.ts";
import { systemIds } from "../base/ids.ts";
import { Fault } from "../errors/fault.ts";

/**
 * Puts a new text in the place of a file's: whole or not at all, in the place that a link leads to, with the same
 * permissions. `before` is what the new text was made from: a file that holds anything else by now is left alone.
 */
export function rewriteFile(shown: string, before: string, after: string): void {
  let beside: string | null = null;
  try {
    const path = realpathSync(resolve(shown));
    // Compared as bytes: a text that was no UTF-8 would come back with other signs in it.
    if (!readFileSync(path).equals(Buffer.from(before, "utf8"))) {
      throw refuse(shown, "it has changed since it was read, or it is no UTF-8");
    }
    beside = join(dirname(path), `.ambit-${systemIds.token(8)}.tmp`);
    const handle = openSync(beside, "wx", 0o600);
    try {
      writeFileSync(handle, after);
      fchmodSync(handle, statSync(path).mode & 0o7777);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(beside, path);
  } catch (error) {
    if (beside !== null) rmSync(beside, { force: true });
    if (error instanceof Refused) throw error;
    throw refuse(shown, String((error as { code?: unknown }).code ?? "unknown error"));
  }
}

function refuse(shown: string, why: string): Refused {
  return new Refused(2, new Fault("input.invalid", "", `${shown} cannot be written: ${why}.`, { file: shown }));
}
