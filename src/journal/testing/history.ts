/** Builds histories for tests: records with right numbers, hashes and times, as a host would write them. */
import { isoTime } from "../../base/clock.ts";
import type { Json, JsonObject } from "../../base/json.ts";
import type { Plan } from "../../plan/plan.ts";
import type { Position } from "../../plan/position.ts";
import type { Step } from "../../plan/step.ts";
import {
  type AcceptedBody,
  bodyJson,
  type CallEndedBody,
  type Definition,
  type EndedBody,
  type EventBody,
} from "../bodies.ts";
import { definitionHash } from "../digest.ts";
import type { EventKind, RunRecord, TrailEntry } from "../event.ts";
import { type Beside, inOf, outOf } from "../hashes.ts";

const START = Date.parse("2026-01-01T00:00:00.000Z");

export interface RecordOptions {
  attempt?: number;
  trail?: TrailEntry[];
  beside?: Beside;
  /** Milliseconds since the record before. */
  after?: number;
}

/** A run that a test writes record by record. */
export class History {
  readonly run: string;
  readonly definition: Definition;
  readonly def: string;
  readonly records: RunRecord[] = [];
  #now = START;

  constructor(run = "run_test", plan: Plan = planOf([])) {
    this.run = run;
    this.definition = {
      plan,
      files: {},
      manifests: {},
      agents: {},
      policy: { deny: [], approve: [], agents: {}, ceiling: {} },
      limits: {
        deadline: 60_000,
        steps: 100,
        depth: 4,
        wait: 60_000,
        concurrency: 8,
        drainGrace: 100,
        cleanupGrace: 100,
      },
      settings: {},
      flags: {},
      report: { bounds: null },
    };
    this.def = definitionHash(this.definition);
  }

  add<K extends EventKind>(kind: K, position: Position, body: EventBody[K], options: RecordOptions = {}): this {
    this.#now += options.after ?? 10;
    this.records.push({
      v: 1,
      run: this.run,
      seq: this.records.length + 1,
      at: isoTime(this.#now),
      def: this.def,
      kind,
      position,
      attempt: options.attempt ?? 1,
      in: inOf(kind, body, options.beside) ?? null,
      out: outOf(kind, body),
      trail: options.trail ?? [],
      body: bodyJson(kind, body),
    });
    return this;
  }

  accepted(more: Partial<AcceptedBody> = {}): this {
    return this.add("run.accepted", "", {
      name: "sample",
      notation: "workfile",
      definition: this.definition,
      inputs: { sender: "ana@example.org" },
      trigger: null,
      identity: "tester",
      single: null,
      seed: "00",
      deadline_at: null,
      profile: "standard",
      durability: "full",
      dry_run: false,
      lineage: null,
      builtins: {},
      ...more,
    });
  }

  started(): this {
    return this.add("run.started", "", {});
  }

  call(position: Position, value: Json, more: Partial<CallEndedBody> = {}, options: RecordOptions = {}): this {
    return this.add("call.ended", position, callBody({ value, ...more }), options);
  }

  callFailed(position: Position, code: string, more: Partial<CallEndedBody> = {}, options: RecordOptions = {}): this {
    const fault = { code, position, message: `${code} happened`, details: {}, cause: null };
    return this.add("call.ended", position, callBody({ outcome: "failed", fault, ...more }), options);
  }

  callUnknown(position: Position, code: string, more: Partial<CallEndedBody> = {}, options: RecordOptions = {}): this {
    const body = callBody({ outcome: "unknown", effect: "unknown", ambiguity: { code, details: null }, ...more });
    return this.add("call.ended", position, body, options);
  }

  ended(status: EndedBody["status"], more: Partial<EndedBody> = {}, options: RecordOptions = {}): this {
    return this.add(
      "run.ended",
      "",
      {
        status,
        error: null,
        outputs: null,
        counts: { tool_attempts: 0, tokens: 0, agent_turns: 0, events: 0 },
        forgiven: [],
        skipped: [],
        truncated: [],
        unknown: [],
        cleanup: [],
        digest: `sha256:${"0".repeat(64)}`,
        ...more,
      },
      options,
    );
  }
}

function callBody(more: Partial<CallEndedBody>): CallEndedBody {
  return {
    action: "crm.search",
    connection: "main",
    args: { query: "ana" },
    key: null,
    outcome: "ok",
    effect: "none",
    retry: false,
    late: false,
    queued_ms: 0,
    duration_ms: 5,
    ...more,
  };
}

const SPAN = { line: 1, column: 1, endLine: 1, endColumn: 2 };
const COMMON = { span: SPAN, reads: [], writes: [], catch: [], cleanup: [], onUnknown: "abort" as const };

export function planOf(steps: Step[], more: Partial<Plan> = {}): Plan {
  return {
    v: 1,
    notation: "workfile",
    name: "sample",
    scope: "lexical",
    inputs: [],
    steps,
    cleanup: [],
    consts: {},
    settings: [],
    limits: {},
    triggers: [],
    callees: {},
    ...more,
  };
}

export function actionStep(id: string, more: Partial<Extract<Step, { kind: "action" }>> = {}): Step {
  return { ...COMMON, id, kind: "action", action: "crm.search", args: { lit: {} }, ...more };
}

export function assignStep(id: string): Step {
  return { ...COMMON, id, kind: "assign", values: { [id]: { lit: 1 } } };
}

export function branchStep(id: string, thenSteps: Step[], elseSteps: Step[] = []): Step {
  return { ...COMMON, id, kind: "branch", subject: true, arms: [{ is: true, steps: thenSteps }], else: elseSteps };
}

export function eachStep(id: string, steps: Step[]): Step {
  return {
    ...COMMON,
    id,
    kind: "each",
    list: { lit: [] },
    item: "item",
    concurrency: 1,
    steps,
    onItemFailure: "fail",
  };
}

export function parallelStep(id: string | undefined, branches: { name?: string; steps: Step[] }[]): Step {
  const step: Step = { ...COMMON, kind: "parallel", branches, concurrency: 8 };
  return id === undefined ? step : { ...step, id };
}

export function askStep(id: string): Step {
  return { ...COMMON, id, kind: "ask", text: { lit: "Go on?" }, returns: [], assignees: { lit: [] } };
}

/** A trail entry. */
export function did(position: Position, what: TrailEntry["what"], detail: Json = null): TrailEntry {
  return { position, what, detail };
}

/** A body with a member changed, for records that were tampered with. */
export function changed(record: RunRecord, body: JsonObject): RunRecord {
  return { ...record, body: { ...record.body, ...body } };
}
