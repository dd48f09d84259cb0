import type { FunctionName } from "../functions.ts";
import { anyCalls } from "./any.ts";
import type { Implementation, Implementations } from "./call.ts";
import { listCalls } from "./list.ts";
import { numberCalls } from "./number.ts";
import { textCalls } from "./text.ts";
import { timeCalls } from "./time.ts";

// A row of the table without code, or code without a row, does not compile.
const ALL: Implementations<FunctionName> = { ...textCalls, ...listCalls, ...numberCalls, ...anyCalls, ...timeCalls };

export function implementationOf(name: string): Implementation | undefined {
  return Object.hasOwn(ALL, name) ? ALL[name as FunctionName] : undefined;
}
