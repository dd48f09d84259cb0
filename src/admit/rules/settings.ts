import { isObject, type Json } from "../../base/json.ts";
import { type Span, START_OF_TEXT } from "../../base/span.ts";
import { compile } from "../../expression/cel.ts";
import type { Expr } from "../../plan/expression.ts";
import type { Plan } from "../../plan/plan.ts";
import { type Admission, find } from "../admission.ts";

/** The settings that a file reads must be there (workfile.md 6): each is missed where it is read first. */
export function checkSettings(admission: Admission): void {
  const { plan, settings } = admission.input;
  for (const path of plan.settings) {
    if (settingAt(settings, path) !== undefined) continue;
    find(admission, {
      code: "deployment.missing_setting",
      message: `The file reads settings.${path}, which the deployment does not have.`,
      at: readerOf(plan, path) ?? plan.steps[0]?.span ?? START_OF_TEXT,
      help: "Add it under settings in ambit.yaml.",
    });
  }
}

/** The place of the first expression that reads a setting; null where none of the plan's own does. */
function readerOf(plan: Plan, path: string): Span | null {
  const spans = expressionsOf(plan)
    .filter((expr) => expr.reads.includes("settings") && pathsOf(expr).includes(path))
    .map((expr) => expr.span);
  return spans.sort((a, b) => a.line - b.line || a.column - b.column)[0] ?? null;
}

function pathsOf(expr: Expr): string[] {
  const compiled = compile(expr.source);
  if (!compiled.ok) return [];
  return compiled.expr.paths.filter(([root]) => root === "settings").map(([, ...rest]) => rest.join("."));
}

/** Every expression anywhere in a plan, for which the nodes of values tell: data below `lit` is not looked into. */
function expressionsOf(node: unknown): Expr[] {
  if (Array.isArray(node)) return node.flatMap(expressionsOf);
  if (!isObject(node) || (Object.hasOwn(node, "lit") && Object.keys(node).length === 1)) return [];
  if (typeof node["source"] === "string" && node["lang"] === "cel" && Array.isArray(node["reads"])) {
    return [node as unknown as Expr];
  }
  return Object.values(node).flatMap(expressionsOf);
}

export function settingAt(settings: Json, path: string): Json | undefined {
  let at: Json | undefined = settings;
  for (const key of path === "" ? [] : path.split(".")) {
    if (!isObject(at) || !Object.hasOwn(at, key)) return undefined;
    at = at[key] as Json;
  }
  return at;
}
