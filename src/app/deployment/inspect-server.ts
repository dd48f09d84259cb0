import type { ConnectorConfig } from "../../admit/deployment.ts";
import { systemClock } from "../../base/clock.ts";
import { Refusal } from "../../errors/fault.ts";
import { type Inspected, inspectMcpServer } from "../../host/connectors/mcp-inspect.ts";
import { serverOf } from "./make-connectors.ts";
import { secretResolver } from "./secrets.ts";
import type { Environment } from "./section.ts";

/** What the MCP server of a connector offers now, for `connectors import` and `check`. */
export async function inspectServer(
  config: ConnectorConfig,
  env: Environment,
  signal: AbortSignal,
): Promise<Inspected> {
  const { name, how, connections } = config;
  if (how.kind !== "mcp" && how.kind !== "mcp-http") {
    throw new Refusal("catalog.unavailable", `The connector ${name} is no MCP server.`, { connector: name });
  }
  const resolveSecret = secretResolver(env);
  return inspectMcpServer({ name, ...serverOf(how), connections, resolveSecret, clock: systemClock }, signal);
}
