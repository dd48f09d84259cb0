import { notFoundText } from "../../app/deployments.ts";
import { createEngine } from "../../app/engine.ts";
import { modelName } from "../../view/words.ts";
import { type CommonOptions, engineOptions, terminalOf } from "../options.ts";
import { printRefusal } from "../refusal.ts";
import { jsonText, oneLine } from "../terminal.ts";

/** The agent configurations of the deployment; no secret, no model is contacted. */
export async function agentsListCommand(options: CommonOptions): Promise<number> {
  const terminal = terminalOf(options);
  const engine = await createEngine(engineOptions(options, terminal, "ambit agents list"));
  try {
    const deployment = await engine.deployment(engine.cwd);
    const rows = Object.values(deployment.agents)
      .flat()
      .map((agent) => ({
        name: agent.name,
        id: agent.id,
        default: agent.isDefault,
        provider: agent.provider,
        model: agent.model,
        token_method: agent.tokenMethod,
        tools: agent.tools,
      }));
    if (terminal.json) terminal.out(`${jsonText({ config: deployment.file, agents: rows })}\n`);
    else if (rows.length === 0)
      terminal.err(
        `${deployment.file === null ? notFoundText([engine.cwd]) : `No agents: add them under agents in ${oneLine(deployment.file, 400)}.`}\n`,
      );
    else
      for (const row of rows)
        terminal.out(
          `${oneLine(row.name)}  ${oneLine(modelName(row.provider, row.model))}  id ${oneLine(row.id)}${row.default ? "  default" : ""}\n`,
        );
    return 0;
  } catch (error) {
    return printRefusal(terminal, error);
  } finally {
    await engine.close();
  }
}
