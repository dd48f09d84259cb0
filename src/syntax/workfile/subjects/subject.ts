import type { Shape } from "../../../expression/shape.ts";
import type { Common, Step } from "../../../plan/step.ts";
import type { Body } from "../step.ts";
import type { WorkfileReader } from "../workfile-reader.ts";
import { readAction } from "./action.ts";
import { readAgent } from "./agent.ts";
import { readAsk, readNotify } from "./ask.ts";
import { readIf, readParallel, readSwitch } from "./branches.ts";
import { readCall } from "./call.ts";
import { readCode } from "./code.ts";
import { readFail, readStop } from "./ends.ts";
import { readLet } from "./let.ts";
import { readEach, readRepeat } from "./loops.ts";
import { readWait } from "./wait.ts";

type OwnOf<S> = S extends Step ? Omit<S, keyof Common> : never;

/** What a subject's reader gives: the step without what all steps have, and what is known of its value. */
export interface SubjectStep {
  step: OwnOf<Step>;
  shape: Shape;
}

/** Reads a step by its subject; null if it is too broken to be one (which is reported). */
export function readSubject(r: WorkfileReader, body: Body): SubjectStep | null {
  switch (body.subject) {
    case "action":
      return readAction(r, body);
    case "agent":
      return readAgent(r, body);
    case "code":
      return readCode(r, body);
    case "let":
      return readLet(r, body);
    case "if":
      return readIf(r, body);
    case "switch":
      return readSwitch(r, body);
    case "each":
      return readEach(r, body);
    case "repeat":
      return readRepeat(r, body);
    case "parallel":
      return readParallel(r, body);
    case "call":
      return readCall(r, body);
    case "wait":
      return readWait(r, body);
    case "ask":
      return readAsk(r, body);
    case "notify":
      return readNotify(r, body);
    case "stop":
      return readStop(r, body);
    case "fail":
      return readFail(r, body);
  }
}
