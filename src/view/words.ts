import { formatDuration } from "../base/duration.ts";
import type { FaultJson } from "../errors/fault.ts";
import type { StepRow } from "../journal/steps.ts";

/** "1 step", "2 steps": the plural is the noun with an s, or the word given. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** "anthropic claude-sonnet-4-6"; a script has no model beside its provider. */
export function modelName(provider: string, model: string): string {
  return provider === model ? provider : `${provider} ${model}`;
}

/** How long something took, for people: `80ms`, `3.9s`, `2m5s`. */
export function lasted(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  const tenths = Math.round(ms / 100) / 10;
  return tenths < 60 ? `${tenths}s` : formatDuration(Math.round(ms / 1_000) * 1_000);
}

/**
 * How a step stands, for people. What nobody knows is not called failed or cancelled, and what
 * has no process any more is not called running.
 */
export function stepWord(row: StepRow, isUnknown: boolean, isInterrupted: boolean): string {
  if (isUnknown) return "unknown";
  switch (row.status) {
    case "running":
      return isInterrupted ? "interrupted" : "running";
    case "suspended":
      return "waiting";
    case "timed_out":
      return "timed out";
    case "not_started":
      return "not started";
    default:
      return row.status;
  }
}

/**
 * The message of a fault for people. Records say bounds in milliseconds, and go on saying so, since a replay compares
 * them word by word: `within 3000 ms` is shown as `within 3s`, where the number is one of the fault's details.
 */
export function faultText({ message, details }: Pick<FaultJson, "message" | "details">): string {
  let text = message;
  for (const value of Object.values(details)) {
    if (typeof value === "number" && value >= 0) text = text.replaceAll(` ${value} ms`, ` ${formatDuration(value)}`);
  }
  return text;
}
