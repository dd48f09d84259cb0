import { existsSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Clock } from "../base/clock.ts";
import type { StateStore } from "../host/connectors/state-store.ts";
import type { Journal } from "../journal/journal.ts";

export const MEMORY_STORE = "memory";

/** Names that make a folder the root of a project. */
const ROOT_MARKS = [".ambit", "package.json", ".git"];

/**
 * Where the store lies: the option, else the deployment's, else `.ambit/ambit.db` in the nearest folder upwards
 * from the working folder that is a project's root, else in the working folder. Never beside the workflow, so
 * that `run` and `resume` from one folder meet.
 */
export function locateStore(cwd: string, option: string | undefined, deployed: string | null): string {
  if (option !== undefined) return option === MEMORY_STORE ? option : resolve(cwd, option);
  if (deployed !== null) return deployed;
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    if (ROOT_MARKS.some((mark) => isMark(join(folder, mark)))) return join(folder, ".ambit", "ambit.db");
    if (folder === dirname(folder)) return join(resolve(cwd), ".ambit", "ambit.db");
  }
}

/** A store of somebody else's, in a folder above that all may write to, is no mark of our project. */
function isMark(path: string): boolean {
  if (!existsSync(path)) return false;
  if (basename(path) !== ".ambit" || process.getuid === undefined) return true;
  try {
    return statSync(path).uid === process.getuid();
  } catch {
    return false;
  }
}

/** Opens the store; the driver is loaded only if it is needed. `store.unavailable`. */
export async function openStore(path: string, durability: "full" | "process", clock: Clock): Promise<Journal> {
  if (path === MEMORY_STORE) {
    const { openMemoryJournal } = await import("../host/stores/memory.ts");
    return openMemoryJournal({ clock });
  }
  const { openSqliteJournal } = await import("../host/stores/sqlite.ts");
  return openSqliteJournal({ path, durability, clock });
}

/** What workflows keep from run to run, in the file of the store; opened by the first run that uses it. */
export class OpenedState {
  #opened: Promise<StateStore> | null = null;

  /** `durability` as the store describes itself. `store.unavailable`. */
  open(path: string, durability: string): Promise<StateStore> {
    if (this.#opened !== null) return this.#opened;
    const opening = openState(path, durability === "process" ? "process" : "full");
    this.#opened = opening;
    opening.catch(() => {
      if (this.#opened === opening) this.#opened = null;
    });
    return opening;
  }

  async close(): Promise<void> {
    await this.#opened?.then((state) => state.close()).catch(() => {});
  }
}

async function openState(path: string, durability: "full" | "process"): Promise<StateStore> {
  if (path === MEMORY_STORE) {
    const { openMemoryState } = await import("../host/stores/state-memory.ts");
    return openMemoryState();
  }
  const { openSqliteState } = await import("../host/stores/state-sqlite.ts");
  return openSqliteState({ path, durability });
}
