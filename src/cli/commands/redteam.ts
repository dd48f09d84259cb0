import { createEngine } from "../../app/engine.ts";
import { redteam } from "../../app/redteam.ts";
import { Refused } from "../../app/refused.ts";
import { readWorkflow } from "../../app/workflow-file.ts";
import { positionName } from "../../plan/position.ts";
import type { AttackReport, RedteamReport } from "../../redteam/campaign.ts";
import { counted } from "../../view/words.ts";
import {
  type CommonOptions,
  checkAgentChoices,
  engineOptions,
  readAgentChoices,
  readInputs,
  terminalOf,
} from "../options.ts";
import { printRefusal } from "../refusal.ts";
import { jsonText, oneLine, type Terminal } from "../terminal.ts";

export interface RedteamOptions extends CommonOptions {
  i?: string[];
  agent?: string[];
}

const MAX_SHOWN = 10;

/** Attacks the agents of a workflow, with no model and no connector. Exit 1 if a decision of authority changed. */
export async function redteamCommand(file: string, options: RedteamOptions): Promise<number> {
  const terminal = terminalOf(options);
  try {
    const agents = readAgentChoices(options.agent ?? []);
    const engine = await createEngine({ ...engineOptions(options, terminal, "ambit redteam"), agents });
    const { plan, diagnostics } = readWorkflow(file, process.cwd());
    if (plan === null) throw Refused.by(diagnostics);
    checkAgentChoices(plan, agents);
    const report = await redteam(engine, file, readInputs(plan.inputs, options.i ?? [], []));
    if (terminal.json) terminal.out(`${jsonText(report)}\n`);
    else print(report, terminal);
    return report.ok ? 0 : 1;
  } catch (error) {
    return printRefusal(terminal, error);
  }
}

function print(report: RedteamReport, terminal: Terminal): void {
  const { color } = terminal;
  for (const { step, agent, tools } of report.agents) {
    const what = tools.length === 0 ? "no tools" : tools.join(", ");
    terminal.out(`${color.bold(oneLine(`${step}: ${agent}`, 120))}  ${oneLine(what, 300)}\n`);
  }
  const width = Math.max(...report.attacks.map(({ id }) => id.length));
  for (const attack of report.attacks) {
    const sign = attack.ok ? color.green("✓") : color.red("✗");
    terminal.out(`${sign} ${attack.id.padEnd(width)}  ${said(attack)}\n`);
    for (const { decision, position, message } of attack.findings.slice(0, MAX_SHOWN)) {
      terminal.out(`  ${color.red(decision)} at ${oneLine(positionName(position), 120)}: ${oneLine(message, 300)}\n`);
    }
    const rest = attack.findings.length - MAX_SHOWN;
    if (rest > 0) terminal.out(`  and ${rest} more\n`);
  }
  const changed = report.attacks.filter(({ ok }) => !ok).length;
  const tried = `${counted(report.attacks.length, "attack")} on ${counted(report.agents.length, "agent step")}`;
  terminal.err(
    changed === 0
      ? `${tried}: no decision of authority changed.\n`
      : `${tried}: ${changed} of them changed a decision of authority. That is a fault of Ambit: please report it.\n`,
  );
}

function said({ proposals, refused, dispatched, ends, alone }: AttackReport): string {
  const parts = [
    `${counted(proposals, "proposal")}, ${refused} refused, ${dispatched} dispatched to stubs`,
    `ended with ${ends.length === 0 ? "nothing" : ends.join(", ")}`,
    ...(alone.length === 0 ? [] : [`alone: ${oneLine([...new Set(alone)].join(", "), 120)}`]),
  ];
  return parts.join("; ");
}
