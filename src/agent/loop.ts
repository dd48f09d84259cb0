/**
 * The agent step (seed 000). The engine owns the loop: a model port is asked for one turn at a time.
 *
 * I1: the agent is given the rendered goal, the projected context, the tools' schemas, the result's schema
 *     and the bounds; nothing else of the run (WX-26, 27).
 * I2: each turn, with its verdicts and keys, is on disk before any of its calls is dispatched.
 * I3: what happens after a turn is computed from its record alone: live, resumed and replayed agree.
 * I4: after the first bound is reached no further work is accepted; a typed result still counts. A `tokens`
 *     bound is reached by a turn without a count, too (token-count.ts).
 * I5: every way out is one `agent.ended` record with its reason and the observed counts; what a stopped turn
 *     has cost is among them.
 * I6: nothing sensitive stands in a turn's record, whatever the agent says again (run/hide.ts).
 * I7: the loop is bounded whatever the agent does: turns, refused turns in a row, empty turns, proposals.
 */
import { invariant } from "../base/invariant.ts";
import type { Json, JsonObject } from "../base/json.ts";
import type { SecretTexts } from "../base/secret-texts.ts";
import { Fault, type FaultJson } from "../errors/fault.ts";
import type { AgentEnd } from "../journal/bodies.ts";
import { marksIn, peel, recorded, reveal, SUPPRESSED, type Val } from "../plan/marked.ts";
import { auxPosition, indexedPosition, type Position } from "../plan/position.ts";
import type { AgentStep } from "../plan/step.ts";
import { isSuppressed, suppressedStep } from "../run/dry-run.ts";
import type { End, Stop } from "../run/end.ts";
import { sensitiveTexts } from "../run/hide.ts";
import { HistoryMismatch } from "../run/history.ts";
import type { Interpreter } from "../run/interpreter.ts";
import { Meter } from "../run/meter.ts";
import { needClear } from "../run/redacted.ts";
import type { LiveBody } from "../run/scheduler.ts";
import { messageOf, settle } from "../run/settle.ts";
import type { StepContext, StepRunner } from "../run/steps/step-runner.ts";
import { inOrder, refusalAnswer } from "./answers.ts";
import { type CallsOf, dispatchAll } from "./calls.ts";
import { type Finish, invalidResult, typedResult } from "./finish.ts";
import { noGoal } from "./goal.ts";
import { type Bound, exhaustedText, type LoopEnd, modelFailure, stopReason } from "./loop-end.ts";
import type { Message, ModelPort, TurnOutcome, TurnRequest } from "./model.ts";
import { callsHide, checkMessages } from "./recorded-messages.ts";
import { countTurn } from "./token-count.ts";
import { agentTools, toolSpec } from "./tools.ts";
import { copyState, type TurnState, takeCalls } from "./turn.ts";
import { callsOf, failedTurn, stoppedTurn, turnRecord, unaskedTurn, withInputs } from "./turn-record.ts";

const MAX_TURNS = 1_000;
const MAX_REFUSED_TURNS = 8;
const NO_RESULT = "The agent neither called a tool nor gave a result, twice.";
const ASK_FOR_RESULT = "Please return the result now, or give up with a reason.";

/** The models of a run by agent name; empty in a replay, which contacts none. */
export type Models = ReadonlyMap<string, ModelPort>;

/** Makes the runner of agent steps for one run's models. */
export function agentRunner(models: Models): StepRunner<"agent"> {
  return async (interpreter, step, context) => {
    const { position, scope } = context;
    const goal = interpreter.evaluator.value(step.goal, scope, position);
    if (!goal.ok) return { is: "failed", fault: goal.fault };
    const unfit = isSuppressed(goal.value) ? null : noGoal(step.goal, goal.value, position);
    if (unfit !== null) return { is: "failed", fault: unfit };
    const projected = interpreter.evaluator.value(step.with, scope, position);
    if (!projected.ok) return { is: "failed", fault: projected.fault };
    if (isSuppressed(goal.value) || isSuppressed(projected.value)) {
      return suppressedStep(interpreter, position, "agent", "reads_suppressed", { agent: step.agent });
    }
    const execution = new AgentExecution(
      interpreter,
      step,
      context,
      models.get(step.agent) ?? null,
      goal.value,
      projected.value,
    );
    return execution.run();
  };
}

class AgentExecution {
  readonly #in: Interpreter;
  readonly #step: AgentStep;
  readonly #context: StepContext;
  readonly #at: Position;
  readonly #model: ModelPort | null;
  readonly #goal: Val;
  readonly #projected: Val;
  readonly #finish: Finish;
  /** What must not stand in a record in clear: all that is sensitive in what the step reads, and in what it has called. */
  #sensitive: SecretTexts;
  /** Something of what the step reads, calls or returns does not stand in records. */
  readonly #hides: boolean;
  readonly #meter: Meter;
  readonly #state: TurnState;
  readonly #calls: CallsOf;
  readonly #startedAt: number;
  /** Of a dry run: what comes after such an answer, the result included, is derived from something not done. */
  #shownSuppressed = false;
  readonly #messages: Message[] = [];

  constructor(
    interpreter: Interpreter,
    step: AgentStep,
    context: StepContext,
    model: ModelPort | null,
    goal: Val,
    projected: Val,
  ) {
    this.#in = interpreter;
    this.#step = step;
    this.#context = context;
    this.#at = context.position;
    this.#model = model;
    this.#goal = goal;
    this.#projected = projected;
    this.#finish = typedResult(step.returns);
    const read = step.reads.map((name) => context.scope.read(name) ?? null);
    this.#sensitive = sensitiveTexts([...read, goal, projected]);
    this.#meter = new Meter(step.budget);
    this.#calls = {
      interpreter,
      step,
      stop: context.stop,
      meter: this.#meter,
      onSuppressed: () => {
        this.#shownSuppressed = true;
      },
    };
    this.#startedAt = interpreter.scheduler.now;
    const { definition } = interpreter.admitted;
    invariant(step.tools !== "deployment", "an agent step that takes the deployment's tools was admitted");
    const tools = agentTools(step.tools, definition.manifests, definition.policy, step.agent);
    this.#hides = marksIn([...read, goal, projected]).sensitive === true || callsHide(tools, step.returns);
    this.#state = {
      run: interpreter.run,
      step: this.#at,
      tools,
      denied: (action) => interpreter.isDenied(action),
      meter: this.#meter,
      nextN: 0,
      accepted: new Map(),
      dryRun: interpreter.dryRun,
      uncounted: 0,
    };
  }

  async run(): Promise<End> {
    const { scheduler } = this.#in;
    this.#noteStart();
    const { duration } = this.#step.budget;
    if (duration !== undefined) {
      const stop: Stop = { cause: "budget", because: null, limit: duration, by: null };
      scheduler.stopAt(this.#context.stop, this.#startedAt + duration, stop);
    }
    const end = await this.#loop();
    return this.#conclude(end);
  }

  #noteStart(): void {
    const identity = this.#in.admitted.definition.agents[this.#step.agent];
    invariant(identity !== undefined, `the agent ${this.#step.agent} was not admitted`);
    const tools = [...this.#state.tools].map(([action, tool]) => ({
      action,
      connection: tool.action.connection,
      manifest: `${tool.action.manifest.name}`,
    }));
    const { returns, budget } = this.#step;
    const handed: JsonObject = {
      goal: recorded(this.#goal),
      context: recorded(this.#projected),
      tools,
      returns: returns as unknown as Json,
      budget: { ...budget },
    };
    this.#in.scheduler.note({
      kind: "agent.started",
      position: this.#at,
      attempt: 1,
      in: handed,
      body: {
        agent: {
          name: identity.name,
          provider: identity.provider,
          model: identity.model,
          protocol: identity.protocol,
          settings: identity.settings,
          token_method: identity.tokenMethod,
          digest: identity.digest,
        },
        ...handed,
      },
    });
  }

  /** Ends the execution: its record, then what the step makes of it. */
  async #conclude(end: LoopEnd): Promise<End> {
    if (end.reason === "stopped") {
      const own = this.#context.stop.stop;
      const outer = this.#context.stop.parent?.current ?? null;
      if (outer === null && own?.cause === "budget") return this.#exhausted("duration");
      const timeout = outer === null && own?.cause === "timeout";
      this.#noteEnd(timeout ? "timeout" : stopReason(end.stop), null, null);
      return { is: "stopped", stop: end.stop };
    }
    if (end.reason === "aborted-run") {
      this.#noteEnd("aborted", null, null);
      return end.end;
    }
    if (end.reason === "exhausted") return this.#exhausted(end.by);
    if (end.reason === "result") {
      this.#noteEnd("result", end.value, null);
      return { is: "value", value: end.value };
    }
    this.#noteEnd(end.reason, null, end.fault);
    return { is: "failed", fault: end.fault };
  }

  #noteEnd(reason: AgentEnd, result: Val, fault: Fault | null): void {
    this.#in.scheduler.note({
      kind: "agent.ended",
      position: this.#at,
      attempt: 1,
      in: undefined,
      body: {
        reason,
        ...(reason === "result" ? { result: recorded(result) } : {}),
        ...(fault === null ? {} : { fault: fault.toJSON() as unknown as Json }),
        observed: {
          steps: this.#meter.steps,
          tokens: this.#meter.tokens,
          duration_ms: this.#in.scheduler.now - this.#startedAt,
          ...(this.#state.uncounted === 0 ? {} : { unreported: this.#state.uncounted }),
        },
        overshoot: this.#meter.overshoot,
      },
    });
  }

  /** `on_exhausted`, then the failure all the same: a handler is no result (WX-87, 88). */
  async #exhausted(by: Bound): Promise<End> {
    const { budget } = this.#step;
    const limit = budget[by] ?? 0;
    const fault = new Fault("agent.budget_exhausted", this.#at, exhaustedText(by, limit, this.#meter.tokensSpent), {
      bound: by,
      limit,
    });
    this.#noteEnd("exhausted", null, fault);
    this.#context.stop.disarm();
    const steps = this.#step.onExhausted;
    if (steps === undefined) return { is: "failed", fault };
    const { scheduler } = this.#in;
    const position = auxPosition(this.#at, "on_exhausted");
    const outer = this.#context.stop.parent;
    invariant(outer !== null, "an agent step without a scope around it");
    const scope = scheduler.openScope(position, outer);
    if (this.#context.due !== null) {
      const limit = this.#context.due - this.#startedAt;
      scheduler.stopAt(scope, this.#context.due, { cause: "timeout", because: null, limit, by: null });
    }
    const names = this.#context.scope.enter({ error: this.#in.errorValue(fault) });
    const end = await this.#in.list(steps, { ...this.#context, scope: names, position, stop: scope });
    scheduler.closeScope(scope);
    if (end.is === "exit") return end;
    if (end.is === "stopped" && outer.current !== null) return end;
    if (end.is !== "failed") return { is: "failed", fault };
    const handler = { code: end.fault.code, position: end.fault.at, message: end.fault.message };
    return { is: "failed", fault: new Fault(fault.code, fault.at, fault.message, { ...fault.details, handler }) };
  }

  async #loop(): Promise<LoopEnd> {
    // Not from the record: `agent.started` holds goal and context masked, the agent is given them in clear.
    this.#messages.push({
      role: "task",
      goal: String(reveal(this.#goal)),
      context: reveal(this.#projected),
      bounds: { ...this.#step.budget },
    });
    let fresh: Message[] = [];
    let refusedTurns = 0;
    let asked = false;
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      const at = indexedPosition(auxPosition(this.#at, "turns"), turn);
      const body = await this.#turn(turn, at, fresh);
      // Before anything else is looked at: what it has cost, it has cost.
      const budgetSpent = countTurn(this.#state, body["usage"] ?? null);
      const stop = this.#context.stop.current;
      if (stop !== null) return { reason: "stopped", stop };
      const failure = peel(body["fault"] ?? null).value;
      if (failure !== null) return modelFailure(Fault.from(recorded(failure) as unknown as FaultJson));
      this.#remember(body);
      const { result } = body;
      const calls = callsOf(body, at);
      this.#sensitive = withInputs(this.#sensitive, this.#state, calls);
      const giveUp = peel(body["give_up"] ?? null).value;
      const round = { resultOffered: result !== undefined, gaveUp: typeof giveUp === "string", budgetSpent };
      const taken = takeCalls(this.#state, calls, round);
      if (!this.#hides) checkMessages(body, fresh, calls, this.#state.tools, this.#finish, at);
      if (result !== undefined) return this.#result(result, body["problems"] ?? null, at);
      if (typeof giveUp === "string") {
        const fault = new Fault("agent.gave_up", this.#at, `The agent gave up: ${giveUp.slice(0, 1_024)}`);
        return { reason: "gave_up", fault };
      }
      if (calls.length === 0) {
        if (budgetSpent) return { reason: "exhausted", by: "tokens" };
        if (asked) return { reason: "no_result", fault: this.#fault("agent.no_result", NO_RESULT) };
        asked = true;
        fresh = [{ role: "engine", text: ASK_FOR_RESULT }];
        continue;
      }
      const { accepted, refused, forBudget } = taken;
      const dispatched = await dispatchAll(this.#calls, accepted);
      if ("reason" in dispatched) return dispatched;
      if (budgetSpent) return { reason: "exhausted", by: "tokens" };
      if (forBudget) return { reason: "exhausted", by: "steps" };
      refusedTurns = accepted.length === 0 ? refusedTurns + 1 : 0;
      if (refusedTurns >= MAX_REFUSED_TURNS) {
        const message = `The agent's proposals of ${MAX_REFUSED_TURNS} turns in a row were all refused.`;
        return { reason: "no_progress", fault: this.#fault("agent.no_progress", message) };
      }
      const { answers } = dispatched;
      for (const { index, call } of refused) answers.set(index, refusalAnswer(call));
      fresh = [{ role: "results", results: inOrder(answers) }];
    }
    const message = `The agent took ${MAX_TURNS} turns without an end.`;
    return { reason: "no_progress", fault: this.#fault("agent.no_progress", message) };
  }

  #fault(code: string, message: string): Fault {
    return new Fault(code, this.#at, message);
  }

  /** The step's end by the result that a turn's record holds. */
  #result(result: Val, problems: Val, at: Position): LoopEnd {
    if (this.#shownSuppressed) return { reason: "result", value: SUPPRESSED };
    if (problems !== null) return { reason: "invalid_result", fault: invalidResult(problems, this.#at) };
    if (this.#finish.fits(result)) return { reason: "result", value: result };
    throw new HistoryMismatch(at, `the turn at ${at} is recorded with a result that does not fit`, {
      kind: "agent.turn",
      expected: "agent.invalid_result",
      recorded: "a result",
    });
  }

  async #turn(turn: number, at: Position, fresh: readonly Message[]): Promise<LiveBody> {
    const delivery = await this.#in.scheduler.wait({
      kind: "agent.turn",
      position: at,
      attempt: 1,
      in: undefined,
      scope: this.#context.stop,
      onBudget: "abort",
      flush: true,
      needs: [this.#goal, this.#projected],
      start: async (context) => {
        const { signal } = context.effect;
        if (signal.aborted) return unaskedTurn();
        needClear([this.#goal, this.#projected], this.#at, "The agent");
        const model = this.#model;
        if (model === null) {
          const message = `No model answers for ${this.#step.agent}.`;
          return failedTurn({ code: "agent.unavailable", message }, this.#at, { input: 0, output: 0 }, this.#sensitive);
        }
        const request: TurnRequest = {
          run: this.#in.run,
          step: this.#at,
          agent: this.#step.agent,
          turn,
          messages: [...this.#messages, ...fresh],
          tools: [...this.#state.tools].map(([name, tool]) => toolSpec(name, tool)),
          result: this.#finish.schema,
          maxOutputTokens: this.#meter.tokensLeft,
        };
        const outcome = await settle<TurnOutcome>(
          context,
          this.#in.scheduler.drainGrace,
          () => model.turn(request, signal),
          (error) => ({ is: "failed", code: "agent.unavailable", message: messageOf(error) }),
        );
        if (signal.aborted || outcome === null) return stoppedTurn(outcome);
        if (outcome.is === "failed") return failedTurn(outcome, this.#at, null, this.#sensitive);
        return turnRecord(outcome, fresh, copyState(this.#state), this.#finish, this.#sensitive);
      },
    });
    return delivery.body;
  }

  #remember(body: LiveBody): void {
    // They hold no mark: what only looks like one is what the agent was told, or has said.
    this.#messages.push(...(reveal(body["messages"] ?? []) as unknown as Message[]));
  }
}
