/**
 * What can be said of an expression before it runs: unknown names and functions, fields that are not there,
 * kinds that never go together, constants that fail. Nothing here is needed for safety: an evaluation
 * checks everything again on its values. Over 400 lines: one arm for each kind of node.
 *
 * I1: a finding is certain. What is not known is `any`, on which everything is allowed.
 * I2: one fault gives one finding: behind a faulty part the kind is `any`.
 */

import { nearestName } from "../base/nearest.ts";
import { build } from "./evaluate.ts";
import { Failure, Frame } from "./frame.ts";
import { FUNCTIONS, type FunctionRow, findFunction, insteadOf, TRIED_NAMES } from "./functions.ts";
import { asShape, certainKind, either, given, holdsSensitive, isSensitive, type Known, sensitiveIf } from "./known.ts";
import { adviceFor } from "./operators.ts";
import { pathOf } from "./paths.ts";
import type { ExprProblem } from "./problem.ts";
import { ANY, type NameScope, type Shape } from "./shape.ts";
import { calendarOf, DATE_FIELDS, isZone, parseTimestamp, writeDate } from "./times.ts";
import { type CallNode, type ChainNode, childrenOf, type LoopNode, type Node, type Operator } from "./tree.ts";
import { type Kind, named } from "./values.ts";

/** A constant that takes more is not worth knowing before it runs. */
const CONSTANT_VISITS = 20_000;

const FOREIGN_NAMES: { readonly [name: string]: string } = {
  True: "write `true`",
  False: "write `false`",
  None: "write `null`",
  nil: "write `null`",
  undefined: "write `null`; `has(a.b)` asks whether a field is there",
  steps: "a step is read by its id alone: `step_id.field`",
  outputs: "a step is read by its id: `step_id.field`",
  input: "write `inputs`",
  secrets: "expressions never see secrets; pass a sensitive input",
  process: "expressions never see the environment; put plain values into `settings`",
  ctx: "`ctx` belongs to code steps; an expression reads the names themselves: `inputs.x`",
  this: "a field is read from a name: `inputs.x`",
};

const DEEP: ReadonlySet<string> = new Set(["json", "join", "sum", "min", "max", "sort", "distinct", "flatten"]);

export function checkTree(
  root: Node,
  source: string,
  scope: NameScope,
  slots: number,
): { problems: ExprProblem[]; shape: Shape } {
  const checker = new Checker(source, scope);
  const shape = asShape(checker.visit(root));
  checker.constants(root, slots);
  return { problems: checker.sorted(), shape };
}

class Checker {
  readonly #source: string;
  readonly #scope: NameScope;
  readonly #problems: ExprProblem[] = [];
  readonly #locals: Known[] = [];

  constructor(source: string, scope: NameScope) {
    this.#source = source;
    this.#scope = scope;
  }

  sorted(): ExprProblem[] {
    return this.#problems.sort((a, b) => a.start - b.start || a.end - b.end);
  }

  #report(code: ExprProblem["code"], start: number, end: number, message: string, help: string): Known {
    const within = (other: ExprProblem): boolean => other.start === start && other.end === end;
    if (!this.#problems.some(within)) this.#problems.push({ code, severity: "error", message, help, start, end });
    return ANY;
  }

  #fault(node: { start: number; end: number }, message: string, help = ""): Known {
    return this.#report("expression.failed", node.start, node.end, message, help);
  }

  #said(node: Node): string {
    const text = this.#source.slice(node.start, node.end).replace(/\s+/g, " ");
    return text.length > 60 ? `${text.slice(0, 57)}...` : text;
  }

  visit(node: Node): Known {
    switch (node.kind) {
      case "literal":
        if (node.value === null) return { kind: "null" };
        return { kind: typeof node.value === "string" ? "string" : "boolean" };
      case "number":
        if (node.fault !== null) this.#fault(node, `The number ${node.fault}.`, "keep it as a text");
        return { kind: "number" };
      case "name":
        if (node.slot !== null) return this.#locals[node.slot] ?? ANY;
        return this.#root(node.name, node.start, node.end);
      case "select":
        return this.#field(node, this.visit(node.target), node.field, node.fieldStart, node.end);
      case "has": {
        const target = this.#path(node.select.target);
        // Of a null or a scalar `has` is false: that is what it is asked for.
        if (target.kind === "object")
          this.#field(node.select, target, node.select.field, node.select.fieldStart, node.select.end);
        return sensitiveIf({ kind: "boolean" }, isSensitive(target));
      }
      case "index":
        return this.#element(node, this.visit(node.target));
      case "default": {
        const value = this.#path(node.value);
        const other = this.visit(node.other);
        if (value.kind === "null") return other;
        const present = "nullable" in value ? withoutNull(value) : value;
        return either(present, other);
      }
      case "call":
        return this.#call(node);
      case "list": {
        const items = node.items.map((item) => this.visit(item));
        const of = items.length === 0 ? ANY : items.reduce((a, b) => either(a, b));
        return { kind: "list", of: asShape(of) };
      }
      case "map":
        return this.#map(node.entries);
      case "not":
        return this.#boolean(node.operand, "`!`");
      case "minus": {
        const operand = this.visit(node.operand);
        const kind = certainKind(operand);
        if (kind !== null && kind !== "number") return this.#fault(node, `\`-\` wants a number, not ${named(kind)}.`);
        return sensitiveIf({ kind: "number" }, isSensitive(operand));
      }
      case "chain":
        return this.#chain(node);
      case "and":
      case "or": {
        const sign = node.kind === "and" ? "`&&`" : "`||`";
        const operands = node.items.map((item) => this.#boolean(item, sign));
        return sensitiveIf({ kind: "boolean" }, operands.some(isSensitive));
      }
      case "cond": {
        const test = this.#boolean(node.test, "a condition");
        return sensitiveIf(either(this.visit(node.then), this.visit(node.other)), isSensitive(test));
      }
      case "loop":
        return this.#loop(node);
      case "bind":
        this.#locals[node.slot] = this.visit(node.value);
        return this.visit(node.body);
    }
  }

  /** A path that may end at null: `has` and `default` are written for that. */
  #path(node: Node): Known {
    if (node.kind !== "select" && node.kind !== "index") return this.visit(node);
    const target = this.#path(node.target);
    if (node.kind === "index") return target.kind === "null" ? target : this.#element(node, target);
    return target.kind === "null" ? target : this.#field(node, target, node.field, node.fieldStart, node.end);
  }

  #boolean(node: Node, what: string): Known {
    const known = this.visit(node);
    const kind = certainKind(known);
    if (kind !== null && kind !== "boolean")
      this.#fault(
        node,
        `${what} wants a boolean, not ${named(kind)}.`.replace(/^a/, "A"),
        "compare first, as in `v != null` or `n > 0`",
      );
    return sensitiveIf({ kind: "boolean" }, isSensitive(known));
  }

  // --- names ---

  #root(name: string, start: number, end: number): Known {
    const known = this.#scope.get(name);
    if (known !== undefined) return known;
    const hyphenated = this.#hyphenated(name, start);
    if (hyphenated !== null) {
      const fixed = hyphenated.name.replaceAll("-", "_");
      return this.#report(
        "expression.unknown_name",
        hyphenated.start,
        hyphenated.start + hyphenated.name.length,
        `\`${hyphenated.name}\` cannot be read in an expression: \`a-b\` subtracts.`,
        `call it \`${fixed}\``,
      );
    }
    return this.#report(
      "expression.unknown_name",
      start,
      end,
      `There is no name \`${name}\` here.`,
      this.#nameHelp(name),
    );
  }

  /** A name of the scope with `-` in it that is written where `name` stands. */
  #hyphenated(name: string, start: number): { name: string; start: number } | null {
    for (const whole of this.#scope.keys()) {
      if (!whole.includes("-")) continue;
      let offset = 0;
      for (const part of whole.split("-")) {
        const at = start - offset;
        if (
          part === name &&
          at >= 0 &&
          this.#source.startsWith(whole, at) &&
          !/[\w-]/.test(this.#source[at + whole.length] ?? "")
        ) {
          return { name: whole, start: at };
        }
        offset += part.length + 1;
      }
    }
    return null;
  }

  #nameHelp(name: string): string {
    for (const root of ["inputs", "consts", "trigger", "settings"]) {
      const shape = this.#scope.get(root);
      if (shape?.kind === "object" && Object.hasOwn(shape.fields, name)) return `write \`${root}.${name}\``;
    }
    if (Object.hasOwn(FOREIGN_NAMES, name)) return FOREIGN_NAMES[name] ?? "";
    const row = findFunction(name);
    if (row !== undefined) return `\`${name}\` is a function: write \`${row.signature}\``;
    const near = nearestName(name, this.#scope.keys());
    if (near !== null) return `did you mean \`${near}\`?`;
    const tried = insteadOf(name);
    if (tried !== undefined) return tried;
    const names = [...this.#scope.keys()].filter((known) => !known.includes("-"));
    return names.length === 0 ? "" : `known here: ${names.slice(0, 12).join(", ")}${names.length > 12 ? ", ..." : ""}`;
  }

  // --- parts ---

  #field(node: Node, target: Known, field: string, start: number, end: number): Known {
    const sensitive = isSensitive(target);
    switch (target.kind) {
      case "any":
        return sensitiveIf(ANY, sensitive);
      case "object": {
        const known = Object.hasOwn(target.fields, field) ? target.fields[field] : undefined;
        if (known !== undefined) return sensitiveIf(known, sensitive);
        if (target.open) return sensitiveIf(ANY, sensitive);
        const names = Object.keys(target.fields);
        const near = nearestName(field, names);
        const list =
          names.length === 0
            ? "it has no fields"
            : `its fields: ${names.slice(0, 12).join(", ")}${names.length > 12 ? ", ..." : ""}`;
        const path = node.kind === "select" || node.kind === "index" ? this.#said(node.target) : "";
        this.#report(
          "expression.unknown_name",
          start,
          end,
          `\`${path}\` has no field \`${field}\`.`,
          near === null ? list : `did you mean \`${near}\`?`,
        );
        return ANY;
      }
      default: {
        const kind = certainKind(target) ?? "null";
        const path = node.kind === "select" || node.kind === "index" ? this.#said(node.target) : "";
        const tried = insteadOf(field);
        const row = findFunction(field);
        const help = tried !== undefined ? tried : row !== undefined ? `write \`${row.signature}\`` : "";
        return this.#report(
          "expression.failed",
          start,
          end,
          `\`${path}\` is ${named(kind)}, which has no fields.`,
          help,
        );
      }
    }
  }

  #element(node: Node & { kind: "index" }, target: Known): Known {
    const index = this.visit(node.index);
    const at = certainKind(index);
    const sensitive = isSensitive(target) || isSensitive(index);
    switch (target.kind) {
      case "any":
        return sensitiveIf(ANY, sensitive);
      case "list":
        if (at !== null && at !== "number")
          return this.#fault(node.index, `An index of a list is a whole number, not ${named(at)}.`);
        return sensitiveIf(target.of, sensitive);
      case "object":
        if (at !== null && at !== "text") return this.#fault(node.index, `A key of a map is a text, not ${named(at)}.`);
        if (node.index.kind === "literal" && typeof node.index.value === "string") {
          return this.#field(node, target, node.index.value, node.index.start, node.index.end);
        }
        return sensitiveIf(ANY, sensitive || holdsSensitive(target));
      case "string":
        return this.#fault(
          node,
          `\`${this.#said(node.target)}\` is a text, which has no elements.`,
          "write `s.substring(i, i + 1)`",
        );
      default:
        return this.#fault(
          node,
          `\`${this.#said(node.target)}\` is ${named(certainKind(target) ?? "null")}, which has no elements.`,
        );
    }
  }

  #map(entries: { key: Node; value: Node }[]): Known {
    const fields: { [name: string]: Shape } = Object.create(null) as { [name: string]: Shape };
    let open = false;
    let sensitive = false;
    for (const { key, value } of entries) {
      const known = this.visit(key);
      const kind = certainKind(known);
      const shape = asShape(this.visit(value));
      sensitive ||= isSensitive(known);
      if (kind !== null && kind !== "text")
        this.#fault(key, `A key of a map is a text, not ${named(kind)}.`, "put quotes around it");
      if (key.kind !== "literal" || typeof key.value !== "string") {
        open = true;
        sensitive ||= holdsSensitive(shape);
        continue;
      }
      if (Object.hasOwn(fields, key.value)) this.#fault(key, "A key of the map stands twice.");
      fields[key.value] = shape;
    }
    return sensitiveIf({ kind: "object", fields, open }, sensitive);
  }

  // --- operators ---

  #chain(node: ChainNode): Known {
    let left = this.visit(node.first);
    for (const { op, right } of node.rest) {
      const known = this.visit(right);
      const place = { start: node.start, end: right.end };
      if ((op === "/" || op === "%") && right.kind === "number" && right.value === 0)
        this.#fault(place, "Division by 0.");
      const deep = op === "==" || op === "!=" || op === "in";
      const marked = deep ? holdsSensitive(left) || holdsSensitive(known) : isSensitive(left) || isSensitive(known);
      left = sensitiveIf(this.#operation(op, left, known, place), marked);
    }
    return left;
  }

  #operation(op: Operator, left: Known, right: Known, place: { start: number; end: number }): Known {
    const a = certainKind(left);
    const b = certainKind(right);
    const refuse = (): Known => {
      const [x, y] = [a ?? "null", b ?? "null"] as const;
      return this.#fault(place, `\`${op}\` does not go between ${named(x)} and ${named(y)}.`, adviceFor(op, x, y));
    };
    switch (op) {
      case "==":
      case "!=":
        return { kind: "boolean" };
      case "in":
        if (b !== null && b !== "list" && b !== "map") {
          const help = b === "text" ? "write `s.contains(part)`" : "";
          this.#fault(place, `\`in\` looks into a list or a map, not into ${named(b)}.`, help);
        }
        return { kind: "boolean" };
      case "<":
      case "<=":
      case ">":
      case ">=":
        if (unordered(a) || unordered(b) || (a !== null && b !== null && a !== b)) refuse();
        return { kind: "boolean" };
      case "+":
      case "-": {
        if (a === null || b === null) {
          const one = a ?? b;
          if (one === null) return ANY;
          const takes: readonly Kind[] =
            op === "+" ? ["number", "text", "list", "timestamp", "duration"] : ["number", "timestamp", "duration"];
          if (!takes.includes(one)) {
            return this.#fault(
              place,
              `\`${op}\` does not go with ${named(one)}.`,
              one === "null" ? adviceFor(op, one, one) : "",
            );
          }
          if (one === "number") return { kind: "number" };
          if (one === "text") return { kind: "string" };
          const list = left.kind === "list" ? left : right.kind === "list" ? right : null;
          return list === null ? ANY : { kind: "list", of: sensitiveIf(ANY, holdsSensitive(list.of)) };
        }
        return sum(op, left, right, a, b) ?? refuse();
      }
      default:
        if ((a !== null && a !== "number") || (b !== null && b !== "number")) {
          if (a !== null && b !== null) return refuse();
          return this.#fault(place, `\`${op}\` wants numbers, not ${named(a ?? b ?? "null")}.`);
        }
        return { kind: "number" };
    }
  }

  // --- calls ---

  #call(node: CallNode): Known {
    const row = findFunction(node.name);
    if (row === undefined || row.macro === true || this.#foreign(node) !== null)
      return this.#unknownFunction(node, row);
    const args = node.args.map((arg) => this.visit(arg));
    const form = node.method ? "method" : "call";
    if (!row.forms.includes(form)) {
      return this.#report(
        "expression.syntax",
        node.nameStart,
        node.nameEnd,
        `\`${row.name}\` is not written in this form.`,
        `write \`${row.signature}\``,
      );
    }
    if (args.length < row.least || args.length > row.kinds.length) {
      return this.#report(
        "expression.syntax",
        node.nameStart,
        node.nameEnd,
        `\`${row.name}\` takes ${counts(row)}, not ${args.length}${node.method ? " with the value before the dot" : ""}.`,
        `write \`${row.signature}\``,
      );
    }
    args.forEach((arg, i) => {
      const kind = certainKind(arg);
      const wanted = row.kinds[i];
      const at = node.args[i];
      if (kind === null || !wanted || wanted.includes(kind) || at === undefined) return;
      const help = kind === "null" ? "" : `\`${row.signature}\``;
      this.#fault(at, `\`${row.name}\` takes ${wanted.map(named).join(" or ")} here, not ${named(kind)}.`, help);
    });
    this.#literals(node);
    const deep = DEEP.has(row.name);
    const sensitive = args.some((arg) => (deep ? holdsSensitive(arg) : isSensitive(arg)));
    return sensitiveIf(given(row.gives, args[0]), sensitive);
  }

  /** The whole name where a function of another language's library is called. */
  #foreign(node: CallNode): string | null {
    const [target] = node.args;
    const path = node.method && target !== undefined ? pathOf(target) : null;
    if (path === null || this.#scope.has(path[0] ?? "")) return null;
    const dotted = [...path, node.name].join(".");
    return TRIED_NAMES.has(dotted) ? dotted : null;
  }

  #unknownFunction(node: CallNode, row: FunctionRow | undefined): Known {
    // `Math.round(x)`: one finding for the whole name, none for `Math`.
    const foreign = this.#foreign(node);
    const isForeign = foreign !== null;
    node.args.forEach((arg, i) => {
      if (!(isForeign && i === 0)) this.visit(arg);
    });
    const name = foreign ?? node.name;
    const start = isForeign ? node.start : node.nameStart;
    if (row !== undefined && !isForeign) {
      return this.#report(
        "expression.syntax",
        start,
        node.nameEnd,
        `\`${name}\` is not written in this form.`,
        `write \`${row.signature}\``,
      );
    }
    let help = insteadOf(foreign ?? node.name) ?? "";
    if (help === "") {
      const near = nearestName(
        node.name,
        FUNCTIONS.map((known) => known.name),
      );
      const found = near === null ? undefined : findFunction(near);
      help =
        found === undefined ? "`ambit explain functions` prints the table" : `did you mean \`${found.signature}\`?`;
    }
    return this.#report("expression.unknown_name", start, node.nameEnd, `There is no function \`${name}\`.`, help);
  }

  /** Literal arguments that can never be right. */
  #literals(node: CallNode): void {
    const [, second, third] = node.args;
    if (node.name === "matches" && second !== undefined) {
      if (node.pattern === null) {
        this.#report(
          "expression.syntax",
          second.start,
          second.end,
          "The pattern of `matches` must be a literal.",
          "write it into the expression, as in `s.matches(r'^a+$')`",
        );
      } else if ("error" in node.pattern) {
        this.#report(
          "expression.syntax",
          second.start,
          second.end,
          "The pattern of `matches` cannot be used.",
          node.pattern.error,
        );
      }
    }
    if (node.name !== "date") return;
    const epoch = parseTimestamp("1970-01-01T00:00:00Z");
    const calendar = epoch === null ? null : calendarOf(epoch, "UTC");
    if (
      second?.kind === "literal" &&
      typeof second.value === "string" &&
      calendar !== null &&
      writeDate(calendar, second.value) === null
    ) {
      this.#fault(
        second,
        "The pattern of `date` has a letter that means nothing.",
        `known are ${DATE_FIELDS} and signs`,
      );
    }
    if (third?.kind === "literal" && typeof third.value === "string" && !isZone(third.value)) {
      this.#fault(third, "The zone is not known.", "write an IANA name like Europe/Paris");
    }
  }

  #loop(node: LoopNode): Known {
    const target = this.visit(node.target);
    const kind = certainKind(target);
    if (kind !== null && kind !== "list" && kind !== "map") {
      this.#fault(node.target, `\`${node.how}\` goes over a list or a map, not ${named(kind)}.`);
    }
    const whole = isSensitive(target);
    const item: Known = target.kind === "list" ? target.of : target.kind === "object" ? { kind: "string" } : ANY;
    this.#locals[node.slot] = sensitiveIf(item, whole);
    const test = node.test === null ? null : this.#boolean(node.test, "the test");
    if (node.how === "map") {
      const of = asShape(this.visit(node.body));
      return sensitiveIf({ kind: "list", of }, whole || (test !== null && isSensitive(test)));
    }
    const body = this.#boolean(node.body, "the test");
    const sensitive = whole || isSensitive(body);
    if (node.how !== "filter") return sensitiveIf({ kind: "boolean" }, sensitive);
    return sensitiveIf({ kind: "list", of: asShape(item) }, sensitive);
  }

  // --- constants ---

  /** Evaluates what reads no name: a part that fails now fails always. */
  constants(node: Node, slots: number): void {
    if (node.kind === "literal" || node.kind === "number" || node.kind === "has") return;
    if (isConstant(node, new Set())) {
      this.#constant(node, slots);
      return;
    }
    // What `default` guards may end early without being wrong.
    const parts = node.kind === "default" ? [node.other] : childrenOf(node);
    for (const part of parts) this.constants(part, slots);
  }

  #constant(node: Node, slots: number): void {
    const inside = (problem: ExprProblem): boolean => problem.start >= node.start && problem.end <= node.end;
    if (this.#problems.some(inside)) return;
    const frame = new Frame({ read: () => undefined }, slots, CONSTANT_VISITS);
    try {
      build(node, this.#source)(frame);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (!frame.exhausted) this.#fault(error.where, error.message, error.help);
    }
  }
}

function isConstant(node: Node, bound: ReadonlySet<number>): boolean {
  if (node.kind === "name") return node.slot !== null && bound.has(node.slot);
  const inner = node.kind === "loop" || node.kind === "bind" ? new Set([...bound, node.slot]) : bound;
  return childrenOf(node).every((part) => isConstant(part, inner));
}

function withoutNull(known: Known): Known {
  const { nullable: _, ...rest } = known as Known & { nullable?: true };
  return rest as Known;
}

function unordered(kind: Kind | null): boolean {
  return kind === "null" || kind === "list" || kind === "map";
}

function sum(op: "+" | "-", left: Known, right: Known, a: Kind, b: Kind): Known | null {
  if (a === "number" && b === "number") return { kind: "number" };
  if (op === "+" && a === "text" && b === "text") return { kind: "string" };
  if (op === "+" && left.kind === "list" && right.kind === "list")
    return { kind: "list", of: asShape(either(left.of, right.of)) };
  if (a === "duration" && b === "duration") return { kind: "duration" };
  if (a === "timestamp" && b === "duration") return { kind: "timestamp" };
  if (op === "+" && a === "duration" && b === "timestamp") return { kind: "timestamp" };
  if (op === "-" && a === "timestamp" && b === "timestamp") return { kind: "duration" };
  return null;
}

function counts(row: FunctionRow): string {
  const most = row.kinds.length;
  if (row.least === most) return most === 1 ? "1 argument" : `${most} arguments`;
  return `${row.least} to ${most} arguments`;
}
