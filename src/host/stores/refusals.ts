import { Refusal } from "../../errors/fault.ts";
import type { Owner } from "../../journal/journal.ts";

/** How many names a refusal lists before it says "and more". */
const NAMED = 5;

export function runOwned(run: string, owner: Owner, since: string): Refusal {
  return new Refusal(
    "run.owned",
    `Run ${run} belongs to ${owner.label} (pid ${owner.pid}, since ${since}); ask that process, or use \`ambit cancel ${run}\`, which reaches it through the store.`,
    { run, pid: owner.pid, label: owner.label, since, owner: owner.id },
  );
}

/** The lease of an append that came too late (DU-14). */
export function leaseLost(run: string, owner: Owner | null, since: string): Refusal {
  if (owner) return runOwned(run, owner, since);
  return new Refusal("run.owned", `This process has given run ${run} up and can add nothing to it.`, { run });
}

export function runUnknown(wanted: string, near: readonly string[]): Refusal {
  if (near.length === 0) {
    return new Refusal("run.unknown", `There is no run ${JSON.stringify(wanted)} in this store.`, { run: wanted });
  }
  const shown = near.slice(0, NAMED);
  const more = near.length > NAMED ? " and more" : "";
  return new Refusal("run.unknown", `${JSON.stringify(wanted)} may be any of ${shown.join(", ")}${more}.`, {
    run: wanted,
    matches: shown,
  });
}

export function noRunYet(wanted: string): Refusal {
  const what = wanted === "@failed" ? "No run in this store has failed." : "This store holds no run yet.";
  return new Refusal("run.unknown", what, { run: wanted });
}

export function runExists(run: string): Refusal {
  return new Refusal("run.exists", `A run with the id ${run} is in this store already.`, { run });
}

export function corrupt(run: string, seq: number, what: string): Refusal {
  return new Refusal("journal.corrupt", `Record ${seq} of run ${run} is damaged: ${what}.`, { run, seq });
}

export function conflict(run: string, seq: number, what: string): Refusal {
  return new Refusal("journal.conflict", `Record ${seq} of run ${run} cannot be added: ${what}.`, { run, seq });
}

export function unavailable(path: string | null, reason: string, message: string): Refusal {
  const where = path === null ? "The store" : `The store ${path}`;
  return new Refusal("store.unavailable", `${where} ${message}.`, path === null ? { reason } : { path, reason });
}

export function alreadyDecided(run: string): Refusal {
  return new Refusal("run.already_decided", `Somebody has answered this already: run ${run} has it.`, { run });
}
