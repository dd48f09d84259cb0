import type { Step } from "../plan/step.ts";

/** Where `wf.notify` also goes; null where the deployment says nothing. */
export type NotifyAction = { action: string } | null;

/**
 * Every action that a step itself may dispatch, those of the lists inside it left out: its own and that of its
 * reconciliation, the tools of its agent, and for a notice what the deployment adds to it. Whoever resolves,
 * counts, reports or forbids actions asks here, so that none is seen by one rule and missed by another.
 */
export function actionsOf(step: Step, notify: NotifyAction): string[] {
  switch (step.kind) {
    case "action":
      return [step.action, ...(step.reconcile ? [step.reconcile.action] : [])];
    case "agent":
      return step.tools === "deployment" ? [] : step.tools;
    case "notify":
      return notify === null ? [] : [notify.action];
    default:
      return [];
  }
}
