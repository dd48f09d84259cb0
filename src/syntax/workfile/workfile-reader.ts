/** The reader that every part of a Workfile is read through. Over 400 lines: its places for expressions share one state. */
import { emptyObject, type Json } from "../../base/json.ts";
import type { Span } from "../../base/span.ts";
import type { Code } from "../../errors/codes.ts";
import type { Severity } from "../../errors/diagnostic.ts";
import { type Compiled, compile } from "../../expression/cel.ts";
import { holdsSensitive } from "../../expression/known.ts";
import { RESERVED } from "../../expression/parser.ts";
import type { ExprProblem } from "../../expression/problem.ts";
import { ANY, type ResultShapes, type Shape } from "../../expression/shape.ts";
import { splitTemplate } from "../../expression/template.ts";
import type { Expr, Value } from "../../plan/expression.ts";
import type { Step } from "../../plan/step.ts";
import { itemPath, keyPath } from "../../text/path.ts";
import { clip, Reader, type ReaderCodes } from "../../text/reader.ts";
import { quoted } from "../../text/slips.ts";
import type { MapEntry, ScalarNode, SourceText, TreeNode } from "../../text/tree.ts";
import type { Names } from "./names.ts";
import { joined, TEXT } from "./shapes.ts";
import { StepPlaces } from "./step-places.ts";
import { isUnmarked } from "./unmarked.ts";

const CODES: ReaderCodes = {
  unknownKey: "workfile.unknown_key",
  missingKey: "workfile.missing_key",
  wrongType: "workfile.wrong_type",
  badValue: "workfile.bad_value",
};

/** Beyond so many findings expressions are no longer checked: nobody reads them, and hints cost time. */
const ENOUGH = 300;

export interface StepList {
  steps: Step[];
  /** The names inside, the steps of the list included: what `yield`, `until` and `value` see. */
  names: Names;
  /** What is known of the value of the last step, which is the value of the list. */
  last: Shape;
}

/** How a list says to whom it belongs: for hints about names that end with it. */
export interface ListPlace {
  /** The step that holds the list. */
  holder?: string;
  /** Further names inside. */
  own?: { readonly [name: string]: Shape };
  /** The list is a handler of this step, which has no value in it. */
  handlerOf?: string;
}

/**
 * The two readers that call themselves by way of others. They are handed in, since a step holds lists of steps
 * and modules must not import in circles.
 */
export interface Grammar {
  list(r: WorkfileReader, node: TreeNode, path: string, what: string, outer: Names, place: ListPlace): StepList;
  step(r: WorkfileReader, entry: MapEntry, path: string, names: Names): ReadStep | null;
}

export interface ReadStep {
  step: Step;
  /** What later steps know of its value. */
  shape: Shape;
}

/** A value of the file, and what is known of it. */
export interface Found {
  value: Value;
  shape: Shape;
}

/** The reader of Workfiles: closed maps as everywhere, and the places where expressions may stand. */
export class WorkfileReader extends Reader {
  /** The settings read so far, as `a.b`. */
  readonly settings = new Set<string>();
  /** Ids bound in lists that are over, with the step that holds the list: for hints only. */
  readonly inner = new Map<string, string>();
  /** What `with` of the agent step at hand projects, by name: for the hint at names in `goal`. */
  projected: ReadonlyMap<string, string> = new Map();
  /** Where the words of steps stand, for whoever finds out more about them. */
  readonly places: StepPlaces;
  readonly results: ResultShapes;
  readonly #reads: Set<string>[] = [];
  readonly #grammar: Grammar;

  constructor(source: SourceText, grammar: Grammar, results: ResultShapes = () => ANY) {
    super(source, CODES);
    this.results = results;
    this.places = new StepPlaces(source);
    this.#grammar = grammar;
  }

  /** An ordered list of steps, in a scope of its own. */
  steps(node: TreeNode, path: string, what: string, outer: Names, place: ListPlace = {}): StepList {
    return this.#grammar.list(this, node, path, what, outer, place);
  }

  /** One step, in the scope of a list that the caller keeps. */
  step(entry: MapEntry, path: string, names: Names): ReadStep | null {
    return this.#grammar.step(this, entry, path, names);
  }

  /** The root names that expressions read while `work` runs, without those of steps inside. */
  collectReads<T>(work: () => T): { result: T; reads: string[] } {
    const reads = new Set<string>();
    this.#reads.push(reads);
    try {
      return { result: work(), reads: [...reads].sort() };
    } finally {
      this.#reads.pop();
    }
  }

  span(at: { start: number; end: number }): Span {
    return this.source.span(at.start, at.end);
  }

  /** A text that is not looked into: no expression may stand here. */
  literal(node: TreeNode, path: string, what: string): string | null {
    const text = this.text(node, path, what);
    return text !== null && this.refuseExpression(node, path, what) ? text : null;
  }

  /** False, and reported, if the node is a text with an expression where only a literal may stand. */
  refuseExpression(node: TreeNode, path: string, what: string): boolean {
    if (node.kind !== "scalar" || typeof node.value !== "string" || !node.value.includes("{{")) return true;
    const message = `${what.charAt(0).toUpperCase()}${what.slice(1)} is literal: no expression can stand here.`;
    this.report("workfile.bad_value", node, path, message, "Write the value itself.");
    return false;
  }

  /** Any value, with expressions at any depth. */
  value(node: TreeNode, path: string, names: Names): Found {
    if (node.kind === "scalar") return this.#scalar(node, path, names);
    if (node.kind === "list") {
      const items = node.items.map((item, i) => this.value(item, itemPath(path, i), names));
      const of = items.length === 0 ? ANY : joined(items.map((item) => item.shape));
      const lits = items.map((item) => item.value);
      const value: Value = lits.every(isLit) ? { lit: lits.map((item) => item.lit) } : { list: lits };
      return { value, shape: { kind: "list", of } };
    }
    return this.map(node.entries, path, names);
  }

  /** The entries of a map as one value. */
  map(entries: readonly MapEntry[], path: string, names: Names): Found {
    const values = emptyObject<Value>();
    const fields = emptyObject<Shape>();
    let literal = true;
    for (const entry of entries) {
      const found = this.value(entry.value, keyPath(path, entry.key), names);
      values[entry.key] = found.value;
      fields[entry.key] = found.shape;
      literal &&= isLit(found.value);
    }
    if (!literal) return { value: { map: values }, shape: { kind: "object", fields, open: false } };
    const lit = emptyObject<Json>();
    for (const key of Object.keys(values)) {
      const value = values[key];
      if (value !== undefined && isLit(value)) lit[key] = value.lit;
    }
    return { value: { lit }, shape: { kind: "object", fields, open: false } };
  }

  /** A text with expressions in it. */
  template(node: TreeNode, path: string, what: string, names: Names): Found | null {
    if (this.text(node, path, what) === null || node.kind !== "scalar") return null;
    const found = this.#scalar(node, path, names);
    const { kind } = found.shape;
    if ("expr" in found.value && (kind === "object" || kind === "list" || kind === "null")) {
      this.#kindProblem(found.value.expr.span, path, `${what} must be a text, and this gives ${KINDS[kind]}.`);
    }
    return found;
  }

  /** A whole-string expression; null, and reported, for anything else. `what` is what the place holds. */
  whole(node: TreeNode, path: string, what: string, names: Names): { expr: Expr; shape: Shape } | null {
    if (node.kind !== "scalar" || typeof node.value !== "string") {
      return this.wrong(node, path, what, 'an expression like "{{ inputs.x }}"');
    }
    const { parts, problems } = splitTemplate(node.value);
    if (problems.length > 0) {
      this.#problems(problems, node, 0, path, names);
      return null;
    }
    const [only] = parts;
    if (parts.length === 1 && only !== undefined && typeof only !== "string") {
      return this.#expression(only.source, node, only.start, path, names);
    }
    const bare = parts.map((part) => (typeof part === "string" ? part : part.source)).join("");
    const message = parts.every((part) => typeof part === "string")
      ? `${upper(what)} is an expression, and this is a plain text.`
      : `${upper(what)} is one expression: the braces stand around all of it.`;
    this.report("expression.not_marked", node, path, message, `Write: ${quoted(`{{ ${clip(bare.trim())} }}`)}`);
    const plain = parts.every((part) => typeof part === "string");
    if (plain && isUnmarked(bare.trim(), node, names)) this.offer(node, quoted(`{{ ${bare.trim()} }}`));
    return null;
  }

  /** A condition: a whole-string expression that gives a boolean, or a YAML boolean. */
  condition(node: TreeNode, path: string, what: string, names: Names): Expr | null {
    if (node.kind === "scalar" && typeof node.value === "boolean") {
      return { lang: "cel", source: String(node.value), span: this.span(node), reads: [] };
    }
    const found = this.whole(node, path, what, names);
    if (found === null) return null;
    const { kind } = found.shape;
    if (kind !== "any" && kind !== "boolean") {
      this.#kindProblem(found.expr.span, path, `${what} must be true or false, and this gives ${KINDS[kind]}.`);
    }
    return found.expr;
  }

  /** A literal duration in ms, or a whole-string expression. */
  durationOrExpr(node: TreeNode, path: string, what: string, names: Names, min: number): number | Expr | null {
    if (node.kind === "scalar" && typeof node.value === "string" && node.value.includes("{{")) {
      return this.whole(node, path, what, names)?.expr ?? null;
    }
    return this.duration(node, path, what, { min });
  }

  #scalar(node: ScalarNode, path: string, names: Names): Found {
    const text = node.value;
    if (typeof text !== "string" || !text.includes("{{")) {
      return { value: { lit: text }, shape: LITERAL_SHAPES[text === null ? "null" : typeof text] ?? ANY };
    }
    const { parts, problems } = splitTemplate(text);
    this.#problems(problems, node, 0, path, names);
    const [only] = parts;
    if (parts.length === 1 && only !== undefined && typeof only !== "string") {
      const found = this.#expression(only.source, node, only.start, path, names);
      return found === null
        ? { value: { lit: null }, shape: ANY }
        : { value: { expr: found.expr }, shape: found.shape };
    }
    let sensitive = false;
    const out: (string | Expr)[] = [];
    for (const part of parts) {
      if (typeof part === "string") {
        out.push(part);
        continue;
      }
      const found = this.#expression(part.source, node, part.start, path, names);
      if (found === null) continue;
      const { kind } = found.shape;
      if (kind === "object" || kind === "list" || kind === "null") {
        const message = `In the middle of a text stands a text, and this gives ${KINDS[kind]}.`;
        this.#kindProblem(found.expr.span, path, message, "Say how: json(v), or join for a list of texts.");
      }
      sensitive ||= holdsSensitive(found.shape);
      out.push(found.expr);
    }
    return { value: { text: out }, shape: sensitive ? ({ ...TEXT, sensitive: true } as Shape) : TEXT };
  }

  #expression(
    source: string,
    node: ScalarNode,
    start: number,
    path: string,
    names: Names,
  ): { expr: Expr; shape: Shape } | null {
    const compiled = compile(source);
    if (!compiled.ok) {
      this.#problems(compiled.problems, node, start, path, names);
      return null;
    }
    const { expr } = compiled;
    this.#noteReads(expr, node, start, path);
    let shape: Shape = ANY;
    if (this.diagnostics.length < ENOUGH) {
      const checked = expr.check(names);
      this.#problems(checked.problems, node, start, path, names);
      shape = checked.shape;
    }
    const span = this.source.span(...this.#offsets(node, start, start + source.length));
    return { expr: { lang: "cel", source, span, reads: [...expr.reads] }, shape };
  }

  #noteReads(expr: Compiled, node: ScalarNode, start: number, path: string): void {
    const reads = this.#reads[this.#reads.length - 1];
    for (const name of expr.reads) reads?.add(name);
    for (const [root, ...rest] of expr.paths) {
      if (root !== "settings") continue;
      if (rest.length > 0) {
        this.settings.add(rest.join("."));
        continue;
      }
      const message = "A setting is read by its name, so that the plan can list it.";
      const [from, to] = this.#offsets(node, start, start + expr.source.length);
      this.report(
        "workfile.bad_value",
        { start: from, end: to },
        path,
        message,
        "Write settings.channel, for example.",
      );
    }
  }

  /** Problems of an expression or template, moved to where they stand in the file. */
  #problems(problems: readonly ExprProblem[], node: ScalarNode, shift: number, path: string, names: Names): void {
    for (const problem of problems) {
      const [start, end] = this.#offsets(node, problem.start + shift, problem.end + shift);
      const said = this.#explain(problem, node, shift, names);
      this.report(problem.code, { start, end }, path, said.message, said.help, problem.severity);
    }
  }

  /** Knows more than the expression does: which steps come later, and what `with` of an agent is not. */
  #explain(problem: ExprProblem, node: ScalarNode, shift: number, names: Names): { message: string; help: string } {
    const own = { message: problem.message, help: sentence(problem.help) };
    if (typeof node.value !== "string") return own;
    const word = node.value.slice(problem.start + shift, problem.end + shift);
    if (problem.code === "expression.syntax" && RESERVED.has(word) && names.has(word)) {
      return {
        message: `"${word}" is a word of the expression language, so no expression can read a step of this name.`,
        help: `Call the step "${word}_".`,
      };
    }
    if (problem.code !== "expression.unknown_name" || names.has(word)) return own;
    const projected = this.projected.get(word);
    if (projected !== undefined) {
      const message = `"${word}" is no name here: what stands in \`with\` is for the agent, not for the goal.`;
      return { message, help: projected === "" ? own.help : `Write {{ ${projected} }}.` };
    }
    const why = names.whyNot(word);
    if (why === "later") {
      return {
        message: `The step "${word}" comes later: it has no value yet.`,
        help: "Move it in front of this place.",
      };
    }
    if (why === "itself") {
      return {
        message: `The step "${word}" has no value while it runs.`,
        help: "Read what the steps before have given.",
      };
    }
    if (why === "handler") {
      return {
        message: `The step "${word}" has no value in its own handlers.`,
        help: "Read `error`, or what the steps before have given.",
      };
    }
    const holder = this.inner.get(word);
    if (holder !== undefined) {
      return {
        message: `"${word}" is bound inside of "${holder}" and cannot be read outside.`,
        help: `Read the value of "${holder}".`,
      };
    }
    return own;
  }

  #kindProblem(span: Span, path: string, message: string, help = ""): void {
    this.reportSpan("expression.failed", span, path, upper(message), help);
  }

  reportSpan(code: Code, span: Span, path: string, message: string, help = "", severity: Severity = "error"): void {
    this.diagnostics.push({ code, severity, file: this.source.file, ...span, path, message, help });
  }

  /** Offsets of a stretch of a scalar's text; the start of the scalar where they cannot be told. */
  #offsets(node: ScalarNode, start: number, end: number): [number, number] {
    const from = node.offsetOf(start);
    const last = end > start ? node.offsetOf(end - 1) : from;
    if (from === null || last === null) return [node.start, node.start + 1];
    return [from, end > start ? last + 1 : from];
  }
}

const KINDS: { readonly [kind: string]: string } = {
  object: "a map",
  list: "a list",
  null: "null",
  string: "a text",
  number: "a number",
  boolean: "true or false",
};

const LITERAL_SHAPES: { readonly [type: string]: Shape } = {
  null: { kind: "null" },
  boolean: { kind: "boolean" },
  number: { kind: "number" },
  string: TEXT,
};

function isLit(value: Value): value is { lit: Json } {
  return "lit" in value;
}

function upper(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Hints of expressions are phrases: as help of a diagnostic they are a sentence. */
function sentence(phrase: string): string {
  if (phrase === "") return "";
  const text = upper(phrase);
  return /[.?!]$/.test(text) ? text : `${text}.`;
}
