import { isObject } from "../base/json.ts";
import { peel, type Val } from "../plan/marked.ts";

/** Tokens of one turn as a provider counts them. */
export type Usage = { input: number; output: number };

/** What a turn reported; null if it was nothing, or nothing that is a count: then it is not known what it has cost. */
export function reportedUsage(usage: Val): Usage | null {
  const { value } = peel(usage);
  if (!isObject(value)) return null;
  const { input, output } = value;
  return isCount(input) && isCount(output) && isCount(input + output) ? { input, output } : null;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
