import type { Json } from "../base/json.ts";
import type { Position } from "../plan/position.ts";

/** The closed set of end states (interfaces.md 1); `suspended` goes on later. */
export const OUTCOMES = ["completed", "failed", "cancelled", "timed_out", "stopped", "suspended"] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** What a run can be seen as: under way, or one of the end states. */
export type RunStatus = "running" | Outcome;

/** The states of a run that is not over: it may be taken and gone on with. */
export const OPEN_STATES = ["running", "suspended"] as const;

export function isOver(status: string): boolean {
  return !(OPEN_STATES as readonly string[]).includes(status);
}

export function isOutcome(text: unknown): text is Outcome {
  return (OUTCOMES as readonly unknown[]).includes(text);
}

/** A failure that a `catch`, an `on_item_failure: { yield }` or `@continue-on-failure` took. */
export type Forgiven = { at: Position; code: string; reason: string };

/** An iteration that was left out. */
export type Skipped = { at: Position; cause: string; step: Position | null; reason: string };

/** A loop that was cut with work left; `left` is null where the rest is unknown. */
export type Truncated = { at: Position; cause: "limit" | "max" | "max_iterations"; done: number; left: number | null };

/** An effect of which nobody knows whether it happened; `key` for keyed actions. */
export type UnknownEffect = { position: Position; action: string; code: string; key?: string };

/** A cleanup that was due. */
export type CleanupEntry = { position: Position; status: string; code: string | null };

/** What a dry run did not do; `args` (without the key) are left out where they are large. */
export type Suppressed = {
  position: Position;
  what: "call" | "agent" | "ask" | "wait" | "notice";
  because: "dry_run" | "reads_suppressed" | "needs_approval";
  action?: string;
  effects?: string;
  args?: Json;
  /** The manifest gave a result for it. */
  simulated?: true;
  agent?: string;
  text?: Json;
};

/** One way that an undetermined step could go: the steps of its list, and what they, and what is in them, may contact. */
export type CouldRun = { branch: string; steps: Position[]; actions: string[]; agents: string[] };

/** A step of a dry run of which nobody can tell how it would go on. */
export type Undetermined = { position: Position; could: CouldRun[] };

/** What a suspended run waits for; `due` is RFC 3339 or null. */
export type Waiting = { position: Position; reason: string; due: string | null };

/** `events` is the number of records of the run. */
export type Counts = { tool_attempts: number; tokens: number; agent_turns: number; events: number };

export const SUSPEND_REASONS = ["ask", "approval", "timer", "halt", "stuck", "queued"] as const;
export type SuspendReason = (typeof SUSPEND_REASONS)[number];
