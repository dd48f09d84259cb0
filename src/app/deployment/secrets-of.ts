import type { SecretRef } from "../../admit/deployment.ts";
import { isObject } from "../../base/json.ts";
import type { LoadedDeployment } from "../deployment.ts";

/** The secrets that each connector is given, in words (`env CRM_TOKEN`), for the report of `plan`. */
export function secretsOf(deployment: LoadedDeployment): { [connector: string]: string[] } {
  const out: { [connector: string]: string[] } = {};
  for (const { name, how, connections } of Object.values(deployment.connectors)) {
    const values: unknown[] = connections.flatMap((connection) => [
      ...Object.values(connection.env),
      ...Object.values(connection.headers),
      connection.auth,
    ]);
    if (how.kind === "mcp") values.push(...Object.values(how.env));
    if (how.kind === "mcp-http") values.push(...Object.values(how.headers));
    if (how.kind === "builtin") {
      values.push(...Object.values(how.settings));
      const { headers } = how.settings;
      for (const own of Object.values(isObject(headers) ? headers : {}))
        if (isObject(own)) values.push(...Object.values(own));
    }
    out[name] = [...new Set(values.filter(isReference).map(said))].sort();
  }
  return out;
}

function isReference(value: unknown): value is SecretRef {
  return isObject(value) && (typeof value["env"] === "string" || typeof value["file"] === "string");
}

function said(ref: SecretRef): string {
  return "env" in ref ? `env ${ref.env}` : `file ${ref.file}`;
}
