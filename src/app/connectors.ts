import type { AdmittedPlan } from "../admit/admitted-plan.ts";
import type { Clock } from "../base/clock.ts";
import type { Connector } from "../catalog/connector.ts";
import { Refusal } from "../errors/fault.ts";
import { LimitedConnector, Limiter, type Limits } from "../host/connectors/limited.ts";
import type { StateStore } from "../host/connectors/state-store.ts";
import { planAt } from "../plan/plan.ts";
import { makeConnector } from "./deployment/make-connectors.ts";
import type { Environment } from "./deployment/section.ts";
import type { LoadedDeployment } from "./deployment.ts";

export interface ConnectContext {
  env: Environment;
  clock: Clock;
  say: (line: string) => void;
  /** The engine's, for all its runs. */
  limiters: Limiters;
  state: () => Promise<StateStore>;
}

/** The lines before the limited connectors of one engine: all its runs stand in the same ones. */
export class Limiters {
  readonly #made = new Map<string, Limiter>();

  of(deployment: LoadedDeployment, connector: string, clock: Clock): Limiter | null {
    const limits: Limits | undefined = deployment.connectorLimits[connector];
    if (limits === undefined || (limits.concurrency === undefined && limits.rate === undefined)) return null;
    // Two deployments, or one that was edited, have nothing to do with each other.
    const of = JSON.stringify([deployment.file, connector, limits.concurrency ?? null, limits.rate ?? null]);
    let limiter = this.#made.get(of);
    if (limiter === undefined) {
      limiter = new Limiter(limits, clock);
      this.#made.set(of, limiter);
    }
    return limiter;
  }
}

/**
 * Makes and connects the connectors that a plan uses, and holds what they offer against what was admitted: a
 * missing action is `catalog.unavailable`, another definition than the pinned one `catalog.drift`. Nothing has
 * run then; what was connected is closed again.
 */
export async function connectAll(
  admitted: AdmittedPlan,
  deployment: LoadedDeployment,
  context: ConnectContext,
  signal: AbortSignal,
): Promise<Map<string, Connector>> {
  const connectors = new Map<string, Connector>();
  const used = Object.values(admitted.definition.manifests);
  try {
    for (const name of [...new Set(used.map((action) => action.connector))].sort()) {
      const config = deployment.connectors[name];
      if (config === undefined) {
        throw new Refusal("catalog.unavailable", `The deployment has no connector ${name} any more.`, {
          connector: name,
        });
      }
      const limiter = context.limiters.of(deployment, name, context.clock);
      const workflowAt = (position: string): string => planAt(admitted.definition.plan, position).name;
      const connector = makeConnector(config, { ...context, workflowAt });
      connectors.set(name, limiter === null ? connector : new LimitedConnector(connector, limiter));
    }
    await Promise.all(
      [...connectors].map(async ([name, connector]) => {
        const own = used.filter((action) => action.connector === name).map((action) => action.manifest);
        const offer = await connector.connect(signal).catch((error: unknown) => {
          throw naming(
            error,
            own.map((manifest) => manifest.name),
          );
        });
        for (const manifest of own) checkOffer(name, manifest, offer.actions);
      }),
    );
    return connectors;
  } catch (error) {
    await closeAll(connectors);
    throw error;
  }
}

/** A connector that cannot be used, with the actions that the plan would have used of it. */
function naming(error: unknown, actions: string[]): unknown {
  if (!(error instanceof Refusal) || error.code !== "catalog.unavailable") return error;
  const { message, details } = error.fault;
  return new Refusal(error.code, `${message} The plan uses ${actions.join(", ")}.`, { ...details, actions });
}

function checkOffer(
  connector: string,
  manifest: { name: string; pin?: string },
  offered: { [name: string]: { pin: string | null } },
): void {
  const found = Object.hasOwn(offered, manifest.name) ? offered[manifest.name] : undefined;
  if (found === undefined) {
    throw new Refusal(
      "catalog.unavailable",
      `The connector ${connector} does not offer ${manifest.name}, which the plan uses.`,
      {
        connector,
        action: manifest.name,
      },
    );
  }
  if (manifest.pin === undefined || found.pin === null || found.pin === manifest.pin) return;
  throw new Refusal(
    "catalog.drift",
    `The definition of ${manifest.name} is not the pinned one: review it and import the manifest of ${connector} again.`,
    { connector, action: manifest.name, pinned: manifest.pin, found: found.pin },
  );
}

export async function closeAll(connectors: ReadonlyMap<string, Connector>): Promise<void> {
  await Promise.allSettled([...connectors.values()].map((connector) => connector.close()));
}
