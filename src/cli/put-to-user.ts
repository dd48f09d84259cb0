/**
 * Questions of a run, put to whoever sits at the terminal.
 *
 * I1: an empty line, the end of input or Ctrl-C leaves a question as it is.
 * I2: what does not fit its field is said at once and asked for again, a bounded number of times.
 */
import { createInterface } from "node:readline";
import type { GivenAnswer } from "../app/engine.ts";
import { parseGivenJson } from "../base/given-json.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { checkFields } from "../catalog/field-value.ts";
import { sayProblems } from "../catalog/value-problem.ts";
import type { AskOpenedBody } from "../journal/bodies.ts";
import type { Field } from "../plan/field.ts";
import { setOwn, type Val } from "../plan/marked.ts";
import { shown, shownText } from "./shown.ts";
import { jsonText, type Paint, safeText } from "./terminal.ts";
import { fieldLine, fieldsOf, isYesOrNo } from "./waiting-text.ts";

/** Asks for a line at a time. */
export interface Lines {
  /** Null at the end of input, or where the user leaves. */
  ask(prompt: string): Promise<string | null>;
  say(text: string): void;
}

export type Said = Omit<GivenAnswer, "by">;

const TRIES = 10;

/** Null where the question is left as it is. */
export async function putToUser(opened: AskOpenedBody, lines: Lines, color: Paint): Promise<Said | null> {
  lines.say(`\n${color.bold(safeText(shownText(opened.text)))}\n`);
  if (opened.for === "approval") {
    if (opened.call !== undefined) lines.say(`${jsonText(shown(opened.call.args), 2)}\n`);
    const yes = await yesOrNo(lines, "Approve it?");
    if (yes === null) return null;
    if (yes) return { how: "approved" };
    const why = await lines.ask("Why not? (may be left empty) ");
    return why === null ? null : { how: "rejected", comment: why === "" ? null : why };
  }
  if (isYesOrNo(opened)) {
    const yes = await yesOrNo(lines, "Yes or no?");
    return yes === null ? null : { how: "answered", value: { approved: yes } };
  }
  const fields = fieldsOf(opened);
  for (const field of fields) lines.say(`  ${color.dim(fieldLine(field))}\n`);
  const now = await yesOrNo(lines, "Answer it now?");
  if (now !== true) return null;
  const value: JsonObject = {};
  for (const field of fields) {
    const given = await fieldValue(field, lines);
    if (given === null) return null;
    if (given.value !== undefined) setOwn(value, field.name, given.value);
  }
  return { how: "answered", value };
}

async function yesOrNo(lines: Lines, question: string): Promise<boolean | null> {
  for (let tries = 0; tries < TRIES; tries++) {
    const line = (await lines.ask(`${question} [y/n, an empty line leaves it] `))?.trim().toLowerCase() ?? "";
    if (line === "") return null;
    if (line === "y" || line === "yes") return true;
    if (line === "n" || line === "no") return false;
    lines.say("Type y or n.\n");
  }
  return null;
}

/** Null where the user leaves; without a value where the field is left out. */
async function fieldValue(field: Field, lines: Lines): Promise<{ value?: Json } | null> {
  const isNeeded = field.required && field.default === undefined;
  for (let tries = 0; tries < TRIES; tries++) {
    const line = await lines.ask(`${safeText(field.name)}: `);
    if (line === null || (line.trim() === "" && isNeeded)) return null;
    if (line.trim() === "") return {};
    const read = readField(field, line);
    const problem = read.ok ? problemOf(field, read.value) : read.message;
    if (problem === null && read.ok) return { value: read.value };
    lines.say(`That does not fit: ${safeText(problem ?? "")}.\n`);
  }
  return null;
}

/** Texts as they are typed, anything else as JSON. */
function readField(field: Field, line: string): { ok: true; value: Json } | { ok: false; message: string } {
  if (field.type === "string") return { ok: true, value: line };
  const text = line.trim();
  if (field.type === "boolean" && /^(y|yes|n|no)$/i.test(text)) {
    return { ok: true, value: text.toLowerCase().startsWith("y") };
  }
  const parsed = parseGivenJson(text);
  if (parsed.ok || parsed.isJson) return parsed;
  if (field.type === "any") return { ok: true, value: line };
  return { ok: false, message: `it must be JSON of the type ${field.type}` };
}

function problemOf(field: Field, value: Json): string | null {
  const outcome = checkFields([field], Object.fromEntries([[field.name, value]]) as unknown as Val);
  return outcome.ok ? null : sayProblems(outcome.problems);
}

/** Whether somebody sits there to be asked: what is piped, or prints for programs, asks nobody. */
export function asksHere(options: { json?: boolean; wait?: boolean }): boolean {
  if (options.json === true || options.wait === false) return false;
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** The terminal's own lines, for the time of `work`. */
export async function withTerminalLines<T>(work: (lines: Lines) => Promise<T>): Promise<T> {
  const reader = createInterface({ input: process.stdin, output: process.stderr, terminal: true });
  let leave: () => void = () => {};
  let isClosed = false;
  reader.on("SIGINT", () => reader.close());
  reader.on("close", () => {
    isClosed = true;
    leave();
  });
  try {
    return await work({
      say: (text) => void process.stderr.write(text),
      ask: (prompt) =>
        new Promise((resolve) => {
          if (isClosed) return resolve(null);
          leave = () => resolve(null);
          reader.question(prompt, resolve);
        }),
    });
  } finally {
    reader.close();
  }
}
