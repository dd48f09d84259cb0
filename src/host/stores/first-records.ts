import { canonical, type Json } from "../../base/json.ts";
import type { RunRecord } from "../../journal/event.ts";
import { conflict, corrupt } from "./refusals.ts";

/** What a store keeps of a run beside its records, as told by them. */
export interface Told {
  name: string;
  def: string;
  status: string;
  createdAt: string;
}

/** Reads the head of a new run off its first records, which begin with `run.accepted` as number 1. */
export function toldByFirst(records: readonly RunRecord[], refuse: "conflict" | "corrupt"): Told {
  const bad = refuse === "conflict" ? conflict : corrupt;
  const first = records[0];
  if (first === undefined) throw bad("?", 1, "a run begins with a record");
  if (first.kind !== "run.accepted" || first.position !== "") {
    throw bad(first.run, first.seq, `a run begins with run.accepted, not with ${first.kind}`);
  }
  records.forEach((record, index) => {
    if (record.seq !== index + 1) throw bad(first.run, record.seq, `number ${index + 1} was due`);
    checkOf(record, first.run, first.def, bad);
  });
  const name = first.body["name"];
  return {
    name: typeof name === "string" ? name : "",
    def: first.def,
    status: records.reduce(statusAfter, "running"),
    createdAt: first.at,
  };
}

/** Every record of a run bears its id and its definition. */
export function checkOf(record: RunRecord, run: string, def: string, bad: typeof conflict): void {
  if (record.run !== run) throw bad(run, record.seq, `it belongs to run ${record.run}`);
  if (record.def !== def) throw bad(run, record.seq, "it names another definition");
}

/** The status of a head after one more record. */
export function statusAfter(status: string, record: RunRecord): string {
  switch (record.kind) {
    case "run.started":
    case "run.resumed":
      return "running";
    case "run.suspended":
      return "suspended";
    case "run.ended": {
      const ended = record.body["status"];
      return typeof ended === "string" ? ended : status;
    }
    default:
      return status;
  }
}

/** The states of a run that is not over: it may be taken and gone on with. */
export const OPEN_STATES = ["running", "suspended"] as const;

/** The end states that `@failed` looks for. */
export const FAILED_STATES = ["failed", "timed_out"] as const;

/** Position, kind and attempt: what a record is, whenever it came. */
export function identityOf(record: Pick<RunRecord, "position" | "kind" | "attempt">): string {
  return `${record.position} ${record.kind} ${record.attempt}`;
}

/** Whether a second write of an identity says what the first said; its time and number may differ. */
export function sameContent(a: RunRecord, b: RunRecord): boolean {
  const content = (record: RunRecord): string =>
    canonical([record.in, record.out, record.trail as unknown as Json, record.body]);
  return content(a) === content(b);
}
