import { existsSync, statSync } from "node:fs";
import { createEngine } from "../../app/engine.ts";
import { readRunFile } from "../../app/saved-run.ts";
import type { ReplayReport } from "../../run/replay.ts";
import { counted } from "../../view/words.ts";
import { MAX_RUN_BYTES, readNamed } from "../named-file.ts";
import { type CommonOptions, engineOptions, readInputs, terminalOf } from "../options.ts";
import { printRefusal } from "../refusal.ts";
import { shown } from "../shown.ts";
import { jsonText, safeText } from "../terminal.ts";

/** Exit 0 if equal (or equal as far as the records go), 7 for a divergence. */
export async function replayCommand(
  run: string,
  options: CommonOptions & { with?: string; i?: string[] },
): Promise<number> {
  const terminal = terminalOf(options);
  const engine = await createEngine(engineOptions(options, terminal, "ambit replay"));
  try {
    const isFile = existsSync(run) && statSync(run).isFile();
    const report = await engine.replay(isFile ? readRunFile(readNamed(run, MAX_RUN_BYTES)) : run, {
      ...(options.with === undefined ? {} : { with: options.with }),
      inputs: readInputs([], options.i ?? [], []),
    });
    if (terminal.json) terminal.out(`${jsonText({ type: "replay", ...asJson(report) })}\n`);
    else if (report.is === "diverged") terminal.err(`${said(report)}\n`);
    else terminal.out(`${said(report)}\n`);
    return report.is === "diverged" ? 7 : 0;
  } catch (error) {
    return printRefusal(terminal, error);
  } finally {
    await engine.close();
  }
}

function asJson(report: ReplayReport): { [key: string]: unknown } {
  const { is, ...rest } = report;
  return { result: is, ...(is === "diverged" ? { code: "history.mismatch" } : {}), ...rest };
}

function said(report: ReplayReport): string {
  switch (report.is) {
    case "equal":
      return `equal ${report.digest} (${report.status}, ${counted(report.events, "record")}, nothing contacted)`;
    case "reevaluated":
      return `evaluated with the changed file from ${counted(report.events, "record")}, nothing contacted: ${report.status}${report.error === null ? "" : ` ${jsonText(shown(report.error))}`}\n${jsonText(shown(report.outputs), 2)}`;
    case "unfinished":
      return `equal as far as it goes: ${counted(report.events, "record")} of a run that has not ended`;
    case "diverged":
      return safeText(
        [
          `diverged at ${report.position === "" ? "the run" : report.position}${report.seq === null ? "" : ` (record ${report.seq})`}: ${report.message}`,
          `  expected ${JSON.stringify(report.expected)}`,
          `  recorded ${JSON.stringify(report.recorded)}`,
        ].join("\n"),
      );
  }
}
