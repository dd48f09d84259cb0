import { number } from "../operators.ts";
import { type Cell, type Kind, kindOf, named, type Plain } from "../values.ts";
import type { Work } from "../work.ts";
import type { Implementations } from "./call.ts";

type NumberName = "sum" | "min" | "max" | "round" | "floor" | "ceil" | "abs";

/** An argument that must be a whole number. */
export function whole(value: unknown, name: string, work: Work): number {
  if (typeof value !== "number" || !Number.isSafeInteger(value))
    return work.fail(`\`${name}\` wants a whole number.`, "cut it with `int(v)`");
  return value;
}

/** The opened elements of a list that must be numbers. */
export function numbersOf(list: Cell[], name: string, work: Work): number[] {
  return list.map((item, i) => {
    work.spend(1);
    const value = work.open(item);
    if (typeof value !== "number")
      work.fail(`\`${name}\` wants numbers; element ${i} is ${named(kindOf(value))}.`, advice(kindOf(value)));
    return value as number;
  });
}

function advice(kind: Kind): string {
  if (kind === "null") return "leave it out: `list.filter(x, x != null)`";
  return kind === "text" ? "convert it: `list.map(x, double(x))`" : "";
}

/**
 * Rounds by the shortest decimal text, half away from 0: what is written as 1.005 is a half at two places,
 * though the binary number lies a little below it.
 */
function round(value: number, places: number): number {
  const [mantissa = "0", exponent = "0"] = Math.abs(value).toExponential().split("e");
  const digits = mantissa.replace(".", "");
  // The decimal point stands behind this many digits.
  const point = Number(exponent) + 1;
  const keep = point + places;
  if (keep >= digits.length) return value;
  let kept = BigInt(keep <= 0 ? "0" : digits.slice(0, keep));
  if (keep >= 0 && (digits[keep] ?? "0") >= "5") kept += 1n;
  const rounded = Number(`${kept}e${-places}`);
  return value < 0 ? -rounded : rounded;
}

function extreme(args: Plain[], work: Work, name: "min" | "max"): Cell {
  const values = numbersOf(args[0] as Cell[], name, work);
  let best: number | null = null;
  for (const value of values) {
    if (best === null || (name === "min" ? value < best : value > best)) best = value;
  }
  return best;
}

export const numberCalls: Implementations<NumberName> = {
  sum: ([list], work) => {
    let total = 0;
    for (const value of numbersOf(list as Cell[], "sum", work)) total = number(total + value, work);
    return total;
  },
  min: (args, work) => extreme(args, work, "min"),
  max: (args, work) => extreme(args, work, "max"),
  round: ([x, places], work) => {
    const to = places === undefined ? 0 : whole(places, "round", work);
    if (to < 0 || to > 15) work.fail("`round` takes 0 to 15 places.");
    return number(round(x as number, to), work);
  },
  floor: ([x], work) => number(Math.floor(x as number), work),
  ceil: ([x], work) => number(Math.ceil(x as number), work),
  abs: ([x], work) => number(Math.abs(x as number), work),
};
