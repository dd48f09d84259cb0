import type { Json } from "../base/json.ts";

/**
 * What `check` knows of a value before anything runs. `any` is an honest "not known": everything is allowed
 * on it. A closed object names all of its fields.
 */
export type Shape =
  | { kind: "any"; sensitive?: true }
  | { kind: "null" }
  | { kind: "boolean"; nullable?: true; sensitive?: true }
  | { kind: "number"; nullable?: true; sensitive?: true; enum?: Json[] }
  | { kind: "string"; nullable?: true; sensitive?: true; enum?: Json[] }
  | { kind: "list"; of: Shape; nullable?: true; sensitive?: true }
  | { kind: "object"; fields: { [name: string]: Shape }; open: boolean; nullable?: true; sensitive?: true };

export const ANY: Shape = Object.freeze({ kind: "any" as const });

/** The root names an expression may read, with what is known of each. */
export type NameScope = ReadonlyMap<string, Shape>;

/** What is known of what an action gives back, by its full name; `any` where nothing is. */
export type ResultShapes = (action: string) => Shape;
