import { CAPABILITY_ALIASES } from "../../admit/rules/capabilities.ts";
import { OFFERED_CAPABILITIES } from "../../app/capabilities.ts";
import { notFoundText } from "../../app/deployments.ts";
import { createEngine } from "../../app/engine.ts";
import { type Ailment, findAilments } from "../../app/health.ts";
import { counted } from "../../view/words.ts";
import { type CommonOptions, engineOptions, terminalOf } from "../options.ts";
import { asRefused } from "../refusal.ts";
import { jsonText, oneLine } from "../terminal.ts";
import { VERSION } from "../version.ts";

interface Finding {
  what: string;
  ok: boolean;
  said: string;
}

const MIN_NODE = [20, 19] as const;

/** Looks at what runs stand on, without running anything. Exit 1 for a finding. */
export async function doctorCommand(options: CommonOptions & { capabilities?: boolean }): Promise<number> {
  const terminal = terminalOf(options);
  const engine = await createEngine(engineOptions(options, terminal, "ambit doctor"));
  const findings: Finding[] = [];
  const ailments: Ailment[] = [];
  try {
    const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
    findings.push({
      what: "node",
      ok: major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1]),
      said: process.versions.node,
    });
    const platform = `${process.platform} ${process.arch}`;
    findings.push({
      what: "platform",
      ok: true,
      said: process.platform === "win32" ? `${platform}: untested, nothing is promised; use WSL` : platform,
    });
    await tried(findings, "deployment", async () => {
      const deployment = await engine.deployment(engine.cwd);
      ailments.push(...(await findAilments(deployment, process.env)));
      const { file, agents, connectors } = deployment;
      return file === null
        ? `${notFoundText([engine.cwd])} Without one there are the built-in connectors only.`
        : `${file}, ${counted(Object.keys(agents).length, "agent")}, ${counted(Object.keys(connectors).length, "connector")}`;
    });
    findings.push(...ailments.map((ailment) => ({ ...ailment, ok: false })));
    await tried(findings, "store", async () => {
      const { kind, path, durability } = (await engine.journal(null)).describe();
      return [kind, path, `durability ${durability}`].filter((part) => part !== null).join(" ");
    });
    const ok = findings.every((finding) => finding.ok);
    const capabilities = OFFERED_CAPABILITIES.map((name) => ({ name, alias: CAPABILITY_ALIASES[name] ?? null }));
    if (terminal.json) {
      terminal.out(`${jsonText({ ok, ambit: VERSION, findings, capabilities })}\n`);
    } else if (options.capabilities) {
      for (const capability of capabilities)
        terminal.out(`${capability.name}${capability.alias === null ? "" : ` (alias ${capability.alias})`}\n`);
    } else {
      terminal.out(`ambit ${VERSION}\n`);
      for (const finding of findings) {
        terminal.out(
          `${finding.ok ? terminal.color.green("✓") : terminal.color.red("✗")} ${finding.what}: ${oneLine(finding.said, 300)}\n`,
        );
      }
      if (!ok) terminal.err(`${counted(findings.filter((finding) => !finding.ok).length, "finding")}.\n`);
      terminal.out(`  capabilities: ${capabilities.map((entry) => entry.name).join(", ")}\n`);
    }
    return ok ? 0 : 1;
  } finally {
    await engine.close();
  }
}

async function tried(findings: Finding[], what: string, look: () => Promise<string>): Promise<void> {
  try {
    findings.push({ what, ok: true, said: await look() });
  } catch (error) {
    const { fault } = asRefused(error);
    findings.push({ what, ok: false, said: `${fault.code}: ${fault.message}` });
  }
}
