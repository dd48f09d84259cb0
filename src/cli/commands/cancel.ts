import { createEngine } from "../../app/engine.ts";
import { type CommonOptions, engineOptions, terminalOf, userName } from "../options.ts";
import { printRefusal } from "../refusal.ts";
import { jsonText, oneLine } from "../terminal.ts";

const SAID = { asked: "is asked to cancel.", cancelled: "is cancelled.", over: "is over already." };

/** Asking twice, or after the end, changes nothing and is no error. */
export async function cancelCommand(run: string, options: CommonOptions & { force?: boolean }): Promise<number> {
  const terminal = terminalOf(options);
  const engine = await createEngine(engineOptions(options, terminal, "ambit cancel"));
  try {
    const outcome = await engine.cancel(run, userName(), options.force === true);
    if (terminal.json) terminal.out(`${jsonText({ type: "cancel", run, outcome })}\n`);
    else terminal.out(`${oneLine(run)} ${SAID[outcome]}\n`);
    return 0;
  } catch (error) {
    return printRefusal(terminal, error);
  } finally {
    await engine.close();
  }
}
