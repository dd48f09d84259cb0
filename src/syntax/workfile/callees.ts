import type { Span } from "../../base/span.ts";
import { allSteps, type Plan } from "../../plan/plan.ts";

/** One `wf.call`: the path as written, and where the step stands. */
export interface CalleeRef {
  ref: string;
  span: Span;
}

/** The files that a plan calls, in the order of the text, each once. Loading them is the caller's. */
export function calleeRefs(plan: Plan): CalleeRef[] {
  const refs = new Map<string, CalleeRef>();
  for (const step of allSteps(plan)) {
    if (step.kind === "call" && !refs.has(step.callee)) refs.set(step.callee, { ref: step.callee, span: step.span });
  }
  return [...refs.values()];
}

const LONGEST_PATH = 1024;

/**
 * Why a path cannot be called from `file` (a sentence), or null if it can. How far the project reaches is known
 * only to whoever loads the file: here is refused what leaves the folders that the file's own path shows.
 */
export function checkCalleePath(path: string, file: string): string | null {
  if (path.length > LONGEST_PATH) return "The path is too long.";
  if (/^(?:[a-z][a-z0-9+.-]*:|[/~])/i.test(path) || path.includes("\\"))
    return "wf.call takes a relative path, with / between folders.";
  if (!/\.(?:ya?ml|awl)$/.test(path)) return "wf.call takes a file that ends in .yaml, .yml or .awl.";
  if (/[\0\n\r]/.test(path)) return "The path holds a control character.";
  const absolute = /^(?:\/|[a-z]:)/i.test(file);
  let depth = absolute ? Number.POSITIVE_INFINITY : folders(file);
  for (const part of path.split("/")) {
    if (part === "..") depth--;
    else if (part !== "." && part !== "") depth++;
    if (depth < 0) return "The path leaves the project's folder.";
  }
  return null;
}

function folders(file: string): number {
  let depth = 0;
  for (const part of file.split("/").slice(0, -1)) {
    if (part === "..") depth = Math.max(0, depth - 1);
    else if (part !== "." && part !== "") depth++;
  }
  return depth;
}
