/**
 * Source to tree: a Pratt parser over the tokens of `lexer.ts`. It knows the grammar and the forms that are
 * no plain calls (`has`, `default`, `cel.bind`, loops); names and kinds are judged by `check.ts`. Over 400
 * lines: one grammar, whose rules call each other.
 *
 * I1: nesting is counted before the parser descends, so no source can exhaust the stack.
 *     The tree's depth is bounded too: what walks it may recurse.
 * I2: operators of one level are a flat chain, so their number is bounded by the size of the source only.
 */
import { readToken, type Token } from "./lexer.ts";
import type { ExprProblem } from "./problem.ts";
import { compilePattern, MAX_PROGRAM, type Pattern } from "./regex.ts";
import { type ChainNode, childrenOf, type LoopKind, type Node, type Operator, type SelectNode } from "./tree.ts";

export const MAX_SOURCE_BYTES = 16_384;
export const MAX_NESTING = 200;
/** Of the tree: brackets and chains of `.f` and `[i]` together. */
const MAX_DEPTH = 2 * MAX_NESTING;
const MAX_LOOPS = 2;
const MAX_PATTERN_BYTES = 1_024;

export type Parsed =
  | { ok: true; root: Node; slots: number; roots: ReadonlySet<string> }
  | { ok: false; problems: ExprProblem[] };

/** CEL keeps these for itself: no name may be called like one. */
export const RESERVED: ReadonlySet<string> = new Set(
  (
    "as break const continue else false for function if import in let loop null package namespace return true " +
    "var void while"
  ).split(" "),
);

/** After a dot even most of them may stand. */
const NO_FIELD: ReadonlySet<string> = new Set(["true", "false", "null", "in"]);

const LOOPS: ReadonlySet<string> = new Set(["map", "filter", "all", "exists", "exists_one"]);

const LEVELS: ReadonlyMap<string, number> = new Map([
  ["||", 1],
  ["&&", 2],
  ...["<", "<=", ">", ">=", "==", "!=", "in"].map((op) => [op, 3] as const),
  ["+", 4],
  ["-", 4],
  ["*", 5],
  ["/", 5],
  ["%", 5],
]);

class SyntaxFault {
  readonly problem: ExprProblem;
  constructor(start: number, end: number, message: string, help: string) {
    this.problem = { code: "expression.syntax", severity: "error", message, help, start, end };
  }
}

export function parse(source: string): Parsed {
  if (source.length > MAX_SOURCE_BYTES || Buffer.byteLength(source, "utf8") > MAX_SOURCE_BYTES) {
    const fault = new SyntaxFault(
      0,
      source.length,
      "The expression is longer than 16 KiB.",
      "bind parts of it with `wf.let`",
    );
    return { ok: false, problems: [fault.problem] };
  }
  if (!source.isWellFormed()) {
    const fault = new SyntaxFault(
      0,
      source.length,
      "The expression holds half a character.",
      "write it as \\U0001F600",
    );
    return { ok: false, problems: [fault.problem] };
  }
  try {
    const parser = new Parser(source);
    const root = parser.whole();
    return { ok: true, root, slots: parser.slots, roots: parser.roots };
  } catch (error) {
    if (error instanceof SyntaxFault) return { ok: false, problems: [error.problem] };
    throw error;
  }
}

/** Levels of a tree. A chain like `a.b.c` is deep without any nesting of its text, so this may not recurse. */
function depthOf(root: Node): number {
  let level: Node[] = [root];
  let depth = 0;
  while (level.length > 0 && depth <= MAX_DEPTH) {
    level = level.flatMap(childrenOf);
    depth++;
  }
  return depth;
}

class Parser {
  readonly #source: string;
  #token: Token;
  #nesting = 0;
  #loops = 0;
  /** Instructions that the patterns of this source may still have: many small ones are as dear as a large one. */
  #program = MAX_PROGRAM;
  /** Variables in scope, innermost last. */
  readonly #variables: { name: string; slot: number }[] = [];
  slots = 0;
  readonly roots = new Set<string>();
  readonly #grouped = new WeakSet<Node>();

  constructor(source: string) {
    this.#source = source;
    this.#token = readToken(source, 0);
  }

  whole(): Node {
    if (this.#source.trim() === "") this.#fail(0, this.#source.length, "The expression is empty.", "");
    const root = this.#expression();
    if (this.#token.kind !== "end") this.#unexpected("an operator or the end");
    if (this.#source.length > MAX_DEPTH && depthOf(root) > MAX_DEPTH) this.#tooDeep(0, this.#source.length);
    return root;
  }

  // --- tokens ---

  #next(): Token {
    const token = this.#token;
    if (token.kind === "bad") this.#fail(token.start, token.end, token.message, token.help);
    this.#token = readToken(this.#source, token.end);
    return token;
  }

  #isOp(op: string): boolean {
    return this.#token.kind === "op" && this.#token.op === op;
  }

  #take(op: string): boolean {
    if (!this.#isOp(op)) return false;
    this.#next();
    return true;
  }

  /** Takes `op`, or says what stands in its place; returns the offset behind it. */
  #expect(op: string, where: string): number {
    if (!this.#isOp(op)) this.#unexpected(`\`${op}\` ${where}`);
    return this.#next().end;
  }

  #fail(start: number, end: number, message: string, help: string): never {
    throw new SyntaxFault(start, end, message, help);
  }

  #unexpected(wanted: string): never {
    const token = this.#token;
    if (token.kind === "bad") this.#fail(token.start, token.end, token.message, token.help);
    if (token.kind === "end") {
      const at = Math.max(0, this.#source.trimEnd().length - 1);
      this.#fail(at, this.#source.length, `The expression ends where ${wanted} should stand.`, "");
    }
    const written = this.#source.slice(token.start, token.end);
    const words: { [word: string]: string } = {
      and: "write `&&`",
      or: "write `||`",
      not: "write `!`",
      is: "write `==`",
      if: "write `test ? a : b`",
      else: "write `test ? a : b`",
    };
    if (token.kind === "quoted") {
      const back = "texts stand in ' or \"; a field is read as a.`odd-name`";
      this.#fail(token.start, token.end, `There is a back quote where ${wanted} should stand.`, back);
    }
    const help = token.kind === "name" && Object.hasOwn(words, token.name) ? (words[token.name] ?? "") : "";
    const what = token.kind === "text" ? "a text" : token.kind === "number" ? "a number" : `\`${written}\``;
    this.#fail(token.start, token.end, `There is ${what} where ${wanted} should stand.`, help);
  }

  #tooDeep(start: number, end: number): never {
    this.#fail(start, end, `The expression is nested more than ${MAX_NESTING} deep.`, "bind parts of it with `wf.let`");
  }

  #deeper<T>(at: number, read: () => T): T {
    if (this.#nesting >= MAX_NESTING) this.#tooDeep(at, at + 1);
    this.#nesting++;
    const value = read();
    this.#nesting--;
    return value;
  }

  // --- grammar ---

  #expression(): Node {
    const test = this.#operators(1);
    if (!this.#isOp("?")) return test;
    const question = this.#next();
    return this.#deeper(question.start, () => {
      const then = this.#operators(1);
      this.#expect(":", "of `test ? a : b`");
      const other = this.#expression();
      return { kind: "cond", start: test.start, end: other.end, test, then, other };
    });
  }

  #operator(): { op: string; level: number } | null {
    const token = this.#token;
    const op = token.kind === "op" ? token.op : token.kind === "name" && token.name === "in" ? "in" : "";
    const level = LEVELS.get(op);
    return level === undefined ? null : { op, level };
  }

  #operators(least: number): Node {
    let left = this.#unary();
    for (;;) {
      const found = this.#operator();
      if (found === null || found.level < least) return left;
      const { op, level } = found;
      const sign = this.#next();
      const right = this.#operators(level + 1);
      left = this.#joined(left, op, level, sign.start, right);
    }
  }

  #joined(left: Node, op: string, level: number, opStart: number, right: Node): Node {
    const open = !this.#grouped.has(left);
    if (op === "&&" || op === "||") {
      const kind = op === "&&" ? "and" : "or";
      if (left.kind === kind && open) {
        left.items.push(right);
        left.end = right.end;
        return left;
      }
      return { kind, start: left.start, end: right.end, items: [left, right] };
    }
    const part = { op: op as Operator, opStart, right };
    if (left.kind === "chain" && open && LEVELS.get(left.rest[0]?.op ?? "") === level) {
      left.rest.push(part);
      left.end = right.end;
      return left;
    }
    const chain: ChainNode = { kind: "chain", start: left.start, end: right.end, first: left, rest: [part] };
    return chain;
  }

  #unary(): Node {
    if (!this.#isOp("!") && !this.#isOp("-")) return this.#member();
    const sign = this.#next();
    const kind = sign.kind === "op" && sign.op === "!" ? "not" : "minus";
    return this.#deeper(sign.start, () => {
      const operand = this.#unary();
      return { kind, start: sign.start, end: operand.end, operand };
    });
  }

  #member(): Node {
    let node = this.#primary();
    for (;;) {
      if (this.#isOp(".")) {
        this.#next();
        node = this.#behindDot(node);
      } else if (this.#isOp("[")) {
        const open = this.#next();
        if (this.#isOp("?"))
          this.#fail(open.start, open.end + 1, "`[?` is no operator here.", "write `default(a[b], other)`");
        const target = node;
        const index = this.#deeper(open.start, () => this.#expression());
        const end = this.#expect("]", "behind the index");
        node = { kind: "index", start: target.start, end, target, index };
      } else if (this.#isOp("{") && (node.kind === "name" || node.kind === "select")) {
        this.#fail(
          this.#token.start,
          this.#token.end,
          "There are no typed messages in this language.",
          'a map is `{"key": value}`',
        );
      } else {
        return node;
      }
    }
  }

  #behindDot(target: Node): Node {
    const token = this.#token;
    if (token.kind !== "name" && token.kind !== "quoted") this.#unexpected("a field name");
    if (token.kind === "name" && NO_FIELD.has(token.name)) {
      this.#fail(token.start, token.end, `\`${token.name}\` cannot be read behind a dot.`, `write ["${token.name}"]`);
    }
    this.#next();
    if (token.kind === "name" && this.#isOp("(")) return this.#method(target, token.name, token.start, token.end);
    const select: SelectNode = {
      kind: "select",
      start: target.start,
      end: token.end,
      target,
      field: token.name,
      fieldStart: token.start,
    };
    return select;
  }

  #method(target: Node, name: string, nameStart: number, nameEnd: number): Node {
    const open = this.#next();
    if (name === "bind" && target.kind === "name" && target.name === "cel" && target.slot === null) {
      return this.#bind(target, open.start);
    }
    if (LOOPS.has(name)) return this.#loop(target, name as LoopKind, open.start);
    const args = this.#arguments(open.start);
    const end = this.#expect(")", "behind the arguments");
    if (name === "default" && args.length === 1 && args[0] !== undefined) {
      return { kind: "default", start: target.start, end, value: target, other: args[0] };
    }
    const all = [target, ...args];
    const pattern = name === "matches" ? this.#pattern(all[1]) : null;
    return { kind: "call", start: target.start, end, name, method: true, args: all, nameStart, nameEnd, pattern };
  }

  #arguments(open: number): Node[] {
    if (this.#isOp(")")) return [];
    return this.#deeper(open, () => {
      const args = [this.#expression()];
      while (this.#take(",")) args.push(this.#expression());
      return args;
    });
  }

  #pattern(argument: Node | undefined): Pattern | { error: string } | null {
    if (argument?.kind !== "literal" || typeof argument.value !== "string") return null;
    if (Buffer.byteLength(argument.value, "utf8") > MAX_PATTERN_BYTES) return { error: "it is longer than 1 KiB" };
    const pattern = compilePattern(argument.value, this.#program);
    if ("size" in pattern) this.#program -= pattern.size;
    return pattern;
  }

  #variable(form: string): { name: string; start: number; end: number } {
    const token = this.#token;
    if (token.kind !== "name") this.#unexpected(`the variable's name, as in \`${form}\`,`);
    if (RESERVED.has(token.name)) {
      this.#fail(
        token.start,
        token.end,
        `\`${token.name}\` is a word of the language and cannot be a variable.`,
        `call it \`${token.name}_\``,
      );
    }
    this.#next();
    return token;
  }

  #within<T>(name: string, read: (slot: number) => T): T {
    const slot = this.slots++;
    this.#variables.push({ name, slot });
    const value = read(slot);
    this.#variables.pop();
    return value;
  }

  #bind(cel: Node, open: number): Node {
    const form = "cel.bind(x, value, result)";
    return this.#deeper(open, () => {
      const variable = this.#variable(form);
      this.#expect(",", `of \`${form}\``);
      const value = this.#expression();
      this.#expect(",", `of \`${form}\``);
      return this.#within(variable.name, (slot) => {
        const body = this.#expression();
        const end = this.#expect(")", `of \`${form}\``);
        return { kind: "bind", start: cel.start, end, variable: variable.name, slot, value, body };
      });
    });
  }

  #loop(target: Node, how: LoopKind, open: number): Node {
    const form = `list.${how}(x, ${how === "map" ? "value" : "test"})`;
    if (this.#loops >= MAX_LOOPS) {
      this.#fail(
        target.start,
        this.#token.end,
        "Loops are nested more than 2 deep.",
        "bind the inner list with `wf.let`, or use a `wf.each`",
      );
    }
    return this.#deeper(open, () => {
      const variable = this.#variable(form);
      this.#expect(",", `of \`${form}\``);
      this.#loops++;
      const loop = this.#within(variable.name, (slot) => {
        let test: Node | null = null;
        let body = this.#expression();
        if (how === "map" && this.#take(",")) {
          test = body;
          body = this.#expression();
        }
        const end = this.#expect(")", `of \`${form}\``);
        return {
          kind: "loop" as const,
          start: target.start,
          end,
          how,
          target,
          variable: variable.name,
          slot,
          test,
          body,
        };
      });
      this.#loops--;
      return loop;
    });
  }

  #primary(): Node {
    const token = this.#token;
    switch (token.kind) {
      case "number":
        this.#next();
        return { kind: "number", start: token.start, end: token.end, value: token.value, fault: token.fault };
      case "text":
        this.#next();
        return { kind: "literal", start: token.start, end: token.end, value: token.value };
      case "name":
        return this.#named(token.name, token.start, token.end);
      case "op":
        break;
      default:
        this.#unexpected("a value");
    }
    switch (token.op) {
      case "(": {
        this.#next();
        const inner = this.#deeper(token.start, () => this.#expression());
        this.#expect(")", "behind the group");
        this.#grouped.add(inner);
        return inner;
      }
      case "[":
        return this.#list(token.start);
      case "{":
        return this.#map(token.start);
      case ".": {
        // A leading dot reads a root name, whatever a loop's variable is called.
        this.#next();
        const name = this.#token;
        if (name.kind !== "name" || RESERVED.has(name.name)) this.#unexpected("a name");
        this.#next();
        this.roots.add(name.name);
        return { kind: "name", start: token.start, end: name.end, name: name.name, slot: null };
      }
      default:
        this.#unexpected("a value");
    }
  }

  #named(name: string, start: number, end: number): Node {
    if (name === "true" || name === "false" || name === "null") {
      this.#next();
      return { kind: "literal", start, end, value: name === "null" ? null : name === "true" };
    }
    if (RESERVED.has(name)) {
      const help =
        name === "if"
          ? "write `test ? a : b`"
          : `a step or input that is read in expressions may be called \`${name}_\``;
      this.#fail(start, end, `\`${name}\` is a word of the language and cannot be read as a name.`, help);
    }
    this.#next();
    if (this.#isOp("(")) return this.#call(name, start, end);
    for (let i = this.#variables.length - 1; i >= 0; i--) {
      const variable = this.#variables[i];
      if (variable?.name === name) return { kind: "name", start, end, name, slot: variable.slot };
    }
    const isBind = name === "cel" && /^\s*\.\s*bind\s*\(/.test(this.#source.slice(end));
    if (!isBind) this.roots.add(name);
    return { kind: "name", start, end, name, slot: null };
  }

  #call(name: string, start: number, nameEnd: number): Node {
    const open = this.#next();
    if (name === "has") {
      const argument = this.#deeper(open.start, () => this.#expression());
      const end = this.#expect(")", "of `has(a.b)`");
      if (argument.kind !== "select") {
        this.#fail(
          argument.start,
          argument.end,
          "`has` asks for a field, as in `has(a.b)`.",
          'for a key use `"key" in map`, for a value `a != null`',
        );
      }
      return { kind: "has", start, end, select: argument };
    }
    const args = this.#arguments(open.start);
    const end = this.#expect(")", "behind the arguments");
    const [first, second] = args;
    if (name === "default" && args.length === 2 && first !== undefined && second !== undefined) {
      return { kind: "default", start, end, value: first, other: second };
    }
    const pattern = name === "matches" ? this.#pattern(second) : null;
    return { kind: "call", start, end, name, method: false, args, nameStart: start, nameEnd, pattern };
  }

  #list(start: number): Node {
    this.#next();
    return this.#deeper(start, () => {
      const items: Node[] = [];
      while (!this.#isOp("]")) {
        items.push(this.#expression());
        if (!this.#take(",")) break;
      }
      return { kind: "list", start, end: this.#expect("]", "behind the list"), items };
    });
  }

  #map(start: number): Node {
    this.#next();
    return this.#deeper(start, () => {
      const entries: { key: Node; value: Node }[] = [];
      while (!this.#isOp("}")) {
        const key = this.#expression();
        if (!this.#isOp(":") && key.kind === "name") this.#unexpected("`:`");
        this.#expect(":", "behind the key");
        entries.push({ key, value: this.#expression() });
        if (!this.#take(",")) break;
      }
      return { kind: "map", start, end: this.#expect("}", "behind the map"), entries };
    });
  }
}
