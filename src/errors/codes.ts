import { agentCodes } from "./codes/agent.ts";
import { builtinCodes } from "./codes/builtin.ts";
import { callCodes } from "./codes/call.ts";
import { catalogCodes } from "./codes/catalog.ts";
import { expressionCodes } from "./codes/expression.ts";
import { runCodes } from "./codes/run.ts";
import { storeCodes } from "./codes/store.ts";
import { textCodes } from "./codes/text.ts";

export interface CodePage {
  /** One line: what happened. */
  summary: string;
  /** Why it happens. */
  cause: string;
  /** What to do about it. */
  fix: string;
  /** A short input or situation that raises it, and if that helps, the line put right. */
  example: string;
  /** The version that brought it. */
  since: string;
}

/** The one table of codes: an unregistered code does not compile. `ambit explain CODE` prints a page of it. */
export const CODES = {
  ...textCodes,
  ...expressionCodes,
  ...catalogCodes,
  ...callCodes,
  ...builtinCodes,
  ...agentCodes,
  ...runCodes,
  ...storeCodes,
} as const satisfies { [code: string]: CodePage };

export type Code = keyof typeof CODES;

export function isRegistered(code: string): code is Code {
  return Object.hasOwn(CODES, code);
}
