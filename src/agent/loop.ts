/**
 * The agent step (seed 000). The engine owns the loop: a model port is asked for one turn at a time.
 *
 * I1: the agent is given the rendered goal, the projected context, the tools' schemas, the result's schema
 *     and the bounds; nothing else of the run (WX-26, 27).
 * I2: each turn, with its verdicts and keys, is on disk before any of its calls is dispatched.
 * I3: what happens after a turn is computed from its record alone: live, resumed and replayed agree.
 * I4: after the first bound is reached no further work is accepted; a typed result still counts.
 * I5: every way out is one `agent.ended` record with its reason and the observed counts.
 * I6: nothing sensitive stands in a turn's record, whatever the agent says again (run/hide.ts).
 * I7: the loop is bounded whatever the agent does: turns, refused turns in a row, empty turns, proposals.
 */
import { invariant } from "../base/invariant.ts";
import { isObject, type Json, type JsonObject } from "../base/json.ts";
import { hasEffect } from "../catalog/manifest.ts";
import { Fault, type FaultJson } from "../errors/fault.ts";
import type { AgentEnd } from "../journal/bodies.ts";
import { peel, recorded, reveal, type Val } from "../plan/marked.ts";
import { auxPosition, indexedPosition, type Position } from "../plan/position.ts";
import type { AgentStep } from "../plan/step.ts";
import { type CallEnd, dispatch } from "../run/dispatch.ts";
import type { End, Stop } from "../run/end.ts";
import { hide, hideMarked, hideText, markTexts, sensitiveTexts } from "../run/hide.ts";
import type { Interpreter } from "../run/interpreter.ts";
import { Meter } from "../run/meter.ts";
import { needClear } from "../run/redacted.ts";
import type { LiveBody } from "../run/scheduler.ts";
import { messageOf, settle } from "../run/settle.ts";
import type { StepContext, StepRunner } from "../run/steps/step-runner.ts";
import { type Finish, invalidResult, typedResult } from "./finish.ts";
import type { Message, ModelPort, Proposal, ToolAnswer, TurnOutcome, TurnRequest } from "./model.ts";
import { shownToModel } from "./shown.ts";
import { agentTools, toolSpec } from "./tools.ts";
import { type AcceptedCall, copyState, type JudgedCall, judgeProposals, type TurnState, takeCalls } from "./turn.ts";

const MAX_TURNS = 1_000;
const MAX_REFUSED_TURNS = 8;
const MAX_TEXT = 65_536;
const ASK_FOR_RESULT = "Please return the result now, or give up with a reason.";

/** The models of a run by agent name; empty in a replay, which contacts none. */
export type Models = ReadonlyMap<string, ModelPort>;

/** What the loop came to, before the step's own rules (exhaustion, timeout) are applied. */
type LoopEnd =
  | { reason: "result"; value: Val }
  | { reason: "exhausted"; by: "steps" | "tokens" | "duration" }
  | { reason: Exclude<AgentEnd, "result" | "exhausted">; fault: Fault }
  | { reason: "stopped"; stop: Stop }
  /** An unknown outcome that ends the run (`abort`). */
  | { reason: "aborted-run"; end: End };

/** Makes the runner of agent steps for one run's models. */
export function agentRunner(models: Models): StepRunner<"agent"> {
  return async (interpreter, step, context) => {
    const { position, scope } = context;
    const goal = interpreter.evaluator.value(step.goal, scope, position);
    if (!goal.ok) return { is: "failed", fault: goal.fault };
    const projected = interpreter.evaluator.value(step.with, scope, position);
    if (!projected.ok) return { is: "failed", fault: projected.fault };
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
  /** What must not stand in a record in clear: all that is sensitive in what the step reads. */
  readonly #sensitive: readonly string[];
  readonly #meter: Meter;
  readonly #state: TurnState;
  readonly #startedAt: number;
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
    this.#startedAt = interpreter.scheduler.now;
    const { definition } = interpreter.admitted;
    invariant(step.tools !== "deployment", "an agent step that takes the deployment's tools was admitted");
    this.#state = {
      run: interpreter.run,
      step: this.#at,
      tools: agentTools(step.tools, definition.manifests, definition.policy, step.agent),
      denied: (action) => interpreter.isDenied(action),
      meter: this.#meter,
      nextN: 0,
      accepted: new Map(),
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
        },
        overshoot: this.#meter.overshoot,
      },
    });
  }

  /** `on_exhausted`, then the failure all the same: a handler is no result (WX-87, 88). */
  async #exhausted(by: "steps" | "tokens" | "duration"): Promise<End> {
    const { budget } = this.#step;
    const limit = budget[by] ?? 0;
    const fault = new Fault("agent.budget_exhausted", this.#at, exhaustedText(by, limit), { bound: by, limit });
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
    const end = await this.#in.list(steps, { scope: names, position, stop: scope });
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
      const body = await this.#turn(turn, fresh);
      const stop = this.#context.stop.current;
      if (stop !== null) return { reason: "stopped", stop };
      const failure = peel(body["fault"] ?? null).value;
      if (failure !== null) return modelFailure(Fault.from(recorded(failure) as unknown as FaultJson));
      this.#remember(body);
      this.#countTokens(body);
      if (body["result"] !== undefined) {
        takeCalls(this.#state, callsOf(body));
        const problems = body["problems"] ?? null;
        return problems === null
          ? { reason: "result", value: body["result"] }
          : { reason: "invalid_result", fault: invalidResult(problems, this.#at) };
      }
      const giveUp = peel(body["give_up"] ?? null).value;
      if (typeof giveUp === "string") {
        const fault = new Fault("agent.gave_up", this.#at, `The agent gave up: ${giveUp.slice(0, 1_024)}`);
        return { reason: "gave_up", fault };
      }
      const calls = callsOf(body);
      if (calls.length === 0) {
        if (this.#meter.tokensSpent) return { reason: "exhausted", by: "tokens" };
        if (asked) {
          const fault = new Fault(
            "agent.no_result",
            this.#at,
            "The agent neither called a tool nor gave a result, twice.",
          );
          return { reason: "no_result", fault };
        }
        asked = true;
        fresh = [{ role: "engine", text: ASK_FOR_RESULT }];
        continue;
      }
      const { accepted, refused, forBudget } = takeCalls(this.#state, calls);
      const dispatched = await this.#dispatchAll(accepted);
      if ("reason" in dispatched) return dispatched;
      if (this.#meter.tokensSpent) return { reason: "exhausted", by: "tokens" };
      if (forBudget) return { reason: "exhausted", by: "steps" };
      refusedTurns = accepted.length === 0 ? refusedTurns + 1 : 0;
      if (refusedTurns >= MAX_REFUSED_TURNS) {
        const message = `The agent's proposals of ${MAX_REFUSED_TURNS} turns in a row were all refused.`;
        return { reason: "no_progress", fault: new Fault("agent.no_progress", this.#at, message) };
      }
      fresh = [{ role: "results", results: inOrder(calls, [...dispatched.answers, ...refused.map(refusalAnswer)]) }];
    }
    return {
      reason: "no_progress",
      fault: new Fault("agent.no_progress", this.#at, `The agent took ${MAX_TURNS} turns without an end.`),
    };
  }

  async #turn(turn: number, fresh: Message[]): Promise<LiveBody> {
    const delivery = await this.#in.scheduler.wait({
      kind: "agent.turn",
      position: indexedPosition(auxPosition(this.#at, "turns"), turn),
      attempt: 1,
      in: undefined,
      scope: this.#context.stop,
      onBudget: "abort",
      flush: true,
      start: async (context) => {
        const { signal } = context;
        if (signal.aborted) return emptyTurn("stopped");
        needClear([this.#goal, this.#projected], this.#at, "The agent");
        const model = this.#model;
        if (model === null)
          return failedTurn("agent.unavailable", `No model answers for ${this.#step.agent}.`, this.#at);
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
          signal,
          () => model.turn(request, signal),
          (error) => ({ is: "failed", code: "agent.unavailable", message: messageOf(error) }),
        );
        if (signal.aborted || outcome === null) return emptyTurn("stopped");
        if (outcome.is === "failed") return failedTurn(outcome.code, outcome.message, this.#at, outcome.details ?? {});
        const state = copyState(this.#state);
        state.meter.count(outcome.usage === null ? null : outcome.usage.input + outcome.usage.output);
        const offer = outcome.results[0];
        const calls = judgeProposals(state, outcome.calls, offer !== undefined, state.meter.tokensSpent);
        const texts = this.#sensitive;
        const judged = offer === undefined ? null : this.#finish.judge(markTexts(offer, texts));
        const giveUp = outcome.giveUp === null ? null : hideText(outcome.giveUp.slice(0, MAX_TEXT), texts);
        const answer: Message = {
          role: "agent",
          text: hideText(outcome.text.slice(0, MAX_TEXT), texts),
          calls: outcome.calls.slice(0, calls.length).map((call) => hiddenProposal(call, state, texts)),
          results: judged === null ? [] : [hideMarked(judged.offer, texts)],
          ...(giveUp === null ? {} : { giveUp }),
        };
        return {
          messages: [...fresh.map((message) => hiddenMessage(message, texts)), answer] as unknown as Val,
          calls: calls.map((call) => hiddenCall(call, texts)) as unknown as Val,
          ...(judged === null ? {} : { result: judged.result }),
          ...(judged === null || judged.problems === null ? {} : { problems: hide(judged.problems, texts) }),
          ...(giveUp === null ? {} : { give_up: giveUp }),
          usage: outcome.usage,
          finish: outcome.finish,
        };
      },
    });
    return delivery.body;
  }

  #remember(body: LiveBody): void {
    this.#messages.push(...(recorded(body["messages"] ?? []) as unknown as Message[]));
  }

  #countTokens(body: LiveBody): void {
    const usage = recorded(body["usage"] ?? null);
    const reported = isObject(usage) ? Number(usage["input"] ?? 0) + Number(usage["output"] ?? 0) : null;
    this.#meter.count(reported);
  }

  /** Reads of a turn run side by side, all others alone and in order. */
  async #dispatchAll(calls: readonly AcceptedCall[]): Promise<LoopEnd | { answers: ToolAnswer[] }> {
    const answers: ToolAnswer[] = [];
    for (const group of sideBySide(calls)) {
      const ends = await this.#in.scheduler.fork(
        group.map((call) => () => this.#dispatchOne(call)),
        this.#in.limits.concurrency,
        () => this.#context.stop.current === null,
      );
      for (const [i, end] of ends.entries()) {
        const call = group[i];
        if (!call || end === null) continue;
        const lost = end.is === "unknown" ? end.code : end.is === "stopped" ? end.cutOff : null;
        if (lost !== null) this.#in.ends.unknownEffect(call.position, call.name, lost, call.key);
        if (end.is !== "stopped") answers.push(toolAnswer(call, end));
      }
      const stop = this.#context.stop.current;
      if (stop !== null) return { reason: "stopped", stop };
      const unknown = ends.find((end) => end?.is === "unknown");
      if (unknown?.is === "unknown" && this.#step.onUnknown !== "fail") {
        const end = await this.#in.unknown(this.#step.onUnknown, unknown.fault, unknown.fault.at);
        return { reason: "aborted-run", end };
      }
      if (ends.some((end) => end?.is === "exhausted")) return { reason: "exhausted", by: "steps" };
    }
    return { answers };
  }

  #dispatchOne(call: AcceptedCall): Promise<CallEnd> {
    const { manifest } = call.tool.action;
    return dispatch(this.#in.scheduler, this.#in.connectors, {
      run: this.#in.run,
      action: call.tool.action,
      args: call.args,
      key: call.key,
      position: call.position,
      scope: this.#context.stop,
      attempts: manifest.retry.attempts,
      backoff: manifest.retry.backoff,
      ofAgent: true,
      takeAttempt: () => this.#meter.take(),
      onDispatched: () => this.#meter.countDispatch(),
    });
  }
}

/** Groups of calls in order: neighbouring reads together, every effect alone. */
function sideBySide(calls: readonly AcceptedCall[]): AcceptedCall[][] {
  const groups: AcceptedCall[][] = [];
  let reads: AcceptedCall[] | null = null;
  for (const call of calls) {
    if (hasEffect(call.tool.action.manifest)) {
      groups.push([call]);
      reads = null;
    } else if (reads === null) {
      reads = [call];
      groups.push(reads);
    } else {
      reads.push(call);
    }
  }
  return groups;
}

function stopReason(stop: Stop): AgentEnd {
  return stop.cause === "abort" ? "aborted" : "cancelled";
}

function exhaustedText(by: "steps" | "tokens" | "duration", limit: number): string {
  if (by === "steps") return `The agent has used its ${limit} tool attempts.`;
  if (by === "tokens") return `The agent has used its ${limit} tokens.`;
  return `The agent was not done within ${limit} ms.`;
}

function callsOf(body: LiveBody): JudgedCall[] {
  const calls = peel(body["calls"] ?? []).value;
  return Array.isArray(calls) ? (calls as unknown as JudgedCall[]) : [];
}

/** A judged proposal as it may be recorded: what is dispatched keeps its value under a mark. */
function hiddenCall(call: JudgedCall, texts: readonly string[]): JudgedCall {
  if (texts.length === 0) return call;
  const { args_text: text, message, details } = call;
  return {
    ...call,
    args: markTexts(call.args, texts),
    ...(call.n === null ? { tool: hideText(call.tool, texts) } : {}),
    ...(text === undefined ? {} : { args_text: hideText(text, texts) }),
    ...(message === undefined ? {} : { message: hideText(message, texts) }),
    ...(details === undefined ? {} : { details: hide(details, texts) }),
  };
}

function hiddenProposal(call: Proposal, state: TurnState, texts: readonly string[]): Proposal {
  const { args, argsText } = call;
  return {
    ...call,
    tool: state.tools.has(call.tool) ? call.tool : hideText(call.tool, texts),
    ...(args === undefined ? {} : { args: hide(args, texts) as JsonObject }),
    ...(argsText === undefined ? {} : { argsText: hideText(argsText, texts) }),
  };
}

/** A message to the agent as it may be recorded. */
function hiddenMessage(message: Message, texts: readonly string[]): Message {
  if (message.role !== "results" || texts.length === 0) return message;
  const results = message.results.map((answer): ToolAnswer => {
    if (answer.ok) return { ...answer, value: hide(answer.value, texts) };
    const { code, message: said, details } = answer.error;
    return {
      ...answer,
      error: {
        code,
        message: hideText(said, texts),
        ...(details === undefined ? {} : { details: hide(details, texts) }),
      },
    };
  });
  return { role: "results", results };
}

function emptyTurn(finish: string): LiveBody {
  return { messages: [], calls: [], usage: null, finish };
}

function failedTurn(code: string, message: string, at: Position, details: JsonObject = {}): LiveBody {
  return { ...emptyTurn("failed"), fault: new Fault(code, at, message, details).toJSON() as unknown as Val };
}

function modelFailure(fault: Fault): LoopEnd {
  if (fault.code === "agent.rejected") return { reason: "rejected", fault };
  if (fault.code === "agent.stalled") return { reason: "stalled", fault };
  return { reason: "unavailable", fault };
}

function toolAnswer(call: AcceptedCall, end: Exclude<CallEnd, { is: "stopped" }>): ToolAnswer {
  if (end.is === "ok") {
    return { id: call.id, tool: call.name, ok: true, ...shownToModel(recorded(end.value)) };
  }
  const { code, message, details } = end.fault;
  const shown: Json =
    end.is === "unknown"
      ? { tool: call.name, ambiguity: end.code, ...(end.details === null ? {} : { details: end.details }) }
      : details;
  return { id: call.id, tool: call.name, ok: false, error: { code, message, details: shown } };
}

function refusalAnswer(call: JudgedCall): ToolAnswer {
  return {
    id: call.id,
    tool: call.tool,
    ok: false,
    error: {
      code: call.code ?? "agent.undeclared_tool",
      message: call.message ?? "Refused.",
      ...(call.details === undefined ? {} : { details: call.details }),
    },
  };
}

/** The answers in the order of the calls, however they ended. */
function inOrder(calls: readonly JudgedCall[], answers: ToolAnswer[]): ToolAnswer[] {
  const byId = new Map(answers.map((answer) => [answer.id, answer]));
  return calls.flatMap((call) => byId.get(call.id) ?? []);
}
