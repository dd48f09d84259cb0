import { CAPABILITY_ALIASES } from "../admit/rules/capabilities.ts";
import { diagnostic } from "../errors/diagnostic.ts";
import { nearestName } from "../text/nearest.ts";
import type { LoadedDeployment } from "./deployment.ts";
import { Refused } from "./refused.ts";

/** What this executor can do; a deployment may take some of it away. */
export const OFFERED_CAPABILITIES: readonly string[] = ["wf.agent-execution"];

/** All capabilities there are, with their older names: what `capabilities.deny` may name. */
const KNOWN = [...Object.keys(CAPABILITY_ALIASES), ...Object.values(CAPABILITY_ALIASES)];

/** What is offered under a deployment. A denied name that is none is refused: it would deny nothing. */
export function offeredCapabilities(deployment: LoadedDeployment): ReadonlySet<string> {
  const { deniedCapabilities: denied, file } = deployment;
  for (const name of denied) {
    if (KNOWN.includes(name)) continue;
    const near = nearestName(name, KNOWN);
    const help = `${near === null ? "" : `Did you mean ${near}? `}There are: ${KNOWN.join(", ")}.`;
    const place = { file: file ?? "deployment", path: "capabilities.deny", help };
    throw Refused.by([diagnostic("deployment.invalid", `There is no capability ${JSON.stringify(name)}.`, place)]);
  }
  const taken = (name: string): boolean => denied.includes(name) || denied.includes(CAPABILITY_ALIASES[name] ?? "");
  return new Set(OFFERED_CAPABILITIES.filter((name) => !taken(name)));
}
