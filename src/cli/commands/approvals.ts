import type { GivenAnswer, OpenQuestion } from "../../app/engine.ts";
import type { AskOpenedBody } from "../../journal/bodies.ts";
import { withEngine } from "../engine-command.ts";
import { type CommonOptions, readDocument, userName } from "../options.ts";
import { jsonText, oneLine, type Paint } from "../terminal.ts";
import { questionLines, resumeLine } from "../waiting-text.ts";
import { sayFate } from "./fate.ts";

/** Lists what runs ask of people. */
export function approvalsCommand(options: CommonOptions): Promise<number> {
  return withEngine(options, "ambit approvals", async (engine, terminal) => {
    const questions = await engine.approvals();
    if (terminal.json) terminal.out(`${jsonText({ approvals: questions })}\n`);
    else if (questions.length === 0) terminal.err("Nobody is asked anything.\n");
    else for (const question of questions) terminal.out(questionText(question, terminal.color, options));
    return 0;
  });
}

function questionText(question: OpenQuestion, color: Paint, options: CommonOptions): string {
  const { id, position, run, name, needed, votes, decided, expires_at: expires } = question;
  const what = question.for === "approval" ? "approval" : "question";
  const about = [
    `${what} at ${oneLine(position, 80)} of ${oneLine(name, 40)}, run ${oneLine(run)}`,
    `since ${oneLine(question.opened_at)}`,
    ...(expires === null ? [] : [`until ${oneLine(expires)}`]),
    ...(needed > 1 ? [`${votes.length} of ${needed} have answered`] : []),
    ...assigned(question),
  ];
  const lines = [`${color.bold(oneLine(id))}  ${color.dim(about.join(" · "))}`];
  if (decided === null) lines.push(...questionLines(asOpened(question), color, options));
  else {
    lines.push(`  ${oneLine(`${decided.how} by ${decided.by} at ${decided.at}`)}; not taken by the run yet`);
    lines.push(`  ${color.dim(resumeLine(run, options))}`);
  }
  return `${lines.join("\n")}\n\n`;
}

function assigned({ assignees }: OpenQuestion): string[] {
  const names = Array.isArray(assignees) ? assignees.filter((entry) => typeof entry === "string") : [];
  return names.length === 0 ? [] : [`for ${oneLine(names.join(", "), 120)}`];
}

function asOpened({ returns = [], ...question }: OpenQuestion): AskOpenedBody {
  return { ...question, returns, approvers: null };
}

export interface ApproveOptions extends CommonOptions {
  edit?: string;
  comment?: string;
}

export function approveCommand(id: string, options: ApproveOptions): Promise<number> {
  return give("approve", id, options, () => ({
    how: "approved",
    ...(options.edit === undefined ? {} : { value: readDocument(options.edit, "--edit") }),
  }));
}

export function rejectCommand(id: string, options: ApproveOptions): Promise<number> {
  return give("reject", id, options, () => ({ how: "rejected" }));
}

export function answerCommand(id: string, answer: string, options: ApproveOptions): Promise<number> {
  return give("answer", id, options, () => ({ how: "answered", value: readDocument(answer, "the answer") }));
}

function give(
  verb: string,
  id: string,
  options: ApproveOptions,
  said: () => Omit<GivenAnswer, "by" | "comment">,
): Promise<number> {
  return withEngine(options, `ambit ${verb}`, async (engine, terminal) => {
    const given = { ...said(), comment: options.comment ?? null, by: userName() };
    const receipt = await engine.answer(id, given);
    const what = { type: "answer", how: given.how, by: given.by };
    return sayFate(terminal, receipt, await engine.fateOf(receipt), options, what, given.how);
  });
}
