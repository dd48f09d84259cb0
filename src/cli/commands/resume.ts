import { createEngine } from "../../app/engine.ts";
import { type CommonOptions, engineOptions, readInputs, terminalOf } from "../options.ts";
import { printRefusal } from "../refusal.ts";
import { followRun, printVersionLine } from "../run-output.ts";

export interface ResumeOptions extends CommonOptions {
  i?: string[];
  scripted?: string;
}

export async function resumeCommand(run: string, options: ResumeOptions): Promise<number> {
  const terminal = terminalOf(options);
  printVersionLine(terminal);
  const engine = await createEngine({
    ...engineOptions(options, terminal, `ambit resume ${run}`),
    ...(options.scripted === undefined ? {} : { scripted: options.scripted }),
  });
  try {
    const resumed = await engine.resume(run, { inputs: readInputs([], options.i ?? [], []) });
    return await followRun(terminal, resumed, `Look at it with: ambit runs show ${resumed.id}`);
  } catch (error) {
    return printRefusal(terminal, error);
  } finally {
    await engine.close();
  }
}
