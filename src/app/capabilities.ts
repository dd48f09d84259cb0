import { CAPABILITY_ALIASES } from "../admit/rules/capabilities.ts";
import type { LoadedDeployment } from "./deployment.ts";

/** What this executor can do; a deployment may take some of it away. */
export const OFFERED_CAPABILITIES: readonly string[] = ["wf.agent-execution"];

/** What is offered under a deployment. */
export function offeredCapabilities({ deniedCapabilities: denied }: LoadedDeployment): ReadonlySet<string> {
  const taken = (name: string): boolean => denied.includes(name) || denied.includes(CAPABILITY_ALIASES[name] ?? "");
  return new Set(OFFERED_CAPABILITIES.filter((name) => !taken(name)));
}
