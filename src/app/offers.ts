import type { Diagnostic } from "../errors/diagnostic.ts";
import type { Offers } from "./callees.ts";
import type { LoadedDeployment } from "./deployment.ts";
import { readWorkflow, withOffers } from "./workflow-file.ts";

/** The workflows that a deployment offers as actions (`connectors.NAME.workflows`). */
export function offersOf(deployment: Pick<LoadedDeployment, "connectors">): Offers {
  const offers = new Map<string, string>();
  for (const { name, how } of Object.values(deployment.connectors)) {
    if (how.kind !== "workflows") continue;
    for (const [action, path] of Object.entries(how.files)) offers.set(`${name}.${action}`, path);
  }
  return offers;
}

/** What is wrong with an offered file, what it calls included; nothing is contacted. Refuses what is no file. */
export function diagnoseOffered(path: string, offers: Offers): Diagnostic[] {
  return withOffers(readWorkflow(path, "/"), offers).diagnostics;
}
