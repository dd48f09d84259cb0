import type { Json, JsonObject } from "../base/json.ts";
import type { FaultJson } from "../errors/fault.ts";
import type { Plan } from "../plan/plan.ts";
import type { Position } from "../plan/position.ts";
import type { EventKind, RunRecord } from "./event.ts";
import type {
  CleanupEntry,
  Counts,
  Forgiven,
  Outcome,
  Skipped,
  Suppressed,
  SuspendReason,
  Truncated,
  Undetermined,
  UnknownEffect,
} from "./outcome.ts";

/**
 * What is pinned with a run (DU-03, DU-53). `files` are texts by name relative to the workflow's folder,
 * callees' files among them; `report` (the admission report) is the one part that `def` leaves out.
 */
export type Definition = {
  plan: Plan;
  files: { [name: string]: string };
  manifests: JsonObject;
  agents: JsonObject;
  policy: Json;
  limits: Json;
  settings: Json;
  flags: Json;
  report: Json;
};

export type AcceptedBody = {
  name: string;
  notation: Plan["notation"];
  definition: Definition;
  inputs: Json;
  trigger: Json;
  identity: string;
  single: string | null;
  seed: string;
  /** RFC 3339, null without a deadline. */
  deadline_at: string | null;
  profile: string;
  durability: string;
  dry_run: boolean;
  lineage: Json;
  builtins: Json;
};

/** How a run ended; `details` and `cause` of `error` included. */
export type EndedBody = {
  status: Outcome;
  error: FaultJson | null;
  outputs: Json;
  counts: Counts;
  forgiven: Forgiven[];
  skipped: Skipped[];
  truncated: Truncated[];
  unknown: UnknownEffect[];
  cleanup: CleanupEntry[];
  /** Both of a dry run only. */
  suppressed?: Suppressed[];
  undetermined?: Undetermined[];
  digest: string;
};

export const STOP_CAUSES = [
  "timeout",
  "deadline",
  "cancel",
  "sibling_failed",
  "exit",
  "budget",
  "abort",
  "halt",
  "shutdown",
] as const;
export type StopCause = (typeof STOP_CAUSES)[number];

export type StopBody = {
  cause: StopCause;
  because?: { position: Position; code: string };
  /** The bound that was met: milliseconds, steps or tokens. */
  limit?: Json;
  /** Who asked for it. */
  by?: string;
};

export type AgentStartedBody = {
  agent: {
    name: string;
    provider: string;
    model: string;
    protocol: string;
    settings: JsonObject;
    token_method: string;
    digest: string;
  };
  goal: Json;
  context: Json;
  tools: { action: string; connection: string; manifest: string }[];
  returns: Json;
  budget: Json;
  /** AWL: the task record, model, effort and where they came from. */
  task?: Json;
};

/**
 * One proposal of a turn. `n` is the index of its position `(tools)[n]`, null where it was refused before it
 * took one; `args` is null where the model sent no JSON object (then `args_text` has it).
 */
export type TurnCall = {
  /** The model's own id of the call. */
  id?: string;
  tool: string;
  args: Json;
  args_text?: string;
  verdict: string;
  code: string | null;
  n: number | null;
  key: string | null;
  /** Of a refusal: what the agent was told. */
  message?: string;
  details?: Json;
};

export type TurnBody = {
  /** What was added to the conversation for this turn, and the answer itself. */
  messages: Json[];
  calls: TurnCall[];
  /** Absent where the turn offered none. */
  result?: Json;
  /** What is wrong with an offered result. */
  problems?: Json;
  /** Why the agent gave up. */
  give_up?: string;
  usage: { input: number; output: number } | null;
  finish: string;
  /** The model call failed: no calls, no result. */
  fault?: FaultJson;
};

export const AGENT_ENDS = [
  "result",
  "exhausted",
  "timeout",
  "cancelled",
  "aborted",
  "gave_up",
  "rejected",
  "invalid_result",
  "no_result",
  "no_progress",
  "unavailable",
  "stalled",
  "unfinished",
] as const;
export type AgentEnd = (typeof AGENT_ENDS)[number];

export type AgentEndedBody = {
  reason: AgentEnd;
  result?: Json;
  fault?: FaultJson;
  /** `unreported`: turns whose tokens nobody counted. */
  observed: { steps: number; tokens: number; duration_ms: number; unreported?: number };
  overshoot: Json;
  task?: Json;
};

/** `args` without the key; of an agent's call both stand in its turn and are left out here. */
export type IntentBody = { action: string; connection: string; args?: Json; key?: string | null };

export type CallOutcome = "ok" | "failed" | "unknown" | "cancelled" | "suppressed";

export type CallEndedBody = {
  action: string;
  connection: string;
  args?: Json;
  key?: string | null;
  outcome: CallOutcome;
  value?: Json;
  fault?: FaultJson;
  ambiguity?: { code: string; message?: string; details: Json };
  effect: "none" | "done" | "unknown" | "suppressed";
  /** Why a dry run has not dispatched it; a `value` is then what its manifest simulates. */
  because?: Suppressed["because"];
  /** False where it ended before anything was sent (wrong arguments, refused by a person): no attempt counts. */
  dispatched?: boolean;
  /** Another attempt follows. */
  retry: boolean;
  /** It came after its step had been stopped. */
  late: boolean;
  queued_ms: number;
  duration_ms: number;
};

export type SettledBody = {
  /** A person, or `reconcile`. */
  by: string;
  /** `left`: stopped before anybody settled it; it stays unknown. */
  how: "succeeded" | "failed" | "retry" | "left";
  value?: Json;
  code?: string;
  comment?: string | null;
};

export type CodeEndedBody = {
  language: string;
  code: string;
  started_at: string;
  value?: Json;
  fault?: FaultJson;
  output: { text: string; dropped: number };
  queued_ms: number;
  duration_ms: number;
};

/** SB-66: of the query only length and hash. */
export type FetchBody = {
  method: string;
  host: string;
  port: number;
  path: string;
  query: { length: number; hash: string } | null;
  hops: number;
  address: string | null;
  status: number | null;
  bytes: number;
  duration_ms: number;
  reason: string | null;
};

export type AskOpenedBody = {
  for: "ask" | "approval";
  id: string;
  url: string | null;
  text: Json;
  returns: Json;
  assignees: Json;
  approvers: Json;
  expires_at: string | null;
  /** The file says nothing of an end: the deployment's limit does. */
  expires_by?: "limit";
  /** Of an approval: what is to be dispatched. */
  call?: { action: string; connection: string; args: Json };
};

export type AskEndedBody = {
  how: "answered" | "approved" | "rejected" | "expired" | "cancelled";
  by: string[];
  value?: Json;
  comment?: string | null;
};

/** The body of each kind (DU-51). Keys may be added later, never renamed. */
export type EventBody = {
  "run.accepted": AcceptedBody;
  "run.started": { [key: string]: Json };
  "run.resumed": { by: string; redispatched: Position[] };
  "run.suspended": { reason: SuspendReason; positions: Position[] };
  "run.ended": EndedBody;
  "stop.decided": StopBody;
  "agent.started": AgentStartedBody;
  "agent.turn": TurnBody;
  "agent.ended": AgentEndedBody;
  "call.intent": IntentBody;
  "call.ended": CallEndedBody;
  "call.settled": SettledBody;
  "code.ended": CodeEndedBody;
  "code.fetch": FetchBody;
  "wait.set": { due: string };
  "wait.ended": { how: "fired" | "cancelled" };
  "ask.opened": AskOpenedBody;
  "ask.vote": { by: string; value: Json; comment: string | null };
  "ask.ended": AskEndedBody;
  "notice.sent": { text: Json };
  "goal.evaluated": { cycle: number; met: boolean; reason: string };
};

/** A record with the body of its kind: a `switch` on `kind` narrows `body`. */
export type TypedRecord = {
  [K in EventKind]: Omit<RunRecord, "kind" | "body"> & { kind: K; body: EventBody[K] };
}[EventKind];

/**
 * The same record, seen by its kind. A view, no check: whoever reads a history that somebody else may have
 * written treats single members as possibly missing.
 */
export function typed(record: RunRecord): TypedRecord {
  return record as unknown as TypedRecord;
}

/** A body as the record holds it. */
export function bodyJson<K extends EventKind>(_kind: K, body: EventBody[K]): JsonObject {
  return body as unknown as JsonObject;
}
