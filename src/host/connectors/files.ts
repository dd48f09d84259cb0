// `files.*`: text files below one declared root.
//
// I1, I2 of files-path.ts hold for every action here.
// I3: a write is whole or not at all: it goes to a file beside the old one, is flushed, and takes its name.
// I4: only regular files are read: a pipe or device would hold the run, or never end.
// I5: an append that failed once its writing had begun may have left some of its text: nobody knows.
// I6: a list is whole or a failure: of too much, and of a signal that came, nothing is shown.
import { constants, type Stats } from "node:fs";
import { lstat, mkdir, open, readdir, realpath, rename, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { isoTime } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Json, JsonObject } from "../../base/json.ts";
import type { CallRequest, CallResult, Connector, Offer } from "../../catalog/connector.ts";
import { unavailable } from "./connection.ts";
import { type Located, locate, locateEntry, shownPath } from "./files-path.ts";
import { compileGlob } from "./glob.ts";
import { messageOf, thrownResult } from "./guarded.ts";

export interface FilesOptions {
  name: string;
  /** Absolute; null where the deployment declares none: then nothing can be used. */
  root: string | null;
  write: boolean;
  ids: Ids;
}

export const MAX_FILE_BYTES = 1024 * 1024;
const MAX_LISTED = 1_000;
const MAX_VISITED = 100_000;
const MAX_DEPTH = 32;

const READING = ["read", "list"];
const WRITING = ["write", "append", "delete"];

export class FilesConnector implements Connector {
  readonly name: string;
  readonly #options: FilesOptions;

  constructor(options: FilesOptions) {
    this.name = options.name;
    this.#options = options;
  }

  async connect(_signal: AbortSignal): Promise<Offer> {
    const root = await this.#root();
    if (root === null)
      throw unavailable(this.name, "ambit.yaml declares no root folder that exists (files: { root: ... })");
    const offered = this.#options.write ? [...READING, ...WRITING] : READING;
    return { actions: Object.fromEntries(offered.map((action) => [`${this.name}.${action}`, { pin: null }])) };
  }

  async #root(): Promise<string | null> {
    const { root } = this.#options;
    if (root === null) return null;
    try {
      const real = await realpath(root);
      return (await stat(real)).isDirectory() ? real : null;
    } catch {
      return null;
    }
  }

  async call(request: CallRequest, signal: AbortSignal): Promise<CallResult> {
    const root = await this.#root();
    if (root === null) return failed("action.unavailable", "There is no root folder.");
    const action = request.action.name.slice(this.name.length + 1);
    if (WRITING.includes(action) && !this.#options.write) {
      return failed("action.unavailable", "The deployment does not let files be written (files: { write: true }).");
    }
    try {
      return await this.#perform(action, root, request.args, signal);
    } catch (error) {
      return thrownResult(signal, `The file system refused: ${systemReason(error)}.`);
    }
  }

  async #perform(action: string, root: string, args: JsonObject, signal: AbortSignal): Promise<CallResult> {
    const path = typeof args["path"] === "string" ? args["path"] : "";
    const text = typeof args["text"] === "string" ? args["text"] : "";
    switch (action) {
      case "read":
        return this.#read(await locate(root, path));
      case "list":
        return this.#list(root, path, typeof args["glob"] === "string" ? args["glob"] : "*", signal);
      case "write":
        return this.#write(await locateEntry(root, path), text);
      case "append":
        return this.#append(root, path, text);
      case "delete":
        return this.#delete(await locateEntry(root, path));
      default:
        return failed("action.unavailable", `There is no action ${action}.`);
    }
  }

  async #read(found: Located): Promise<CallResult> {
    if (found.is !== "there") return absent(found);
    const before = await lstat(found.real);
    if (!before.isFile()) return notFile(before);
    const file = await open(found.real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const { size } = await file.stat();
      if (size > MAX_FILE_BYTES) return tooLarge(`The file has ${size} bytes, and 1 MiB is the most.`);
      const buffer = Buffer.alloc(MAX_FILE_BYTES + 1);
      let length = 0;
      for (;;) {
        const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
        length += bytesRead;
        if (bytesRead === 0 || length === buffer.length) break;
      }
      if (length > MAX_FILE_BYTES) return tooLarge("The file has more than 1 MiB.");
      const bytes = buffer.subarray(0, length);
      try {
        const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
        return { is: "ok", value: { text, bytes: length } };
      } catch {
        return failed("files.not_text", "The file is no UTF-8 text.");
      }
    } finally {
      await file.close();
    }
  }

  async #list(root: string, path: string, glob: string, signal: AbortSignal): Promise<CallResult> {
    const found = await locate(root, path);
    if (found.is !== "there") return absent(found);
    if (!(await stat(found.real)).isDirectory())
      return failed("files.not_found", "The path names a file, not a folder.");
    const fits = compileGlob(glob);
    if (fits === null) return failed("action.invalid_input", "The glob is too long.");
    const files: { path: string; bytes: number; modified: string }[] = [];
    // No name that fits lies deeper than the glob has slashes, unless it has a `**`.
    const deepest = glob.includes("**") ? Number.POSITIVE_INFINITY : glob.split("/").length - 1;
    let visited = 0;
    /** Why there is no whole list; null if there is. */
    const visit = async (folder: string, below: string, depth: number): Promise<CallResult | null> => {
      if (depth > MAX_DEPTH) return tooLarge(`Folders lie more than ${MAX_DEPTH} deep: list one further down.`);
      for (const entry of await readdir(folder, { withFileTypes: true })) {
        if (signal.aborted) return thrownResult(signal, "The listing was cut off.");
        if (++visited > MAX_VISITED) return tooLarge(`More than ${MAX_VISITED} entries lie here: list a folder below.`);
        const at = below === "" ? entry.name : `${below}/${entry.name}`;
        // Links are not followed: they could lead out, or round in a circle.
        if (entry.isDirectory()) {
          if (depth >= deepest) continue;
          const cut = await visit(join(folder, entry.name), at, depth + 1);
          if (cut !== null) return cut;
        } else if (entry.isFile() && fits(at)) {
          if (files.length >= MAX_LISTED) return tooLarge(`More than ${MAX_LISTED} files fit: narrow the glob.`);
          const real = join(folder, entry.name);
          const { size, mtimeMs } = await lstat(real);
          files.push({ path: shownPath(root, real), bytes: size, modified: isoTime(Math.floor(mtimeMs)) });
        }
      }
      return null;
    };
    const cut = await visit(found.real, "", 0);
    if (cut !== null) return cut;
    if (signal.aborted) return thrownResult(signal, "The listing was cut off.");
    files.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
    return { is: "ok", value: { files: files as unknown as Json } };
  }

  async #write(found: Located, text: string): Promise<CallResult> {
    if (found.is === "refused") return absent(found);
    const bytes = Buffer.from(text, "utf8");
    if (bytes.length > MAX_FILE_BYTES) return failed("action.invalid_input", "The text has more than 1 MiB.");
    let mode = 0o644;
    let target: string;
    if (found.is === "there") {
      const old = await lstat(found.real);
      if (!old.isFile() && !old.isSymbolicLink()) return notFile(old);
      if (old.isFile()) mode = old.mode & 0o777;
      target = found.real;
    } else target = await this.#makeFolders(found);
    const folder = target.slice(0, target.lastIndexOf("/"));
    const beside = join(folder, `.ambit-${this.#options.ids.token(8)}.tmp`);
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const file = await open(beside, flags, mode);
    try {
      await file.writeFile(bytes);
      await file.sync();
      await file.close();
      await rename(beside, target);
    } catch (error) {
      await file.close().catch(() => {});
      await unlink(beside).catch(() => {});
      throw error;
    }
    return { is: "ok", value: { bytes: bytes.length } };
  }

  async #append(root: string, path: string, text: string): Promise<CallResult> {
    const bytes = Buffer.from(text, "utf8");
    if (bytes.length > MAX_FILE_BYTES) return failed("action.invalid_input", "The text has more than 1 MiB.");
    const found = await locate(root, path);
    if (found.is === "refused") return absent(found);
    let target: string;
    if (found.is === "there") {
      const old = await lstat(found.real);
      if (!old.isFile()) return notFile(old);
      target = found.real;
    } else target = await this.#makeFolders(found);
    const flags =
      constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const file = await open(target, flags, 0o644);
    try {
      await file.writeFile(bytes);
      await file.sync();
      await file.close();
    } catch (error) {
      await file.close().catch(() => {});
      // I5
      const message = `How much was appended is not known: the file system refused (${systemReason(error)}).`;
      return { is: "ambiguous", code: "connection_lost", message };
    }
    return { is: "ok", value: { bytes: bytes.length } };
  }

  /** The folders that are missing, below a real one; the names hold no `..`. */
  async #makeFolders(found: Extract<Located, { is: "missing" }>): Promise<string> {
    const folder = join(found.parent, ...found.rest.slice(0, -1));
    if (found.rest.length > 1) await mkdir(folder, { recursive: true });
    return join(folder, found.rest.at(-1) ?? "");
  }

  async #delete(found: Located): Promise<CallResult> {
    if (found.is === "refused") return absent(found);
    if (found.is === "missing") return { is: "ok", value: { found: false } };
    const old = await lstat(found.real);
    if (old.isDirectory()) return failed("action.failed", "The path names a folder; files.delete deletes files.");
    await unlink(found.real);
    return { is: "ok", value: { found: true } };
  }

  processes(): { pid: number; startTime: string }[] {
    return [];
  }

  async close(): Promise<void> {}
}

function failed(code: string, message: string): CallResult {
  return { is: "failed", code, message };
}

function absent(found: Exclude<Located, { is: "there" }>): CallResult {
  if (found.is === "refused") return failed("action.invalid_input", `The path cannot be used: ${found.why}.`);
  return failed("files.not_found", "There is no such file or folder.");
}

function notFile(stats: Stats): CallResult {
  return failed(
    "files.not_found",
    stats.isDirectory() ? "The path names a folder, not a file." : "The path names no regular file.",
  );
}

function tooLarge(message: string): CallResult {
  return failed("action.result_too_large", message);
}

/** The system's code, never its message, which shows where the root lies. */
function systemReason(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : messageOf(error, "unknown").slice(0, 100);
}
