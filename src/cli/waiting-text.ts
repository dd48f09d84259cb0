import type { OpenAsk } from "../app/questions.ts";
import { isObject, type Json, type JsonObject } from "../base/json.ts";
import type { AskOpenedBody } from "../journal/bodies.ts";
import type { RunResult } from "../journal/result.ts";
import type { Field, FieldShape } from "../plan/field.ts";
import { setOwn } from "../plan/marked.ts";
import type { CommonOptions } from "./options.ts";
import { shown, shownText } from "./shown.ts";
import { jsonText, oneLine, type Paint, safeText } from "./terminal.ts";

/** What a suspended run waits for, and the commands that say something to it. */
export function waitingLines(
  result: RunResult,
  asks: readonly OpenAsk[],
  color: Paint,
  place: CommonOptions,
): string[] {
  return result.waiting.flatMap(({ position, reason, due }) => {
    const at = position === "" ? "" : ` at ${oneLine(position, 80)}`;
    const ask = asks.find((entry) => entry.position === position);
    if (ask !== undefined) {
      const what = ask.opened.for === "approval" ? "an approval" : "an answer";
      const left = ask.votes.length === 0 ? "" : `, said so far: ${oneLine(ask.votes.join(", "))}`;
      return [
        `${color.yellow("waits")} for ${what}${at}${due === null ? "" : `, due ${oneLine(due)}`}${left}`,
        ...questionLines(ask.opened, color, place),
      ];
    }
    if (reason === "timer") return [`${color.yellow("waits")}${at} until ${oneLine(due ?? "its time")}`];
    if (reason === "halt") {
      return [
        `${color.yellow("waits")} for somebody to say what became of the call${at}`,
        `  ${color.dim(resolveLine(result.run, position, place, true))}`,
      ];
    }
    return [`${color.yellow("waits")}${at}: ${oneLine(reason)}`];
  });
}

const MOST_SHOWN = 5;

/** Of a run that is over: what settles its unknown effects. */
export function unknownLines(result: RunResult, place: CommonOptions): string[] {
  return result.unknown
    .slice(0, MOST_SHOWN)
    .map(({ position }) => `Once you know what became of it: ${resolveLine(result.run, position, place, false)}`);
}

/** A question as a person reads it, with what answers it. */
export function questionLines(opened: AskOpenedBody, color: Paint, place: CommonOptions): string[] {
  const lines = safeText(shownText(opened.text)).trimEnd().split("\n");
  if (opened.call !== undefined) lines.push(...jsonText(shown(opened.call.args), 2).split("\n"));
  for (const field of fieldsOf(opened)) lines.push(color.dim(fieldLine(field)));
  const id = word(opened.id);
  const more = placeOf(place);
  if (opened.for === "approval" || isYesOrNo(opened)) {
    lines.push(color.dim(`ambit approve ${id}${more}   or   ambit reject ${id}${more}`));
  } else {
    lines.push(color.dim(`ambit answer ${id} ${quoted(jsonText(sampleOf(fieldsOf(opened))))}${more}`));
  }
  return lines.map((line) => `  ${line}`);
}

/** A question that is answered by yes or no alone. */
export function isYesOrNo(opened: AskOpenedBody): boolean {
  const [only, more] = fieldsOf(opened);
  return more === undefined && only?.name === "approved" && only.type === "boolean";
}

/** The fields of an answer, as the record has them: it may hold anything. */
export function fieldsOf(opened: AskOpenedBody): Field[] {
  const { returns } = opened;
  return (Array.isArray(returns) ? returns.filter(isField) : []) as unknown as Field[];
}

function isField(entry: unknown): boolean {
  return isObject(entry) && typeof entry["name"] === "string" && typeof entry["type"] === "string";
}

export function fieldLine(field: Field): string {
  const parts = [field.type as string];
  if (field.enum !== undefined) parts.push(`one of ${field.enum.map((entry) => jsonText(entry)).join(", ")}`);
  if (field.default !== undefined) parts.push(`default ${jsonText(shown(field.default))}`);
  else if (!field.required) parts.push("may be left out");
  const said = field.description === undefined ? "" : `: ${field.description}`;
  return oneLine(`${field.name} (${parts.join(", ")})${said}`, 300);
}

/** An answer of the right shape, to be changed. */
function sampleOf(fields: readonly Field[]): JsonObject {
  const sample: JsonObject = {};
  for (const field of fields) setOwn(sample, field.name, field.default ?? sampleValue(field));
  return sample;
}

function sampleValue(shape: FieldShape): Json {
  if (shape.enum !== undefined) return shape.enum[0] ?? null;
  switch (shape.type) {
    case "string":
      return "...";
    case "boolean":
      return true;
    case "integer":
    case "number":
      return shape.min ?? 1;
    case "array":
      return [];
    case "object":
      return sampleOf(shape.fields ?? []);
    case "any":
      return null;
  }
}

/** The command that settles an effect; one of a run that goes on may be done again. */
export function resolveLine(run: string, position: string, place: CommonOptions, mayRetry: boolean): string {
  const ways = `--succeeded JSON | --failed CODE${mayRetry ? " | --retry" : ""}`;
  return `ambit resolve ${word(run)} ${word(position)} ${ways}${placeOf(place)}`;
}

/** The whole command that goes on with a run. */
export function resumeLine(run: string, place: CommonOptions): string {
  return `ambit resume ${word(run)}${placeOf(place)}`;
}

function placeOf({ store, config }: CommonOptions): string {
  return `${store === undefined ? "" : ` --store ${word(store)}`}${config === undefined ? "" : ` --config ${word(config)}`}`;
}

/** A word of a command line, quoted where a shell would read it otherwise. */
function word(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : quoted(safeText(text));
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
