import type { CodePage } from "../codes.ts";

export const callCodes = {
  "action.invalid_input": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "action.invalid_output": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "action.failed": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "action.unavailable": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "action.rate_limited": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "action.auth": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "action.result_too_large": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "action.rejected": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "files.not_found": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "stub.unmatched": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
} as const satisfies { [code: string]: CodePage };
