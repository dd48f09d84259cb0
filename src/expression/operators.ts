/** What the operators do with two values. */

import { inRange } from "./times.ts";
import type { Operator } from "./tree.ts";
import { type Cell, compareText, isMap, type Kind, kindOf, Lapse, named, type Plain, Timestamp } from "./values.ts";
import type { Work } from "./work.ts";

/** The one gate for numbers that are made: finite, exact where whole, no negative zero. */
export function number(value: number, work: Work): number {
  if (Number.isInteger(value)) {
    if (!Number.isSafeInteger(value)) {
      work.fail(
        "The result is a whole number beyond 9007199254740991, which cannot be exact.",
        "keep such numbers as texts",
      );
    }
    return value === 0 ? 0 : value;
  }
  if (!Number.isFinite(value)) work.fail("The result is no finite number.");
  return value;
}

export function time<T extends Timestamp | Lapse>(value: T, work: Work): T {
  work.frame.madeTime = true;
  if (inRange(value)) return value;
  return work.fail(
    value instanceof Timestamp
      ? "The timestamp is outside of the years 1 to 9999."
      : "The duration is longer than 292 years.",
  );
}

/** Equality of any two values; values of different kinds are unequal. Costs a visit for each part compared. */
export function equal(left: Cell, right: Cell, work: Work): boolean {
  const a = work.open(left);
  const b = work.open(right);
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) {
    if (typeof a === "string" && typeof b === "string" && a.length === b.length) work.spendText(a.length);
    return a === b;
  }
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos;
  if (a instanceof Lapse) return b instanceof Lapse && a.nanos === b.nanos;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) {
      work.spend(1);
      if (!equal(a[i] ?? null, b[i] ?? null, work)) return false;
    }
    return true;
  }
  if (!isMap(a) || !isMap(b)) return false;
  const keys = Object.keys(a);
  work.spend(keys.length);
  if (keys.length !== Object.keys(b).length) return false;
  for (const key of keys) {
    if (!Object.hasOwn(b, key) || !equal(a[key] ?? null, b[key] ?? null, work)) return false;
  }
  return true;
}

/** Whether `wanted` is an element of a list or a key of a map. */
export function contains(container: Plain, wanted: Cell, work: Work): boolean {
  if (Array.isArray(container)) {
    for (const item of container) {
      work.spend(1);
      if (equal(item, wanted, work)) return true;
    }
    return false;
  }
  if (!isMap(container))
    return work.fail(`\`in\` looks into a list or a map, not into ${named(kindOf(container))}.`, mayBeNull(container));
  const key = work.open(wanted);
  return typeof key === "string" && Object.hasOwn(container, key);
}

function mayBeNull(value: Plain): string {
  return value === null ? "if it may be null, write `default(v, [])`" : "";
}

/** The order of two values of one ordered kind: below, at or above 0. */
export function compare(a: Plain, b: Plain, op: string, work: Work): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "string" && typeof b === "string") {
    work.spendText(Math.min(a.length, b.length));
    return compareText(a, b);
  }
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  if ((a instanceof Timestamp && b instanceof Timestamp) || (a instanceof Lapse && b instanceof Lapse)) {
    return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
  }
  return work.fail(
    `\`${op}\` does not go between ${named(kindOf(a))} and ${named(kindOf(b))}.`,
    adviceFor(op, kindOf(a), kindOf(b)),
  );
}

/** What helps where two kinds do not go together. */
export function adviceFor(op: string, a: Kind, b: Kind): string {
  const kinds = new Set([a, b]);
  if (kinds.has("null")) return "if it may be null, write `default(v, other)`";
  if (op === "+" && kinds.has("text")) {
    if (kinds.has("list") || kinds.has("map")) return "write the value as text with `json(v)` or `join(list, sep)`";
    return "make a text of the other side with `string(v)`, or a number of the text with `double(s)`";
  }
  if (kinds.has("text") && kinds.has("number")) return "make a number of the text with `int(s)` or `double(s)`";
  if (kinds.has("text") && (kinds.has("timestamp") || kinds.has("duration"))) {
    return "read the text with `timestamp(s)` or `duration(s)`";
  }
  return "";
}

export function apply(op: Operator, left: Cell, right: Cell, work: Work): Plain {
  if (op === "==" || op === "!=") return equal(left, right, work) === (op === "==");
  if (op === "in") return contains(work.open(right), left, work);
  const a = work.open(left);
  const b = work.open(right);
  switch (op) {
    case "<":
      return compare(a, b, op, work) < 0;
    case "<=":
      return compare(a, b, op, work) <= 0;
    case ">":
      return compare(a, b, op, work) > 0;
    case ">=":
      return compare(a, b, op, work) >= 0;
    default:
      return typeof a === "number" && typeof b === "number" ? reckon(op, a, b, work) : combine(op, a, b, work);
  }
}

function reckon(op: Operator, a: number, b: number, work: Work): number {
  switch (op) {
    case "+":
      return number(a + b, work);
    case "-":
      return number(a - b, work);
    case "*":
      return number(a * b, work);
    case "/":
      if (b === 0) work.fail("Division by 0.", "test the divisor first: `n == 0 ? 0 : a / n`");
      return number(a / b, work);
    default:
      if (!Number.isInteger(a) || !Number.isInteger(b)) work.fail("`%` wants whole numbers.", "cut them with `int(v)`");
      if (b === 0) work.fail("Division by 0.", "test the divisor first: `n == 0 ? 0 : a % n`");
      return number(a % b, work);
  }
}

/** Operators between texts, lists and times. */
function combine(op: Operator, a: Plain, b: Plain, work: Work): Plain {
  if (op === "+") {
    if (typeof a === "string" && typeof b === "string") {
      work.spendText(a.length + b.length);
      return work.text(a + b);
    }
    if (Array.isArray(a) && Array.isArray(b)) {
      work.frame.checkElements(a.length + b.length, work.where);
      work.spend(a.length + b.length);
      return work.frame.made([...a, ...b], work.where);
    }
    if (a instanceof Lapse && b instanceof Lapse) return time(new Lapse(a.nanos + b.nanos), work);
    if (a instanceof Timestamp && b instanceof Lapse) return time(new Timestamp(a.nanos + b.nanos), work);
    if (a instanceof Lapse && b instanceof Timestamp) return time(new Timestamp(a.nanos + b.nanos), work);
  }
  if (op === "-") {
    if (a instanceof Lapse && b instanceof Lapse) return time(new Lapse(a.nanos - b.nanos), work);
    if (a instanceof Timestamp && b instanceof Lapse) return time(new Timestamp(a.nanos - b.nanos), work);
    if (a instanceof Timestamp && b instanceof Timestamp) return time(new Lapse(a.nanos - b.nanos), work);
  }
  return work.fail(
    `\`${op}\` does not go between ${named(kindOf(a))} and ${named(kindOf(b))}.`,
    adviceFor(op, kindOf(a), kindOf(b)),
  );
}
