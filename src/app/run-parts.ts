import type { AdmittedPlan } from "../admit/admitted-plan.ts";
import type { AgentConfig } from "../admit/deployment.ts";
import type { ModelPort } from "../agent/model.ts";
import type { Connector } from "../catalog/connector.ts";
import { Fault, Refusal } from "../errors/fault.ts";
import { type ConnectContext, connectAll } from "./connectors.ts";
import { secretsOf } from "./deployment/secrets-of.ts";
import type { LoadedDeployment } from "./deployment.ts";
import { withDrift } from "./drift.ts";
import type { ModelShop } from "./models.ts";
import { Refused, refusedBy } from "./refused.ts";

/** The model of each agent of a plan, its key being there. Refuses as `deployment.missing_secret`. */
export async function modelsOf(
  admitted: AdmittedPlan,
  agents: { [name: string]: AgentConfig[] },
  shop: ModelShop,
): Promise<Map<string, ModelPort>> {
  const models = new Map<string, ModelPort>();
  for (const [name, identity] of Object.entries(admitted.definition.agents)) {
    const config = Object.values(agents)
      .flat()
      .find((entry) => entry.id === identity.id && entry.name === identity.name);
    if (config === undefined) {
      throw new Refused(
        3,
        new Fault("agent.unresolved", "", `The deployment has no agent configuration ${identity.id} any more.`),
      );
    }
    try {
      models.set(name, await shop.port(config));
    } catch (error) {
      throw refusedBy(owned(error, `the agent ${name}`));
    }
  }
  return models;
}

/** The connectors that a plan uses, connected. What was started is ended where one of them cannot be used. */
export async function connectorsOf(
  admitted: AdmittedPlan,
  deployment: LoadedDeployment,
  context: ConnectContext,
  signal: AbortSignal,
): Promise<Map<string, Connector>> {
  try {
    return await connectAll(admitted, deployment, context, signal);
  } catch (error) {
    throw refusedBy(await explained(error, admitted, deployment, context, signal));
  }
}

async function explained(
  error: unknown,
  admitted: AdmittedPlan,
  deployment: LoadedDeployment,
  context: ConnectContext,
  signal: AbortSignal,
): Promise<unknown> {
  if (!(error instanceof Refusal)) return error;
  if (error.code === "catalog.drift") {
    const { connector } = error.fault.details;
    const config = typeof connector === "string" ? deployment.connectors[connector] : undefined;
    return withDrift(error, config, context.env, signal);
  }
  const used = new Set(Object.values(admitted.definition.manifests).map((action) => action.connector));
  const reference = referenceOf(error);
  const owners = Object.entries(secretsOf(deployment)).filter(
    ([name, secrets]) => used.has(name) && reference !== null && secrets.includes(reference),
  );
  const names = owners.map(([name]) => name);
  return names.length === 0 ? error : owned(error, `the connector ${names.join(", ")}`);
}

/** The reference of a missing secret as `secretsOf` writes it. */
function referenceOf(error: Refusal): string | null {
  if (error.code !== "deployment.missing_secret") return null;
  const { env, file } = error.fault.details;
  if (typeof env === "string") return `env ${env}`;
  return typeof file === "string" ? `file ${file}` : null;
}

/** A missing secret with the one that needs it. */
function owned(error: unknown, owner: string): unknown {
  if (!(error instanceof Refusal) || error.code !== "deployment.missing_secret") return error;
  const { message, details } = error.fault;
  const what = message.replace(/\.$/, "");
  return new Refusal(error.code, `${what}: ${owner} needs it.`, { ...details, needed_by: owner });
}
