import { createEngine, type Engine, type EngineRun } from "../../app/engine.ts";
import { Refused } from "../../app/refused.ts";
import { readWorkflow } from "../../app/workflow-file.ts";
import type { Diagnostic } from "../../errors/diagnostic.ts";
import { Interrupts } from "../interrupts.ts";
import {
  type CommonOptions,
  checkAgentChoices,
  engineOptions,
  readAgentChoices,
  readDocument,
  readDurationOption,
  readInputs,
  terminalOf,
} from "../options.ts";
import { asksHere, withTerminalLines } from "../put-to-user.ts";
import { printDiagnostics, printRefusal } from "../refusal.ts";
import { printVersionLine } from "../run-output.ts";
import { runToRest } from "../run-to-rest.ts";

export interface RunOptions extends CommonOptions {
  i?: string[];
  input?: string[];
  trigger?: string;
  scripted?: string;
  agent?: string[];
  deadline?: string;
  runId?: string;
  dryRun?: boolean;
  strict?: boolean;
  /** Commander's form of `--no-wait`. */
  wait?: boolean;
}

export async function runCommand(file: string, pairs: string[], options: RunOptions): Promise<number> {
  const terminal = terminalOf(options);
  printVersionLine(terminal);
  const interrupts = new Interrupts(terminal);
  let begun: EngineRun | null = null;
  let engine: Engine | null = null;
  try {
    const agents = readAgentChoices(options.agent ?? []);
    engine = await createEngine({
      ...engineOptions(options, terminal, `ambit run ${file}`),
      ...(options.scripted === undefined ? {} : { scripted: options.scripted }),
      agents,
    });
    const own = engine;
    const workflow = readWorkflow(file, process.cwd());
    if (workflow.plan === null) throw Refused.by(workflow.diagnostics);
    checkAgentChoices(workflow.plan, agents);
    const warnings = workflow.diagnostics.filter((entry) => entry.severity === "warning");
    if (options.strict && warnings.length > 0)
      throw Refused.by(warnings.map((entry) => ({ ...entry, severity: "error" as const })));
    if (!terminal.json && warnings.length > 0) printDiagnostics(terminal, warnings);
    const given = {
      inputs: readInputs(workflow.plan.inputs, [...(options.i ?? []), ...pairs], options.input ?? []),
      ...(options.trigger === undefined ? {} : { trigger: readDocument(options.trigger, "--trigger") }),
      ...(options.runId === undefined ? {} : { runId: options.runId }),
      ...(options.deadline === undefined ? {} : { deadline: readDurationOption(options.deadline, "--deadline") }),
      leavesTimers: options.wait === false,
      dryRun: options.dryRun === true,
      strict: options.strict === true,
      onWarnings: (found: Diagnostic[]) => {
        if (!terminal.json) printDiagnostics(terminal, found);
      },
    };
    const run = await interrupts.start((signal) => own.start(file, { ...given, signal }));
    begun = run;
    return await runToRest({ terminal, engine, interrupts }, run, {
      place: options,
      inputs: given.inputs,
      leavesTimers: given.leavesTimers,
      askedHere: asksHere(options) ? withTerminalLines : null,
    });
  } catch (error) {
    return printRefusal(terminal, error, begun === null ? { nothing: true } : { run: begun.id });
  } finally {
    await engine?.close();
    interrupts.end();
  }
}
