import { fingerprint } from "../json-text.ts";
import { number } from "../operators.ts";
import {
  type Cell,
  type CellMap,
  compareText,
  isMap,
  kindOf,
  lengthOf,
  named,
  numberText,
  offsetAt,
} from "../values.ts";
import type { Work } from "../work.ts";
import type { Implementations } from "./call.ts";
import { whole } from "./number.ts";

type ListName = "size" | "join" | "keys" | "slice" | "sort" | "reverse" | "flatten" | "distinct" | "range";

const MAX_RANGE = 1_000;

function join(list: Cell[], separator: string, work: Work): string {
  const parts: string[] = [];
  let length = 0;
  list.forEach((item, i) => {
    const value = work.open(item);
    if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") {
      work.fail(
        `\`join\` wants texts, numbers and booleans; element ${i} is ${named(kindOf(value))}.`,
        value === null
          ? "leave it out: `list.filter(x, x != null)`"
          : "pick or convert it first: `list.map(x, json(x))`",
      );
    }
    const text = typeof value === "number" ? numberText(value) : String(value);
    work.spend(1);
    work.spendText(text.length + separator.length);
    length += text.length + (i > 0 ? separator.length : 0);
    work.frame.checkLength(Math.ceil(length / 2), work.where);
    parts.push(text);
  });
  return work.text(parts.join(separator));
}

/** From and to as places in something of this length: negative from the end, cut to what is there. */
function bounds(from: unknown, to: unknown, length: number, work: Work): [number, number] {
  const at = (value: unknown): number => {
    const given = whole(value, "slice", work);
    return Math.max(0, Math.min(length, given < 0 ? length + given : given));
  };
  const start = at(from);
  return [start, Math.max(start, to === undefined ? length : at(to))];
}

/** The values a list is sorted by: its elements, or a field of each. */
function sortKeys(list: Cell[], field: string | undefined, work: Work): (number | string)[] {
  let kind: "number" | "string" | null = null;
  return list.map((item, i) => {
    work.spend(1);
    let value = work.open(item);
    if (field !== undefined) {
      if (!isMap(value)) return work.fail(`\`sort\` by a field wants maps; element ${i} is ${named(kindOf(value))}.`);
      if (!Object.hasOwn(value, field)) return work.fail(`\`sort\` finds no such field in element ${i}.`);
      value = work.open((value as CellMap)[field] ?? null);
    }
    if (typeof value !== "number" && typeof value !== "string") {
      return work.fail(
        `\`sort\` wants all numbers or all texts; element ${i} is ${named(kindOf(value))}.`,
        field === undefined && isMap(value) ? 'name the field to sort by: `sort(list, "field")`' : "",
      );
    }
    kind ??= typeof value as "number" | "string";
    if (typeof value !== kind)
      return work.fail(`\`sort\` wants all numbers or all texts; element ${i} is of another kind than the first.`);
    return value;
  });
}

function sort(list: Cell[], field: string | undefined, work: Work): Cell[] {
  work.frame.checkElements(list.length, work.where);
  const keys = sortKeys(list, field, work);
  const order = keys.map((_, i) => i);
  order.sort((i, j) => {
    const a = keys[i] ?? 0;
    const b = keys[j] ?? 0;
    work.spend(1);
    if (typeof a === "number" || typeof b === "number") return Number(a) - Number(b);
    work.spendText(Math.min(a.length, b.length));
    return compareText(a, b);
  });
  return order.map((i) => list[i] ?? null);
}

export const listCalls: Implementations<ListName> = {
  size: ([value], work) => {
    if (typeof value === "string") {
      work.spendText(value.length);
      return lengthOf(value);
    }
    if (Array.isArray(value)) return value.length;
    const count = Object.keys(value as CellMap).length;
    work.spend(Math.ceil(count / 64));
    return count;
  },
  join: ([list, separator], work) => join(list as Cell[], (separator ?? "") as string, work),
  keys: ([map], work) => {
    const keys = Object.keys(map as CellMap);
    work.frame.checkElements(keys.length, work.where);
    work.spend(keys.length);
    keys.sort((a, b) => {
      work.spend(1);
      work.spendText(Math.min(a.length, b.length));
      return compareText(a, b);
    });
    return work.frame.made(keys, work.where);
  },
  slice: ([value, from, to], work) => {
    if (typeof value === "string") {
      work.spendText(2 * value.length);
      const [start, end] = bounds(from, to, lengthOf(value), work);
      const cut = offsetAt(value, start);
      return work.text(value.slice(cut, offsetAt(value, end - start, cut)));
    }
    const list = value as Cell[];
    const [start, end] = bounds(from, to, list.length, work);
    work.frame.checkElements(end - start, work.where);
    work.spend(end - start);
    return work.frame.chosen(list.slice(start, end), work.where);
  },
  sort: ([list, field], work) => work.frame.chosen(sort(list as Cell[], field as string | undefined, work), work.where),
  reverse: ([list], work) => {
    const all = list as Cell[];
    work.frame.checkElements(all.length, work.where);
    work.spend(all.length);
    return work.frame.chosen([...all].reverse(), work.where);
  },
  flatten: ([list], work) => {
    const out: Cell[] = [];
    for (const item of list as Cell[]) {
      work.spend(1);
      const inner = Array.isArray(item) ? item : work.open(item);
      if (!Array.isArray(inner)) {
        out.push(item);
        continue;
      }
      work.frame.checkElements(out.length + inner.length, work.where);
      work.spend(inner.length);
      for (const part of inner) out.push(part);
    }
    return work.frame.made(out, work.where);
  },
  distinct: ([list], work) => {
    const all = list as Cell[];
    const seen = new Set<string>();
    const out = all.filter((item) => {
      const sign = fingerprint(item, work);
      if (seen.has(sign)) return false;
      seen.add(sign);
      return true;
    });
    return work.frame.chosen(out, work.where);
  },
  range: ([first, second], work) => {
    const from = second === undefined ? 0 : whole(first, "range", work);
    const to = whole(second === undefined ? first : second, "range", work);
    const count = Math.max(0, number(to - from, work));
    if (count > MAX_RANGE) work.tooLarge(`\`range\` gives at most ${MAX_RANGE} elements.`, "");
    work.spend(count);
    return work.frame.made(
      Array.from({ length: count }, (_, i) => from + i),
      work.where,
    );
  },
};
