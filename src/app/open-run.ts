import { dirname, relative, resolve } from "node:path";
import { actionsOf } from "../admit/actions-of.ts";
import { readmit } from "../admit/admit.ts";
import type { AdmissionReport, AdmittedPlan, Definition } from "../admit/admitted-plan.ts";
import { isObject, type Json, type JsonObject, jsonEqual } from "../base/json.ts";
import { Refusal } from "../errors/fault.ts";
import { bodyProblem, sayShape } from "../journal/body-shape.ts";
import { Cursor, type Pages } from "../journal/cursor.ts";
import type { RunRecord } from "../journal/event.ts";
import { marksIn, recorded, reveal, type Val } from "../plan/marked.ts";
import { callPinned } from "../plan/offered.ts";
import { everyStep } from "../plan/plan.ts";
import type { Roots } from "../run/execution.ts";
import type { OpenBody } from "../run/sealed-parts.ts";
import { bindInputs } from "./inputs.ts";
import { Refused } from "./refused.ts";
import { MEMORY_STORE } from "./store.ts";
import { filesOf, type WorkflowFile } from "./workflow-file.ts";

/** Where a run was started: what `resume` looks for its deployment by. Relative to the store's folder. */
export interface Origin {
  workflow: string;
  config: string | null;
}

export function originOf(storePath: string, workflow: string, config: string | null): JsonObject {
  const from = storePath === MEMORY_STORE ? null : dirname(storePath);
  const told = (path: string): string => (from === null ? path : relative(from, path));
  return { workflow: told(workflow), config: config === null ? null : told(config) };
}

/** A run as its first records tell it: the pinned plan, what it reads, and a cursor behind `run.started`. */
export interface OpenedRun {
  admitted: AdmittedPlan;
  roots: Roots;
  first: RunRecord[];
  cursor: Cursor;
  origin: Origin | null;
  /** Opens what lies sealed beside its records. */
  open: OpenBody;
}

/**
 * `again` gives sensitive inputs once more, `opensAt` opens what lies sealed beside the records of a run that was
 * started there. `journal.corrupt` for records that do not begin a run, `history.mismatch` for other inputs than it had.
 */
export async function openRun(
  pages: Pages,
  again: JsonObject,
  opensAt: (origin: Origin | null) => Promise<OpenBody>,
): Promise<OpenedRun> {
  const cursor = new Cursor(pages);
  const accepted = await cursor.next();
  const started = await cursor.next();
  if (accepted?.kind !== "run.accepted" || started?.kind !== "run.started" || !isObject(accepted.body["definition"])) {
    const seq = accepted?.kind === "run.accepted" && isObject(accepted.body["definition"]) ? 2 : 1;
    const due = seq === 1 ? "acceptance" : "start";
    throw new Refusal("journal.corrupt", `Record ${seq} of run ${accepted?.run ?? "?"} is not its ${due}.`, {
      run: accepted?.run ?? null,
      seq,
    });
  }
  for (const record of [accepted, started]) {
    if (record.position === "" && record.attempt === 1 && record.trail.length === 0) continue;
    throw new Refusal("journal.corrupt", `Record ${record.seq} of run ${record.run} is not its beginning.`, {
      run: record.run,
      seq: record.seq,
    });
  }
  const problem = bodyProblem(accepted.kind, accepted.body);
  if (problem !== null) {
    throw new Refusal(
      "journal.corrupt",
      `The acceptance of run ${accepted.run} does not fit its kind: ${sayShape(problem)}.`,
      {
        run: accepted.run,
        seq: 1,
      },
    );
  }
  const { report, ...definition } = accepted.body["definition"] as unknown as Definition & { report: AdmissionReport };
  const admitted = readmit(definition, report);
  for (const record of [accepted, started]) {
    if (record.def === admitted.def) continue;
    throw new Refusal(
      "journal.corrupt",
      `Record ${record.seq} of run ${record.run} does not carry the hash of its definition.`,
      {
        run: record.run,
        seq: record.seq,
        expected: admitted.def,
        recorded: record.def,
      },
    );
  }
  const origin = readOrigin(accepted.body["origin"]);
  const open = await opensAt(origin);
  const held = (await open(accepted))["inputs"] ?? {};
  const roots: Roots = {
    inputs: inputsAgain(admitted, accepted.body["inputs"] ?? {}, held as { [name: string]: Val }, again),
    trigger: accepted.body["trigger"] ?? null,
    run: accepted.run,
    startedAt: started.at,
    dryRun: accepted.body["dry_run"] === true,
    identity: typeof accepted.body["identity"] === "string" ? accepted.body["identity"] : "",
  };
  return { admitted, roots, first: [accepted, started], cursor, origin, open };
}

/** The inputs of the start: as they are held, those that are given again where they cannot be read. */
function inputsAgain(
  admitted: AdmittedPlan,
  pinned: Json,
  held: { [name: string]: Val },
  again: JsonObject,
): { [name: string]: Val } {
  if (Object.keys(again).length === 0) return held;
  const readable = Object.entries(held).filter(([, value]) => marksIn(value).redacted === undefined);
  const clear = Object.fromEntries(readable.map(([name, value]) => [name, reveal(value)]));
  const given = bindInputs(admitted.definition.plan, { ...clear, ...again });
  // Where the sensitive ones cannot be read, whoever gives them again answers for it that they are the same.
  const changed = Object.keys(again).find(
    (name) => Object.hasOwn(clear, name) && !jsonEqual(reveal(given[name] ?? null), clear[name] ?? null),
  );
  if (changed === undefined && jsonEqual(recorded(given), pinned)) return given;
  const which = changed === undefined ? "The inputs given again are" : `The input ${changed} given again is`;
  throw new Refusal("history.mismatch", `${which} not what the run was started with.`, {
    ...(changed === undefined ? {} : { input: changed }),
  });
}

/** Where the acceptance of a run says that it was started; null where it does not. */
export function readOrigin(value: Json | undefined): Origin | null {
  if (!isObject(value) || typeof value["workflow"] !== "string") return null;
  const { config } = value;
  return { workflow: value["workflow"], config: typeof config === "string" ? config : null };
}

/** The absolute paths of an origin. */
export function resolveOrigin(origin: Origin, storePath: string): Origin {
  const from = storePath === MEMORY_STORE ? "/" : dirname(storePath);
  return {
    workflow: resolve(from, origin.workflow),
    config: origin.config === null ? null : resolve(from, origin.config),
  };
}

/**
 * Another plan under what a run has pinned, for a re-evaluation: manifests, agents, limits and settings are the
 * recorded ones, so what the run did not have is refused (`history.mismatch`).
 */
export function changedPlan(pinned: AdmittedPlan, workflow: WorkflowFile): AdmittedPlan {
  if (workflow.plan === null) throw Refused.by(workflow.diagnostics);
  const plan = callPinned(workflow.plan, pinned.definition.plan);
  const { manifests, agents, notify } = pinned.definition;
  for (const step of everyStep(plan)) {
    const missing = actionsOf(step, notify).find((action) => !Object.hasOwn(manifests, action));
    const what =
      missing !== undefined
        ? `the action ${missing}`
        : step.kind === "agent" && !Object.hasOwn(agents, step.agent)
          ? `the agent ${step.agent}`
          : null;
    if (what === null) continue;
    throw new Refusal(
      "history.mismatch",
      `The run did not have ${what}, which ${workflow.shown} uses: its history has no record of it.`,
    );
  }
  return readmit({ ...pinned.definition, plan, files: filesOf(workflow) }, pinned.report);
}
