import { type Json, jsonEqual } from "../../base/json.ts";
import { compilePattern } from "../../expression/regex.ts";
import { FIELD_TYPES, type Field, type FieldShape, type FieldType } from "../../plan/field.ts";
import { itemPath, keyPath } from "../../text/path.ts";
import { clip } from "../../text/reader.ts";
import { type MapEntry, type TreeNode, toJson } from "../../text/tree.ts";
import type { Names } from "./names.ts";
import { FIELD_KEYS, MAX_ID, NAME } from "./tables.ts";
import type { WorkfileReader } from "./workfile-reader.ts";

const LONGEST_NAME = 128;

export interface FieldOptions {
  /** Names must be ids: they stand on command lines and in `inputs.x`. */
  ids?: boolean;
  /** Where a default may hold expressions, the names that they read (`wf.ask` only). */
  defaults?: Names;
}

/** A map of field declarations (`inputs`, `returns`, `body`, `fields`); null if it is none. */
export function readFields(
  r: WorkfileReader,
  node: TreeNode,
  path: string,
  what: string,
  options: FieldOptions = {},
): Field[] | null {
  const entries = r.open(node, path, what);
  if (entries === null) return null;
  const fields: Field[] = [];
  for (const entry of entries) {
    checkName(r, entry, path, options.ids === true);
    const shape = readShape(r, entry.value, keyPath(path, entry.key), `the field "${clip(entry.key)}"`, options);
    // One that cannot be used is declared all the same: who reads it has made no mistake.
    fields.push({ name: entry.key, ...(shape ?? { type: "any", required: true }) });
  }
  return fields;
}

function checkName(r: WorkfileReader, entry: MapEntry, path: string, ids: boolean): void {
  const { key } = entry;
  if (ids ? NAME.test(key) && key.length <= MAX_ID : key !== "" && key.length <= LONGEST_NAME) return;
  const rule = ids
    ? `letters, digits, "_" and "-", at most ${MAX_ID}, and begins with a letter or "_"`
    : `1 to ${LONGEST_NAME} characters`;
  const at = { start: entry.keyStart, end: entry.keyEnd };
  r.report(
    "workfile.bad_value",
    at,
    keyPath(path, key),
    `"${clip(key)}" is no name for a field.`,
    `A name has ${rule}.`,
  );
}

/** One declaration: `{ type, ... }`, or the shorthand `string`, which is required. */
function readShape(
  r: WorkfileReader,
  node: TreeNode,
  path: string,
  what: string,
  options: FieldOptions,
): FieldShape | null {
  if (node.kind === "scalar" && typeof node.value === "string") {
    const type = r.oneOf(node, path, `the type of ${what}`, FIELD_TYPES);
    return type === null ? null : { type, required: true };
  }
  if (node.kind !== "map") {
    return r.wrong(node, path, what, "a declaration like { type: string, required: true } or a type like string");
  }
  const keys = r.closed(node, path, what, FIELD_KEYS, ["type"]);
  const typeNode = keys?.get("type")?.value;
  if (keys === null || typeNode === undefined) return null;
  const type = r.oneOf(typeNode, keyPath(path, "type"), `the type of ${what}`, FIELD_TYPES);
  if (type === null) return null;
  const shape: FieldShape = { type, required: false };
  for (const [key, { value, keyStart, keyEnd }] of keys) {
    const at = keyPath(path, key);
    const only = ONLY_FOR[key];
    if (only !== undefined && !only.includes(type)) {
      const message = `"${key}" has no meaning for the type ${type}.`;
      r.report(
        "workfile.bad_value",
        { start: keyStart, end: keyEnd },
        at,
        message,
        `It goes with: ${only.join(", ")}.`,
      );
      continue;
    }
    readKey(r, shape, key, value, at, options);
  }
  checkBounds(r, shape, keys, path);
  checkLiterals(r, shape, keys, path);
  return shape;
}

const ONLY_FOR: { readonly [key: string]: readonly FieldType[] } = {
  pattern: ["string"],
  min: ["string", "integer", "number", "array"],
  max: ["string", "integer", "number", "array"],
  items: ["array"],
  fields: ["object"],
};

function readKey(
  r: WorkfileReader,
  shape: FieldShape,
  key: string,
  node: TreeNode,
  path: string,
  options: FieldOptions,
): void {
  switch (key) {
    case "required":
      shape.required = r.boolean(node, path, '"required"') ?? false;
      break;
    case "sensitive":
      if (r.boolean(node, path, '"sensitive"')) shape.sensitive = true;
      break;
    case "description": {
      const text = r.text(node, path, "the description");
      if (text !== null) shape.description = text;
      break;
    }
    case "pattern": {
      const pattern = r.text(node, path, "the pattern");
      if (pattern === null) break;
      const compiled = compilePattern(pattern);
      if ("error" in compiled) {
        r.report(
          "workfile.bad_value",
          node,
          path,
          `The pattern cannot be used: ${compiled.error}.`,
          "Patterns have the syntax of RE2.",
        );
      } else shape.pattern = pattern;
      break;
    }
    case "min":
    case "max": {
      const counts = shape.type === "string" || shape.type === "array";
      const bound = counts ? r.integer(node, path, `"${key}"`, { min: 0 }) : r.number(node, path, `"${key}"`);
      if (bound !== null) shape[key] = bound;
      break;
    }
    case "enum": {
      const items = r.list(node, path, '"enum"');
      if (items === null) break;
      if (items.length === 0) r.report("workfile.bad_value", node, path, "An enum needs at least one value.");
      else shape.enum = items.map(toJson);
      break;
    }
    case "items": {
      const items = readShape(r, node, path, "an element", options);
      if (items !== null) shape.items = items;
      break;
    }
    case "fields": {
      const fields = readFields(r, node, path, '"fields"', options.defaults ? { defaults: options.defaults } : {});
      if (fields !== null) shape.fields = fields;
      break;
    }
    case "default":
      readDefault(r, shape, node, path, options);
      break;
    default:
      break;
  }
}

function readDefault(r: WorkfileReader, shape: FieldShape, node: TreeNode, path: string, options: FieldOptions): void {
  if (options.defaults !== undefined) {
    const { value } = r.value(node, path, options.defaults);
    if ("lit" in value) shape.default = value.lit;
    else shape.defaultValue = value;
    return;
  }
  if (literalThroughout(r, node, path, "a default")) shape.default = toJson(node);
}

/** Whether no text in a tree holds an expression; the first that does is reported. */
export function literalThroughout(r: WorkfileReader, node: TreeNode, path: string, what: string): boolean {
  if (node.kind === "scalar") return r.refuseExpression(node, path, what);
  if (node.kind === "list") {
    return node.items.map((item, i) => literalThroughout(r, item, itemPath(path, i), what)).every(Boolean);
  }
  return node.entries.map((entry) => literalThroughout(r, entry.value, keyPath(path, entry.key), what)).every(Boolean);
}

function checkBounds(r: WorkfileReader, shape: FieldShape, keys: Map<string, MapEntry>, path: string): void {
  const max = keys.get("max");
  if (shape.min === undefined || shape.max === undefined || max === undefined || shape.min <= shape.max) return;
  r.report("workfile.bad_value", max.value, keyPath(path, "max"), `"max" is below "min".`);
}

/** Defaults and enums must themselves be what the field may be. */
function checkLiterals(r: WorkfileReader, shape: FieldShape, keys: Map<string, MapEntry>, path: string): void {
  const listed = keys.get("enum")?.value;
  if (shape.enum !== undefined && listed?.kind === "list") {
    listed.items.forEach((item, i) => {
      const { enum: _, ...bare } = shape;
      const misfit = item.kind === "scalar" && item.value === null ? null : findMisfit(toJson(item), bare);
      if (misfit !== null) {
        r.report(
          "workfile.bad_value",
          item,
          itemPath(keyPath(path, "enum"), i),
          `This value of the enum does not fit: ${misfit}.`,
        );
      }
    });
  }
  const given = keys.get("default")?.value;
  if (given === undefined || shape.default === undefined || shape.default === null) return;
  const misfit = findMisfit(shape.default, shape);
  if (misfit !== null) {
    r.report("workfile.bad_value", given, keyPath(path, "default"), `The default does not fit its field: ${misfit}.`);
  }
}

/** Why a literal does not fit a declaration (a phrase), or null if it does. Patterns are looked at where values are checked. */
export function findMisfit(value: Json, shape: FieldShape): string | null {
  if (value === null) return shape.type === "any" ? null : "it is null";
  if (!hasType(value, shape.type)) return `it is no ${shape.type}`;
  if (shape.enum !== undefined && !shape.enum.some((item) => jsonEqual(item, value))) {
    return `it is none of ${shape.enum
      .map((item) => JSON.stringify(item))
      .join(", ")
      .slice(0, 200)}`;
  }
  const size =
    typeof value === "number"
      ? value
      : typeof value === "string"
        ? [...value].length
        : Array.isArray(value)
          ? value.length
          : null;
  if (size !== null && shape.min !== undefined && size < shape.min) return `it is below ${shape.min}`;
  if (size !== null && shape.max !== undefined && size > shape.max) return `it is above ${shape.max}`;
  if (typeof value === "string" && shape.pattern !== undefined) {
    const pattern = compilePattern(shape.pattern);
    if (!("error" in pattern) && !pattern.test(value)) return "it does not match the pattern";
  }
  if (Array.isArray(value)) {
    const { items } = shape;
    if (items === undefined) return null;
    for (const [i, item] of value.entries()) {
      const misfit = item === null ? null : findMisfit(item, items);
      if (misfit !== null) return `element ${i}: ${misfit}`;
    }
    return null;
  }
  if (typeof value === "object" && shape.fields !== undefined) return findFieldMisfit(value, shape.fields);
  return null;
}

function findFieldMisfit(value: { [key: string]: Json }, fields: readonly Field[]): string | null {
  for (const key of Object.keys(value)) {
    if (!fields.some((field) => field.name === key)) return `it has no field "${clip(key)}"`;
  }
  for (const field of fields) {
    if (!Object.hasOwn(value, field.name)) {
      if (field.required && field.default === undefined) return `the field "${clip(field.name)}" is missing`;
      continue;
    }
    const part = value[field.name] ?? null;
    const misfit = part === null && !field.required ? null : findMisfit(part, field);
    if (misfit !== null) return `${clip(field.name)}: ${misfit}`;
  }
  return null;
}

function hasType(value: Json, type: FieldType): boolean {
  switch (type) {
    case "any":
      return true;
    case "string":
    case "boolean":
    case "number":
      return typeof value === type;
    case "integer":
      return Number.isSafeInteger(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
  }
}
