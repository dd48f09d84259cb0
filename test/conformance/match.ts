/**
 * Compares what a case expects with what was found.
 *
 * I1: objects are compared by the keys that the expectation gives; a key given as null is not the same as absent.
 * I2: lists are compared in full and in order, at every depth, except where a caller asks for less.
 * I3: in texts `*` stands for any run of characters and `\*` for a star; every other sign stands for itself.
 */
import { isObject } from "../../src/base/json.ts";
import { globMatches } from "../../src/host/models/script.ts";

/** One difference, at a path into the expectation. `found` is undefined where there is nothing. */
export interface Mismatch {
  path: string;
  expected: unknown;
  found: unknown;
}

/** Every difference between an expectation and what was found; empty if it fits. */
export function match(expected: unknown, found: unknown, path = ""): Mismatch[] {
  if (typeof expected === "string") {
    return typeof found === "string" && globMatches(expected, found) ? [] : [{ path, expected, found }];
  }
  if (Array.isArray(expected)) return matchList(expected, found, path);
  if (!isObject(expected)) return expected === found ? [] : [{ path, expected, found }];
  if (!isObject(found)) return [{ path, expected, found }];
  return Object.entries(expected).flatMap(([key, value]) =>
    match(value, Object.hasOwn(found, key) ? found[key] : undefined, path === "" ? key : `${path}.${key}`),
  );
}

function matchList(expected: readonly unknown[], found: unknown, path: string): Mismatch[] {
  if (!Array.isArray(found)) return [{ path, expected, found }];
  const both = Math.min(expected.length, found.length);
  const mismatches = expected.slice(0, both).flatMap((item, i) => match(item, found[i], `${path}[${i}]`));
  for (let i = both; i < expected.length; i++) {
    mismatches.push({ path: `${path}[${i}]`, expected: expected[i], found: undefined });
  }
  for (let i = both; i < found.length; i++) {
    mismatches.push({ path: `${path}[${i}]`, expected: undefined, found: found[i] });
  }
  return mismatches;
}

/** The same in full, in any order: each expected item has a found one of its own, and none is left over. */
export function matchAnyOrder(expected: readonly unknown[], found: readonly unknown[], path: string): Mismatch[] {
  const taken = new Map<number, number>();
  // Augmenting paths: a greedy choice would let a wide expectation take what a narrow one needs.
  const place = (want: number, tried: Set<number>): boolean => {
    for (const [i, item] of found.entries()) {
      if (tried.has(i) || match(expected[want], item).length > 0) continue;
      tried.add(i);
      const holder = taken.get(i);
      if (holder === undefined || place(holder, tried)) {
        taken.set(i, want);
        return true;
      }
    }
    return false;
  };
  const missing = expected.map((_, want) => want).filter((want) => !place(want, new Set()));
  return [
    ...missing.map((want) => ({ path: `${path}[${want}] (any order)`, expected: expected[want], found: undefined })),
    ...found.flatMap((item, i) =>
      taken.has(i) ? [] : [{ path: `${path} (any order)`, expected: undefined, found: item }],
    ),
  ];
}

/** Each expected item in order, with anything between them. */
export function matchSubsequence(expected: readonly unknown[], found: readonly unknown[], path: string): Mismatch[] {
  let from = 0;
  for (const [i, item] of expected.entries()) {
    const at = found.findIndex((candidate, place) => place >= from && match(item, candidate).length === 0);
    if (at === -1) {
      const left = found.slice(from).flatMap((entry) => nearest(item, entry));
      const best = left.sort((a, b) => a.length - b.length)[0] ?? [];
      const near = best.map((entry) => ({ ...entry, path: `${path}[${i}] (nearest).${entry.path}` }));
      return [{ path: `${path}[${i}] (in order, after item ${from})`, expected: item, found: undefined }, ...near];
    }
    from = at + 1;
  }
  return [];
}

/** The differences to a candidate of the same kind and position; a candidate of another kind is no help. */
function nearest(expected: unknown, candidate: unknown): Mismatch[][] {
  const mismatches = match(expected, candidate);
  const strange = mismatches.some((entry) => entry.path === "kind" || entry.path === "position");
  return strange ? [] : [mismatches];
}

/** A difference for people: the path, what was expected, what was found. */
export function sayMismatch({ path, expected, found }: Mismatch): string {
  return `${path === "" ? "(all of it)" : path}\n    expected ${show(expected)}\n    found    ${show(found)}`;
}

const LONGEST = 2_000;

function show(value: unknown): string {
  if (value === undefined) return "(nothing)";
  const text = JSON.stringify(value) ?? String(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}… (${text.length} characters)` : text;
}
