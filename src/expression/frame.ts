/**
 * One evaluation: its names, its variables, and what it may still spend.
 *
 * I1: work is paid for before it is done, so a hostile expression ends after a bounded time.
 * I2: the size of a made value is known before anybody else sees it, so no value in a run is larger than
 *     the page's bound because an expression made it.
 * I3: a failure over a bound (`too_large`) is absorbed by nothing.
 */
import { type Marks, NO_MARKS } from "../plan/marked.ts";
import type { Env } from "./cel.ts";
import { type Cell, kindOf, lengthOf, peelCell } from "./values.ts";

export const MAX_VISITS = 1_000_000;
export const MAX_SIZE = 1_048_576;
export const MAX_ELEMENTS = 10_000;
/** As deep as JSON may be that leaves an evaluation. */
export const MAX_VALUE_DEPTH = 64;

const VISIT_CHARACTERS = 64;
/** What raising and absorbing a failure costs beside a plain visit. */
const FAILURE_VISITS = 10;

export interface Where {
  readonly start: number;
  readonly end: number;
}

/** A failed evaluation on its way out. Thrown; no Error, since nobody reads its stack and loops raise many. */
export class Failure {
  readonly message: string;
  readonly help: string;
  readonly reason: "too_large" | null;
  readonly where: Where;
  /** Marks of what led to it: whoever absorbs it passes them on. */
  readonly marks: Marks;
  constructor(where: Where, message: string, help: string, marks: Marks, reason: "too_large" | null = null) {
    this.where = where;
    this.message = message;
    this.help = help;
    this.marks = marks;
    this.reason = reason;
  }
}

interface Weight {
  size: number;
  elements: number;
  depth: number;
}

export class Frame {
  readonly env: Env;
  readonly slots: Cell[];
  /** Set once a timestamp or duration exists: only then the result must be looked through for one. */
  madeTime = false;
  /** Whether it ended because it had no visits left. */
  get exhausted(): boolean {
    return this.#left < 0;
  }
  #left: number;
  readonly #weights = new WeakMap<object, Weight>();

  constructor(env: Env, slots: number, visits = MAX_VISITS) {
    this.env = env;
    this.slots = new Array<Cell>(slots).fill(null);
    this.#left = visits;
  }

  spend(visits: number, where: Where): void {
    this.#left -= visits;
    if (this.#left < 0) {
      this.tooLarge(
        where,
        "The evaluation takes more work than one expression may.",
        "handle fewer elements, or use a `wf.each` or a code step",
      );
    }
  }

  spendText(characters: number, where: Where): void {
    if (characters >= VISIT_CHARACTERS) this.spend(Math.floor(characters / VISIT_CHARACTERS), where);
  }

  fail(where: Where, message: string, help: string, marks: Marks = NO_MARKS): never {
    this.spend(FAILURE_VISITS, where);
    throw new Failure(where, message, help, marks);
  }

  tooLarge(where: Where, message: string, help: string): never {
    throw new Failure(where, message, help, NO_MARKS, "too_large");
  }

  /** A text that was made here, if it is not too long. */
  madeText(text: string, where: Where): string {
    if (text.length > MAX_SIZE) this.checkLength(lengthOf(text), where);
    return text;
  }

  checkLength(characters: number, where: Where): void {
    if (characters > MAX_SIZE) this.tooLarge(where, "The text would be longer than 1 MiB.", "make a shorter one");
  }

  checkElements(count: number, where: Where): void {
    if (count > MAX_ELEMENTS) {
      this.tooLarge(
        where,
        `The value would have more than ${MAX_ELEMENTS} elements.`,
        "take a part of it with `slice` or `filter`",
      );
    }
  }

  /** A list or map that was made here, if it is not too large with everything in it. */
  made<T extends Cell>(value: T, where: Where): T {
    this.#check(this.#weigh(value, where, 0), where);
    return value;
  }

  /** A list whose elements all stand in one that was there before: only their number is judged. */
  chosen(list: Cell[], where: Where): Cell[] {
    this.checkElements(list.length, where);
    return list;
  }

  /** Adds up what a growing list will weigh, so that it never grows far beyond the bound. */
  scale(where: Where): { add(cell: Cell): void } {
    const sum: Weight = { size: 0, elements: 0, depth: 0 };
    return {
      add: (cell) => {
        const weight = this.#weigh(cell, where, 1);
        sum.size += weight.size;
        sum.elements += weight.elements + 1;
        this.#check(sum, where);
      },
    };
  }

  #check(weight: Weight, where: Where): void {
    this.checkElements(weight.elements, where);
    if (weight.size > MAX_SIZE)
      this.tooLarge(where, "The value would be larger than 1 MiB.", "take a part of it, or keep it in a file");
    if (weight.depth > MAX_VALUE_DEPTH) {
      this.tooLarge(where, `The value would be nested more than ${MAX_VALUE_DEPTH} deep.`, "make a flatter one");
    }
  }

  /** Texts and keys count by their characters, all else as 8; elements are those of lists, at every depth. */
  #weigh(cell: Cell, where: Where, depth: number): Weight {
    const { value } = peelCell(cell);
    if (typeof value === "string") {
      this.spendText(value.length, where);
      return { size: value.length > MAX_SIZE ? value.length : lengthOf(value), elements: 0, depth: 0 };
    }
    const kind = kindOf(value);
    if (kind !== "list" && kind !== "map") return { size: 8, elements: 0, depth: 0 };
    const known = this.#weights.get(value as object);
    if (known !== undefined) return known;
    const sum: Weight = { size: 8, elements: 0, depth: 1 };
    if (depth > MAX_VALUE_DEPTH) return { size: 8, elements: 0, depth };
    const add = (part: Cell, extra: number): void => {
      this.spend(1, where);
      const weight = this.#weigh(part, where, depth + 1);
      sum.size += weight.size + extra;
      sum.elements += weight.elements;
      sum.depth = Math.max(sum.depth, weight.depth + 1);
    };
    if (Array.isArray(value)) {
      sum.elements = value.length;
      for (const part of value) add(part, 0);
    } else {
      const map = value as { [key: string]: Cell };
      const keys = Object.keys(map);
      this.checkElements(keys.length, where);
      for (const key of keys) add(map[key] ?? null, key.length);
    }
    this.#weights.set(value as object, sum);
    return sum;
  }
}
