/**
 * Runs one case and judges it stage by stage: parse, admit, run, replay.
 *
 * I1: every stage up to the one that the expectation names is judged; what refuses a file at one stage refuses
 *     it at all later ones, with the same findings.
 * I2: the result, the exported records and a replay of them tell the same story.
 * I3: a replay contacts nothing: no call and no turn is added by it.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { isObject, type Json, type JsonObject, jsonEqual } from "../../src/base/json.ts";
import { reportJson } from "../../src/cli/commands/plan.ts";
import { asRefused } from "../../src/cli/refusal.ts";
import { type Diagnostic, hasErrors } from "../../src/errors/diagnostic.ts";
import type { RunRecord } from "../../src/journal/event.ts";
import { exportLine, readExport } from "../../src/journal/export.ts";
import { foldRecords, toResult } from "../../src/journal/fold.ts";
import {
  CaseError,
  type Expectation,
  expectOlderSpelling,
  PLAN_KEYS,
  RESULT_KEY_SET,
  STAGES,
  type Stage,
  type Trial,
} from "./case-files.ts";
import { CaseFolder } from "./case-folder.ts";
import { CommandLine } from "./command-line.ts";
import { InProcess } from "./in-process.ts";
import { leaksOf, PLACES, type Place, type PlaceName } from "./leaks.ts";
import { type Mismatch, match, matchAnyOrder, matchSubsequence } from "./match.ts";
import { asksOf, asTextEntry, callsOf, noticesOf } from "./observed.ts";
import type { Driver, Outcome } from "./outcome.ts";
import { forgetTurns, turnsOf } from "./transcript.ts";

/** Every difference between what the case expects and what came; empty if it passes. Throws for a faulty case. */
export async function runCase(trial: Trial): Promise<Mismatch[]> {
  const folder = new CaseFolder(trial);
  try {
    return await new TrialRun(trial, folder).run();
  } finally {
    folder.dispose();
  }
}

/** What a stage came to without a run. */
interface Admitted {
  exit: number;
  diagnostics: readonly Diagnostic[];
  error: Json;
  /** `plan --json`; null where the file is refused before it. */
  report: JsonObject | null;
}

class TrialRun {
  readonly #trial: Trial;
  readonly #folder: CaseFolder;
  readonly #expect: Expectation;
  readonly #mismatches: Mismatch[] = [];

  constructor(trial: Trial, folder: CaseFolder) {
    this.#trial = trial;
    this.#folder = folder;
    this.#expect = this.#spelled(trial.variant?.expect ?? trial.case.expect);
  }

  async run(): Promise<Mismatch[]> {
    const { settings } = this.#trial.case;
    if (settings.state !== undefined) throw new CaseError("The runner cannot play state yet.");
    const local = new InProcess(this.#folder, settings);
    try {
      const stage = stageOf(this.#expect);
      const parsed = await this.#parse(local);
      if (stage === "parse") return this.#judged(parsed, this.#expect);
      const admitted = await this.#admit(local, parsed);
      if (stage === "admit") return this.#judged(admitted, this.#expect);
      const byKill = settings.kill_at !== undefined || this.#folder.killsItself;
      return await this.#play(byKill ? new CommandLine(this.#folder, settings) : local, admitted, stage);
    } finally {
      await local.close();
    }
  }

  async #parse(local: InProcess): Promise<Admitted> {
    const { readWorkflow } = await import("../../src/app/workflow-file.ts");
    const engine = await local.engine;
    try {
      const { diagnostics } = readWorkflow(this.#folder.workflow, engine.cwd);
      const error = diagnostics.find((entry) => entry.severity === "error");
      return { exit: hasErrors(diagnostics) ? 3 : 0, diagnostics, error: error?.code ?? null, report: null };
    } catch (thrown) {
      return refusedAs(thrown);
    }
  }

  async #admit(local: InProcess, parsed: Admitted): Promise<Admitted> {
    const admitted = await this.#plan(local);
    if (hasErrors(parsed.diagnostics)) this.#same("plan", parsed, admitted);
    return admitted;
  }

  async #plan(local: InProcess): Promise<Admitted> {
    const engine = await local.engine;
    try {
      const { workflow, admission } = await engine.plan(this.#folder.workflow);
      const diagnostics = [...workflow.diagnostics, ...admission.diagnostics];
      const errors = diagnostics.filter((entry) => entry.severity === "error");
      const ok = admission.admitted !== null && errors.length === 0;
      return {
        exit: ok ? 0 : errors.every((entry) => entry.code.startsWith("deployment.")) ? 4 : 3,
        diagnostics,
        error: errors[0]?.code ?? null,
        report: { ok, ...(reportJson(admission.report) as JsonObject) },
      };
    } catch (thrown) {
      return refusedAs(thrown);
    }
  }

  /** I1: a later stage refuses as the earlier one did. */
  #same(later: string, earlier: Admitted, found: { exit: number; diagnostics: readonly Diagnostic[] }): void {
    if (found.exit !== earlier.exit) {
      this.#mismatches.push({ path: `exit of ${later}`, expected: earlier.exit, found: found.exit });
    }
    const errors = (list: readonly Diagnostic[]): Json =>
      list
        .filter((entry) => entry.severity === "error")
        .map(({ code, line, column, path }) => ({ code, line, column, path }));
    if (!jsonEqual(errors(found.diagnostics), errors(earlier.diagnostics))) {
      const expected = errors(earlier.diagnostics);
      this.#mismatches.push({ path: `diagnostics of ${later}`, expected, found: errors(found.diagnostics) });
    }
  }

  async #play(driver: Driver, admitted: Admitted, stage: Stage): Promise<Mismatch[]> {
    const outcome = await driver.start();
    if (admitted.exit !== 0 && outcome.exit !== 2) this.#same("run", admitted, outcome);
    this.#judgeRun(outcome, this.#expect, admitted);
    if (stage === "replay") await this.#judgeReplay(driver, outcome, this.#expect);
    const { run } = outcome;
    for (const { command, expect } of this.#trial.case.settings.followUps) {
      if (run === null) throw new CaseError(`Nothing ran: there is nothing to ${command}.`);
      const next = command === "resume" ? await driver.resume(run) : await driver.replay(run);
      const before = this.#mismatches.length;
      const spelled = this.#spelled(expect);
      this.#judgeRun(next, spelled, admitted);
      if (stageOf(spelled) === "replay" && command !== "replay") await this.#judgeReplay(driver, next, spelled);
      if (command === "replay") this.#compareReplay(next, outcome, spelled);
      for (const mismatch of this.#mismatches.slice(before)) mismatch.path = `then ${command}: ${mismatch.path}`;
    }
    if (run !== null) forgetTurns(run);
    return this.#mismatches;
  }

  #spelled(expect: Expectation): Expectation {
    return this.#trial.olderSpelling ? expectOlderSpelling(expect, this.#folder.newerText) : expect;
  }

  #judged(found: Admitted, expect: Expectation): Mismatch[] {
    this.#judgeDiagnostics(expect, found.diagnostics);
    for (const [key, value] of Object.entries(expect)) {
      if (key === "exit") this.#add(match(value, found.exit, key));
      else if (key === "error") this.#add(match(value, found.error === null ? null : { code: found.error }, key));
      else if ((PLAN_KEYS as readonly string[]).includes(key)) this.#add(match(value, found.report?.[key], key));
      else if (key !== "stage" && key !== "diagnostics") {
        throw new CaseError(`${this.#trial.name}: ${key} cannot be judged at the stage ${stageOf(expect)}.`);
      }
    }
    if (found.exit !== 0 && !expectsRefusal(expect)) {
      this.#add([{ path: "refused", expected: undefined, found: found.diagnostics }]);
    }
    return this.#mismatches;
  }

  #judgeRun(outcome: Outcome, expect: Expectation, admitted: Admitted): void {
    const refused = outcome.error !== null;
    this.#judgeDiagnostics(expect, refused ? outcome.diagnostics : admitted.diagnostics);
    for (const [key, value] of Object.entries(expect)) {
      if (key === "exit") this.#add(match(value, outcome.exit, key));
      else if (key === "error" && refused) this.#add(match(value, outcome.error, key));
      else if (RESULT_KEY_SET.has(key)) this.#add(match(value, outcome.result?.[key], key));
      else if ((PLAN_KEYS as readonly string[]).includes(key)) this.#add(match(value, admitted.report?.[key], key));
    }
    const { records } = outcome;
    const anyOrder = expect["any_order"] === true;
    this.#judgeList("calls", expect["calls"], this.#calls(records), anyOrder);
    this.#judgeList("notices", textEntries(expect["notices"]), noticesOf(records), anyOrder);
    this.#judgeList("asks", textEntries(expect["asks"]), asksOf(records), anyOrder);
    const { events } = expect;
    if (Array.isArray(events)) this.#add(matchSubsequence(events, records, "events"));
    this.#judgeNever(expect["never"], outcome);
    if (refused && !expectsRefusal(expect)) {
      this.#add([{ path: "refused", expected: undefined, found: [outcome.error, outcome.diagnostics] }]);
    }
    if (outcome.result !== null) this.#compareExport(outcome);
  }

  #judgeList(path: string, expected: Json | undefined, found: readonly JsonObject[], anyOrder: boolean): void {
    if (!Array.isArray(expected)) return;
    this.#add(anyOrder ? matchAnyOrder(expected, found, path) : match(expected, found, path));
  }

  /** Errors, and of milder findings the kinds that the expectation names. */
  #judgeDiagnostics(expect: Expectation, found: readonly Diagnostic[]): void {
    const { diagnostics: expected } = expect;
    if (!Array.isArray(expected)) return;
    const named = expected.map((entry) => (isObject(entry) ? entry["severity"] : undefined));
    const judged = found.filter((entry) => entry.severity === "error" || named.includes(entry.severity));
    this.#add(match(expected, judged, "diagnostics"));
  }

  #calls(records: readonly RunRecord[]): JsonObject[] {
    return callsOf(records, this.#folder.dispatches(), this.#folder.stubs);
  }

  /** I2: what was exported folds to the result. */
  #compareExport({ result, records }: Outcome): void {
    if (result === null || records.length === 0) return;
    const exported = toResult(foldRecords(readExport(records.map(exportLine).join("")).records));
    const { steps: _, ...own } = result;
    this.#add(match(plain(own), plain(exported), "export").map((entry) => ({ ...entry, path: `${entry.path} (I2)` })));
  }

  async #judgeReplay(driver: Driver, outcome: Outcome, expect: Expectation): Promise<void> {
    if (outcome.run === null) {
      if (!expectsRefusal(expect)) this.#add([{ path: "replay", expected: "equal", found: undefined }]);
      return;
    }
    const calls = this.#calls(outcome.records).length;
    const turns = turnsOf(outcome.run).length;
    const replayed = await driver.replay(outcome.run);
    this.#compareReplay(replayed, outcome, expect);
    this.#add(match(calls, this.#calls(outcome.records).length, "calls after the replay"));
    this.#add(match(turns, turnsOf(outcome.run).length, "agent turns after the replay"));
  }

  #compareReplay(replayed: Outcome, original: Outcome, expect: Expectation): void {
    const found = replayed.replay ?? { result: "refused", error: replayed.error as unknown as Json };
    const wanted = expect["replay"] ?? "equal";
    if (found["result"] !== wanted) this.#add([{ path: "replay", expected: wanted, found }]);
    const digest = original.result?.["digest"];
    if (found["result"] === "equal" && typeof digest === "string") this.#add(match(digest, found["digest"], "digest"));
  }

  /** An entry is a text, or `{ text, in }` where it may stand in other places. */
  #judgeNever(never: Json | undefined, outcome: Outcome): void {
    if (!Array.isArray(never)) return;
    const places = this.#places(outcome);
    for (const [i, entry] of never.entries()) {
      const text = isObject(entry) ? entry["text"] : entry;
      const where = isObject(entry) ? (entry["in"] as PlaceName[]) : PLACES;
      if (typeof text !== "string" || text === "" || where.some((name) => !PLACES.includes(name))) {
        throw new CaseError(`${this.#trial.name}: never[${i}] is a text, or { text, in: [${PLACES.join(", ")}] }.`);
      }
      const searched = places.filter((place) => where.includes(place.name));
      for (const leak of leaksOf(text, searched)) {
        this.#add([{ path: `never[${i}]`, expected: undefined, found: leak }]);
      }
    }
  }

  #places(outcome: Outcome): Place[] {
    const { records, run, output } = outcome;
    const stored = filesBelow(join(this.#folder.path, ".ambit")).filter((file) => /\.db(-\w+)?$/.test(file));
    return [
      // Run, position and turn number are for the port: no adapter hands them on.
      {
        name: "agent",
        text: JSON.stringify(
          (run === null ? [] : turnsOf(run)).map(({ run: _, step: __, turn: ___, ...given }) => given),
        ),
      },
      { name: "journal", text: JSON.stringify(records) },
      { name: "export", text: records.map(exportLine).join("") },
      { name: "output", text: output },
      ...stored.map((file): Place => ({ name: "journal", text: readFileSync(file, "utf8") })),
      ...filesBelow(this.#folder.path)
        .filter((file) => file.endsWith(".log"))
        .map((file): Place => ({ name: "log", text: readFileSync(file, "utf8") })),
    ];
  }

  #add(mismatches: readonly Mismatch[]): void {
    this.#mismatches.push(...mismatches);
  }
}

/** The last stage that is judged. */
function stageOf(expect: Expectation): Stage {
  const { stage } = expect;
  return STAGES.find((name) => name === stage) ?? (expect["replay"] === undefined ? "run" : "replay");
}

/** Whether the case knows that nothing runs; otherwise a refusal is a failure, whatever else fits. */
function expectsRefusal(expect: Expectation): boolean {
  const { exit, diagnostics, error, status } = expect;
  if (status !== undefined) return false;
  if (typeof exit === "number") return [2, 3, 4, 7, 9].includes(exit);
  const findings = Array.isArray(diagnostics) && diagnostics.some((entry) => isObject(entry) && isError(entry));
  return findings || isObject(error);
}

function isError(entry: { [key: string]: unknown }): boolean {
  return entry["severity"] === undefined || entry["severity"] === "error";
}

function refusedAs(thrown: unknown): Admitted {
  const { exit, fault, diagnostics } = asRefused(thrown);
  return { exit, diagnostics, error: fault.code, report: null };
}

function textEntries(expected: Json | undefined): Json | undefined {
  return Array.isArray(expected) ? expected.map(asTextEntry) : expected;
}

/** Texts compared as they are: what was found holds no globs. */
function plain(value: unknown): Json {
  return JSON.parse(JSON.stringify(value), (_, item: unknown) =>
    typeof item === "string" ? item.replaceAll("*", "\\*") : item,
  ) as Json;
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}
