/**
 * The composition root: every port meets its implementation here and nowhere else. What each start needs stands in
 * files beside it: `deployments.ts`, `run-parts.ts`, `engine-run.ts`.
 */
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
import { Fault } from "../errors/fault.ts";
import { isAlive, ownOwner } from "../host/stores/process-identity.ts";
import { type Pages, pagesOfRecords, pagesOfRun } from "../journal/cursor.ts";
import type { RunRecord } from "../journal/event.ts";
import type { Journal, Owner, RunHead } from "../journal/journal.ts";
import { runIdProblem } from "../journal/run-id.ts";
import type { Plan } from "../plan/plan.ts";
import { BASIC_RUNNERS } from "../run/interpreter.ts";
import { Past } from "../run/past.ts";
import { type ReplayReport, replayRun } from "../run/replay.ts";
import { type ActiveRun, type RunEnvironment, resumeRun, startRun } from "../run/run.ts";
import type { StepRunners } from "../run/steps/step-runner.ts";
import { offeredCapabilities } from "./capabilities.ts";
import { closeAll } from "./connectors.ts";
import { secretsOf } from "./deployment/secrets-of.ts";
import type { Environment } from "./deployment/section.ts";
import type { LoadedDeployment } from "./deployment.ts";
import { Deployments, notFoundText } from "./deployments.ts";
import { endProcesses } from "./end-processes.ts";
import { type EngineRun, runThatEnded, runUnderWay } from "./engine-run.ts";
import { Feed } from "./feed.ts";
import { bindInputs } from "./inputs.ts";
import { ModelShop } from "./models.ts";
import { changedPlan, type OpenedRun, openRun, originOf, resolveOrigin } from "./open-run.ts";
import { Refused, refusedBy } from "./refused.ts";
import { connectorsOf, modelsOf } from "./run-parts.ts";
import { scriptedAgents } from "./scripted-override.ts";
import { locateStore, MEMORY_STORE, openStore } from "./store.ts";
import { readWorkflow, type WorkflowFile } from "./workflow-file.ts";

export type { EngineRun, RunEvent } from "./engine-run.ts";
export { readRunFile } from "./saved-run.ts";

/** How long a living owner has to end a run that is cancelled by force. */
const FORCE_AFTER_MS = 2_000;
const FORCE_LOOK_MS = 50;

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
  /** Cancels the run when it fires. */
  signal?: AbortSignal;
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
  #journal: Promise<Journal> | null = null;
  #storePath: string | null = null;

  constructor(options: EngineOptions) {
    this.cwd = options.cwd ?? process.cwd();
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#ids = options.ids ?? systemIds;
    this.#env = options.env ?? process.env;
    this.#owner = ownOwner(this.#ids.token(8), options.label ?? "library");
    this.#deployments = new Deployments(this.cwd, options.deployment, this.#env);
  }

  /** Reads, checks and admits a workflow; contacts nothing. Throws `Refused` for what is no workflow at all. */
  async plan(file: string): Promise<PlannedWorkflow> {
    const workflow = readWorkflow(file, this.cwd);
    if (workflow.plan === null) throw Refused.by(workflow.diagnostics);
    const deployment = await this.deployment(workflow.folder);
    const admission = this.#admit(workflow, deployment);
    return { workflow, deployment, admission };
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
    return admit({
      plan,
      files: { [workflow.name]: workflow.text },
      file: workflow.shown,
      places: workflow.places,
      ...(deployment.file === null && !this.#deployments.isGiven
        ? { undeployed: notFoundText([workflow.folder, this.cwd]) }
        : {}),
      catalog: new Catalog(Object.values(deployment.connectors)),
      agents: this.#agentsOf(deployment, plan),
      chosenAgents: this.#options.agents ?? {},
      describeAgent: (config) => shop.describe(config),
      settings: deployment.settings,
      notify:
        deployment.notify === null ? null : { action: deployment.notify.action, with: asMap(deployment.notify.with) },
      secrets: secretsOf(deployment),
      limited: new Set(Object.keys(deployment.connectorLimits)),
      policy: deployment.policy,
      limits: deadline === undefined ? limits : { ...limits, deadline: Math.min(deadline, limits.deadline) },
      capabilities: offeredCapabilities(deployment),
    });
  }

  /** The deployment's agents, or with a script given the same names played by it. */
  #agentsOf(deployment: LoadedDeployment, plan: Plan): { [name: string]: AgentConfig[] } {
    const { scripted } = this.#options;
    if (scripted === undefined) return deployment.agents;
    return scriptedAgents(plan, resolve(this.cwd, scripted));
  }

  async start(file: string, options: StartOptions = {}): Promise<EngineRun> {
    const workflow = readWorkflow(file, this.cwd);
    if (workflow.plan === null) throw Refused.by(workflow.diagnostics);
    if (options.runId !== undefined) checkRunId(options.runId);
    const inputs = bindInputs(workflow.plan, options.inputs ?? {});
    const deployment = await this.deployment(workflow.folder);
    const { admitted, diagnostics } = this.#admit(workflow, deployment, options.deadline);
    if (admitted === null) throw Refused.by(diagnostics);
    const journal = await this.journal(deployment);
    const id = options.runId ?? this.#ids.run(this.#clock.now());
    const models = await this.#models(admitted, deployment);
    const connectors = await this.#connect(admitted, deployment, options.signal);
    const feed = new Feed();
    const env = this.#environment(journal, connectors, models, feed);
    let active: ActiveRun;
    try {
      active = await startRun(
        admitted,
        {
          run: id,
          inputs,
          trigger: options.trigger ?? null,
          identity: this.#options.identity ?? "library",
          seed: this.#ids.token(16),
          durability: journal.describe().durability,
          origin: originOf(this.#storePath ?? MEMORY_STORE, resolve(workflow.folder, workflow.name), deployment.file),
        },
        env,
      );
    } catch (error) {
      await closeAll(connectors);
      throw refusedBy(error);
    }
    return this.#handle(active, connectors, journal, feed, options.signal);
  }

  /**
   * Goes on with a run whose process is gone. One that has ended is given as it is (`isOver`). `inputs` gives sensitive
   * inputs again: records hold none.
   */
  async resume(run: string, options: { inputs?: JsonObject; signal?: AbortSignal } = {}): Promise<EngineRun> {
    const journal = await this.journal(null);
    try {
      const head = await journal.find(run);
      if (isOver(head)) return await runThatEnded(journal, head.run);
      return await this.#takeOver(journal, head.run, options, true);
    } catch (error) {
      throw refusedBy(error);
    }
  }

  /** Takes a run whose owner is gone. Without `goOn` it is only ended: nothing is connected or dispatched. */
  async #takeOver(
    journal: Journal,
    run: string,
    options: { inputs?: JsonObject; signal?: AbortSignal },
    goOn: boolean,
    force?: "force",
  ): Promise<EngineRun> {
    const { lease, processes } = await journal.acquire(run, this.#owner, force);
    let connectors = new Map<string, Connector>();
    try {
      // Before anything that can fail: whoever gives up here must leave no server behind that still acts (DU-11).
      if (await endProcesses(processes, this.#clock)) await journal.setProcesses(lease, []);
      const opened = await openRun(pagesOfRun(journal, run), options.inputs ?? {});
      const { admitted } = opened;
      const deployment = goOn ? await this.#deploymentOf(opened) : null;
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
      const env = this.#environment(journal, connectors, models, feed);
      const active = resumeRun(admitted, opened.roots, opened.first, env, lease, history, past);
      return this.#handle(active, connectors, journal, feed, options.signal);
    } catch (error) {
      await closeAll(connectors);
      await journal.release(lease).catch(() => {});
      throw error;
    }
  }

  /** The deployment that a run was started with, as it is now. */
  async #deploymentOf(opened: OpenedRun): Promise<LoadedDeployment> {
    if (opened.origin === null || this.#deployments.isGiven) return this.deployment(this.cwd);
    return this.#deployments.load(resolveOrigin(opened.origin, this.#storePath ?? MEMORY_STORE).config);
  }

  /** Evaluates a run again from its records alone: of the store, or of a file of `runs export`. */
  async replay(runOrRecords: string | readonly RunRecord[], options: { with?: string } = {}): Promise<ReplayReport> {
    try {
      const pages = typeof runOrRecords === "string" ? await this.#pages(runOrRecords) : pagesOfRecords(runOrRecords);
      const { admitted, roots, cursor } = await openRun(pages, {});
      const runners: StepRunners = { ...BASIC_RUNNERS, agent: agentRunner(new Map()) };
      if (options.with === undefined) return await replayRun(admitted, roots, runners, cursor);
      return await replayRun(changedPlan(admitted, readWorkflow(options.with, this.cwd)), roots, runners, cursor, true);
    } catch (error) {
      throw refusedBy(error);
    }
  }

  /**
   * Asks the owner of a run to cancel it; one whose owner is gone is taken over and ended here. With `force` an
   * owner that does not end it within two seconds loses it.
   */
  async cancel(run: string, by: string, force: boolean): Promise<"asked" | "cancelled" | "over"> {
    const journal = await this.journal(null);
    try {
      const head = await journal.find(run);
      if (isOver(head)) return "over";
      if (head.owner === null || isAlive(head.owner) === false) return await this.#endHere(journal, head.run, by);
      await journal.post({ run: head.run, verb: "cancel", by, body: force ? { force: true } : {} });
      if (!force) return "asked";
      const until = this.#clock.now() + FORCE_AFTER_MS;
      while (this.#clock.now() < until) {
        await sleep(this.#clock, FORCE_LOOK_MS);
        if (isOver(await journal.find(head.run))) return "cancelled";
      }
      return await this.#endHere(journal, head.run, by, "force");
    } catch (error) {
      throw refusedBy(error);
    }
  }

  /** Takes a run over only to end it. */
  async #endHere(journal: Journal, run: string, by: string, force?: "force"): Promise<"cancelled"> {
    const active = await this.#takeOver(journal, run, {}, false, force);
    active.cancel(by);
    await active.result();
    return "cancelled";
  }

  /** The store, opened once. */
  async journal(deployment: LoadedDeployment | null): Promise<Journal> {
    if (this.#journal === null) {
      const found = deployment ?? (await this.#deployments.orNull());
      const path = locateStore(this.cwd, this.#options.store, found?.store.path ?? null);
      this.#storePath = path;
      this.#journal = openStore(path, found?.store.durability ?? "full", this.#clock);
    }
    try {
      return await this.#journal;
    } catch (error) {
      throw refusedBy(error);
    }
  }

  get storePath(): string | null {
    return this.#storePath;
  }

  async close(): Promise<void> {
    if (this.#journal === null) return;
    await this.#journal.then((journal) => journal.close()).catch(() => {});
  }

  async #pages(run: string): Promise<Pages> {
    const journal = await this.journal(null);
    const head = await journal.find(run);
    return pagesOfRun(journal, head.run);
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
    const say = this.#options.say ?? ((line: string): void => void process.stderr.write(`${line}\n`));
    const context = { env: this.#env, clock: this.#clock, say };
    return connectorsOf(admitted, deployment, context, signal ?? new AbortController().signal);
  }

  #environment(
    journal: Journal,
    connectors: Map<string, Connector>,
    models: Map<string, ModelPort>,
    feed: Feed,
  ): RunEnvironment {
    return {
      clock: this.#clock,
      journal,
      owner: this.#owner,
      connectors,
      runners: { ...BASIC_RUNNERS, agent: agentRunner(models) },
      onRecord: (record) => feed.push(record),
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

function isOver(head: RunHead): boolean {
  return head.status !== "running" && head.status !== "suspended";
}

function asMap(value: Json): JsonObject {
  return isObject(value) ? (value as JsonObject) : {};
}

function checkRunId(id: string): void {
  const problem = runIdProblem(id);
  if (problem === null) return;
  throw new Refused(2, new Fault("input.invalid", "", `The run id cannot be used: it ${problem}.`));
}
