import type { CodePage } from "../codes.ts";

export const catalogCodes = {
  "deployment.invalid": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "deployment.missing_secret": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "deployment.missing_setting": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "deployment.unknown_model": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "deployment.duplicate_webhook": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "catalog.unknown_action": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "catalog.no_default_connection": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "catalog.missing_scope": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "catalog.unavailable": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "catalog.drift": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "catalog.invalid_manifest": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "catalog.not_a_tool": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "agent.unresolved": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "capability.unsupported": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "plan.ceiling_exceeded": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "plan.unbounded": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  tool_not_authorized: { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
} as const satisfies { [code: string]: CodePage };
