import { hashJson } from "../base/hash.ts";
import type { Position } from "../plan/position.ts";

/** The idempotency key of an agent's n-th tool invocation (seed 000; workfile.md 4). */
export function agentKey(run: string, agentStep: Position, n: number): string {
  return `wf-agent-v1:${hashJson([run, agentStep, n])}`;
}

/** The idempotency key of an ordinary keyed step. */
export function stepKey(run: string, step: Position): string {
  return `wf-step-v1:${hashJson([run, step])}`;
}
