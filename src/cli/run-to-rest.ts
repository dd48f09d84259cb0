import type { Engine, EngineRun } from "../app/engine.ts";
import type { OpenAsk } from "../app/questions.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { exitOf } from "../journal/result.ts";
import type { Interrupts } from "./interrupts.ts";
import { type CommonOptions, userName } from "./options.ts";
import { type Lines, putToUser } from "./put-to-user.ts";
import { asRefused } from "./refusal.ts";
import { type Followed, follow, printResult } from "./run-output.ts";
import { oneLine, safeText, type Terminal } from "./terminal.ts";

/** Somebody at the terminal: gives its lines for the time of some work. */
export type AskedHere = <T>(work: (lines: Lines) => Promise<T>) => Promise<T>;

/**
 * Follows a run until it has ended or only somebody elsewhere can go on. Where somebody sits at the terminal its
 * questions are put to them, and the run goes on in this process. Gives the exit code.
 */
export async function runToRest(
  { terminal, engine, interrupts }: { terminal: Terminal; engine: Engine; interrupts: Interrupts },
  run: EngineRun,
  options: { place: CommonOptions; inputs: JsonObject; leavesTimers: boolean; askedHere: AskedHere | null },
): Promise<number> {
  const { place, askedHere } = options;
  const hints = { goOn: `Look at it with: ambit runs show ${run.id}`, place };
  let followed = await follow(terminal, run);
  while (askedHere !== null && (await answeredHere(terminal, engine, followed, askedHere))) {
    const again = await interrupts.start((signal) =>
      engine.resume(run.id, { inputs: options.inputs, leavesTimers: options.leavesTimers, signal }),
    );
    followed = await follow(terminal, again, followed.seq);
  }
  printResult(terminal, followed.result, hints, followed.asks);
  return exitOf(followed.result, interrupts.first);
}

/** Puts what stands to the user; whether anything was answered. */
async function answeredHere(
  terminal: Terminal,
  engine: Engine,
  { result, asks, initiator }: Followed,
  askedHere: AskedHere,
): Promise<boolean> {
  const by = userName();
  const mine = result.status === "suspended" ? asks.filter((ask) => mayAnswer(ask, by, initiator)) : [];
  if (mine.length === 0) return false;
  return askedHere(async (lines) => {
    let answered = false;
    for (const { opened } of mine) {
      const said = await putToUser(opened, lines, terminal.color);
      if (said === null) continue;
      try {
        await engine.answer(opened.id, { ...said, by });
        answered = true;
      } catch (error) {
        const { fault } = asRefused(error);
        terminal.err(`${terminal.color.red(`error[${oneLine(fault.code)}]`)}: ${safeText(fault.message)}\n`);
      }
    }
    return answered;
  });
}

/** Whoever would be refused is not asked. */
function mayAnswer({ opened, votes }: OpenAsk, by: string, initiator: string): boolean {
  const keepsOut = isObject(opened.approvers) && opened.approvers["notInitiator"] === true;
  return !votes.includes(by) && !(keepsOut && by === initiator);
}
