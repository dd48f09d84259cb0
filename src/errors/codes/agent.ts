import type { CodePage } from "../codes.ts";

export const agentCodes = {
  "agent.budget_exhausted": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "agent.invalid_result": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "agent.no_result": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "agent.no_progress": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "agent.gave_up": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "agent.rejected": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "agent.unavailable": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "agent.stalled": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "agent.undeclared_tool": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "agent.reserved_key": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "agent.unkeyed_write": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
} as const satisfies { [code: string]: CodePage };
