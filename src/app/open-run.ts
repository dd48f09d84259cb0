import { dirname, relative, resolve } from "node:path";
import { actionsOf } from "../admit/actions-of.ts";
import { readmit } from "../admit/admit.ts";
import type { AdmissionReport, AdmittedPlan, Definition } from "../admit/admitted-plan.ts";
import { isObject, type Json, type JsonObject, jsonEqual } from "../base/json.ts";
import { Refusal } from "../errors/fault.ts";
import { bodyProblem, sayShape } from "../journal/body-shape.ts";
import { Cursor, type Pages } from "../journal/cursor.ts";
import type { RunRecord } from "../journal/event.ts";
import { recorded, rehydrate, type Val } from "../plan/marked.ts";
import { callPinned } from "../plan/offered.ts";
import { everyStep } from "../plan/plan.ts";
import type { Roots } from "../run/execution.ts";
import { bindInputs } from "./inputs.ts";
import { Refused } from "./refused.ts";
import { MEMORY_STORE } from "./store.ts";
import { filesOf, type WorkflowFile } from "./workflow-file.ts";

/** Where a run was started: what `resume` looks for its deployment by. Relative to the store's folder. */
interface Origin {
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
}

/** `again` gives sensitive inputs that the records do not hold. `journal.corrupt` for records that do not begin a run. */
export async function openRun(pages: Pages, again: JsonObject): Promise<OpenedRun> {
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
  const roots: Roots = {
    inputs: inputsAgain(admitted, accepted.body["inputs"] ?? {}, again),
    trigger: accepted.body["trigger"] ?? null,
    run: accepted.run,
    startedAt: started.at,
    identity: typeof accepted.body["identity"] === "string" ? accepted.body["identity"] : "",
  };
  return { admitted, roots, first: [accepted, started], cursor, origin: readOrigin(accepted.body["origin"]) };
}

function inputsAgain(admitted: AdmittedPlan, pinned: Json, again: JsonObject): { [name: string]: Val } {
  const held = rehydrate(pinned) as { [name: string]: Val };
  if (Object.keys(again).length === 0) return held;
  const given = bindInputs(admitted.definition.plan, { ...clearOf(pinned), ...again });
  if (jsonEqual(recorded(given), pinned)) return given;
  throw new Refusal("input.invalid", "The inputs given again are not those that the run was started with.");
}

/** The inputs that stand in the record in clear. */
function clearOf(pinned: Json): JsonObject {
  const out: JsonObject = {};
  if (!isObject(pinned)) return out;
  for (const [name, value] of Object.entries(pinned)) {
    if (isObject(value) && value["$sensitive"] === true) continue;
    out[name] = value as Json;
  }
  return out;
}

function readOrigin(value: Json | undefined): Origin | null {
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
