/** The library: an engine to start, resume and replay runs, and what is needed to write connectors for it. */
export {
  createEngine,
  type Engine,
  type EngineOptions,
  type EngineRun,
  type Fate,
  type GivenAnswer,
  type OpenQuestion,
  type Receipt,
  type ResumeOptions,
  type RunEvent,
  type Settlement,
  type StartOptions,
  type UnknownOutcome,
} from "./app/engine.ts";
export { Refused } from "./app/refused.ts";
export type { Json, JsonObject } from "./base/json.ts";
export type { Diagnostic } from "./errors/diagnostic.ts";
export { Fault, type FaultJson, isFault } from "./errors/fault.ts";
export { defineConnector, failure, unknownOutcome } from "./host/connectors/define-connector.ts";
export type { RunRecord } from "./journal/event.ts";
export type { RunResult } from "./journal/result.ts";
export type { Plan } from "./plan/plan.ts";
export { diagnose as parse } from "./syntax/diagnose.ts";
