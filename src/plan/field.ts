import type { Json } from "../base/json.ts";
import type { Value } from "./expression.ts";

export const FIELD_TYPES = ["string", "integer", "number", "boolean", "object", "array", "any"] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

/**
 * A field declaration (`inputs`, `returns`, `body`). `min` and `max` bound a number, the characters of a
 * string, the elements of an array. Objects with `fields` are closed at every depth; `object` without them
 * is open. `defaultValue` stands in `ask` only, where a default may hold expressions.
 */
export interface Field extends FieldShape {
  name: string;
}

export interface FieldShape {
  type: FieldType;
  required: boolean;
  default?: Json;
  defaultValue?: Value;
  description?: string;
  enum?: Json[];
  pattern?: string;
  min?: number;
  max?: number;
  items?: FieldShape;
  fields?: Field[];
  sensitive?: true;
}
