import { closeSync, constants, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { isObject, type JsonObject, parseJson } from "../../base/json.ts";
import { readRegularFile } from "../files/regular-file.ts";

export type StubPhase = "dispatched" | "done" | "deduplicated" | "aborted";

/** One line of the call log of a stub. `args` are without the key's field. */
export interface StubLine {
  at: string;
  action: string;
  connection: string;
  args: JsonObject;
  key: string | null;
  position: string;
  attempt: number;
  phase: StubPhase;
}

const MAX_LOG_BYTES = 64 * 1024 * 1024;
const WRITING = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NONBLOCK ?? 0);

/**
 * What a stub has been asked and has done: in memory, and in a file where one is named, so that keys and
 * `times` survive a kill. Lines are written synchronously: what was said before a SIGKILL is there after it.
 */
export class StubLog {
  readonly #file: string | null;

  constructor(file: string | null) {
    this.#file = file;
  }

  write(line: StubLine): void {
    if (this.#file === null) return;
    mkdirSync(dirname(this.#file), { recursive: true });
    // Opened so that a pipe with nobody at its other end is an error, and does not hold the run.
    const file = openSync(this.#file, WRITING, 0o644);
    try {
      writeSync(file, `${JSON.stringify(line)}\n`);
    } finally {
      closeSync(file);
    }
  }

  /** The lines of earlier processes; torn or foreign ones are left out. */
  read(): StubLine[] {
    if (this.#file === null) return [];
    const read = readRegularFile(this.#file, MAX_LOG_BYTES);
    if (!read.ok) return [];
    const lines: StubLine[] = [];
    for (const row of read.text.split("\n")) {
      const parsed = row === "" ? null : parseJson(row);
      if (parsed?.ok && isStubLine(parsed.value)) lines.push(parsed.value);
    }
    return lines;
  }
}

function isStubLine(value: unknown): value is StubLine {
  return (
    isObject(value) &&
    typeof value["action"] === "string" &&
    typeof value["phase"] === "string" &&
    isObject(value["args"]) &&
    (value["key"] === null || typeof value["key"] === "string")
  );
}
