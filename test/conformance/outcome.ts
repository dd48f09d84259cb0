import type { JsonObject } from "../../src/base/json.ts";
import type { Diagnostic } from "../../src/errors/diagnostic.ts";
import type { FaultJson } from "../../src/errors/fault.ts";
import type { RunRecord } from "../../src/journal/event.ts";

/** What one command came to, however it was given. */
export interface Outcome {
  /** As the command line would leave with; 137 for a process that was killed. */
  exit: number;
  /** Null where nothing ran. */
  run: string | null;
  /** The result of the run and its steps; null where nothing ran, and for a replay. */
  result: JsonObject | null;
  /** Of a refusal. */
  error: FaultJson | null;
  diagnostics: readonly Diagnostic[];
  /** `equal`, `unfinished` or `diverged` with what tells it; null for other commands. */
  replay: JsonObject | null;
  /** All records of the run so far. */
  records: RunRecord[];
  /** What was printed. */
  output: string;
}

/** What a case can ask of an engine. */
export interface Driver {
  start(): Promise<Outcome>;
  resume(run: string): Promise<Outcome>;
  replay(run: string): Promise<Outcome>;
}

export const NOTHING: Outcome = {
  exit: 0,
  run: null,
  result: null,
  error: null,
  diagnostics: [],
  replay: null,
  records: [],
  output: "",
};
