/**
 * The composition root: what the library and every command stand on. It is long because each verb of the engine is
 * here once; what a verb needs stands in files beside it (`deployments.ts`, `run-parts.ts`, `engine-run.ts`,
 * `questions.ts`, `settlements.ts`), and connectors, models and stores are made in theirs.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type AdmissionResult, admit } from "../admit/admit.ts";
import type { AdmittedPlan } from "../admit/admitted-plan.ts";
import type { AgentConfig } from "../admit/deployment.ts";
import { agentRunner } from "../agent/loop.ts";
import type { ModelPort } from "../agent/model.ts";
import { type Clock, sleep, systemClock } from "../base/clock.ts";
import { type Ids, systemIds } from "../base/ids.ts";
import { isObject, type Json, type JsonObject } from "../base/json.ts";
import { Catalog } from "../catalog/catalog.ts";
import type { Connector } from "../catalog/connector.ts";
import { type Diagnostic, sortDiagnostics } from "../errors/diagnostic.ts";
import { Fault, Refusal } from "../errors/fault.ts";
import type { StateStore } from "../host/connectors/state-store.ts";
import { ownOwner } from "../host/processes/process-identity.ts";
import { type Pages, pagesOfRecords, pagesOfRun } from "../journal/cursor.ts";
import type { RunRecord } from "../journal/event.ts";
import type { Journal, Owner } from "../journal/journal.ts";
import { isOver } from "../journal/outcome.ts";
import { runIdProblem } from "../journal/run-id.ts";
import { allPlans, allSteps, type Plan } from "../plan/plan.ts";
import { BASIC_RUNNERS } from "../run/interpreter.ts";
import { Past } from "../run/past.ts";
import { type ReplayReport, replayRun } from "../run/replay.ts";
import { type ActiveRun, type RunEnvironment, resumeRun, startRun } from "../run/run.ts";
import { nothingSealed, type OpenBody, opensFrom } from "../run/sealed-parts.ts";
import type { Sealer } from "../run/sealer.ts";
import type { StepRunners } from "../run/steps/step-runner.ts";
import { offeredCapabilities } from "./capabilities.ts";
import { closeAll, Limiters } from "./connectors.ts";
import { reachOf } from "./deployment/reach-of.ts";
import { secretsOf } from "./deployment/secrets-of.ts";
import type { Environment } from "./deployment/section.ts";
import type { LoadedDeployment } from "./deployment.ts";
import { Deployments, notFoundText } from "./deployments.ts";
import { endProcesses } from "./end-processes.ts";
import { type EngineRun, runThatEnded, runUnderWay } from "./engine-run.ts";
import { Feed } from "./feed.ts";
import { bindInputs } from "./inputs.ts";
import { ModelShop } from "./models.ts";
import { offersOf } from "./offers.ts";
import { changedPlan, type Origin, openRun, originOf, readOrigin, resolveOrigin } from "./open-run.ts";
import { type Fate, fateOf, lives, type Receipt, type SealerOf } from "./open-runs.ts";
import { holdAgainstToday } from "./policy-of-today.ts";
import { type GivenAnswer, giveAnswer, type OpenQuestion, openQuestions } from "./questions.ts";
import { Refused, refusedBy } from "./refused.ts";
import { findByResults } from "./result-shapes.ts";
import { connectorsOf, modelsOf } from "./run-parts.ts";
import { scriptedAgents } from "./scripted-override.ts";
import { mayHoldSensitive, Sealers } from "./sealers.ts";
import { type Settlement, settleEffect, type UnknownOutcome, unknownOutcomes } from "./settlements.ts";
import { type Held, inTurn, singleOf, type Waiting } from "./single.ts";
import { locateStore, MEMORY_STORE, OpenedState, openStore } from "./store.ts";
import { filesOf, readWorkflow, type WorkflowFile, withOffers } from "./workflow-file.ts";

export type { EngineRun, RunEvent } from "./engine-run.ts";
export type { Fate, Receipt } from "./open-runs.ts";
export type { GivenAnswer, OpenQuestion } from "./questions.ts";
export { readRunFile } from "./saved-run.ts";
export type { Settlement, UnknownOutcome } from "./settlements.ts";

/** How long a living owner has to end a run that is cancelled by force. */
const FORCE_AFTER_MS = 2_000;
const FORCE_LOOK_MS = 50;

/** How long a living owner has to take an answer; it looks every 25 ms. */
const TAKEN_AFTER_MS = 2_000;
const TAKEN_LOOK_MS = 25;

export interface EngineOptions {
  /** Working folder: where relative paths start and the store is looked for. Default: the process's. */
  cwd?: string;
  /** Path of an `ambit.yaml`, or its content; default: found upwards from the workflow. */
  deployment?: string | JsonObject;
  /** Path of the store, or `memory`. */
  store?: string;
  env?: Environment;
  /** Plays every agent from this script instead of its configuration. */
  scripted?: string;
  /** Configurations by agent name (`--agent NAME=ID`). */
  agents?: { [name: string]: string };
  /** Who starts runs here, for records; default `library`. */
  identity?: string;
  /** How other processes are told to reach this one. */
  label?: string;
  /** Where talk goes; default: standard error. */
  say?: (line: string) => void;
  clock?: Clock;
  ids?: Ids;
}

export interface StartOptions {
  inputs?: JsonObject;
  trigger?: Json;
  /** 1 to 128 characters, no blanks, control characters or `/`. */
  runId?: string;
  /** Milliseconds; may only lower the limit in force. */
  deadline?: number;
  /** Nothing is dispatched but what the manifests let a dry run execute; the result says what would have been. */
  dryRun?: boolean;
  /** Warnings refuse the start as errors do. */
  strict?: boolean;
  /** Told what admission has to say of a workflow that may run. */
  onWarnings?: (warnings: Diagnostic[]) => void;
  /** Cancels the run when it fires. */
  signal?: AbortSignal;
  /** A run that waits for a time only is left too, as one that waits for a person is anyway. */
  leavesTimers?: boolean;
}

export interface ResumeOptions {
  /** Sensitive inputs again, where what is sealed of them does not open. */
  inputs?: JsonObject;
  signal?: AbortSignal;
  leavesTimers?: boolean;
}

export interface PlannedWorkflow {
  workflow: WorkflowFile;
  deployment: LoadedDeployment;
  admission: AdmissionResult;
}

/** Makes an engine. Nothing is opened or contacted before it is needed. */
export async function createEngine(options: EngineOptions = {}): Promise<Engine> {
  return new Engine(options);
}

export class Engine {
  readonly cwd: string;
  readonly #options: EngineOptions;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #env: Environment;
  readonly #owner: Owner;
  readonly #deployments: Deployments;
  readonly #say: (line: string) => void;
  #journal: Promise<Journal> | null = null;
  readonly #state = new OpenedState();
  readonly #limiters = new Limiters();
  readonly #sealers: Sealers;
  #storePath: string | null = null;

  constructor(options: EngineOptions) {
    this.cwd = options.cwd ?? process.cwd();
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#ids = options.ids ?? systemIds;
    this.#env = options.env ?? process.env;
    this.#owner = ownOwner(this.#ids.token(8), options.label ?? "library");
    this.#deployments = new Deployments(this.cwd, options.deployment, this.#env);
    this.#sealers = new Sealers(this.#env);
    this.#say = options.say ?? ((line) => void process.stderr.write(`${line}\n`));
  }

  /** Reads, checks and admits a workflow; contacts nothing. Throws `Refused` for what is no workflow at all. */
  async plan(file: string): Promise<PlannedWorkflow> {
    const { workflow, deployment } = await this.#read(file);
    const admission = this.#admit(workflow, deployment);
    return { workflow, deployment, admission };
  }

  /** Admits a changed plan of a planned workflow, under the same deployment. */
  admit({ workflow, deployment }: PlannedWorkflow, plan: Plan): AdmissionResult {
    return this.#admit({ ...workflow, plan }, deployment);
  }

  /** A workflow with what its deployment offers. Its own errors come first, then its inputs, then the deployment. */
  async #read(
    file: string,
    given?: JsonObject,
  ): Promise<{ workflow: WorkflowFile; deployment: LoadedDeployment; inputs: ReturnType<typeof bindInputs> }> {
    const written = readWorkflow(file, this.cwd);
    if (written.plan === null) throw Refused.by(written.diagnostics);
    const inputs = given === undefined ? {} : bindInputs(written.plan, given);
    const deployment = await this.deployment(written.folder);
    const workflow = withOffers(written, offersOf(deployment));
    if (workflow.plan === null) throw Refused.by(workflow.diagnostics);
    return { workflow, deployment, inputs };
  }

  /** The deployment that applies to a folder. Throws `Refused` (exit 4) with its findings. */
  deployment(folder: string): Promise<LoadedDeployment> {
    return this.#deployments.of(folder);
  }

  /** What `connectors import NAME` needs: the rest of the deployment, and that manifest, may be missing or broken. */
  deploymentOfConnector(name: string): Promise<LoadedDeployment> {
    return this.#deployments.ofConnector(name);
  }

  #admit(workflow: WorkflowFile, deployment: LoadedDeployment, deadline?: number): AdmissionResult {
    const { plan } = workflow;
    if (plan === null) throw Refused.by(workflow.diagnostics);
    const shop = new ModelShop(this.#clock, this.#env);
    const { limits } = deployment;
    const catalog = new Catalog(Object.values(deployment.connectors));
    const admission = admit({
      plan,
      files: filesOf(workflow),
      file: workflow.shown,
      places: workflow.places,
      callees: workflow.callees.map(({ plan, shown, places }) => ({ plan, file: shown, places })),
      ...(deployment.file === null && !this.#deployments.isGiven
        ? { undeployed: notFoundText([workflow.folder, this.cwd]) }
        : {}),
      catalog,
      agents: this.#agentsOf(deployment, plan),
      chosenAgents: this.#options.agents ?? {},
      describeAgent: (config) => shop.describe(config),
      settings: deployment.settings,
      notify:
        deployment.notify === null ? null : { action: deployment.notify.action, with: asMap(deployment.notify.with) },
      secrets: secretsOf(deployment),
      ...reachOf(deployment),
      policy: deployment.policy,
      limits: deadline === undefined ? limits : { ...limits, deadline: Math.min(deadline, limits.deadline) },
      durable: locateStore(this.cwd, this.#options.store, deployment.store.path) !== MEMORY_STORE,
      capabilities: offeredCapabilities(deployment),
    });
    const diagnostics = [...deployment.warnings, ...admission.diagnostics];
    const found = findByResults(workflow, catalog);
    if (found.length === 0) return { ...admission, diagnostics };
    return { ...admission, admitted: null, diagnostics: sortDiagnostics([...diagnostics, ...found]) };
  }

  /** The deployment's agents, or with a script given the same names played by it. */
  #agentsOf(deployment: LoadedDeployment, plan: Plan): { [name: string]: AgentConfig[] } {
    const { scripted } = this.#options;
    if (scripted === undefined) return deployment.agents;
    return scriptedAgents(plan, resolve(this.cwd, scripted));
  }

  async start(file: string, options: StartOptions = {}): Promise<EngineRun> {
    if (options.runId !== undefined) checkRunId(options.runId);
    const { workflow, deployment, inputs } = await this.#read(file, options.inputs ?? {});
    const { admitted, diagnostics } = this.#admit(workflow, deployment, options.deadline);
    if (admitted === null) throw Refused.by(diagnostics);
    const warnings = diagnostics.filter((entry) => entry.severity === "warning");
    if (options.strict && warnings.length > 0) throw Refused.by(warnings.map(asError));
    if (warnings.length > 0) options.onWarnings?.(warnings);
    const journal = await this.journal(deployment);
    const sealer = await this.#sealerOf(deployment).catch((error: unknown) => Promise.reject(refusedBy(error)));
    const trigger = options.trigger ?? null;
    const begin = async (single: Held): Promise<EngineRun> => {
      const models = await this.#models(admitted, deployment);
      const connectors = await this.#connect(admitted, deployment, options.signal);
      const feed = new Feed();
      const env = this.#environment(journal, sealer, connectors, models, feed, options.leavesTimers);
      let active: ActiveRun;
      try {
        // A run that may come to hold a sensitive value is not begun without a key.
        if (mayHoldSensitive(admitted)) sealer.seal(null, "");
        active = await startRun(
          admitted,
          {
            run: options.runId ?? this.#ids.run(this.#clock.now()),
            inputs,
            trigger,
            identity: this.#options.identity ?? "library",
            dryRun: options.dryRun === true,
            seed: this.#ids.token(16),
            durability: journal.describe().durability,
            origin: originOf(this.#storePath ?? MEMORY_STORE, resolve(workflow.folder, workflow.name), deployment.file),
            single,
          },
          env,
        );
      } catch (error) {
        await closeAll(connectors);
        throw refusedBy(error);
      }
      return this.#handle(active, connectors, journal, feed, options.signal);
    };
    const waiting: Waiting = {
      journal,
      owner: this.#owner,
      clock: this.#clock,
      signal: options.signal,
      leavesAtOnce: options.leavesTimers === true,
      say: this.#say,
    };
    try {
      // A dry run does nothing that two of them could do twice: it waits for nobody and nobody for it.
      const single = options.dryRun === true ? null : singleOf(admitted, inputs, trigger);
      return await inTurn(single, waiting, begin);
    } catch (error) {
      throw refusedBy(error);
    }
  }

  /**
   * Goes on with a run whose process is gone. One that has ended is given as it is (`isOver`). `inputs` gives sensitive
   * inputs again, where what is sealed of them does not open.
   */
  async resume(run: string, options: ResumeOptions = {}): Promise<EngineRun> {
    const journal = await this.journal(null);
    try {
      const head = await journal.find(run);
      if (isOver(head.status)) return await runThatEnded(journal, head.run);
      return await this.#takeOver(journal, head.run, options, () => true);
    } catch (error) {
      throw refusedBy(error);
    }
  }

  /** Takes a run whose owner is gone. Where it `dispatches` nothing any more, nothing is connected. */
  async #takeOver(
    journal: Journal,
    run: string,
    options: ResumeOptions,
    dispatches: (plan: Plan) => boolean,
    force?: "force",
  ): Promise<EngineRun> {
    const { lease, processes } = await journal.acquire(run, this.#owner, force);
    let connectors = new Map<string, Connector>();
    try {
      // Before anything that can fail: whoever gives up here must leave no server behind that still acts (DU-11).
      if (await endProcesses(processes, this.#clock)) await journal.setProcesses(lease, []);
      const opened = await openRun(pagesOfRun(journal, run), options.inputs ?? {}, async (origin) =>
        opensFrom(journal, await this.#sealerAt(origin)),
      );
      const { admitted, origin } = opened;
      const deployment = dispatches(admitted.definition.plan) ? await this.#deploymentOf(origin) : null;
      const given = Object.keys(options.inputs ?? {}).length > 0;
      if (deployment !== null) holdAgainstToday(run, admitted, deployment.policy);
      const sealer = await (deployment === null ? this.#sealerAt(origin) : this.#sealerOf(deployment, given));
      const models = deployment === null ? new Map<string, ModelPort>() : await this.#models(admitted, deployment);
      if (deployment !== null) connectors = await this.#connect(admitted, deployment, options.signal);
      const feed = new Feed();
      for (const record of opened.first) feed.push(record);
      const past = new Past();
      const history = {
        next: async (): Promise<RunRecord | null> => {
          const record = await opened.cursor.next();
          if (record !== null) feed.push(record);
          if (record !== null) past.read(record);
          return record;
        },
      };
      const env = this.#environment(journal, sealer, connectors, models, feed, options.leavesTimers);
      const active = resumeRun(admitted, opened.roots, opened.first, env, lease, history, past);
      return this.#handle(active, connectors, journal, feed, options.signal);
    } catch (error) {
      await closeAll(connectors);
      await journal.release(lease).catch(() => {});
      throw error;
    }
  }

  /** The deployment that a run was started with, as it is now. */
  async #deploymentOf(origin: Origin | null): Promise<LoadedDeployment> {
    if (origin === null || this.#deployments.isGiven) return this.deployment(this.cwd);
    const { config } = resolveOrigin(origin, this.#storePath ?? MEMORY_STORE);
    if (config !== null && !existsSync(config)) throw lostDeployment(config);
    return this.#deployments.load(config);
  }

  readonly #sealerOfRun: SealerOf = (origin) => this.#sealerAt(readOrigin(origin));

  /** `goesOn`: whoever gives inputs again says that the key of the first ones is not coming back. */
  async #sealerOf(deployment: LoadedDeployment, goesOn = false): Promise<Sealer> {
    const journal = goesOn ? null : await this.journal(deployment);
    return this.#sealers.of(deployment, this.#storePath ?? MEMORY_STORE, journal);
  }

  /** What opens the sealed values of a run that was started there. Without its deployment nothing is sealed for it. */
  async #sealerAt(origin: Origin | null): Promise<Sealer> {
    const store = this.#storePath ?? MEMORY_STORE;
    try {
      return await this.#sealers.orShut(await this.#deploymentOf(origin), store, await this.journal(null));
    } catch (error) {
      return this.#sealers.lookOnly(store, error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Evaluates a run again from its records alone: of the store, or of a file of `runs export`. */
  async replay(
    runOrRecords: string | readonly RunRecord[],
    options: { with?: string; inputs?: JsonObject } = {},
  ): Promise<ReplayReport> {
    try {
      const { pages, opensAt } = await this.#recorded(runOrRecords);
      const { admitted, roots, cursor, open } = await openRun(pages, options.inputs ?? {}, opensAt);
      const runners: StepRunners = { ...BASIC_RUNNERS, agent: agentRunner(new Map()) };
      if (options.with === undefined) return await replayRun(admitted, roots, runners, cursor, false, open);
      const changed = changedPlan(admitted, readWorkflow(options.with, this.cwd));
      return await replayRun(changed, roots, runners, cursor, true, open);
    } catch (error) {
      throw refusedBy(error);
    }
  }

  /**
   * Takes over the records of an exported run. One that does not come out as it says, since somebody has edited it,
   * is refused: `history.mismatch`, `journal.corrupt`.
   */
  async import(records: readonly RunRecord[]): Promise<void> {
    try {
      // Where a decision hangs on a sensitive value nothing can be said: no export holds it.
      const report = await this.replay(records).catch((error: unknown) => {
        if (error instanceof Refused && error.fault.code === "history.redacted") return null;
        throw error;
      });
      if (report?.is === "diverged") {
        const { position, message, expected, recorded, seq } = report;
        throw new Refusal("history.mismatch", `The run does not come out as it is recorded: ${message}.`, {
          position,
          expected,
          recorded,
          seq,
        });
      }
      const journal = await this.journal(null);
      await journal.import([...records]);
    } catch (error) {
      throw refusedBy(error);
    }
  }

  /**
   * Asks the owner of a run to cancel it; one whose owner is gone, or which is parked, is taken over and ended here,
   * with the cleanups that are due. With `force` an owner that does not end it within two seconds loses it, and
   * cleanups are left out.
   */
  async cancel(run: string, by: string, force: boolean): Promise<"asked" | "cancelled" | "over"> {
    const journal = await this.journal(null);
    try {
      const head = await journal.find(run);
      if (isOver(head.status)) return "over";
      if (!lives(head.owner)) {
        return await this.#endHere(journal, head.run, by, force);
      }
      await journal.post({ run: head.run, verb: "cancel", by, body: force ? { force: true } : {} });
      if (!force) return "asked";
      const until = this.#clock.now() + FORCE_AFTER_MS;
      while (this.#clock.now() < until) {
        await sleep(this.#clock, FORCE_LOOK_MS);
        if (isOver((await journal.find(head.run)).status)) return "cancelled";
      }
      return await this.#endHere(journal, head.run, by, true);
    } catch (error) {
      throw refusedBy(error);
    }
  }

  /** Takes a run over only to end it: what it needs for its cleanups is connected, and nothing else. */
  async #endHere(journal: Journal, run: string, by: string, force: boolean): Promise<"cancelled"> {
    const active = await this.#takeOver(
      journal,
      run,
      {},
      (plan) => !force && hasCleanups(plan),
      force ? "force" : undefined,
    );
    if (force) active.abandon(by);
    else active.cancel(by);
    await active.result();
    return "cancelled";
  }

  /** The questions and approvals of runs that are suspended or under way, the oldest first. */
  approvals(): Promise<OpenQuestion[]> {
    return this.#asked((journal) => openQuestions(journal, this.#clock, this.#sealerOfRun));
  }

  /**
   * Answers a question or an approval; `id` may be the beginning of one. Refuses as `ask.not_open`,
   * `ask.not_approver`, `input.invalid`, `run.already_decided`. Where the receipt `waits`, `resume` goes on with it.
   */
  answer(id: string, given: GivenAnswer): Promise<Receipt> {
    return this.#asked((journal) => giveAnswer(journal, this.#clock, this.#sealerOfRun, id, given));
  }

  /** The effects of unknown outcome of all runs, those of open runs first. */
  unknowns(): Promise<UnknownOutcome[]> {
    return this.#asked(unknownOutcomes);
  }

  /**
   * Says what became of an effect. Refuses as `run.unknown`, `flow.not_unknown`, `input.invalid`,
   * `run.already_decided`.
   */
  settle(run: string, position: string, settlement: Settlement): Promise<Receipt> {
    return this.#asked((journal) =>
      settleEffect(journal, this.#clock, this.#owner, this.#sealerOfRun, run, position, settlement),
    );
  }

  /** Looks for a moment what becomes of what was left for a run. */
  fateOf(receipt: Receipt): Promise<Fate> {
    return this.#asked(async (journal) => {
      const until = this.#clock.now() + TAKEN_AFTER_MS;
      for (;;) {
        const fate = await fateOf(journal, receipt);
        if (fate !== "left" || this.#clock.now() >= until) return fate;
        await sleep(this.#clock, TAKEN_LOOK_MS);
      }
    });
  }

  async #asked<T>(work: (journal: Journal) => Promise<T>): Promise<T> {
    const journal = await this.journal(null);
    try {
      return await work(journal);
    } catch (error) {
      throw refusedBy(error);
    }
  }

  /** The store, opened once. */
  async journal(deployment: LoadedDeployment | null): Promise<Journal> {
    this.#journal ??= this.#open(deployment);
    try {
      return await this.#journal;
    } catch (error) {
      // What stood in the way may be gone when it is asked for again.
      this.#journal = null;
      throw refusedBy(error);
    }
  }

  async #open(deployment: LoadedDeployment | null): Promise<Journal> {
    const store = deployment?.store ?? (await this.#deployments.store());
    const path = locateStore(this.cwd, this.#options.store, store?.path ?? null);
    this.#storePath = path;
    return openStore(path, store?.durability ?? "full", this.#clock);
  }

  get storePath(): string | null {
    return this.#storePath;
  }

  async close(): Promise<void> {
    await this.#state.close();
    if (this.#journal === null) return;
    await this.#journal.then((journal) => journal.close()).catch(() => {});
  }

  /** The records of a run of the store, with what lies sealed beside them; a file has nothing beside its records. */
  async #recorded(
    run: string | readonly RunRecord[],
  ): Promise<{ pages: Pages; opensAt: (origin: Origin | null) => Promise<OpenBody> }> {
    if (typeof run !== "string") return { pages: pagesOfRecords(run), opensAt: async () => nothingSealed };
    const journal = await this.journal(null);
    const head = await journal.find(run);
    return {
      pages: pagesOfRun(journal, head.run),
      opensAt: async (origin) => opensFrom(journal, await this.#sealerAt(origin)),
    };
  }

  #models(admitted: AdmittedPlan, deployment: LoadedDeployment): Promise<Map<string, ModelPort>> {
    const agents = this.#agentsOf(deployment, admitted.definition.plan);
    return modelsOf(admitted, agents, new ModelShop(this.#clock, this.#env));
  }

  #connect(
    admitted: AdmittedPlan,
    deployment: LoadedDeployment,
    signal?: AbortSignal,
  ): Promise<Map<string, Connector>> {
    const state = async (): Promise<StateStore> => {
      const { durability } = (await this.journal(deployment)).describe();
      return this.#state.open(this.#storePath ?? MEMORY_STORE, durability);
    };
    const context = { env: this.#env, clock: this.#clock, say: this.#say, limiters: this.#limiters, state };
    return connectorsOf(admitted, deployment, context, signal ?? new AbortController().signal);
  }

  #environment(
    journal: Journal,
    sealer: Sealer,
    connectors: Map<string, Connector>,
    models: Map<string, ModelPort>,
    feed: Feed,
    leavesTimers = false,
  ): RunEnvironment {
    return {
      clock: this.#clock,
      journal,
      owner: this.#owner,
      sealer,
      connectors,
      runners: { ...BASIC_RUNNERS, agent: agentRunner(models) },
      onRecord: (record) => feed.push(record),
      leavesTimers,
    };
  }

  #handle(
    active: ActiveRun,
    connectors: Map<string, Connector>,
    journal: Journal,
    feed: Feed,
    signal?: AbortSignal,
  ): EngineRun {
    return runUnderWay(active, connectors, journal, feed, this.#options.identity ?? "library", signal);
  }
}

/** A run that was imported, or whose store or files have moved, looks for its deployment where it stood from the store. */
function lostDeployment(config: string): Refused {
  const text = `The run was started with the deployment ${config}, as seen from this store, and there is no such file. Was the run imported, or moved? Name the deployment with --config.`;
  return new Refused(4, new Fault("deployment.invalid", "", text, { file: config }));
}

function hasCleanups(plan: Plan): boolean {
  for (const part of allPlans(plan)) {
    if (part.cleanup.length > 0) return true;
    for (const step of allSteps(part)) if (step.cleanup.length > 0) return true;
  }
  return false;
}

function asError(finding: Diagnostic): Diagnostic {
  return { ...finding, severity: "error" };
}

function asMap(value: Json): JsonObject {
  return isObject(value) ? (value as JsonObject) : {};
}

function checkRunId(id: string): void {
  const problem = runIdProblem(id);
  if (problem === null) return;
  throw new Refused(2, new Fault("input.invalid", "", `The run id cannot be used: it ${problem}.`));
}
