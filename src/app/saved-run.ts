import { isObject } from "../base/json.ts";
import { Cursor, pagesOfRun } from "../journal/cursor.ts";
import type { RunRecord } from "../journal/event.ts";
import { readExport } from "../journal/export.ts";
import { applyRecord, initialState, type RunState } from "../journal/fold.ts";
import type { Journal } from "../journal/journal.ts";
import { type StepRow, StepsFold } from "../journal/steps.ts";
import type { Plan } from "../plan/plan.ts";
import { refusedBy } from "./refused.ts";

/** A run read from the store, with its folds. */
export interface SavedRun {
  records: RunRecord[];
  state: RunState;
  rows: StepRow[];
}

export async function readSavedRun(journal: Journal, run: string): Promise<SavedRun> {
  const records: RunRecord[] = [];
  let state = initialState();
  const steps = new StepsFold();
  for await (const record of new Cursor(pagesOfRun(journal, run))) {
    records.push(record);
    state = applyRecord(state, record);
    steps.add(record);
  }
  const definition = records[0]?.body["definition"];
  const plan = isObject(definition) ? (definition["plan"] as unknown as Plan) : null;
  return { records, state, rows: plan === null ? [] : steps.rows(plan, state.status) };
}

/** Reads the records of an exported file. */
export function readRunFile(text: string): RunRecord[] {
  try {
    return readExport(text).records;
  } catch (error) {
    throw refusedBy(error);
  }
}
