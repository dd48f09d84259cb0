/** What a check knows of values inside an expression: shapes, and the two kinds that live only there. */
import type { Gives } from "./functions.ts";
import { ANY, type Shape } from "./shape.ts";
import type { Kind } from "./values.ts";

export type Known = Shape | { kind: "timestamp" | "duration"; nullable?: true; sensitive?: true };

/** The one kind a value certainly has (null aside, if it is nullable); null where it may be any. */
export function certainKind(known: Known): Kind | null {
  switch (known.kind) {
    case "any":
      return null;
    case "string":
      return "text";
    case "object":
      return "map";
    default:
      return known.kind;
  }
}

export function isSensitive(known: Known): boolean {
  return known.kind !== "null" && known.sensitive === true;
}

/** Whether any part of it is. */
export function holdsSensitive(known: Known, left = 64): boolean {
  if (isSensitive(known)) return true;
  if (left === 0) return false;
  if (known.kind === "list") return holdsSensitive(known.of, left - 1);
  if (known.kind === "object") return Object.values(known.fields).some((field) => holdsSensitive(field, left - 1));
  return false;
}

export function sensitiveIf<K extends Known>(known: K, sensitive: boolean): K {
  if (!sensitive || known.kind === "null" || isSensitive(known)) return known;
  return { ...known, sensitive: true };
}

function isTime(known: Known): known is Exclude<Known, Shape> {
  return known.kind === "timestamp" || known.kind === "duration";
}

/** As a part of a value or as a result: times are text there. */
export function asShape(known: Known): Shape {
  if (!isTime(known)) return known;
  return {
    kind: "string",
    ...(known.nullable ? { nullable: true as const } : {}),
    ...(known.sensitive ? { sensitive: true as const } : {}),
  };
}

/** Either of two, e.g. of the branches of a condition. */
export function either(a: Known, b: Known, left = 32): Known {
  const sensitive = isSensitive(a) || isSensitive(b);
  if (a.kind === "null" && b.kind === "null") return a;
  if (a.kind === "null") return b.kind === "any" ? b : ({ ...b, nullable: true } as Known);
  if (b.kind === "null") return either(b, a);
  if (a.kind !== b.kind || a.kind === "any" || left === 0)
    return sensitiveIf(ANY, sensitive || holdsSensitive(a) || holdsSensitive(b));
  const nullable =
    ("nullable" in a && a.nullable) || ("nullable" in b && b.nullable) ? { nullable: true as const } : {};
  const marks = { ...nullable, ...(sensitive ? { sensitive: true as const } : {}) };
  if (a.kind === "list" && b.kind === "list")
    return { kind: "list", of: asShape(either(a.of, b.of, left - 1)), ...marks };
  if (a.kind === "object" && b.kind === "object") return objects(a, b, marks, left);
  if ((a.kind === "string" || a.kind === "number") && a.kind === b.kind && a.enum && b.enum) {
    return { kind: a.kind, enum: [...new Set([...a.enum, ...b.enum])], ...marks };
  }
  return { kind: a.kind, ...marks } as Known;
}

type ObjectShape = Extract<Shape, { kind: "object" }>;

/** A field that only one of two closed objects has may be read, so the union is open unless they agree. */
function objects(a: ObjectShape, b: ObjectShape, marks: object, left: number): Known {
  const fields: { [name: string]: Shape } = Object.create(null) as { [name: string]: Shape };
  const names = new Set([...Object.keys(a.fields), ...Object.keys(b.fields)]);
  let open = a.open || b.open;
  for (const name of names) {
    const one = Object.hasOwn(a.fields, name) ? a.fields[name] : undefined;
    const two = Object.hasOwn(b.fields, name) ? b.fields[name] : undefined;
    if (one && two) fields[name] = asShape(either(one, two, left - 1));
    else {
      open = true;
      fields[name] = sensitiveIf(ANY, holdsSensitive(one ?? two ?? ANY));
    }
  }
  return { kind: "object", fields, open, ...marks };
}

/** What a call of the table gives. */
export function given(gives: Gives, first: Known | undefined): Known {
  switch (gives) {
    case "text":
      return { kind: "string" };
    case "map":
      return { kind: "object", fields: {}, open: true };
    case "list":
      return { kind: "list", of: ANY };
    case "texts":
      return { kind: "list", of: { kind: "string" } };
    case "numbers":
      return { kind: "list", of: { kind: "number" } };
    case "null":
    case "any":
      return ANY;
    case "same":
      if (first?.kind === "list") return { kind: "list", of: first.of };
      return first?.kind === "string" ? { kind: "string" } : ANY;
    default:
      return { kind: gives };
  }
}
