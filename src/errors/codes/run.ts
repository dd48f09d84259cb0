import type { CodePage } from "../codes.ts";

export const runCodes = {
  "input.missing": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "input.unknown": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "input.invalid": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "flow.timeout": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "flow.action_ambiguous": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "flow.repeat_exhausted": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "flow.limit_exceeded": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "ask.expired": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "ask.not_approver": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "run.cancelled": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "internal.invariant": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
} as const satisfies { [code: string]: CodePage };
