import type { SecretRef } from "../../admit/deployment.ts";
import type { Environment } from "./section.ts";

/** `${NAME}`, `${NAME:-default}` and the editor's `${env:NAME}`. */
const VARIABLE = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;
const MAX_EXPANDED = 64 * 1024;

/** A pasted text with its variables put in; `missing` names those that are not set and have no default. */
export function expandVariables(text: string, env: Environment): { text: string; missing: string[] } {
  const missing: string[] = [];
  const expanded = text.replaceAll(VARIABLE, (whole, name: string, fallback: string | undefined) => {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value !== undefined && value !== "") return value;
    if (fallback !== undefined) return fallback;
    if (value === undefined) missing.push(name);
    return value ?? whole;
  });
  return { text: expanded.slice(0, MAX_EXPANDED), missing };
}

/**
 * A pasted value that ends in one variable (`${TOKEN}`, `Bearer ${TOKEN}`) as a reference, so that it is
 * resolved at dispatch and scrubbed like any secret; null where it has another form.
 */
export function asSecretRef(text: string): SecretRef | null {
  const match = /^([^$]*)\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}$/.exec(text);
  if (!match) return null;
  const [, prefix = "", name = ""] = match;
  return prefix === "" ? { env: name } : { env: name, prefix };
}
