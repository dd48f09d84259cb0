import type { Fault } from "../errors/fault.ts";
import type { AgentEnd } from "../journal/bodies.ts";
import type { Val } from "../plan/marked.ts";
import type { End, Stop } from "../run/end.ts";

export type Bound = "steps" | "tokens" | "duration";

/** What the loop came to, before the step's own rules (exhaustion, timeout) are applied. */
export type LoopEnd =
  | { reason: "result"; value: Val }
  | { reason: "exhausted"; by: Bound }
  | { reason: Exclude<AgentEnd, "result" | "exhausted">; fault: Fault }
  | { reason: "stopped"; stop: Stop }
  /** An unknown outcome that ends the run (`abort`). */
  | { reason: "aborted-run"; end: End };

export function modelFailure(fault: Fault): LoopEnd {
  if (fault.code === "agent.rejected") return { reason: "rejected", fault };
  if (fault.code === "agent.stalled") return { reason: "stalled", fault };
  return { reason: "unavailable", fault };
}

export function stopReason(stop: Stop): AgentEnd {
  return stop.cause === "abort" ? "aborted" : "cancelled";
}

/** `counted`: the bound was met by what was reported. */
export function exhaustedText(by: Bound, limit: number, counted: boolean): string {
  if (by === "steps") return `The agent has used its ${limit} tool attempts.`;
  if (by === "duration") return `The agent was not done within ${limit} ms.`;
  if (counted) return `The agent has used its ${limit} tokens.`;
  return `A turn came without a count of its tokens, so the agent's ${limit} tokens count as used.`;
}
