import { createEngine, type Engine, type EngineRun } from "../../app/engine.ts";
import { Interrupts } from "../interrupts.ts";
import { type CommonOptions, engineOptions, readInputs, terminalOf } from "../options.ts";
import { asksHere, withTerminalLines } from "../put-to-user.ts";
import { printRefusal } from "../refusal.ts";
import { printEnded, printVersionLine } from "../run-output.ts";
import { runToRest } from "../run-to-rest.ts";

export interface ResumeOptions extends CommonOptions {
  i?: string[];
  scripted?: string;
  /** Commander's form of `--no-wait`. */
  wait?: boolean;
}

export async function resumeCommand(run: string, options: ResumeOptions): Promise<number> {
  const terminal = terminalOf(options);
  printVersionLine(terminal);
  const interrupts = new Interrupts(terminal);
  let begun: EngineRun | null = null;
  let engine: Engine | null = null;
  try {
    engine = await createEngine({
      ...engineOptions(options, terminal, `ambit resume ${run}`),
      ...(options.scripted === undefined ? {} : { scripted: options.scripted }),
    });
    const own = engine;
    const leavesTimers = options.wait === false;
    const inputs = readInputs([], options.i ?? [], []);
    const resumed = await interrupts.start((signal) => own.resume(run, { inputs, signal, leavesTimers }));
    begun = resumed;
    if (resumed.isOver && !terminal.json) return await printEnded(terminal, resumed);
    return await runToRest({ terminal, engine, interrupts }, resumed, {
      place: options,
      inputs,
      leavesTimers,
      askedHere: asksHere(options) ? withTerminalLines : null,
    });
  } catch (error) {
    return printRefusal(terminal, error, begun === null ? { nothing: true } : { run: begun.id });
  } finally {
    await engine?.close();
    interrupts.end();
  }
}
