import { emptyObject } from "../../base/json.ts";
import { Refusal } from "../../errors/fault.ts";
import type { ConnectionValues } from "./define-connector.ts";

/** A reference to a secret: `{ env }` or `{ file }`, with a text that has to stand before it. */
export type SecretReference = { env: string; prefix?: string } | { file: string; prefix?: string };

/** A connection as it is configured; secrets are still references. */
export interface ConnectionSettings {
  name: string;
  isDefault: boolean;
  env: { readonly [name: string]: string | SecretReference };
  headers: { readonly [name: string]: string | SecretReference };
  auth?: SecretReference;
}

/** Gives a secret in clear, its prefix put before it. Refuses with `deployment.missing_secret`. */
export type ResolveSecret = (ref: SecretReference) => Promise<string>;

const IMPLICIT: ConnectionSettings = { name: "default", isDefault: true, env: {}, headers: {} };

/** The connection that calls go to where none is named: the default, or the implicit one. */
export function defaultConnection(connections: readonly ConnectionSettings[]): ConnectionSettings {
  return connections.find((connection) => connection.isDefault) ?? connections[0] ?? IMPLICIT;
}

export function connectionNamed(connections: readonly ConnectionSettings[], name: string): ConnectionSettings | null {
  if (connections.length === 0) return { ...IMPLICIT, name };
  return connections.find((connection) => connection.name === name) ?? null;
}

/** Resolves the secrets of a connection, and says which texts must never come back out. */
export async function openConnection(
  settings: ConnectionSettings,
  resolve: ResolveSecret,
  more: Pick<ConnectionSettings, "env" | "headers"> = { env: {}, headers: {} },
): Promise<{ values: ConnectionValues; secrets: string[]; fields: string[] }> {
  const secrets: string[] = [];
  const fields: string[] = [];
  const open = async (value: string | SecretReference): Promise<string> => {
    if (typeof value === "string") {
      fields.push(value);
      return value;
    }
    const clear = await resolve(value);
    secrets.push(clear);
    // The prefix is no secret, and the service may well say the bare one.
    const { prefix } = value;
    if (prefix !== undefined && clear.startsWith(prefix)) secrets.push(clear.slice(prefix.length));
    return clear;
  };
  const all = async (map: { readonly [name: string]: string | SecretReference }, into: { [name: string]: string }) => {
    for (const name of Object.keys(map)) {
      const value = map[name];
      if (value !== undefined) into[name] = await open(value);
    }
  };
  const env = emptyObject<string>();
  const headers = emptyObject<string>();
  await all(more.env, env);
  await all(settings.env, env);
  await all(more.headers, headers);
  await all(settings.headers, headers);
  const auth = settings.auth === undefined ? null : await open(settings.auth);
  return { values: { name: settings.name, env, headers, auth }, secrets, fields };
}

/** A connector that cannot be used: before any step, exit 3. */
export function unavailable(connector: string, why: string): Refusal {
  return new Refusal("catalog.unavailable", `The connector ${connector} cannot be used: ${why.replace(/\.+$/, "")}.`, {
    connector,
  });
}
