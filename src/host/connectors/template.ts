import { isObject, type Json } from "../../base/json.ts";
import { type Compiled, compile, type Env } from "../../expression/cel.ts";
import { splitTemplate } from "../../expression/template.ts";
import { insertText } from "../../expression/text.ts";

/** JSON with `{{ expr }}` in its texts, read once. */
export type Template = { render(names: { readonly [name: string]: Json }): Rendered };
export type Rendered = { ok: true; value: Json } | { ok: false; message: string };

type Node =
  | { lit: Json }
  | { whole: Compiled }
  | { text: (string | Compiled)[] }
  | { list: Node[] }
  | { map: [string, Node][] };

const ONLY_LINE_BREAKS = /^[\r\n]*$/;

/** Compiles the templates in a value, or says what is wrong with the first broken one. */
export function compileTemplate(value: Json): { ok: true; template: Template } | { ok: false; message: string } {
  try {
    const node = read(value);
    return { ok: true, template: { render: (names) => renderWith(node, names) } };
  } catch (error) {
    if (error instanceof TemplateError) return { ok: false, message: error.message };
    throw error;
  }
}

class TemplateError extends Error {}

function read(value: Json): Node {
  if (typeof value === "string") return readText(value);
  if (Array.isArray(value)) return { list: value.map(read) };
  if (isObject(value)) return { map: Object.keys(value).map((key) => [key, read(value[key] as Json)]) };
  return { lit: value };
}

function readText(text: string): Node {
  if (!text.includes("{{")) return { lit: text };
  const { parts, problems } = splitTemplate(text);
  const broken = problems.find((problem) => problem.severity === "error");
  if (broken) throw new TemplateError(broken.message);
  const made = parts.map((part) => (typeof part === "string" ? part : compiled(part.source)));
  const expressions = made.filter((part) => typeof part !== "string");
  const [only] = expressions;
  const texts = made.filter((part) => typeof part === "string");
  if (expressions.length === 1 && only && texts.every((part) => ONLY_LINE_BREAKS.test(part))) return { whole: only };
  if (expressions.length === 0) return { lit: texts.join("") };
  return { text: made };
}

function compiled(source: string): Compiled {
  const result = compile(source);
  if (result.ok) return result.expr;
  throw new TemplateError(result.problems[0]?.message ?? "an expression that cannot be read");
}

function renderWith(node: Node, names: { readonly [name: string]: Json }): Rendered {
  const env: Env = { read: (name) => (Object.hasOwn(names, name) ? names[name] : undefined) };
  try {
    return { ok: true, value: render(node, env) };
  } catch (error) {
    if (error instanceof TemplateError) return { ok: false, message: error.message };
    throw error;
  }
}

function render(node: Node, env: Env): Json {
  if ("lit" in node) return node.lit;
  if ("whole" in node) return evaluate(node.whole, env);
  if ("list" in node) return node.list.map((item) => render(item, env));
  if ("text" in node) return node.text.map((part) => (typeof part === "string" ? part : inserted(part, env))).join("");
  const out: { [key: string]: Json } = {};
  for (const [key, item] of node.map) {
    const value = render(item, env);
    Object.defineProperty(out, key, { value, enumerable: true, writable: true, configurable: true });
  }
  return out;
}

function evaluate(expr: Compiled, env: Env): Json {
  const result = expr.evaluate(env);
  if (!result.ok) throw new TemplateError(result.problem.message);
  // What goes in is plain JSON, so nothing that comes out carries a mark.
  return result.value as Json;
}

function inserted(expr: Compiled, env: Env): string {
  const result = insertText(evaluate(expr, env));
  if (!result.ok) throw new TemplateError(result.message);
  return result.text as string;
}
