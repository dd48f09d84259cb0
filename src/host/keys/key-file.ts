/**
 * The key file of a store.
 *
 * I1: it comes into being whole, mode 0600 and on disk, or not at all; of several that make it at once one wins, and
 *     all take that one's.
 * I2: a file that is there is never written over, whatever it holds.
 */
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, unlinkSync, writeSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { Refusal } from "../../errors/fault.ts";
import { readRegularFile } from "../files/regular-file.ts";
import { type KeySource, randomKey } from "./sealer.ts";

const MOST_BYTES = 1_024;
/** 32 bytes as base64. */
const KEY = /^[A-Za-z0-9+/]{43}=$/;
const STORE_FOLDER = ".ambit";

/** Where the key of a store lies: `.ambit/key` for one in such a folder, else beside it. */
export function keyPathOf(storePath: string): string {
  const folder = dirname(storePath);
  return basename(folder) === STORE_FOLDER ? join(folder, "key") : `${storePath}.key`;
}

export function keyFile(path: string): KeySource {
  const find = (): string | null => {
    const read = readKey(path);
    return "text" in read ? read.text : null;
  };
  return {
    find,
    make: () => {
      const read = readKey(path);
      if ("text" in read) return read.text;
      if (read.why !== "missing") throw unusable(path, read.why);
      try {
        create(path);
      } catch (error) {
        throw unusable(path, `cannot be made (${codeOf(error)})`);
      }
      const made = readKey(path);
      if ("text" in made) return made.text;
      throw unusable(path, made.why);
    },
  };
}

function readKey(path: string): { text: string } | { why: string } {
  const read = readRegularFile(path, MOST_BYTES);
  if (!read.ok) return { why: read.code === "ENOENT" ? "missing" : `cannot be read: ${read.why}` };
  const text = read.text.trim();
  return KEY.test(text) ? { text } : { why: "holds no key" };
}

function create(path: string): void {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}-${randomKey().replace(/\W/g, "").slice(0, 8)}`;
  const file = openSync(draft, "wx", 0o600);
  try {
    try {
      writeSync(file, `${randomKey()}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    // Unlike a rename it does not take the place of a key that somebody else has made meanwhile.
    linkSync(draft, path);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  } finally {
    unlinkSync(draft);
  }
  flushFolder(folder);
}

/** A key that a power cut takes away again would take along what is sealed with it. */
function flushFolder(folder: string): void {
  const file = openSync(folder, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown error";
}

function unusable(path: string, why: string): Refusal {
  return new Refusal("store.unavailable", `The key ${path}, with which sensitive values are sealed, ${why}.`, {
    path,
    reason: "key",
  });
}
