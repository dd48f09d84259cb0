// Where a path of `files.*` leads.
//
// I1: what is opened lies below the declared root, whatever links are on the way: the real path is compared,
//     not the written one.
// I2: the last step is opened without following a link, so that one put there in between is refused.
import { lstat, realpath } from "node:fs/promises";
import { join, relative, sep } from "node:path";

export type Located =
  | { is: "there"; real: string }
  /** Not there; `parent` is the real path of the nearest folder that is, `rest` what is missing below it. */
  | { is: "missing"; parent: string; rest: string[] }
  | { is: "refused"; why: string };

const MAX_SEGMENTS = 64;

/** The segments of a path as it may be written: relative, `/` between names, no `..`. Null says it may not. */
function segmentsOf(path: string): string[] | null {
  if (path.includes("\0") || path.startsWith("/") || path.includes("\\") || /^[A-Za-z]:/.test(path)) return null;
  const segments = path.split("/").filter((segment) => segment !== "" && segment !== ".");
  if (segments.includes("..") || segments.length > MAX_SEGMENTS) return null;
  return segments;
}

/** Finds a path below `root` (a real path) with all links on the way resolved, the last one included. */
export async function locate(root: string, path: string): Promise<Located> {
  const segments = segmentsOf(path);
  if (segments === null)
    return { is: "refused", why: "the path must be relative, with / between names and without .." };
  const full = join(root, ...segments);
  const real = await realOf(full);
  if (real !== null) return isBelow(root, real) ? { is: "there", real } : OUTSIDE;
  // A link that leads nowhere would be created at its target by a write.
  if (await isLink(full)) return OUTSIDE;
  for (let depth = segments.length - 1; depth >= 0; depth--) {
    const folder = join(root, ...segments.slice(0, depth));
    const parent = await realOf(folder);
    if (parent !== null)
      return isBelow(root, parent) ? { is: "missing", parent, rest: segments.slice(depth) } : OUTSIDE;
    if (await isLink(folder)) return OUTSIDE;
  }
  return { is: "refused", why: "the root is gone" };
}

/** Finds the name itself below the real path of its folder: for what acts on the entry, not on its target. */
export async function locateEntry(root: string, path: string): Promise<Located> {
  const segments = segmentsOf(path);
  const name = segments?.at(-1);
  if (segments === null || name === undefined) return { is: "refused", why: "the path names no file below the root" };
  const folder = await locate(root, segments.slice(0, -1).join("/"));
  if (folder.is === "refused") return folder;
  if (folder.is === "missing") return { is: "missing", parent: folder.parent, rest: [...folder.rest, name] };
  const entry = join(folder.real, name);
  try {
    await lstat(entry);
    return { is: "there", real: entry };
  } catch {
    return { is: "missing", parent: folder.real, rest: [name] };
  }
}

const OUTSIDE: Located = { is: "refused", why: "the path leads out of the declared root" };

async function realOf(path: string): Promise<string | null> {
  try {
    return await realpath(path);
  } catch {
    return null;
  }
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch {
    return false;
  }
}

export function isBelow(root: string, real: string): boolean {
  return real === root || real.startsWith(root.endsWith(sep) ? root : root + sep);
}

/** A real path as `files.*` shows it. */
export function shownPath(root: string, real: string): string {
  return relative(root, real).split(sep).join("/");
}
