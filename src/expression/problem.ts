import type { Code } from "../errors/codes.ts";

/** A finding in one expression or template; offsets are UTF-16 units into its text, the end exclusive. */
export interface ExprProblem {
  code: Extract<Code, `expression.${string}`>;
  severity: "error" | "warning";
  message: string;
  help: string;
  start: number;
  end: number;
}
