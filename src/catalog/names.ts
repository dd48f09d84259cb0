import { isRegistered } from "../errors/codes.ts";

/** Connectors, actions, connections, agents: one grammar. */
const NAME = /^[A-Za-z_][A-Za-z0-9_-]*$/;

export const MAX_NAME_LENGTH = 64;

/** Taken by the engine and the other notations. */
export const RESERVED_CONNECTORS: readonly string[] = ["wf", "internal", "goal", "introspection"];

/** Why a text is no connector name, or null. */
export function connectorNameProblem(name: string): string | null {
  if (!isPlainName(name)) return "a connector name is letters, digits, _ and -, not beginning with a digit, at most 64";
  // Providers see `crm.search` as `crm__search`: a second `__` could not be told from the dot.
  if (name.includes("__")) return "a connector name holds no __";
  if (RESERVED_CONNECTORS.includes(name)) return `the connector name ${name} is taken by the engine`;
  return null;
}

export function isPlainName(name: string): boolean {
  return name.length <= MAX_NAME_LENGTH && NAME.test(name);
}

/** The two halves of `connector.action`, or null. */
export function splitActionName(action: string): { connector: string; name: string } | null {
  const dot = action.indexOf(".");
  if (dot < 0) return null;
  const connector = action.slice(0, dot);
  const name = action.slice(dot + 1);
  return isPlainName(connector) && isPlainName(name) ? { connector, name } : null;
}

/**
 * The full code of one that manifests and stubs may write short: `unavailable` is `action.unavailable`, any
 * other name without a dot is the connector's own (`out_of_stock` of `store` is `store.out_of_stock`).
 */
export function fullFailureCode(code: string, connector: string): string {
  if (code.includes(".")) return code;
  return isRegistered(`action.${code}`) ? `action.${code}` : `${connector}.${code}`;
}

/** `family.name`, as codes of connectors and authors are written. */
export function isFailureCode(code: string): boolean {
  return code.length <= 128 && /^[A-Za-z_][A-Za-z0-9_-]*\.[A-Za-z_][A-Za-z0-9_-]*$/.test(code);
}
