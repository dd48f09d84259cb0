/**
 * Gives the `answers` of a case to the questions of its run, as people would: through the store, each question at
 * the moment it stands.
 */
import type { Engine, GivenAnswer } from "../../src/app/engine.ts";
import { Refused } from "../../src/app/refused.ts";
import { isObject, type Json, type JsonObject } from "../../src/base/json.ts";
import type { RunRecord } from "../../src/journal/event.ts";
import { CaseError } from "./case-files.ts";

/** Who answers unless a case says otherwise. */
const PERSON = "person";
/** What a person may do wrong without that being a fault of the case: the question stays as it is. */
const REFUSED = ["ask.not_approver", "ask.not_open", "input.invalid", "run.already_decided"];

export class Answering {
  readonly #answers: JsonObject;
  /** Given and not yet taken by the run, by the id of their question. */
  readonly #open = new Map<string, number>();
  readonly #given = new Set<string>();
  readonly #positions = new Map<string, string>();
  #giving: Promise<void> = Promise.resolve();
  #isGiving = 0;

  constructor(answers: JsonObject | undefined) {
    this.#answers = answers ?? {};
  }

  /** Somebody has said something that the run has not taken yet: time stands still meanwhile. */
  get isUnderWay(): boolean {
    return this.#isGiving > 0 || this.#open.size > 0;
  }

  /** Follows the records of the run; what was answered before is not answered again. */
  see(engine: Engine, { kind, position, body }: RunRecord): void {
    const id = String(body["id"]);
    if (kind === "ask.vote" || kind === "ask.ended") this.#taken(position, kind === "ask.ended");
    const given = this.#answers[position];
    if (kind !== "ask.opened" || given === undefined || this.#given.has(id)) return;
    this.#given.add(id);
    this.#positions.set(position, id);
    this.#isGiving++;
    this.#giving = this.#giving
      .then(() => this.#give(engine, id, body["for"] === "approval", answersIn(given)))
      .finally(() => this.#isGiving--);
    this.#giving.catch(() => {});
  }

  /** All that is to be said by now is said: throws for a fault of the case. Whether the run has something to take. */
  async said(): Promise<boolean> {
    await this.#giving;
    return this.#open.size > 0;
  }

  /** The run has been left: whatever it did not take it takes when it is resumed, or never. */
  left(): void {
    this.#open.clear();
  }

  #taken(position: string, isOver: boolean): void {
    const id = this.#positions.get(position);
    const left = id === undefined ? undefined : this.#open.get(id);
    if (id === undefined || left === undefined) return;
    if (isOver || left <= 1) this.#open.delete(id);
    else this.#open.set(id, left - 1);
  }

  async #give(engine: Engine, id: string, isApproval: boolean, answers: { by: string; answer: Json }[]): Promise<void> {
    for (const { by, answer } of answers) {
      try {
        await engine.answer(id, { ...(isApproval ? approvalIn(answer) : answerIn(answer)), by });
        this.#open.set(id, (this.#open.get(id) ?? 0) + 1);
      } catch (error) {
        if (!(error instanceof Refused) || !REFUSED.includes(error.fault.code)) throw error;
      }
    }
  }
}

/** One answer, or a list of `{ by, answer }`. */
function answersIn(given: Json): { by: string; answer: Json }[] {
  if (!Array.isArray(given)) return [{ by: PERSON, answer: given }];
  return given.map((entry) => {
    if (!isObject(entry) || entry["answer"] === undefined) {
      throw new CaseError("A list under answers holds maps of { by, answer }.");
    }
    const { by, answer } = entry as JsonObject;
    return { by: typeof by === "string" ? by : PERSON, answer: answer ?? null };
  });
}

function answerIn(answer: Json): Omit<GivenAnswer, "by"> {
  return { how: "answered", value: answer };
}

/** Of an approval: `{ approved, edit, comment }`. */
function approvalIn(answer: Json): Omit<GivenAnswer, "by"> {
  if (!isObject(answer) || typeof answer["approved"] !== "boolean") {
    throw new CaseError("An approval is answered by { approved, edit, comment }.");
  }
  const { approved, edit, comment } = answer as JsonObject;
  return {
    how: approved === true ? "approved" : "rejected",
    ...(edit === undefined ? {} : { value: edit }),
    ...(typeof comment === "string" ? { comment } : {}),
  };
}

/** When the next question that nobody answers is over, by the records of a parked run; null: none of them ever is. */
export function nextExpiry(records: readonly RunRecord[]): number | null {
  const open = new Map<string, number>();
  for (const { kind, position, body } of records) {
    const expires = body["expires_at"];
    if (kind === "ask.opened" && typeof expires === "string" && body["expires_by"] !== "limit")
      open.set(position, Date.parse(expires));
    if (kind === "ask.ended") open.delete(position);
  }
  return open.size === 0 ? null : Math.min(...open.values());
}
