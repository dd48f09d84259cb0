import { type CapabilityRow, capabilityRows, type ProfileRow, profileRows } from "../../app/capabilities.ts";
import type { LoadedDeployment } from "../../app/deployment.ts";
import { notFoundText } from "../../app/deployments.ts";
import { createEngine } from "../../app/engine.ts";
import { type Ailment, findAilments } from "../../app/health.ts";
import { counted } from "../../view/words.ts";
import { type CommonOptions, engineOptions, terminalOf } from "../options.ts";
import { asRefused } from "../refusal.ts";
import { jsonText, oneLine, type Paint } from "../terminal.ts";
import { VERSION } from "../version.ts";

interface Finding {
  what: string;
  ok: boolean;
  /** There is nothing to judge: it is neither right nor wrong. */
  neutral?: true;
  said: string;
}

const SUPPORTED: ReadonlySet<string> = new Set(["linux", "darwin"]);
const MIN_NODE = [20, 19] as const;

type Looked = Omit<Finding, "what" | "ok">;

/** Looks at what runs stand on, without running anything. Exit 1 for a finding. */
export async function doctorCommand(options: CommonOptions & { capabilities?: boolean }): Promise<number> {
  const terminal = terminalOf(options);
  const engine = await createEngine(engineOptions(options, terminal, "ambit doctor"));
  const findings: Finding[] = [];
  const ailments: Ailment[] = [];
  let loaded: LoadedDeployment | null = null;
  let storeKind: string | null = null;
  try {
    const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
    findings.push({
      what: "node",
      ok: major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1]),
      said: `${process.versions.node}, needed is ${MIN_NODE.join(".")} or newer`,
    });
    const wsl = process.platform === "win32" ? "; use WSL" : "";
    const platform = `${process.platform} ${process.arch}`;
    findings.push({
      what: "platform",
      ok: true,
      ...(SUPPORTED.has(process.platform) ? {} : { neutral: true }),
      said: SUPPORTED.has(process.platform) ? platform : `${platform}: untested, nothing is promised${wsl}`,
    });
    await tried(findings, "deployment", async () => {
      const deployment = await engine.deployment(engine.cwd);
      loaded = deployment;
      ailments.push(...(await findAilments(deployment, process.env)));
      const { file, agents, connectors } = deployment;
      if (file === null) {
        return {
          neutral: true,
          said: `${notFoundText([engine.cwd])} Without one there are the built-in connectors only.`,
        };
      }
      const judged = ailments.length === 0 ? "" : `, ${counted(ailments.length, "thing")} missing (below)`;
      return {
        said: `${file}, ${counted(Object.keys(agents).length, "agent")}, ${counted(Object.keys(connectors).length, "connector")}${judged}`,
        ...(judged === "" ? {} : { neutral: true }),
      };
    });
    findings.push(...ailments.map((ailment) => ({ ...ailment, ok: false })));
    await tried(findings, "store", async () => {
      const { kind, path, durability } = (await engine.journal(null)).describe();
      storeKind = kind;
      return { said: [kind, path, `durability ${durability}`].filter((part) => part !== null).join(" ") };
    });
    const ok = findings.every((finding) => finding.ok);
    const capabilities = capabilityRows(loaded);
    const profiles = profileRows(storeKind);
    if (terminal.json) {
      terminal.out(`${jsonText({ ok, ambit: VERSION, findings, capabilities, profiles })}\n`);
    } else if (options.capabilities) {
      for (const line of capabilityLines(capabilities, profiles)) terminal.out(`${line}\n`);
      for (const { what, said } of findings.filter((finding) => !finding.ok))
        terminal.err(`${what}: ${oneLine(said, 300)}\n`);
    } else {
      terminal.out(`ambit ${VERSION}\n`);
      for (const finding of findings) {
        terminal.out(`${markOf(finding, terminal.color)} ${finding.what}: ${oneLine(finding.said, 300)}\n`);
      }
      if (!ok) terminal.err(`${counted(findings.filter((finding) => !finding.ok).length, "finding")}.\n`);
      terminal.out(
        `  capabilities: ${capabilities.flatMap((row) => (row.build && row.deployment !== false ? row.name : [])).join(", ")}\n`,
      );
    }
    return ok ? 0 : 1;
  } finally {
    await engine.close();
  }
}

function markOf({ ok, neutral }: Finding, color: Paint): string {
  if (!ok) return color.red("✗");
  return neutral ? color.yellow("-") : color.green("✓");
}

/** A line each: its name, whether it is there, and why not. */
function capabilityLines(capabilities: readonly CapabilityRow[], profiles: readonly ProfileRow[]): string[] {
  return [
    "Profiles",
    ...profiles.map(({ name, active, said }) => `  ${name}: ${word(active)} (${said})`),
    "Capabilities",
    ...capabilities.map(({ name, alias, build, deployment }) => {
      const there = build ? deployment : false;
      const why = build ? (deployment === false ? ", taken away by ambit.yaml" : "") : ", not in this build";
      return `  ${name} (alias ${alias}): ${word(there)}${why}`;
    }),
  ];
}

function word(is: boolean | null): string {
  return is === null ? "unknown" : is ? "yes" : "no";
}

async function tried(findings: Finding[], what: string, look: () => Promise<Looked>): Promise<void> {
  try {
    findings.push({ what, ok: true, ...(await look()) });
  } catch (error) {
    const { fault } = asRefused(error);
    findings.push({ what, ok: false, said: `${fault.code}: ${fault.message}` });
  }
}
