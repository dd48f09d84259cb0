import { allSteps, everyStep, type Plan } from "../../plan/plan.ts";
import type { Step } from "../../plan/step.ts";
import { actionsOf } from "../actions-of.ts";
import { type Admission, find, stepName, wordOf } from "../admission.ts";

/** Every action's manifest, connection, scopes and capabilities resolve before anything runs (WX-31). */
export function resolveActions(admission: Admission): void {
  for (const step of allSteps(admission.input.plan)) {
    for (const action of actionsOf(step, admission.input.notify)) {
      resolveAction(admission, action, step);
    }
  }
}

export function notifies(plan: Plan): boolean {
  for (const step of everyStep(plan)) if (step.kind === "notify") return true;
  return false;
}

function resolveAction(admission: Admission, name: string, step: Step): void {
  const where = stepName(step);
  const at: [Step, ReturnType<typeof wordOf>] = [step, wordOf(step, name)];
  const { catalog, capabilities } = admission.input;
  const found = catalog.find(name);
  if (!found.ok) {
    const help = unimported(admission, name) ?? found.help;
    find(admission, { code: found.code, message: `${found.message} It is used by ${where}.`, at, help });
    return;
  }
  const { action, connector } = found;
  if (catalog.isWorkflow(name)) {
    const message = `${name}, used by ${where}, is a workflow: it may hold constructs and agents of its own.`;
    const help = "Call it in a step of its own, and hand on what it returns.";
    find(admission, { code: "catalog.not_a_tool", message, at, help });
    return;
  }
  const connection = catalog.connectionOf(connector);
  if (!connection.ok) {
    const message = `${connection.message} ${name} is used by ${where}.`;
    find(admission, { code: connection.code, message, at, help: connection.help });
    return;
  }
  const missing = catalog.missingScopes(action);
  if (missing.length > 0) {
    find(admission, {
      code: "catalog.missing_scope",
      message: `${name}, used by ${where}, needs the scope ${missing.join(", ")}, which its connection ${connection.connection} does not have.`,
      at,
      help: `Add it to the scopes of ${connector}.connections.${connection.connection} in ambit.yaml, or do not use the action.`,
    });
  }
  for (const capability of action.requires) {
    if (capabilities.has(capability)) continue;
    find(admission, {
      code: "capability.unsupported",
      message: `${name}, used by ${where}, requires the capability ${capability}, which is not offered here.`,
      at,
      help: `Offered: ${[...capabilities].sort().join(", ")}.`,
    });
  }
  admission.manifests[name] = { manifest: action, connector, connection: connection.connection };
}

/** The help for a connector of which no manifest says what it has; null for any other. */
function unimported(admission: Admission, name: string): string | null {
  const connector = name.slice(0, Math.max(0, name.indexOf(".")));
  const found = admission.input.catalog.connector(connector);
  if (found === undefined || Object.keys(found.manifest.actions).length > 0) return null;
  return `No manifest says what ${connector} offers. For an MCP server: ambit connectors import ${connector} > manifests/${connector}.yaml, and review it.`;
}
