import type { AdmissionReport } from "../../src/admit/admitted-plan.ts";
import type { Json, JsonObject } from "../../src/base/json.ts";

/** The admission report in the names of `plan --json` (interfaces.md 1). */
export function planJson(report: AdmissionReport): JsonObject {
  const { bounds, limits } = report;
  return {
    capabilities: report.capabilities,
    agents: report.agents as unknown as Json,
    tools: report.tools as unknown as Json,
    hosts: [],
    commands: [],
    approvals: report.approvals,
    secrets: report.secrets,
    settings: report.settings,
    bounds: {
      tool_attempts: bounds.toolAttempts,
      tokens: bounds.tokens,
      duration_ms: bounds.duration,
      depth: bounds.depth,
      width: bounds.width,
    },
    limits: {
      deadline_ms: limits.deadline,
      steps: limits.steps,
      depth: limits.depth,
      wait_ms: limits.wait,
      concurrency: limits.concurrency,
      drain_grace_ms: limits.drainGrace,
      cleanup_grace_ms: limits.cleanupGrace,
    },
  };
}
