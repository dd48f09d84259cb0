/**
 * Loads the files that a workflow calls (`wf.call`), and the files that these call.
 *
 * I1: a file lies in the project's folder, links followed, or it is not opened.
 * I2: a file that is under way is not opened again, and no chain is longer than any deployment admits.
 */
import { existsSync, realpathSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { type Diagnostic, diagnostic, hasErrors } from "../errors/diagnostic.ts";
import { readRegularFile } from "../host/files/regular-file.ts";
import { callOffered, isOffered } from "../plan/offered.ts";
import { allSteps, type Plan } from "../plan/plan.ts";
import { diagnose } from "../syntax/diagnose.ts";
import { type CalleeRef, calleeRefs } from "../syntax/workfile/callees.ts";
import type { StepPlaces } from "../syntax/workfile/step-places.ts";

const MAX_BYTES = 16 * 1024 * 1024;
/** No deployment may raise `limits.depth` above. */
const LONGEST_CHAIN = 16;
const MOST_FILES = 200;
const ROOT_MARKS = ["package.json", ".git", ".ambit", "ambit.yaml"];

/** One file that is called. */
export interface CalleeFile {
  /** As diagnostics show it. */
  shown: string;
  /** Relative to the workflow's folder: what is pinned. */
  name: string;
  text: string;
  plan: Plan;
  places: StepPlaces;
}

export interface Called {
  /** The plan with its callees in place; null if one of them cannot be used. */
  plan: Plan | null;
  files: CalleeFile[];
  diagnostics: Diagnostic[];
}

interface Caller {
  plan: Plan;
  shown: string;
  /** Absolute. */
  path: string;
  places: StepPlaces;
  /** How far what it calls may reach: its project's folder, links followed. */
  project: string;
}

/** Absolute paths of the workflows that a deployment offers, by action. */
export type Offers = ReadonlyMap<string, string>;

/** `caller` is a checked workflow; its plan is left as it is. Steps that name an offered workflow become calls of it. */
export function loadCallees(caller: Omit<Caller, "project">, offers: Offers = new Map()): Called {
  const folder = dirname(caller.path);
  const loader = new Loader(folder, offers);
  const plan = loader.load({ ...caller, project: projectOf(folder) }, [real(caller.path)]);
  return { plan, files: [...loader.files.values()], diagnostics: loader.diagnostics };
}

/** The nearest folder upwards that looks like a project; the workflow's own where none does. */
function projectOf(start: string): string {
  for (let folder = start; ; folder = dirname(folder)) {
    if (ROOT_MARKS.some((mark) => existsSync(join(folder, mark)))) return real(folder);
    if (folder === dirname(folder)) return real(start);
  }
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

class Loader {
  readonly files = new Map<string, CalleeFile>();
  readonly diagnostics: Diagnostic[] = [];
  readonly #folder: string;
  readonly #offers: Offers;

  constructor(folder: string, offers: Offers) {
    this.#folder = folder;
    this.#offers = offers;
  }

  load(written: Caller, chain: readonly string[]): Plan | null {
    const caller = { ...written, plan: callOffered(written.plan, (action) => this.#offers.has(action)) };
    const refs = calleeRefs(caller.plan);
    if (refs.length === 0) return caller.plan;
    const callees: Plan["callees"] = {};
    let isWhole = this.#takesCalls(written);
    for (const ref of refs) {
      const plan = this.#one(caller, ref, chain);
      if (plan === null) isWhole = false;
      else callees[ref.ref] = plan;
    }
    return isWhole ? Object.freeze({ ...caller.plan, callees: Object.freeze(callees) }) : null;
  }

  #one(caller: Caller, ref: CalleeRef, chain: readonly string[]): Plan | null {
    // What the deployment offers lies where the deployment says, and reaches as far as its own project.
    const offered = isOffered(ref.ref) ? this.#offers.get(ref.ref) : undefined;
    const path = offered ?? resolve(dirname(caller.path), ref.ref);
    const shown = offered === undefined ? join(dirname(caller.shown), ref.ref) : this.#shownFor(caller, path);
    const found = real(path);
    const project = offered === undefined ? caller.project : projectOf(dirname(path));
    if (offered === undefined && found !== project && !found.startsWith(project + sep)) {
      return this.#refuse(caller, ref, "plan.callee_refused", `${shown} lies outside of the project's folder.`);
    }
    if (chain.includes(found)) {
      return this.#refuse(caller, ref, "plan.recursive", `${shown} is called while it is under way.`);
    }
    if (chain.length >= LONGEST_CHAIN || this.files.size >= MOST_FILES) {
      return this.#refuse(caller, ref, "plan.too_deep", `Too many files are called, one from another.`);
    }
    const read = readRegularFile(path, MAX_BYTES);
    if (!read.ok) return this.#refuse(caller, ref, "plan.callee_refused", `${shown} cannot be read: ${read.why}.`);
    const { plan, diagnostics, places } = diagnose(read.text, shown);
    if (!this.files.has(found)) this.diagnostics.push(...diagnostics);
    if (plan === null || hasErrors(diagnostics)) {
      return this.#refuse(caller, ref, "plan.callee_refused", `${shown} has errors of its own.`);
    }
    const whole = this.load({ plan, shown, path, places, project }, [...chain, found]);
    if (whole === null) return null;
    const name = relative(this.#folder, path);
    this.files.set(found, { shown, name, text: read.text, plan: whole, places });
    return whole;
  }

  /** What belongs to an action's outcome is nothing that a workflow has: its own steps say it. */
  #takesCalls(caller: Caller): boolean {
    let isWhole = true;
    for (const step of allSteps(caller.plan)) {
      if (step.kind !== "action" || !this.#offers.has(step.action)) continue;
      const { attempts, backoff, reconcile, onUnknown } = step;
      const has = attempts !== undefined || backoff !== undefined ? "retry" : reconcile ? "reconcile" : null;
      const key = has ?? (onUnknown === "abort" ? null : "on_unknown");
      if (key === null) continue;
      const message = `${step.action} is a workflow: ${key} belongs to the steps in it.`;
      this.#refuse(caller, { ref: step.action, span: step.span }, "plan.callee_refused", message);
      isWhole = false;
    }
    return isWhole;
  }

  /** As if the caller's file had named it. */
  #shownFor(caller: Caller, path: string): string {
    return join(dirname(caller.shown), relative(dirname(caller.path), path));
  }

  #refuse(
    caller: Caller,
    ref: CalleeRef,
    code: "plan.callee_refused" | "plan.recursive" | "plan.too_deep",
    message: string,
  ): null {
    const place = caller.places.find({ span: ref.span }, { is: "subject" }) ?? { span: ref.span };
    this.diagnostics.push(diagnostic(code, message, { file: caller.shown, ...place }));
    return null;
  }
}
