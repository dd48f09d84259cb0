import type { Json } from "../base/json.ts";
import { recorded } from "../plan/marked.ts";
import type { CallEnd } from "../run/dispatch.ts";
import type { ToolAnswer } from "./model.ts";
import { shownToModel } from "./shown.ts";
import type { AcceptedCall, JudgedCall } from "./turn.ts";

/** What the agent is told of a call that was dispatched. */
export function toolAnswer(call: AcceptedCall, end: Exclude<CallEnd, { is: "stopped" }>): ToolAnswer {
  if (end.is === "ok") {
    return { id: call.id, tool: call.name, ok: true, ...shownToModel(recorded(end.value)) };
  }
  const { code, message, details } = end.fault;
  const shown: Json =
    end.is === "unknown"
      ? { tool: call.name, ambiguity: end.code, ...(end.details === null ? {} : { details: end.details }) }
      : details;
  return { id: call.id, tool: call.name, ok: false, error: { code, message, details: shown } };
}

/** What the agent is told of a call that was refused. */
export function refusalAnswer(call: JudgedCall): ToolAnswer {
  return {
    id: call.id,
    tool: call.tool,
    ok: false,
    error: {
      code: call.code ?? "agent.undeclared_tool",
      message: call.message ?? "Refused.",
      ...(call.details === undefined ? {} : { details: call.details }),
    },
  };
}

/** The answers by the place of their call in the turn, in the order of the calls, however they ended. */
export function inOrder(answers: ReadonlyMap<number, ToolAnswer>): ToolAnswer[] {
  return [...answers].sort(([a], [b]) => a - b).map(([, answer]) => answer);
}
