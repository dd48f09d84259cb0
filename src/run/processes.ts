// The list of the stdio servers of a run, in its lease, so that whoever takes the run over can end them first.
//
// I1: a server is in the list, and the list on disk, before anything is asked of it: what is not listed has done
//     nothing (DU-11).
import type { Connector } from "../catalog/connector.ts";
import type { Journal, Lease } from "../journal/journal.ts";

/** A connector that starts processes while the run is under way, and lets them be listed before it uses them. */
export interface ProcessStarter {
  /** `listed` resolves once all that {@link Connector.processes} gives is on disk; it rejects where the store refuses. */
  beforeUse(listed: () => Promise<void>): void;
}

/** Keeps the list as the connectors have it. Resolves once it is on disk as it was at the call. */
export function processList(
  connectors: ReadonlyMap<string, Connector>,
  journal: Pick<Journal, "setProcesses">,
  lease: Lease,
): () => Promise<void> {
  let text = "[]";
  let written: Promise<void> = Promise.resolve();
  const list = (): Promise<void> => {
    const all = [...connectors.values()].flatMap((connector) => connector.processes());
    const now = JSON.stringify(all);
    if (now === text) return written;
    text = now;
    const writing = journal.setProcesses(lease, all);
    written = writing;
    writing.catch(() => {
      // The next who asks tries again.
      if (written === writing) text = "";
    });
    return writing;
  };
  for (const connector of connectors.values()) if (startsProcesses(connector)) connector.beforeUse(list);
  return list;
}

function startsProcesses(connector: Connector): connector is Connector & ProcessStarter {
  return "beforeUse" in connector && typeof connector.beforeUse === "function";
}
