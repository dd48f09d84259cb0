/**
 * Tree to closures. Over 400 lines: one arm for each kind of node, which are best read beside each other.
 *
 * I1: every closure pays a visit before it works; loops pay one more for each element.
 * I2: a map's fields are its own keys only: no name reaches a prototype of the host.
 * I3: marks are exact: a field keeps its own and its container's, a computed value has those of all that was
 *     looked into for it, and nothing else.
 * I4: `&&`, `||`, `all` and `exists` absorb a failure if another operand decides; nothing absorbs a bound.
 */
import { emptyObject } from "../base/json.ts";
import { hasMarks, joinMarks, Marked, type Marks, mark, NO_MARKS, setOwn, type Val } from "../plan/marked.ts";
import { implementationOf } from "./calls/table.ts";
import { Failure, type Frame } from "./frame.ts";
import { findFunction, insteadOf } from "./functions.ts";
import { apply } from "./operators.ts";
import { lapseText, timestampText } from "./times.ts";
import type { CallNode, ChainNode, IndexNode, LoopNode, Node, SelectNode } from "./tree.ts";
import { type Cell, type CellMap, compareText, isMap, kindOf, Lapse, named, peelCell, Timestamp } from "./values.ts";
import { Work } from "./work.ts";

export type Run = (frame: Frame) => Cell;

/** A path that ended early. `has` and `default` take it as an answer, everybody else as a failure. */
class Missing {
  readonly node: Node;
  readonly message: string;
  readonly help: string;
  readonly marks: Marks;
  constructor(node: Node, message: string, help: string, marks: Marks) {
    this.node = node;
    this.message = message;
    this.help = help;
    this.marks = marks;
  }
}

type Try = (frame: Frame) => Cell | Missing;

function marked(cell: Cell, marks: Marks): Cell {
  return hasMarks(marks) ? mark(cell as Val, marks) : cell;
}

export function build(root: Node, source: string): Run {
  return new Builder(source).run(root);
}

class Builder {
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  /** The source of a node for a message: what the author wrote, no value. */
  #said(node: Node): string {
    const text = this.#source.slice(node.start, node.end).replace(/\s+/g, " ");
    return text.length > 60 ? `${text.slice(0, 57)}...` : text;
  }

  run(node: Node): Run {
    switch (node.kind) {
      case "literal": {
        const { value } = node;
        return (f) => {
          f.spend(1, node);
          return value;
        };
      }
      case "number": {
        const { value, fault } = node;
        return (f) => {
          f.spend(1, node);
          return fault === null ? value : f.fail(node, `The number ${fault}.`, "keep it as a text");
        };
      }
      case "name":
      case "select":
      case "index":
      case "default": {
        const attempt = this.#attempt(node);
        return (f) => {
          const found = attempt(f);
          return found instanceof Missing ? f.fail(found.node, found.message, found.help, found.marks) : found;
        };
      }
      case "has":
        return this.#has(node.select, node);
      case "call":
        return this.#call(node);
      case "list": {
        const items = node.items.map((item) => this.run(item));
        return (f) => {
          f.spend(1, node);
          return f.made(
            items.map((item) => item(f)),
            node,
          );
        };
      }
      case "map":
        return this.#map(node);
      case "not": {
        const operand = this.run(node.operand);
        return (f) => {
          f.spend(1, node);
          const { value, marks } = peelCell(operand(f));
          if (typeof value !== "boolean")
            return f.fail(
              node,
              `\`!\` wants a boolean, not ${named(kindOf(value))}.`,
              "compare first, as in `v != null`",
              marks,
            );
          return marked(!value, marks);
        };
      }
      case "minus": {
        const operand = this.run(node.operand);
        return (f) => {
          f.spend(1, node);
          const { value, marks } = peelCell(operand(f));
          if (typeof value !== "number")
            return f.fail(node, `\`-\` wants a number, not ${named(kindOf(value))}.`, "", marks);
          return marked(value === 0 ? 0 : -value, marks);
        };
      }
      case "chain":
        return this.#chain(node);
      case "and":
      case "or":
        return this.#logic(node.items, node.kind === "or", node);
      case "cond": {
        const test = this.run(node.test);
        const then = this.run(node.then);
        const other = this.run(node.other);
        return (f) => {
          f.spend(1, node);
          const { value, marks } = peelCell(test(f));
          if (typeof value !== "boolean")
            return f.fail(
              node.test,
              `The condition is ${named(kindOf(value))}, no boolean.`,
              "compare, as in `v != null`",
              marks,
            );
          return marked(value ? then(f) : other(f), marks);
        };
      }
      case "loop":
        return this.#loop(node);
      case "bind": {
        const value = this.run(node.value);
        const body = this.run(node.body);
        return (f) => {
          f.spend(1, node);
          f.slots[node.slot] = value(f);
          return body(f);
        };
      }
    }
  }

  // --- paths ---

  /** A path gives `Missing` where it ends early; everything else runs as it is. */
  #attempt(node: Node): Try {
    switch (node.kind) {
      case "name": {
        const { slot, name } = node;
        if (slot !== null) {
          return (f) => {
            f.spend(1, node);
            return f.slots[slot] ?? null;
          };
        }
        return (f) => {
          f.spend(1, node);
          const value = f.env.read(name);
          if (value !== undefined) return value;
          return new Missing(
            node,
            `\`${name}\` has no value here.`,
            "a step that failed or did not run has none",
            NO_MARKS,
          );
        };
      }
      case "select": {
        const target = this.#attempt(node.target);
        return (f) => {
          f.spend(1, node);
          const found = target(f);
          return found instanceof Missing ? found : this.#field(node, found);
        };
      }
      case "index": {
        const target = this.#attempt(node.target);
        const index = this.run(node.index);
        return (f) => {
          f.spend(1, node);
          const found = target(f);
          return found instanceof Missing ? found : this.#element(node, found, index(f), f);
        };
      }
      case "default": {
        const value = this.#attempt(node.value);
        const other = this.#attempt(node.other);
        return (f) => {
          f.spend(1, node);
          const found = value(f);
          let marks: Marks;
          if (found instanceof Missing) marks = found.marks;
          else {
            const opened = peelCell(found);
            if (opened.value !== null) return found;
            marks = opened.marks;
          }
          const instead = other(f);
          return instead instanceof Missing ? instead : marked(instead, marks);
        };
      }
      default:
        return this.run(node);
    }
  }

  #hint(node: Node): string {
    const path = this.#said(node);
    return node.kind === "select"
      ? `ask \`has(${path})\` first, or write \`default(${path}, other)\``
      : `write \`default(${path}, other)\``;
  }

  #field(node: SelectNode, target: Cell): Cell | Missing {
    const { value, marks } = target instanceof Marked ? peelCell(target) : { value: target, marks: NO_MARKS };
    if (isMap(value)) {
      if (Object.hasOwn(value, node.field)) return marked((value as CellMap)[node.field] ?? null, marks);
      return new Missing(
        node,
        `\`${this.#said(node)}\` is not there: the map has no such field.`,
        this.#hint(node),
        marks,
      );
    }
    const what = `\`${this.#said(node.target)}\` is ${named(kindOf(value))}, which has no fields.`;
    const tried = value === null ? undefined : insteadOf(node.field);
    return new Missing(node, what, tried ?? this.#hint(node), marks);
  }

  #element(node: IndexNode, target: Cell, index: Cell, f: Frame): Cell | Missing {
    const { value, marks: own } = peelCell(target);
    const { value: at, marks: more } = peelCell(index);
    const marks = joinMarks(own, more);
    if (Array.isArray(value)) {
      if (typeof at !== "number" || !Number.isInteger(at)) {
        const what = typeof at === "number" ? "a number with a fraction" : named(kindOf(at));
        return f.fail(node.index, `An index of a list is a whole number, not ${what}.`, "", marks);
      }
      if (at >= 0 && at < value.length) return marked(value[at] ?? null, marks);
      return new Missing(
        node,
        `\`${this.#said(node)}\` is not there: the list has no such index.`,
        this.#hint(node),
        marks,
      );
    }
    if (isMap(value)) {
      if (typeof at !== "string")
        return f.fail(node.index, `A key of a map is a text, not ${named(kindOf(at))}.`, "", marks);
      if (Object.hasOwn(value, at)) return marked((value as CellMap)[at] ?? null, marks);
      return new Missing(
        node,
        `\`${this.#said(node)}\` is not there: the map has no such key.`,
        this.#hint(node),
        marks,
      );
    }
    const help = typeof value === "string" ? "write `s.substring(i, i + 1)`" : this.#hint(node);
    return new Missing(
      node,
      `\`${this.#said(node.target)}\` is ${named(kindOf(value))}, which has no elements.`,
      help,
      marks,
    );
  }

  #has(select: SelectNode, node: Node): Run {
    const target = this.#attempt(select.target);
    return (f) => {
      f.spend(1, node);
      const found = target(f);
      if (found instanceof Missing) return marked(false, found.marks);
      const { value, marks } = peelCell(found);
      return marked(isMap(value) && Object.hasOwn(value, select.field), marks);
    };
  }

  // --- operators ---

  #chain(node: ChainNode): Run {
    const first = this.run(node.first);
    const rest = node.rest.map(({ op, right }) => ({
      op,
      run: this.run(right),
      where: { start: node.start, end: right.end },
    }));
    return (f) => {
      let left = first(f);
      for (const { op, run, where } of rest) {
        f.spend(1, where);
        const right = run(f);
        const work = new Work(f, where);
        left = marked(apply(op, left, right, work), work.marks);
      }
      return left;
    };
  }

  /** `deciding`: the operand's value that settles the whole. */
  #logic(items: Node[], deciding: boolean, node: Node): Run {
    const runs = items.map((item) => ({ item, run: this.run(item) }));
    const op = deciding ? "||" : "&&";
    return (f) => {
      f.spend(1, node);
      const tally = new Tally(deciding);
      for (const { item, run } of runs) {
        if (tally.take(f, item, () => run(f), `\`${op}\` wants booleans`)) break;
      }
      return tally.result();
    };
  }

  // --- calls ---

  #call(node: CallNode): Run {
    const definition = findFunction(node.name);
    const implementation = implementationOf(node.name);
    const args = node.args.map((arg) => this.run(arg));
    const form = node.method ? "method" : "call";
    if (definition === undefined || implementation === undefined || !definition.forms.includes(form)) {
      const help = definition === undefined ? (insteadOf(node.name) ?? "") : `write ${definition.signature}`;
      return (f) => f.fail(node, `There is no function \`${node.name}\` of this form.`, help);
    }
    const { kinds, least, signature, name } = definition;
    if (args.length < least || args.length > kinds.length) {
      return (f) => f.fail(node, `\`${name}\` has another number of arguments.`, `write ${signature}`);
    }
    return (f) => {
      f.spend(1, node);
      const work = new Work(f, node);
      const values = args.map((arg) => work.open(arg(f)));
      values.forEach((value, i) => {
        const wanted = kinds[i];
        if (!wanted || wanted.includes(kindOf(value))) return;
        const help = value === null ? "if it may be null, write `default(v, other)`" : `write ${signature}`;
        work.fail(`\`${name}\` takes ${wanted.map(named).join(" or ")} here, not ${named(kindOf(value))}.`, help);
      });
      const made = implementation(values, work, node);
      return marked(made, work.marks);
    };
  }

  #map(node: Node & { kind: "map" }): Run {
    const entries = node.entries.map(({ key, value }) => ({ node: key, key: this.run(key), value: this.run(value) }));
    return (f) => {
      f.spend(1, node);
      const out = emptyObject<Cell>();
      let marks = NO_MARKS;
      for (const entry of entries) {
        const key = peelCell(entry.key(f));
        marks = joinMarks(marks, key.marks);
        if (typeof key.value !== "string")
          f.fail(entry.node, `A key of a map is a text, not ${named(kindOf(key.value))}.`, "", marks);
        if (Object.hasOwn(out, key.value as string)) f.fail(entry.node, "A key of the map stands twice.", "", marks);
        setOwn(out, key.value as string, entry.value(f));
      }
      return marked(f.made(out, node), marks);
    };
  }

  // --- loops ---

  #loop(node: LoopNode): Run {
    const target = this.run(node.target);
    const test = node.test === null ? null : this.run(node.test);
    const body = this.run(node.body);
    const { how, slot } = node;

    /** The elements, each with the marks of the list as a whole. */
    const open = (f: Frame): { items: Cell[]; marks: Marks } => {
      f.spend(1, node);
      const { value, marks } = peelCell(target(f));
      if (Array.isArray(value)) return { items: value, marks };
      if (isMap(value)) {
        // In a fixed order: a map that was read back from a record may hold its keys in another one.
        const keys = Object.keys(value);
        f.spend(keys.length, node);
        return { items: keys.sort(compareText), marks };
      }
      const help = value === null ? "if it may be null, write `default(v, [])`" : "";
      return f.fail(node.target, `\`${how}\` goes over a list or a map, not ${named(kindOf(value))}.`, help, marks);
    };

    const passes = (f: Frame, run: Run, at: Node): { value: boolean; marks: Marks } => {
      const { value, marks } = peelCell(run(f));
      if (typeof value !== "boolean")
        f.fail(
          at,
          `The test of \`${how}\` gives ${named(kindOf(value))}, no boolean.`,
          "compare, as in `x != null`",
          marks,
        );
      return { value: value as boolean, marks };
    };

    switch (how) {
      case "map":
        return (f) => {
          const { items, marks: all } = open(f);
          let marks = all;
          const out: Cell[] = [];
          const scale = f.scale(node);
          for (const item of items) {
            f.spend(1, node);
            f.slots[slot] = marked(item, all);
            if (test !== null && node.test !== null) {
              const passed = passes(f, test, node.test);
              marks = joinMarks(marks, passed.marks);
              if (!passed.value) continue;
            }
            const made = body(f);
            scale.add(made);
            out.push(made);
          }
          return marked(out, marks);
        };
      case "filter":
        return (f) => {
          const { items, marks: all } = open(f);
          let marks = all;
          const out: Cell[] = [];
          for (const item of items) {
            f.spend(1, node);
            f.slots[slot] = marked(item, all);
            const passed = passes(f, body, node.body);
            marks = joinMarks(marks, passed.marks);
            if (passed.value) out.push(item);
          }
          return marked(f.chosen(out, node), marks);
        };
      case "exists_one":
        return (f) => {
          const { items, marks: all } = open(f);
          let marks = all;
          let count = 0;
          for (const item of items) {
            f.spend(1, node);
            f.slots[slot] = marked(item, all);
            const passed = passes(f, body, node.body);
            marks = joinMarks(marks, passed.marks);
            if (passed.value) count++;
          }
          return marked(count === 1, marks);
        };
      case "all":
      case "exists":
        return (f) => {
          const { items, marks } = open(f);
          const tally = new Tally(how === "exists", marks);
          for (const item of items) {
            f.spend(1, node);
            f.slots[slot] = marked(item, marks);
            if (tally.take(f, node.body, () => body(f), `\`${how}\` wants booleans`)) break;
          }
          return tally.result();
        };
    }
  }
}

/** Operands of `&&` or `||`: one with the deciding value settles it, whatever failed before (I4). */
class Tally {
  readonly #deciding: boolean;
  #marks: Marks;
  #decided = false;
  #failure: Failure | null = null;

  constructor(deciding: boolean, marks: Marks = NO_MARKS) {
    this.#deciding = deciding;
    this.#marks = marks;
  }

  /** Takes one operand; true: nothing more need be looked at. */
  take(f: Frame, where: Node, run: () => Cell, wanted: string): boolean {
    try {
      const { value, marks } = peelCell(run());
      this.#marks = joinMarks(this.#marks, marks);
      if (typeof value !== "boolean")
        f.fail(where, `${wanted}, not ${named(kindOf(value))}.`, "compare first, as in `v != null`", marks);
      this.#decided = value === this.#deciding;
    } catch (error) {
      if (!(error instanceof Failure) || error.reason !== null) throw error;
      this.#marks = joinMarks(this.#marks, error.marks);
      this.#failure ??= error;
    }
    return this.#decided;
  }

  result(): Cell {
    if (!this.#decided && this.#failure !== null) throw this.#failure;
    return marked(this.#decided === this.#deciding, this.#marks);
  }
}

/** The value as it leaves an evaluation: times become text. */
export function settle(cell: Cell): Val {
  if (cell instanceof Marked) return mark(settle(cell.value), cell.marks);
  if (cell instanceof Timestamp) return timestampText(cell);
  if (cell instanceof Lapse) return lapseText(cell);
  if (Array.isArray(cell)) return cell.map(settle);
  if (typeof cell === "object" && cell !== null) {
    const out = emptyObject<Val>();
    for (const key of Object.keys(cell)) setOwn(out, key, settle((cell as CellMap)[key] ?? null));
    return out;
  }
  return cell;
}
