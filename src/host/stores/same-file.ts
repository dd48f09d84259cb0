import { realpathSync, statSync } from "node:fs";
import { unavailable } from "./refusals.ts";

/** Of the files beside the database: without the log the last commits are gone, without the index other processes are. */
const BESIDE = ["-wal", "-shm"];

/**
 * Watches that an open database is still what its path names. SQLite goes on writing into files that have been
 * removed or replaced under it, and says that all is well; whoever opens the path later finds nothing of it (DU-05).
 */
export class SameFile {
  readonly #path: string;
  /** Paths and what stood there when the database was opened. Its handles keep the numbers from being used again. */
  readonly #files: { path: string; identity: string }[];

  /** Of a database that has been opened and read, so that its files are all there. */
  constructor(path: string) {
    this.#path = path;
    // SQLite puts the log beside the file itself, not beside a link to it; the link must go on leading there, too.
    const real = realpathSync(path);
    this.#files = [path, ...BESIDE.map((end) => `${real}${end}`)].map((file) => ({
      path: file,
      identity: identityOf(file) ?? "",
    }));
  }

  /** Throws `store.unavailable` where a file of the database is not there any more, or is another one. */
  check(): void {
    for (const { path, identity } of this.#files) {
      const found = identityOf(path);
      if (found === identity) continue;
      const what = found === null ? "has been removed" : "has been replaced by another file";
      const which = path === this.#path ? "" : ` (${path.slice(path.lastIndexOf("-") + 1)})`;
      throw unavailable(this.#path, found === null ? "removed" : "replaced", `${what} while it was open${which}`);
    }
  }
}

/** Device and inode; null where nothing is. */
function identityOf(path: string): string | null {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? null : `${stats.dev}:${stats.ino}`;
}
