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

/** Another run of those with one key is under way (DU-17). */
export function runBusy(run: string, status: string, owner: Owner | null, isAlive: boolean): Refusal {
  const ways = `\`ambit resume ${run}\` goes on with it, \`ambit cancel ${run}\` ends it`;
  const how =
    status === "suspended" ? `it is parked: ${ways}` : isAlive ? "wait for its end" : `its process is gone: ${ways}`;
  return new Refusal("run.busy", `Run ${run} has the value of \`single\` that this start has; ${how}.`, {
    run,
    status,
    ...(owner === null ? {} : { pid: owner.pid }),
  });
}

export function queueBusy(waiting: number): Refusal {
  const text = `${waiting} ${waiting === 1 ? "start waits" : "starts wait"} for this value of \`single\` already.`;
  return new Refusal("run.busy", text, { waiting });
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
