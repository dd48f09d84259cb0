import type { RunState } from "../journal/fold.ts";
import { toResult } from "../journal/fold.ts";
import type { RunResult } from "../journal/result.ts";
import type { StepRow } from "../journal/steps.ts";
import { type StepNode, stepTree } from "./step-tree.ts";
import { counted, faultText, stepWord } from "./words.ts";

/** What a page or a `runs show` says of one run. */
export interface RunView {
  result: RunResult;
  name: string;
  startedAt: string | null;
  /** One sentence that says how it stands, first of all. */
  verdict: string;
  /** What is not to be overlooked although the run ended well; one sentence each. */
  remarks: string[];
  /** Each with its word (words.ts). */
  tree: StepNode[];
}

/** `isInterrupted`: it is recorded as running, and no living process has it. */
export function runView(state: RunState, rows: readonly StepRow[], isInterrupted: boolean): RunView {
  const result = toResult(state);
  const unknown = new Set(result.unknown.map((effect) => effect.position));
  return {
    result,
    name: state.name,
    startedAt: state.startedAt ?? (state.acceptedAt || null),
    verdict: verdictOf(result, rows, isInterrupted),
    remarks: remarksOf(result),
    tree: stepTree(rows, (row) => stepWord(row, unknown.has(row.position), isInterrupted)),
  };
}

/** For example: "Failed in `resolve` after 6 of 8 steps: billing.lookup timed out". */
export function verdictOf(result: RunResult, rows: readonly StepRow[], isInterrupted = false): string {
  const done = progress(rows);
  switch (result.status) {
    case "completed":
      return `Completed ${counted(rows.filter((row) => row.status !== "not_started").length, "step")}${dry(result)}`;
    case "stopped":
      return `Stopped by the file ${done}${dry(result)}`;
    case "failed":
    case "timed_out": {
      const word = result.status === "failed" ? "Failed" : "Timed out";
      const { error } = result;
      if (error === null) return `${word} ${done}`;
      const place = error.position === "" ? "" : ` in \`${error.position}\``;
      return `${word}${place} ${done}: ${error.message === "" ? error.code : faultText(error)}`;
    }
    case "cancelled":
      return `Cancelled ${done}`;
    case "suspended":
      return `Suspended ${done}: ${waitingText(result)}`;
    case "running":
      if (isInterrupted) return `Interrupted ${done}: its process is gone, and \`ambit resume\` goes on with it`;
      return `Running, ${done}`;
  }
}

function remarksOf(result: RunResult): string[] {
  const remarks: string[] = [];
  const add = (count: number, one: string, many: string): void => {
    if (count > 0) remarks.push(count === 1 ? one : `${count} ${many}`);
  };
  add(result.unknown.length, "The outcome of one effect is unknown", "effects have an unknown outcome");
  add(result.forgiven.length, "One failure was forgiven", "failures were forgiven");
  add(result.skipped.length, "One iteration was skipped", "iterations were skipped");
  add(result.truncated.length, "One loop was cut short", "loops were cut short");
  const failed = result.cleanup.filter((entry) => entry.status !== "completed" && entry.status !== "skipped");
  add(failed.length, "One cleanup did not succeed", "cleanups did not succeed");
  return remarks;
}

function progress(rows: readonly StepRow[]): string {
  const done = rows.filter((row) => row.status === "completed" || row.status === "handled" || row.status === "skipped");
  return `after ${done.length} of ${counted(rows.length, "step")}`;
}

function waitingText(result: RunResult): string {
  const [first, ...more] = result.waiting;
  if (!first) return "it goes on later";
  const place = first.position === "" ? "" : ` at \`${first.position}\``;
  const due = first.due === null ? "" : `, due ${first.due}`;
  const rest = more.length === 0 ? "" : ` and ${more.length} more`;
  return `waits for ${WAITS[first.reason] ?? first.reason}${place}${due}${rest}`;
}

const WAITS: { readonly [reason: string]: string } = {
  ask: "an answer",
  approval: "an approval",
  timer: "its time",
  halt: "an unknown effect to be settled",
  stuck: "somebody to look, since it brought its process down three times",
  queued: "its turn",
};

function dry(result: RunResult): string {
  return result.dry_run ? " (dry run: nothing but what manifests let it execute was dispatched)" : "";
}
