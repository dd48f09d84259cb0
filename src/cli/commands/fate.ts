import type { Fate, Receipt } from "../../app/engine.ts";
import type { CommonOptions } from "../options.ts";
import { jsonText, oneLine, type Terminal } from "../terminal.ts";
import { resumeLine } from "../waiting-text.ts";

/** Says what became of an answer or a settlement, and what goes on with a run that nobody has. */
export function sayFate(
  terminal: Terminal,
  { run, position }: Receipt,
  fate: Fate,
  options: CommonOptions,
  what: { type: string; how: string; by: string },
  word: string,
): number {
  const resume = fate === "waits" ? resumeLine(run, options) : null;
  if (terminal.json) {
    terminal.out(`${jsonText({ ...what, run, position, state: fate, resume })}\n`);
    return 0;
  }
  const said = `${oneLine(position)} of ${oneLine(run)}: ${word}`;
  if (fate === "taken") terminal.out(`${said}.\n`);
  else if (resume !== null) terminal.out(`${said}. Nobody runs it; go on with it:\n  ${resume}\n`);
  else terminal.out(`${said}. It is left for the process that runs it, which has not come there yet.\n`);
  return 0;
}
