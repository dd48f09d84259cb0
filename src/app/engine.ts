/**
 * The composition root: every port meets its implementation here and nowhere else. It is longer than most files
 * because it is the one place that knows all parts; what each start has to do stands in files beside it.
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
import { hasErrors } from "../errors/diagnostic.ts";
import { Fault, Refusal } from "../errors/fault.ts";
import { isAlive, ownOwner } from "../host/stores/process-identity.ts";
import { Cursor, type Pages, pagesOfRecords, pagesOfRun } from "../journal/cursor.ts";
import type { RunRecord } from "../journal/event.ts";
import { readExport } from "../journal/export.ts";
import { toResult } from "../journal/fold.ts";
import type { Journal, Owner, RunHead } from "../journal/journal.ts";
import type { RunResult } from "../journal/result.ts";
import { runIdProblem } from "../journal/run-id.ts";
import type { Plan } from "../plan/plan.ts";
import { BASIC_RUNNERS } from "../run/interpreter.ts";
import { Past } from "../run/past.ts";
import { type ReplayReport, replayRun } from "../run/replay.ts";
import { type ActiveRun, type RunEnvironment, resumeRun, startRun } from "../run/run.ts";
import type { StepRunners } from "../run/steps/step-runner.ts";
import { SourceText } from "../text/tree.ts";
import { parseYaml } from "../text/yaml.ts";
import { offeredCapabilities } from "./capabilities.ts";
import { closeAll, connectAll, Limiters } from "./connectors.ts";
import { readForImport } from "./deployment/for-import.ts";
import { secretsOf } from "./deployment/secrets-of.ts";
import type { Environment } from "./deployment/section.ts";
import { findDeployment, type LoadedDeployment, loadDeployment, readDeployment } from "./deployment.ts";
import { endProcesses } from "./end-processes.ts";
import { Feed } from "./feed.ts";
import { bindInputs } from "./inputs.ts";
import { ModelShop } from "./models.ts";
import { changedPlan, type OpenedRun, openRun, originOf, resolveOrigin } from "./open-run.ts";
import { Refused } from "./refused.ts";
import { scriptedAgents } from "./scripted-override.ts";
import { locateStore, MEMORY_STORE, OpenedState, openStore } from "./store.ts";
import { readWorkflow, type WorkflowFile } from "./workflow-file.ts";

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

/** A run under way in this process. */
export interface EngineRun {
  readonly id: string;
  /** Every record of this run from its first, then live, until its end. */
  events(): AsyncGenerator<RunRecord>;
  /** The fold of its records, once it has ended. Rejects with `Refused` where it could not go on here. */
  result(): Promise<RunResult>;
  cancel(by?: string): void;
  /** Ends at once; what was under way is unknown or lost. */
  abandon(by?: string): void;
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
  #journal: Promise<Journal> | null = null;
  readonly #state = new OpenedState();
  readonly #limiters = new Limiters();
  #storePath: string | null = null;

  constructor(options: EngineOptions) {
    this.cwd = options.cwd ?? process.cwd();
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#ids = options.ids ?? systemIds;
    this.#env = options.env ?? process.env;
    this.#owner = ownOwner(this.#ids.token(8), options.label ?? "library");
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
  async deployment(folder: string): Promise<LoadedDeployment> {
    const { deployment } = this.#options;
    if (typeof deployment === "object") return this.#read(deployment);
    return this.#load(
      findDeployment([folder, this.cwd], deployment === undefined ? undefined : resolve(this.cwd, deployment)),
    );
  }

  /** What `connectors import NAME` needs: the rest of the deployment, and that manifest, may be missing or broken. */
  async deploymentOfConnector(name: string): Promise<LoadedDeployment> {
    const { deployment } = this.#options;
    const given = typeof deployment === "string" ? resolve(this.cwd, deployment) : undefined;
    const path = typeof deployment === "object" ? null : findDeployment([this.cwd], given);
    const found = path === null ? null : await readForImport(path, name, this.#env);
    if (found === null) return this.deployment(this.cwd);
    if (found.deployment === null) throw Refused.by(found.diagnostics, true);
    return found.deployment;
  }

  async #read(content: JsonObject): Promise<LoadedDeployment> {
    const source = new SourceText("deployment", JSON.stringify(content));
    const { root, diagnostics } = parseYaml(source);
    if (root === null) throw Refused.by(diagnostics, true);
    const read = await readDeployment(source, root, { file: null, folder: this.cwd }, this.#env);
    if (read.deployment === null) throw Refused.by(read.diagnostics, true);
    return read.deployment;
  }

  async #load(path: string | null): Promise<LoadedDeployment> {
    const { deployment, diagnostics } = await loadDeployment(path, this.#env);
    if (deployment === null || hasErrors(diagnostics)) throw Refused.by(diagnostics, true);
    return deployment;
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
      catalog: new Catalog(Object.values(deployment.connectors)),
      agents: this.#agentsOf(deployment, plan),
      chosenAgents: this.#options.agents ?? {},
      describeAgent: (config) => shop.describe(config),
      settings: deployment.settings,
      notify:
        deployment.notify === null ? null : { action: deployment.notify.action, with: asMap(deployment.notify.with) },
      secrets: secretsOf(deployment),
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
    const inputs = bindInputs(workflow.plan, options.inputs ?? {});
    const deployment = await this.deployment(workflow.folder);
    const { admitted, diagnostics } = this.#admit(workflow, deployment, options.deadline);
    if (admitted === null) throw Refused.by(diagnostics);
    const journal = await this.journal(deployment);
    const id = options.runId ?? this.#ids.run(this.#clock.now());
    checkRunId(id);
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
   * Goes on with a run whose process is gone. One that has ended is given as it is. `inputs` gives sensitive
   * inputs again: records hold none.
   */
  async resume(run: string, options: { inputs?: JsonObject; signal?: AbortSignal } = {}): Promise<EngineRun> {
    const journal = await this.journal(null);
    try {
      const head = await journal.find(run);
      if (isOver(head)) return await this.#endedRun(journal, head.run);
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
    if (opened.origin === null || this.#options.deployment !== undefined) return this.deployment(this.cwd);
    return this.#load(resolveOrigin(opened.origin, this.#storePath ?? MEMORY_STORE).config);
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
      const found = deployment ?? (await this.#deploymentOrNull());
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
    await this.#state.close();
    if (this.#journal === null) return;
    await this.#journal.then((journal) => journal.close()).catch(() => {});
  }

  /** For commands that only read the store: a deployment that is broken or missing does not stop them. */
  async #deploymentOrNull(): Promise<LoadedDeployment | null> {
    try {
      return await this.deployment(this.cwd);
    } catch {
      return null;
    }
  }

  async #pages(run: string): Promise<Pages> {
    const journal = await this.journal(null);
    const head = await journal.find(run);
    return pagesOfRun(journal, head.run);
  }

  async #models(admitted: AdmittedPlan, deployment: LoadedDeployment): Promise<Map<string, ModelPort>> {
    const shop = new ModelShop(this.#clock, this.#env);
    const agents = this.#agentsOf(deployment, admitted.definition.plan);
    const models = new Map<string, ModelPort>();
    for (const [name, identity] of Object.entries(admitted.definition.agents)) {
      const config = Object.values(agents)
        .flat()
        .find((entry) => entry.id === identity.id && entry.name === identity.name);
      if (config === undefined) {
        throw new Refused(
          3,
          new Fault("agent.unresolved", "", `The deployment has no agent configuration ${identity.id} any more.`),
        );
      }
      try {
        models.set(name, await shop.port(config));
      } catch (error) {
        throw refusedBy(error);
      }
    }
    return models;
  }

  async #connect(
    admitted: AdmittedPlan,
    deployment: LoadedDeployment,
    signal?: AbortSignal,
  ): Promise<Map<string, Connector>> {
    try {
      const context = {
        env: this.#env,
        clock: this.#clock,
        say: this.#options.say ?? ((line) => process.stderr.write(`${line}\n`)),
        limiters: this.#limiters,
        state: async () => {
          const { durability } = (await this.journal(deployment)).describe();
          return this.#state.open(this.#storePath ?? MEMORY_STORE, durability);
        },
      };
      return await connectAll(admitted, deployment, context, signal ?? new AbortController().signal);
    } catch (error) {
      throw refusedBy(error);
    }
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
    const by = this.#options.identity ?? "library";
    const onAbort = (): void => active.cancel(by);
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted) onAbort();
    const ended = active.ended.then(
      () => feed.end(),
      (error: unknown) => {
        feed.end();
        throw refusedBy(error);
      },
    );
    const result = ended
      .finally(async () => {
        signal?.removeEventListener("abort", onAbort);
        await closeAll(connectors);
      })
      .then(() => toResult(feed.state));
    // A caller that only reads events must not be punished for a failure it will see in `result`.
    result.catch(() => {});
    return {
      id: active.run,
      events: () => feed.read(pagesOfRun(journal, active.run)),
      result: () => result,
      cancel: (who) => active.cancel(who ?? by),
      abandon: (who) => active.abandon(who ?? by),
    };
  }

  async #endedRun(journal: Journal, run: string): Promise<EngineRun> {
    const feed = new Feed();
    for await (const record of new Cursor(pagesOfRun(journal, run))) feed.push(record);
    feed.end();
    return {
      id: run,
      events: () => feed.read(pagesOfRun(journal, run)),
      result: async () => toResult(feed.state),
      cancel: () => {},
      abandon: () => {},
    };
  }
}

function isOver(head: RunHead): boolean {
  return head.status !== "running" && head.status !== "suspended";
}

/** Reads the records of an exported file. */
export function readRunFile(text: string): RunRecord[] {
  try {
    return readExport(text).records;
  } catch (error) {
    throw refusedBy(error);
  }
}

function refusedBy(error: unknown): unknown {
  return error instanceof Refusal ? Refused.from(error) : error;
}

function asMap(value: Json): JsonObject {
  return isObject(value) ? (value as JsonObject) : {};
}

function checkRunId(id: string): void {
  const problem = runIdProblem(id);
  if (problem === null) return;
  throw new Refused(2, new Fault("input.invalid", "", `The run id cannot be used: it ${problem}.`));
}
