/** Values inside an evaluation: those of a run and, until it ends, timestamps and durations. */
import { type Marked, peel, type Val } from "../plan/marked.ts";

export const NANOS_PER_MS = 1_000_000n;
export const NANOS_PER_SECOND = 1_000_000_000n;

/** A moment: nanoseconds since 1970 UTC. Within the years 1 to 9999. */
export class Timestamp {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** A length of time in nanoseconds, signed. */
export class Lapse {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

export type Plain = null | boolean | number | string | Cell[] | CellMap | Timestamp | Lapse;
export type CellMap = { [key: string]: Cell };
export type Cell = Plain | Marked;

export type Kind = "null" | "boolean" | "number" | "text" | "list" | "map" | "timestamp" | "duration";

export function kindOf(value: Plain): Kind {
  if (value === null) return "null";
  switch (typeof value) {
    case "boolean":
      return "boolean";
    case "number":
      return "number";
    case "string":
      return "text";
    default:
      if (Array.isArray(value)) return "list";
      if (value instanceof Timestamp) return "timestamp";
      if (value instanceof Lapse) return "duration";
      return "map";
  }
}

/** The kind as prose: `a text`, `null`. */
export function named(kind: Kind): string {
  return kind === "null" ? "null" : `a ${kind}`;
}

export function isMap(value: Plain): value is CellMap {
  return kindOf(value) === "map";
}

/** `peel` for values inside an evaluation. */
export function peelCell(cell: Cell): { value: Plain; marks: ReturnType<typeof peel>["marks"] } {
  return peel(cell as Val) as { value: Plain; marks: ReturnType<typeof peel>["marks"] };
}

/** The order of two texts by code point, not by UTF-16 unit. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return weight(x) - weight(y);
  }
  return a.length - b.length;
}

/** Puts surrogates, which stand for the characters beyond U+FFFF, above all other units. */
function weight(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** Code points of a text. */
export function lengthOf(text: string): number {
  let pairs = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xdc00 && unit <= 0xdfff) pairs++;
  }
  return text.length - pairs;
}

/** The UTF-16 offset of the code point `index`; the text's end if there are fewer. */
export function offsetAt(text: string, index: number, from = 0): number {
  let at = from;
  for (let left = index; left > 0 && at < text.length; left--) {
    const unit = text.charCodeAt(at);
    at += unit >= 0xd800 && unit <= 0xdbff ? 2 : 1;
  }
  return at;
}

/** The shortest text of a number, as JSON has it. */
export function numberText(value: number): string {
  return Object.is(value, -0) ? "0" : String(value);
}
