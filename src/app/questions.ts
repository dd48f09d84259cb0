/**
 * What runs ask of people: the open questions and approvals of a store, and the answers to them.
 *
 * I1: an answer is held against its question before it is left for the run, so that whoever gives it hears at once
 *     why it does not count. The run asks the same again.
 * I2: of two that answer one question at the same time the store refuses the second (`body.once`).
 * I3: what was answered and not yet taken by the run is no open question any more, and is listed as decided.
 */
import type { Clock } from "../base/clock.ts";
import { isObject, type Json, type JsonObject } from "../base/json.ts";
import type { ActionManifest, JsonSchema } from "../catalog/manifest.ts";
import { markSensitive } from "../catalog/sensitive.ts";
import { Refusal } from "../errors/fault.ts";
import type { AskOpenedBody } from "../journal/bodies.ts";
import { Cursor, pagesOfRun } from "../journal/cursor.ts";
import type { RunRecord } from "../journal/event.ts";
import type { Journal, RunHead, RunRequest } from "../journal/journal.ts";
import { listIn, mapIn, memberOf, textIn } from "../journal/members.ts";
import { marksIn, type Val } from "../plan/marked.ts";
import type { Position } from "../plan/position.ts";
import { type Answer, checkAnswer, hiddenComment, returnsOf, votesNeeded } from "../run/asks.ts";
import { checkArguments } from "../run/dispatch.ts";
import { markFields } from "../run/hide.ts";
import { openRequest, sealRequest } from "../run/sealed-parts.ts";
import { openHeads, pinnedManifest, type Receipt, receiptOf, requestsOf, type SealerOf } from "./open-runs.ts";

/** A question or an approval that stands; values as records have them, sensitive parts masked. */
export interface OpenQuestion {
  run: string;
  name: string;
  position: Position;
  for: "ask" | "approval";
  id: string;
  url: string | null;
  text: Json;
  /** Of a question: the fields of its answer. */
  returns?: Json;
  /** Of an approval: what is to be dispatched. */
  call?: { action: string; connection: string; args: Json };
  assignees: Json;
  /** RFC 3339. */
  opened_at: string;
  expires_at: string | null;
  /** Who has said something by now, the run's own votes and those that it has not taken yet. */
  votes: string[];
  /** How many must agree. */
  needed: number;
  /** An answer that the run has not taken yet: `resume` goes on with it. */
  decided: { by: string; how: string; at: string } | null;
}

/** What a person says, and who it is. */
export interface GivenAnswer {
  how: Answer["how"];
  /** The typed answer; of an approval other arguments. Null or absent: none. */
  value?: Json;
  comment?: string | null;
  by: string;
}

interface Standing {
  head: RunHead;
  position: Position;
  openedAt: string;
  opened: AskOpenedBody;
  initiator: string;
  definition: unknown;
  origin: Json | undefined;
  /** Votes that are recorded. */
  votes: string[];
  seq: number;
}

/** Every question and approval of runs that are suspended or under way, the oldest first. */
export async function openQuestions(journal: Journal, clock: Clock, sealerOf: SealerOf): Promise<OpenQuestion[]> {
  const found: OpenQuestion[] = [];
  for (const standing of await allStanding(journal)) {
    if (isExpired(standing.opened, clock)) continue;
    found.push(shownQuestion(standing, await told(journal, standing, sealerOf)));
  }
  return found.sort((a, b) => (a.opened_at < b.opened_at ? -1 : 1));
}

/**
 * Leaves an answer for the run that asks. `id` may be the beginning of one. Refuses as `ask.not_open`,
 * `ask.not_approver`, `input.invalid`, `run.already_decided`.
 */
export async function giveAnswer(
  journal: Journal,
  clock: Clock,
  sealerOf: SealerOf,
  id: string,
  given: GivenAnswer,
): Promise<Receipt> {
  const standing = findStanding(await allStanding(journal), id);
  const { head, opened, position, initiator } = standing;
  if (isExpired(opened, clock)) {
    throw new Refusal("ask.not_open", `The time of ${opened.id} is up: nobody may answer it any more.`, { id });
  }
  const { voters, decided } = await told(journal, standing, sealerOf);
  if (decided !== null) {
    throw new Refusal("run.already_decided", `${decided.by} has answered this already, at ${decided.at}.`, {
      run: head.run,
      by: decided.by,
    });
  }
  const { how, by } = given;
  const value = given.value ?? null;
  checkAnswer({ opened, initiator, voters }, { how, by, value, comment: null });
  if (opened.for === "approval" && value !== null) checkEdit(standing, how, value);
  const needed = votesNeeded(opened);
  const input = opened.for === "ask" ? null : inputOf(standing);
  const bound = input === null ? markFields(returnsOf(opened), value as Val) : markSensitive(value as Val, input);
  const body: JsonObject = {
    ask: opened.id,
    how,
    value,
    comment: hiddenComment(given.comment ?? null, bound),
    once: needed > 1 ? `${opened.id} ${by}` : opened.id,
  };
  const isSensitive = marksIn(bound).sensitive === true;
  await journal.post({
    run: head.run,
    verb: "answer",
    by,
    body: isSensitive ? sealRequest(await sealerOf(standing.origin), head.run, "answer", by, body) : body,
  });
  return receiptOf(journal, head.run, position, standing.seq);
}

/** The input schema of the call that an approval is about. */
function inputOf({ definition, opened }: Standing): JsonSchema | boolean {
  return (memberOf(pinnedManifest(definition, opened.call?.action ?? ""), "input") ?? true) as JsonSchema | boolean;
}

/** Other arguments for a call that is asked about. */
function checkEdit({ opened, definition, position }: Standing, how: string, value: Json): void {
  const invalid = (why: string): Refusal => new Refusal("input.invalid", `The arguments do not fit: ${why}.`, {});
  if (how !== "approved") throw invalid("a call that is rejected has none");
  if (hasMask(value)) {
    throw invalid('{"$sensitive": true} stands for a value that is not shown, and cannot be given back');
  }
  const action = opened.call?.action ?? "";
  const manifest = pinnedManifest(definition, action) as unknown as ActionManifest | null;
  if (manifest === null) return;
  const { idempotency } = manifest;
  const key = idempotency.kind === "keyed" ? idempotency.field : null;
  if (key !== null && isObject(value) && Object.hasOwn(value, key)) throw invalid(`${key} is the engine's own key`);
  const fault = checkArguments(manifest, value as Val, key === null ? null : "key", position);
  if (fault !== null) throw invalid(fault.message);
}

function hasMask(value: Json): boolean {
  if (Array.isArray(value)) return value.some(hasMask);
  if (!isObject(value)) return false;
  return value["$sensitive"] === true || Object.values(value).some((part) => hasMask(part as Json));
}

function isExpired(opened: AskOpenedBody, clock: Clock): boolean {
  return opened.expires_at !== null && clock.now() >= Date.parse(opened.expires_at);
}

interface Told {
  voters: string[];
  /** What decides it, left for the run by somebody. */
  decided: RunRequest | null;
}

/** What was left for a run and not taken yet, counted as the run will count it. */
async function told(
  journal: Journal,
  { head, opened, initiator, votes, origin }: Standing,
  sealerOf: SealerOf,
): Promise<Told> {
  const voters = [...votes];
  const expires = opened.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(opened.expires_at);
  for (const request of await requestsOf(journal, head.run, "answer")) {
    const { body, by, at } = request;
    if (body["ask"] !== opened.id || Date.parse(at) >= expires) continue;
    const how = howOf(body["how"]);
    let value: Json;
    try {
      value =
        (body["sealed"] === undefined ? request : openRequest(await sealerOf(origin), request)).body["value"] ?? null;
      checkAnswer({ opened, initiator, voters }, { how, by, value, comment: null });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // Given, and nobody here can tell what: the run will say so.
      if (error.code === "history.redacted") return { voters: [...voters, by], decided: request };
      continue;
    }
    voters.push(by);
    const yes = how === "approved" || (how === "answered" && isObject(value) && value["approved"] === true);
    if (!yes || voters.length >= votesNeeded(opened)) return { voters, decided: request };
  }
  return { voters, decided: null };
}

function howOf(how: Json | undefined): Answer["how"] {
  return how === "approved" || how === "rejected" ? how : "answered";
}

function shownQuestion(standing: Standing, { voters, decided }: Told): OpenQuestion {
  const { head, position, opened, openedAt } = standing;
  const { call } = opened;
  return {
    run: head.run,
    name: head.name,
    position,
    for: opened.for,
    id: opened.id,
    url: opened.url,
    text: opened.text,
    ...(opened.for === "approval" ? { ...(call === undefined ? {} : { call }) } : { returns: opened.returns }),
    assignees: opened.assignees,
    opened_at: openedAt,
    expires_at: opened.expires_at,
    votes: voters,
    needed: votesNeeded(opened),
    decided: decided === null ? null : { by: decided.by, how: howOf(decided.body["how"]), at: decided.at },
  };
}

function findStanding(all: readonly Standing[], id: string): Standing {
  const matches = all.filter(({ opened }) => opened.id === id || (id !== "" && beginsWith(opened.id, id)));
  const exact = matches.find(({ opened }) => opened.id === id);
  const [first, second] = matches;
  if (exact !== undefined) return exact;
  if (first === undefined) {
    throw new Refusal("ask.not_open", `No open question has the id ${JSON.stringify(id)}.`, { id });
  }
  if (second !== undefined) {
    const ids = matches.map(({ opened }) => opened.id);
    const shown = ids.slice(0, 5).join(", ");
    const message = `${ids.length} open questions have an id that begins with ${JSON.stringify(id)}: ${shown}.`;
    throw new Refusal("input.invalid", message, { id, matches: ids.slice(0, 20) });
  }
  return first;
}

function beginsWith(id: string, start: string): boolean {
  return id.startsWith(start) || id.startsWith(`ask_${start}`);
}

async function allStanding(journal: Journal): Promise<Standing[]> {
  const found: Standing[] = [];
  for (const head of await openHeads(journal)) found.push(...(await standingIn(journal, head)));
  return found;
}

/** The questions that stand in one run, by its records. */
async function standingIn(journal: Journal, head: RunHead): Promise<Standing[]> {
  const open = new OpenAsks();
  let accepted: RunRecord["body"] = {};
  let seq = 0;
  for await (const record of new Cursor(pagesOfRun(journal, head.run))) {
    if (record.kind === "run.accepted") accepted = record.body;
    open.read(record);
    seq = record.seq;
  }
  const initiator = textIn(accepted, "identity") ?? "";
  return open
    .all()
    .map((ask) => ({ ...ask, head, initiator, definition: accepted["definition"], origin: accepted["origin"], seq }));
}

/** A question as the records of its run tell it. */
export interface OpenAsk {
  position: Position;
  openedAt: string;
  opened: AskOpenedBody;
  votes: string[];
}

/** Follows the questions of one run, record by record. */
export class OpenAsks {
  readonly #open = new Map<Position, OpenAsk>();

  read({ kind, position, body, at }: RunRecord): void {
    if (kind === "ask.opened") {
      const opened = openedIn(body);
      if (opened !== null) this.#open.set(position, { position, openedAt: at, opened, votes: [] });
    } else if (kind === "ask.vote") {
      const by = textIn(body, "by");
      if (by !== null) this.#open.get(position)?.votes.push(by);
    } else if (kind === "ask.ended") {
      this.#open.delete(position);
    } else if (kind === "run.ended") {
      this.#open.clear();
    }
  }

  all(): OpenAsk[] {
    return [...this.#open.values()];
  }
}

/** A history may have been written by somebody else: what does not fit is as good as absent. */
function openedIn(body: JsonObject): AskOpenedBody | null {
  const id = textIn(body, "id");
  if (id === null) return null;
  const call = mapIn(body, "call");
  return {
    for: textIn(body, "for") === "approval" ? "approval" : "ask",
    id,
    url: textIn(body, "url"),
    text: body["text"] ?? "",
    returns: listIn(body, "returns") ?? [],
    assignees: body["assignees"] ?? [],
    approvers: mapIn(body, "approvers"),
    expires_at: textIn(body, "expires_at"),
    ...(call === null
      ? {}
      : {
          call: {
            action: textIn(call, "action") ?? "",
            connection: textIn(call, "connection") ?? "",
            args: call["args"] ?? null,
          },
        }),
  };
}
