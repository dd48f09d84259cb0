import type { Json } from "../base/json.ts";
import type { Span } from "../base/span.ts";

export type Language = "cel" | "awl" | "path";

/** One expression of a plan. `reads` lists the root names it reads, sorted, each once. */
export interface Expr {
  lang: Language;
  source: string;
  span: Span;
  reads: string[];
}

/**
 * A value with expressions in it. The nodes are tagged, so that data that happens to look like an
 * expression stays data: `lit` holds any JSON and is never looked into.
 */
export type Value =
  | { lit: Json }
  | { expr: Expr }
  | { text: (string | Expr)[] }
  | { list: Value[] }
  | { map: { [key: string]: Value } };

/** Milliseconds, or an expression that gives a duration when the step starts. */
export type Duration = number | Expr;

/** Every expression in a value, in order. */
export function expressionsIn(value: Value): Expr[] {
  if ("expr" in value) return [value.expr];
  if ("text" in value) return value.text.filter((part) => typeof part !== "string");
  if ("list" in value) return value.list.flatMap(expressionsIn);
  if ("map" in value) return Object.values(value.map).flatMap(expressionsIn);
  return [];
}
