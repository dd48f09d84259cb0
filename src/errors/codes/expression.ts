import type { CodePage } from "../codes.ts";

export const expressionCodes = {
  "expression.syntax": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "expression.unknown_name": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "expression.not_marked": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
  "expression.failed": { summary: "", cause: "", fix: "", example: "", since: "0.1.0" },
} as const satisfies { [code: string]: CodePage };
