import type { CodePage } from "../codes.ts";

export const storeCodes = {
  "run.unknown": {
    summary: "No run, or more than one, fits what was asked for.",
    cause: "The id is misspelt, the run is in another store, or a prefix fits several runs.",
    fix: "`ambit runs list` shows the runs of this store; give more characters of the id, or `--store PATH`.",
    example: "ambit runs show run_01   # several runs begin so: give one or two characters more",
    since: "0.1.0",
  },
  "run.exists": {
    summary: "A run with this id is in the store already.",
    cause: "`--run-id` names a run that was started before, or a file was imported twice.",
    fix: "Leave `--run-id` out, choose another, or look at the run that is there with `ambit runs show ID`.",
    example: "ambit run a.workfile.yaml --run-id nightly   # the second time",
    since: "0.1.0",
  },
  "run.owned": {
    summary: "Another process runs this run.",
    cause: "A run has one owner at a time; the message names it by pid, what it is, and since when.",
    fix: "Let it work, or ask it: `ambit cancel` reaches it through the store. Once it is gone, `ambit resume` takes the run over.",
    example: "ambit resume @last   # while `ambit run` still works on it in another terminal",
    since: "0.1.0",
  },
  "run.busy": {
    summary: "Another run has the value of `single` that this start has.",
    cause:
      "Of one workflow name and value of `single` one run is under way, from its acceptance to its end, also while it is parked or its process is gone. With `overlap: skip` or `--no-wait` nobody waits for it; with `overlap: queue` at most 100 starts do.",
    fix: "The message names the run. Wait for its end, go on with it (`ambit resume RUN`) or end it (`ambit cancel RUN`); with `overlap: queue` a start waits its turn.",
    example: 'ambit run a.workfile.yaml -i sender=ana   # twice, with single: "{{ inputs.sender }}"',
    since: "0.1.0",
  },
  "journal.corrupt": {
    summary: "A record of the history is damaged or missing.",
    cause:
      "The store's file or an exported file was changed, cut or damaged, or a record does not hold what its kind must hold; the message names the run and the record, or the line.",
    fix: "Take the run from a backup or from an earlier `ambit runs export`. A damaged run is neither resumed nor replayed, since what it did can no longer be told.",
    example: "An exported file in which the `value` of a record was edited by hand.",
    since: "0.1.0",
  },
  "journal.conflict": {
    summary: "A second record of the same position, kind and attempt says something else.",
    cause: "A position is written once; two different contents mean that two executions of one run disagreed.",
    fix: "This is a defect of the engine or of a host: please report it with an export of the run. The record that was there first stands.",
    example: "Two results of `resolve.(tools)[0]`, attempt 1.",
    since: "0.1.0",
  },
  "store.unavailable": {
    summary: "The store cannot be used.",
    cause:
      "It lies on a network file system, was written by a newer version, cannot be written, is full or damaged, was held by another process for too long, or its file was removed or replaced while a run wrote into it; the message says which.",
    fix: "Do what the message says: use a local disk, update ambit, free space, put the file back, or choose another place with `--store PATH`.",
    example: "ambit run a.workfile.yaml --store /mnt/nfs/ambit.db",
    since: "0.1.0",
  },
  "history.mismatch": {
    summary: "The history does not fit what is computed from it.",
    cause:
      "A replay or resume came to another step, value or order than was recorded, or was given other inputs than the run was started with: the records were changed, another version of the engine reads them otherwise, or a changed file asks for something of which there is no record.",
    fix: "The message names the position, what was expected and what is recorded. With `--with FILE` only what is recorded can be asked for; otherwise take the run from a backup, or go on with the version of ambit that began it.",
    example: "ambit resume imported   # whose call records other arguments than the file gives",
    since: "0.1.0",
  },
  "history.redacted": {
    summary: "A sensitive value that is needed here does not open.",
    cause:
      "Sensitive values lie sealed beside the history. This replay or resume would have to decide by one, or to hand it to a call, and nothing is sealed there (an export takes none along), the key of the store is not there or is another one, or the part was changed or put beside another record.",
    fix: "The message says which it is. Put back the key that the run was recorded with (.ambit/key, or the secret of store.key), or the store from a backup; a sensitive input can also be given again: `ambit resume RUN -i name=value`.",
    example:
      "ambit replay run.jsonl   # exported from a run with if: \"{{ inputs.token == 't-1' }}\", token being sensitive",
    since: "0.1.0",
  },
} as const satisfies { [code: string]: CodePage };
