import { readJson, writeJson } from "../json-text.ts";
import { number } from "../operators.ts";
import { epochSeconds, lapseText, timestampText } from "../times.ts";
import { Lapse, numberText, type Plain, Timestamp } from "../values.ts";
import type { Work } from "../work.ts";
import type { Implementations } from "./call.ts";

type AnyName = "json" | "parse_json" | "string" | "int" | "double";

const MAX_NUMBER_TEXT = 400;
const WHOLE = /^[+-]?[0-9]+$/;
const DECIMAL = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;

/** The text of a scalar or a time; null for what has none. */
export function scalarText(value: Plain): string | null {
  if (typeof value === "string") return value;
  if (typeof value === "number") return numberText(value);
  if (typeof value === "boolean") return String(value);
  if (value instanceof Timestamp) return timestampText(value);
  if (value instanceof Lapse) return lapseText(value);
  return null;
}

function read(text: string, form: RegExp, wanted: string, work: Work): number {
  if (text.length > MAX_NUMBER_TEXT || !form.test(text))
    return work.fail(`The text is no ${wanted}.`, "take blanks away with `trim`");
  return number(Number(text), work);
}

export const anyCalls: Implementations<AnyName> = {
  json: ([value], work) => writeJson(value ?? null, work),
  parse_json: ([text], work) => readJson(text as string, work),
  string: ([value], work) =>
    scalarText(value ?? null) ?? work.fail("`string` takes a number, boolean, timestamp or duration."),
  int: ([value], work) => {
    if (value instanceof Timestamp) return epochSeconds(value);
    if (typeof value === "string") return read(value, WHOLE, "whole number", work);
    return number(Math.trunc(value as number), work);
  },
  double: ([value], work) => (typeof value === "string" ? read(value, DECIMAL, "number", work) : (value as number)),
};
