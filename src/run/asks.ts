/**
 * Questions to people: those of `wf.ask`, and the approvals that a policy wants before a dispatch.
 *
 * I1: the question is on disk before anybody is told of it; its id is told by run and position, so that a recovery
 *     asks the same question again.
 * I2: an answer counts only if it was given while the question stood: by the time it was asked for, not by the time
 *     somebody looks.
 * I3: who may not answer, or an answer that does not fit, leaves the question as it is.
 * I4: one person counts once.
 */
import { isoTime } from "../base/clock.ts";
import { hashJson } from "../base/hash.ts";
import { isObject, type Json, type JsonObject } from "../base/json.ts";
import { checkFields } from "../catalog/field-value.ts";
import { sayProblems } from "../catalog/value-problem.ts";
import { Refusal } from "../errors/fault.ts";
import type { AskEndedBody, AskOpenedBody } from "../journal/bodies.ts";
import type { RunRequest } from "../journal/journal.ts";
import type { Field } from "../plan/field.ts";
import { recorded, type Val } from "../plan/marked.ts";
import type { Position } from "../plan/position.ts";
import { hideText, sensitiveTexts } from "./hide.ts";
import type { EffectContext, LiveBody } from "./scheduler.ts";

/** `ask_` and 16 hex digits. */
export function askId(run: string, position: Position): string {
  return `ask_${hashJson([run, position]).slice(0, 16)}`;
}

/** What somebody says to a question. */
export interface Answer {
  how: "answered" | "approved" | "rejected";
  by: string;
  /** The typed answer; of an approval other arguments, null for those that are asked about. */
  value: Json;
  comment: string | null;
}

/** Whoever may answer, and what has been said before. */
export interface Standing {
  opened: AskOpenedBody;
  /** Who started the run. */
  initiator: string;
  /** Who has voted. */
  voters: readonly string[];
}

/**
 * Holds an answer against its question: `ask.not_approver`, `input.invalid`. Whoever takes an answer from a person
 * asks this first, and the run asks it again.
 */
export function checkAnswer(standing: Standing, answer: Answer): void {
  const { opened, initiator, voters } = standing;
  const approvers = isObject(opened.approvers) ? opened.approvers : {};
  if (approvers["notInitiator"] === true && answer.by === initiator) {
    throw new Refusal("ask.not_approver", `${answer.by} started this run and may not answer.`, { by: answer.by });
  }
  if (voters.includes(answer.by)) {
    throw new Refusal("ask.not_approver", `${answer.by} has answered already.`, { by: answer.by });
  }
  if (opened.for === "approval") {
    if (answer.how === "answered") throw invalid("this is an approval: approve or reject it");
    if (answer.value !== null && !isObject(answer.value)) throw invalid("other arguments must be a map");
    return;
  }
  const outcome = checkFields(returnsOf(opened), saidIn(opened, answer) as Val);
  if (!outcome.ok) throw invalid(sayProblems(outcome.problems));
}

function invalid(why: string): Refusal {
  return new Refusal("input.invalid", `The answer does not fit: ${why}.`, {});
}

/** The fields of the answer to a question. */
export function returnsOf(opened: AskOpenedBody): Field[] {
  return (Array.isArray(opened.returns) ? opened.returns : []) as unknown as Field[];
}

/** Approving a question says yes to its `approved`; what was given beside it stays. */
function saidIn(opened: AskOpenedBody, answer: Answer): Json {
  if (answer.how === "answered" || opened.for === "approval") return answer.value;
  const given = isObject(answer.value) ? (answer.value as JsonObject) : {};
  return { ...given, approved: answer.how === "approved" };
}

/** How many must agree: more than one only where the question says so. */
export function votesNeeded(opened: AskOpenedBody): number {
  const count = isObject(opened.approvers) ? opened.approvers["count"] : 1;
  return typeof count === "number" ? count : 1;
}

/**
 * Waits for the end of a question whose `ask.opened` stands: the body of its `ask.ended`. `marked` marks what is
 * sensitive in the arguments that an approval gives.
 */
export async function awaitAnswer(
  context: EffectContext,
  position: Position,
  initiator: string,
  opened: AskOpenedBody,
  marked: (args: Val) => Val = (args) => args,
): Promise<LiveBody> {
  const { clock, effect, inbox } = context;
  const voters = context.noted("ask.vote").map((vote) => String(vote.body["by"]));
  const expires = opened.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(opened.expires_at);
  for (;;) {
    const request = inbox.take(
      ({ verb, body, at }) => verb === "answer" && body["ask"] === opened.id && Date.parse(at) < expires,
    );
    if (request === null) {
      if (effect.stop !== null) return ended({ how: "cancelled", by: [] });
      if (clock.now() >= expires) return ended({ how: "expired", by: [] });
      context.park();
      await nextChange(context, expires);
      continue;
    }
    const answer = answerOf(request);
    if (!counts({ opened, initiator, voters }, answer)) continue;
    const value = saidIn(opened, answer);
    const yes = isObject(value) && value["approved"] === true;
    const bound = opened.for === "approval" ? marked(answer.value as Val) : boundValue(opened, value);
    const comment = hiddenComment(answer.comment, bound);
    const said = { by: answer.by, value: opened.for === "approval" ? null : bound, comment };
    voters.push(answer.by);
    if (votesNeeded(opened) > 1) {
      const vote = recorded(said as Val) as JsonObject;
      await context.write([{ kind: "ask.vote", position, attempt: voters.length, in: inOfAsk(opened), body: vote }]);
      if (yes && voters.length < votesNeeded(opened)) continue;
    }
    return {
      how: answer.how,
      by: voters,
      ...(opened.for === "approval" && answer.value === null ? {} : { value: bound }),
      comment,
    };
  }
}

/** Somebody may say in words what the value beside them keeps from being seen. */
export function hiddenComment(comment: string | null, beside: Val): string | null {
  return comment === null ? null : hideText(comment, sensitiveTexts([beside]));
}

/** What `in` of the records of a question is the hash of. */
export function inOfAsk(opened: AskOpenedBody): Json {
  return { text: opened.text, returns: opened.returns };
}

function boundValue(opened: AskOpenedBody, value: Json): Val {
  const outcome = checkFields(returnsOf(opened), value as Val);
  return outcome.ok ? outcome.value : null;
}

function counts(standing: Standing, answer: Answer): boolean {
  try {
    checkAnswer(standing, answer);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

function ended(body: AskEndedBody): LiveBody {
  return { ...body } as unknown as LiveBody;
}

function answerOf({ by, body }: RunRequest): Answer {
  const how = body["how"];
  return {
    how: how === "approved" || how === "rejected" ? how : "answered",
    by,
    value: body["value"] ?? null,
    comment: typeof body["comment"] === "string" ? body["comment"] : null,
  };
}

/** Until something was asked, the time is up, or it shall stop. */
function nextChange({ clock, effect, inbox }: EffectContext, until: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      timer?.cancel();
      forget();
      effect.asked.removeEventListener("abort", done);
      resolve();
    };
    const timer = until === Number.POSITIVE_INFINITY ? null : clock.after(Math.max(0, until - clock.now()), done);
    const forget = inbox.listen(done);
    effect.asked.addEventListener("abort", done, { once: true });
  });
}

/** When a question that is opened now is over; null: never. */
export function expiryOf(now: number, expires: number | null): string | null {
  return expires === null ? null : isoTime(now + expires);
}

/** Waits for a settlement of an effect whose outcome is not known. */
export async function awaitSettlement(
  context: EffectContext,
  position: Position,
  attempt: number,
  marked: (value: Val) => Val,
): Promise<LiveBody> {
  for (;;) {
    const request = context.inbox.take(
      ({ verb, body }) => verb === "settle" && body["position"] === position && body["attempt"] === attempt,
    );
    if (request !== null) return settledBody(request, marked);
    if (context.effect.stop !== null) return { by: "", how: "left" };
    context.park();
    await nextChange(context, Number.POSITIVE_INFINITY);
  }
}

function settledBody({ by, body }: RunRequest, marked: (value: Val) => Val): LiveBody {
  const comment = typeof body["comment"] === "string" ? body["comment"] : null;
  switch (body["how"]) {
    case "succeeded": {
      const value = marked((body["value"] ?? null) as Val);
      return { by, how: "succeeded", value, comment: hiddenComment(comment, value) };
    }
    case "failed":
      return { by, how: "failed", code: String(body["code"] ?? "action.failed"), comment };
    default:
      return { by, how: "retry", comment };
  }
}
