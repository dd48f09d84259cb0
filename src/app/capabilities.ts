import { CAPABILITY_ALIASES } from "../admit/rules/capabilities.ts";
import type { LoadedDeployment } from "./deployment.ts";

/** What this executor can do; a deployment may take some of it away. */
export const OFFERED_CAPABILITIES: readonly string[] = ["wf.agent-execution"];

/** A capability that files may need: whether this build has it, and whether the deployment leaves it. */
export interface CapabilityRow {
  name: string;
  /** Its older name. */
  alias: string;
  build: boolean;
  /** Null where the deployment cannot be read. */
  deployment: boolean | null;
}

/** A set of promises that some constructs need. */
export interface ProfileRow {
  name: "standard" | "bounded" | "durable-execution";
  /** Null where it cannot be told. */
  active: boolean | null;
  said: string;
}

export function capabilityRows(deployment: LoadedDeployment | null): CapabilityRow[] {
  const offered = deployment === null ? null : offeredCapabilities(deployment);
  return Object.entries(CAPABILITY_ALIASES).map(([name, alias]) => ({
    name,
    alias,
    build: OFFERED_CAPABILITIES.includes(name),
    deployment: offered === null ? null : offered.has(name),
  }));
}

/** `store`: the kind of the store in force, null where it cannot be opened. */
export function profileRows(store: string | null): ProfileRow[] {
  const lasts = store === null ? null : store !== "memory";
  const durable =
    lasts === null
      ? "the store cannot be opened"
      : lasts
        ? "runs outlive their process, so on_unknown: halt may be written"
        : "the store is in memory, so on_unknown: halt is refused";
  return [
    { name: "standard", active: true, said: "Workfiles" },
    { name: "bounded", active: false, said: "bounded requests: not in this build" },
    { name: "durable-execution", active: lasts, said: durable },
  ];
}

/** What is offered under a deployment. */
export function offeredCapabilities({ deniedCapabilities: denied }: LoadedDeployment): ReadonlySet<string> {
  const taken = (name: string): boolean => denied.includes(name) || denied.includes(CAPABILITY_ALIASES[name] ?? "");
  return new Set(OFFERED_CAPABILITIES.filter((name) => !taken(name)));
}
