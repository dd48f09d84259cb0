import type { AdmissionReport } from "../../admit/admitted-plan.ts";
import { boundText } from "../../admit/bounds.ts";
import { createEngine } from "../../app/engine.ts";
import { formatDuration } from "../../base/duration.ts";
import { hasErrors } from "../../errors/diagnostic.ts";
import { modelName } from "../../view/words.ts";
import { type CommonOptions, checkAgentChoices, engineOptions, readAgentChoices, terminalOf } from "../options.ts";
import { printDiagnostics, printExplain, printRefusal } from "../refusal.ts";
import { jsonText, safeText, type Terminal } from "../terminal.ts";

export interface PlanOptions extends CommonOptions {
  scripted?: string;
  agent?: string[];
}

/** Admission and the bounds report; contacts nothing. Exit 3 (or 4) if refused. */
export async function planCommand(file: string, options: PlanOptions): Promise<number> {
  const terminal = terminalOf(options);
  try {
    const agents = readAgentChoices(options.agent ?? []);
    const engine = await createEngine({
      ...engineOptions(options, terminal, "ambit plan"),
      ...(options.scripted === undefined ? {} : { scripted: options.scripted }),
      agents,
    });
    const { workflow, admission } = await engine.plan(file);
    checkAgentChoices(workflow.plan, agents);
    const diagnostics = [...workflow.diagnostics, ...admission.diagnostics];
    const ok = admission.admitted !== null && !hasErrors(diagnostics);
    if (terminal.json) {
      terminal.out(`${jsonText({ ok, ...reportJson(admission.report), diagnostics })}\n`);
    } else {
      if (ok) terminal.out(reportText(admission.report, workflow.plan?.name ?? file, terminal));
      if (diagnostics.length > 0) {
        printDiagnostics(terminal, diagnostics);
        printExplain(terminal, diagnostics);
      }
    }
    if (ok) return 0;
    return diagnostics
      .filter((entry) => entry.severity === "error")
      .every((entry) => entry.code.startsWith("deployment."))
      ? 4
      : 3;
  } catch (error) {
    return printRefusal(terminal, error);
  }
}

export function reportJson(report: AdmissionReport): { [key: string]: unknown } {
  const { bounds, limits } = report;
  return {
    capabilities: report.capabilities,
    agents: report.agents,
    tools: report.tools,
    hosts: report.hosts,
    commands: report.commands,
    approvals: report.approvals,
    secrets: report.secrets,
    settings: report.settings,
    bounds: {
      tool_attempts: bounds.toolAttempts,
      tokens: bounds.tokens,
      duration_ms: bounds.duration,
      depth: bounds.depth,
      width: bounds.width,
    },
    limits: {
      deadline_ms: limits.deadline,
      steps: limits.steps,
      depth: limits.depth,
      wait_ms: limits.wait,
      concurrency: limits.concurrency,
      drain_grace_ms: limits.drainGrace,
      cleanup_grace_ms: limits.cleanupGrace,
    },
    reach: report.reach,
  };
}

function reportText(report: AdmissionReport, name: string, terminal: Terminal): string {
  const { color } = terminal;
  const lines: string[] = [color.bold(`${safeText(name)} may run`), ""];
  const section = (title: string, rows: string[]): void => {
    if (rows.length > 0) lines.push(color.bold(title), ...rows.map((row) => `  ${safeText(row)}`), "");
  };
  section("Who can reach what", report.reach);
  section(
    "Agents",
    report.agents.map((row) => `${row.step}: ${row.agent} → ${modelName(row.provider, row.model)}`),
  );
  section(
    "Actions",
    report.tools.map(
      (row) =>
        `${row.action}  ${row.effects}, idempotency ${row.idempotency}, connection ${row.connection}, used by ${row.by.join(", ")}`,
    ),
  );
  section("Hosts", report.hosts);
  section("Commands", report.commands);
  section("Approvals", report.approvals);
  section(
    "Settings",
    Object.entries(report.settings).map(([path, value]) => `${path} = ${JSON.stringify(value)}`),
  );
  section("Capabilities", report.capabilities);
  const { bounds, limits } = report;
  section("Worst case", [
    `tool attempts  ${boundText("toolAttempts", bounds.toolAttempts)}`,
    `tokens         ${boundText("tokens", bounds.tokens)}`,
    `time           ${boundText("duration", bounds.duration)}`,
    `depth          ${bounds.depth}`,
    `width          ${bounds.width ?? "not proved"}`,
  ]);
  section("Limits", [
    `deadline ${formatDuration(limits.deadline)}, ${limits.steps} steps, concurrency ${limits.concurrency}, grace after a stop ${formatDuration(limits.drainGrace)}`,
  ]);
  return `${lines.join("\n")}`;
}
