import type { Json, JsonObject } from "../../base/json.ts";
import { isObject } from "../../base/json.ts";
import { type Compiled, compile } from "../../expression/cel.ts";
import type { ExprProblem } from "../../expression/problem.ts";
import type { NameScope } from "../../expression/shape.ts";
import { splitTemplate } from "../../expression/template.ts";
import { insertText } from "../../expression/text.ts";
import { type ScalarNode, type TreeNode, toJson } from "../../text/tree.ts";

/** A value of a script with its expressions compiled. `lit` is never looked into. */
export type ValueTemplate =
  | { readonly lit: Json }
  | { readonly expr: Compiled }
  | { readonly text: readonly (string | Compiled)[] }
  | { readonly list: readonly ValueTemplate[] }
  | { readonly map: readonly (readonly [string, ValueTemplate])[] };

/** What the templates of a script may read. */
export interface ScriptScope {
  context: Json;
  goal: string;
  results: Json[];
  turn: number;
}

const SCOPE: NameScope = new Map([
  ["context", { kind: "any" }],
  ["goal", { kind: "string" }],
  ["results", { kind: "list", of: { kind: "any" } }],
  ["turn", { kind: "number" }],
]);

/** A finding in a template: UTF-16 offsets into the file, the end exclusive. */
export type ReportTemplate = (problem: { message: string; help: string; start: number; end: number }) => void;

/** Compiles what stands at a node. Findings go to `report`; what comes back then is not to be used. */
export function compileTemplate(node: TreeNode, report: ReportTemplate): ValueTemplate {
  switch (node.kind) {
    case "scalar":
      return typeof node.value === "string" ? compileText(node, node.value, report) : { lit: node.value };
    case "list":
      return { list: node.items.map((item) => compileTemplate(item, report)) };
    case "map": {
      const only = node.entries.length === 1 ? node.entries[0] : undefined;
      if (only?.key === "$literal") return { lit: toJson(only.value) };
      return { map: node.entries.map((entry) => [entry.key, compileTemplate(entry.value, report)] as const) };
    }
  }
}

function compileText(node: ScalarNode, text: string, report: ReportTemplate): ValueTemplate {
  const say = (problem: ExprProblem, offset: number): void => {
    const start = node.offsetOf(offset + problem.start);
    const end = node.offsetOf(offset + problem.end);
    const at = start === null ? { start: node.start, end: node.end } : { start, end: end ?? start };
    report({ message: problem.message, help: problem.help, ...at });
  };
  const { parts, problems } = splitTemplate(text);
  for (const problem of problems) say(problem, 0);
  const compiled: (string | Compiled)[] = [];
  for (const part of parts) {
    if (typeof part === "string") {
      compiled.push(part);
      continue;
    }
    const result = compile(part.source);
    const found = result.ok ? result.expr.check(SCOPE).problems : result.problems;
    for (const problem of found) if (problem.severity === "error") say(problem, part.start);
    if (result.ok) compiled.push(result.expr);
  }
  const solid = compiled.filter((part) => typeof part !== "string" || !/^[\r\n]*$/.test(part));
  const [first] = solid;
  if (solid.length === 1 && first !== undefined && typeof first !== "string") return { expr: first };
  return compiled.every((part) => typeof part === "string") ? { lit: compiled.join("") } : { text: compiled };
}

export type Rendered<T> = { ok: true; value: T } | { ok: false; message: string };

/** The value of a template. Fails where an expression does; the message names kinds and places, never values. */
export function renderTemplate(template: ValueTemplate, scope: ScriptScope): Rendered<Json> {
  if ("lit" in template) return { ok: true, value: template.lit };
  if ("expr" in template) return evaluate(template.expr, scope);
  if ("text" in template) return renderParts(template.text, scope);
  if ("list" in template) {
    const list: Json[] = [];
    for (const item of template.list) {
      const value = renderTemplate(item, scope);
      if (!value.ok) return value;
      list.push(value.value);
    }
    return { ok: true, value: list };
  }
  const entries: [string, Json][] = [];
  for (const [key, item] of template.map) {
    const value = renderTemplate(item, scope);
    if (!value.ok) return value;
    entries.push([key, value.value]);
  }
  // fromEntries defines own properties, `__proto__` included.
  return { ok: true, value: Object.fromEntries(entries) as JsonObject };
}

/** The value as text: a map or a list is written as JSON. */
export function renderText(template: ValueTemplate, scope: ScriptScope): Rendered<string> {
  const value = renderTemplate(template, scope);
  return value.ok ? { ok: true, value: asText(value.value) } : value;
}

export function asText(value: Json): string {
  return typeof value === "string" ? value : value === null ? "" : JSON.stringify(value);
}

function renderParts(parts: readonly (string | Compiled)[], scope: ScriptScope): Rendered<Json> {
  let text = "";
  for (const part of parts) {
    if (typeof part === "string") {
      text += part;
      continue;
    }
    const value = evaluate(part, scope);
    if (!value.ok) return value;
    const inserted = insertText(value.value);
    if (!inserted.ok) return { ok: false, message: `\`${part.source}\`: ${inserted.message}` };
    text += inserted.text as string;
  }
  return { ok: true, value: text };
}

function evaluate(expr: Compiled, scope: ScriptScope): Rendered<Json> {
  const result = expr.evaluate({
    read: (name) => (Object.hasOwn(scope, name) ? scope[name as keyof ScriptScope] : undefined),
  });
  if (!result.ok) return { ok: false, message: `\`${expr.source}\`: ${result.problem.message}` };
  // The scope holds plain JSON without marks, and marks only come from what is read.
  return { ok: true, value: result.value as Json };
}

export function isJsonObject(value: Json): value is JsonObject {
  return isObject(value);
}
