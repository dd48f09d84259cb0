import { createEngine, type Engine } from "../app/engine.ts";
import { type CommonOptions, engineOptions, terminalOf } from "./options.ts";
import { printRefusal } from "./refusal.ts";
import type { Terminal } from "./terminal.ts";

/** A command that asks an engine something and ends: whatever it refuses is printed, and the engine closed. */
export async function withEngine(
  options: CommonOptions,
  label: string,
  work: (engine: Engine, terminal: Terminal) => Promise<number>,
): Promise<number> {
  const terminal = terminalOf(options);
  const engine = await createEngine(engineOptions(options, terminal, label));
  try {
    return await work(engine, terminal);
  } catch (error) {
    return printRefusal(terminal, error);
  } finally {
    await engine.close();
  }
}
