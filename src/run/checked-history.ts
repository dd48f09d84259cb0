import { Refusal } from "../errors/fault.ts";
import { bodyProblem, sayShape } from "../journal/body-shape.ts";
import type { RunRecord } from "../journal/event.ts";
import { HashCheck } from "../journal/hashes.ts";
import { positionName } from "../plan/position.ts";
import type { History } from "./history.ts";

/**
 * The records of a run for whoever follows them, a resume or a replay: one whose body is none of its kind, or does
 * not hash to its `in` and `out`, is `journal.corrupt` and goes no further.
 */
export function checkedHistory(records: History): History {
  const checks = new HashCheck();
  let isOver = false;
  return {
    next: async () => {
      const record = await records.next();
      if (record === null) return null;
      checkRecord(record, checks);
      // Behind the end stands only what settles an effect that it left unknown.
      if (isOver && record.kind !== "call.settled") throw corrupt(record, "stands behind the run's end", {});
      isOver ||= record.kind === "run.ended";
      return record;
    },
  };
}

function checkRecord(record: RunRecord, checks: HashCheck): void {
  const { kind, position } = record;
  const problem = bodyProblem(kind, record.body);
  if (problem !== null) throw corrupt(record, `does not fit its kind: ${sayShape(problem)}`, {});
  if (kind.startsWith("run.") && position !== "") throw corrupt(record, "does not stand at the run", {});
  if (kind === "run.accepted" || kind === "run.started") throw corrupt(record, "stands where a run has begun", {});
  if (kind === "run.ended" && record.attempt !== 1) throw corrupt(record, "is no first end", {});
  const fault = checks.check(record);
  if (fault !== null) throw corrupt(record, `does not hash to its ${fault.which}`, { which: fault.which });
}

function corrupt(
  { run, seq, kind, position }: RunRecord,
  why: string,
  details: { [key: string]: string | number },
): Refusal {
  return new Refusal("journal.corrupt", `Record ${seq} (${kind} at ${positionName(position)}) ${why}.`, {
    run,
    seq,
    position,
    ...details,
  });
}
