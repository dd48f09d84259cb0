import type { CodePage } from "../codes.ts";

export const storeCodes = {
  "run.unknown": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "run.exists": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "run.owned": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "run.busy": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "run.no_worker": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "journal.corrupt": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "journal.conflict": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "store.locked": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "store.unavailable": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "history.mismatch": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "history.redacted": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
} as const satisfies { [code: string]: CodePage };
