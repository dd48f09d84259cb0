import { covers } from "../admit/policy-match.ts";
import type { Json } from "../base/json.ts";
import { markSensitive } from "../catalog/sensitive.ts";
import { Fault } from "../errors/fault.ts";
import type { AskOpenedBody } from "../journal/bodies.ts";
import { peel, recorded, type Val } from "../plan/marked.ts";
import type { Position } from "../plan/position.ts";
import { askId, awaitAnswer, inOfAsk } from "./asks.ts";
import type { Stop } from "./end.ts";
import type { Interpreter } from "./interpreter.ts";
import type { StopScope } from "./stop-scope.ts";

export type Approval = { is: "approved"; args: Val } | { is: "rejected"; fault: Fault } | { is: "stopped"; stop: Stop };

/**
 * Asks a person before a dispatch, where the deployment's policy wants it. Whoever approves may give other arguments;
 * they are checked like any.
 */
export async function approval(
  interpreter: Interpreter,
  action: string,
  connection: string,
  args: Val,
  position: Position,
  scope: StopScope,
): Promise<Approval> {
  const { policy } = interpreter.admitted.definition;
  if (!covers(policy.approve, action)) return { is: "approved", args };
  const { scheduler } = interpreter;
  const id = askId(interpreter.run, position);
  const input = interpreter.admitted.definition.manifests[action]?.manifest.input ?? true;
  const opened: AskOpenedBody = {
    for: "approval",
    id,
    url: interpreter.askUrl(id),
    text: `Run ${action}?`,
    returns: [],
    assignees: [],
    approvers: null,
    expires_at: null,
    call: { action, connection, args: recorded(args) },
  };
  scheduler.note({ kind: "ask.opened", position, attempt: 1, in: inOfAsk(opened), body: { ...opened } });
  const { body } = await scheduler.wait({
    kind: "ask.ended",
    position,
    attempt: 1,
    in: inOfAsk(opened),
    scope,
    onBudget: "abort",
    flush: true,
    parks: "approval",
    start: (context) =>
      awaitAnswer(context, position, interpreter.identity, opened, (given) => markSensitive(given, input)),
  });
  const stop = scope.current;
  if (stop !== null) return { is: "stopped", stop };
  const comment = peel(body["comment"] ?? null).value;
  if (body["how"] === "approved") return { is: "approved", args: body["value"] ?? args };
  const who = (peel(body["by"] ?? null).value as Json[] | null) ?? [];
  const said = typeof comment === "string" && comment !== "" ? `: ${comment}` : ".";
  return {
    is: "rejected",
    fault: new Fault("action.rejected", position, `${who.join(", ") || "A person"} refused ${action}${said}`, {
      action,
      by: who,
    }),
  };
}
