/**
 * The stable address of one execution of a step (workfile.md 4):
 *
 *     position = [ part { "." part } ] ;  part = ( NAME | "(" AUX ")" ) [ "[" DIGITS "]" ] ;
 *
 * The empty position is the run itself. Attempt numbers are never part of a position.
 */
export type Position = string;

export const AUX_PARTS = [
  "on_exhausted",
  "catch",
  "reconcile",
  "cleanup",
  "asked",
  "on_expired",
  "turns",
  "tools",
  "fetch",
  "extract",
  "evaluate",
] as const;
export type AuxPart = (typeof AUX_PARTS)[number];

/** The position of the step `id` below `parent`; without an id (a nameless step) the parent's own. */
export function childPosition(parent: Position, id: string | undefined): Position {
  if (id === undefined) return parent;
  return parent === "" ? id : `${parent}.${id}`;
}

export function auxPosition(parent: Position, part: AuxPart): Position {
  return parent === "" ? `(${part})` : `${parent}.(${part})`;
}

/** One iteration of a repeated step, or one of several turns or tools. */
export function indexedPosition(position: Position, index: number): Position {
  return `${position}[${index}]`;
}

/** The call `n` of the agent whose turn stands at `turn`: `agent.(turns)[3]` and `agent.(tools)[n]` have one parent. */
export function toolPosition(turn: Position, n: number): Position {
  return indexedPosition(turn.replace(/\(turns\)\[\d+\]$/, "(tools)"), n);
}

/** Whether `position` is `ancestor` or lies below it (an iteration of a loop lies below the loop). */
export function isWithin(position: Position, ancestor: Position): boolean {
  if (ancestor === "" || position === ancestor) return true;
  if (!position.startsWith(ancestor)) return false;
  const next = position[ancestor.length];
  return next === "." || next === "[";
}

/** A position for people: the empty one is the run. */
export function positionName(position: Position): string {
  return position === "" ? "the run" : position;
}
