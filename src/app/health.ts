import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import type { ConnectorConfig, SecretRef } from "../admit/deployment.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { secretResolver } from "./deployment/secrets.ts";
import { secretsOf } from "./deployment/secrets-of.ts";
import type { Environment } from "./deployment/section.ts";
import type { LoadedDeployment } from "./deployment.ts";
import { ModelShop } from "./models.ts";

/** Something that a run of this deployment would stumble over: who needs it, and what is not there. */
export interface Ailment {
  /** `agent triager`, `connector crm`, `store`. */
  what: string;
  said: string;
}

/**
 * What a deployment needs of its machine and does not find: secrets, scripts of agents, commands of servers,
 * files of modules and stubs, the root of the files connector. Starts nothing and contacts nothing; a secret is
 * looked at and kept nowhere.
 */
export async function findAilments(
  deployment: LoadedDeployment,
  env: Environment,
  clock: Clock = systemClock,
): Promise<Ailment[]> {
  const found: Ailment[] = [];
  const secret = secretResolver(env);
  const trySecret = async (what: string, ref: SecretRef): Promise<void> => {
    const said = await secret(ref).then(() => null, messageOf);
    if (said !== null) found.push({ what, said });
  };
  if (deployment.store.key !== undefined) await trySecret("store", deployment.store.key);
  const shop = new ModelShop(clock, env);
  for (const config of Object.values(deployment.agents).flat()) {
    const what = `agent ${config.name}`;
    if (config.apiKey !== undefined) await trySecret(what, config.apiKey);
    try {
      shop.describe(config);
    } catch (error) {
      found.push({ what, said: messageOf(error) });
    }
  }
  const secrets = secretsOf(deployment);
  for (const config of Object.values(deployment.connectors)) {
    const what = `connector ${config.name}`;
    for (const reference of secrets[config.name] ?? []) await trySecret(what, refOf(reference));
    for (const said of missingFiles(config, env)) found.push({ what, said });
  }
  return found;
}

/** The reference behind the words of `secretsOf`. */
function refOf(reference: string): SecretRef {
  return reference.startsWith("env ") ? { env: reference.slice(4) } : { file: reference.slice(5) };
}

function missingFiles({ how }: ConnectorConfig, env: Environment): string[] {
  switch (how.kind) {
    case "mcp": {
      const said: string[] = [];
      if (!isFolder(how.cwd)) said.push(`Its working folder ${how.cwd} cannot be used: there is no such folder.`);
      const own = how.env["PATH"];
      if (!isCommand(how.command, how.cwd, typeof own === "string" ? own : env["PATH"]))
        said.push(`Its command ${how.command} is not found${how.command.includes("/") ? "" : " on PATH"}.`);
      return said;
    }
    case "module":
    case "stub":
      return unread([how.path]);
    case "workflows":
      return unread(Object.values(how.files));
    case "builtin": {
      const { root, write } = how.settings;
      if (typeof root !== "string") return [];
      if (!isFolder(root) || !readable(root)) return [`Its root ${root} is no folder that can be read.`];
      return write === true && !allows(root, constants.W_OK) ? [`Its root ${root} cannot be written to.`] : [];
    }
    default:
      return [];
  }
}

function unread(paths: readonly string[]): string[] {
  return paths.filter((path) => !readable(path)).map((path) => `Its file ${path} cannot be read.`);
}

function isCommand(command: string, cwd: string, path: string | undefined): boolean {
  // The engine starts its own Node under this name.
  if (command === "node") return true;
  if (command.includes("/")) return isProgram(isAbsolute(command) ? command : resolve(cwd, command));
  return (path ?? "").split(delimiter).some((folder) => folder !== "" && isProgram(join(folder, command)));
}

function isProgram(path: string): boolean {
  return allows(path, constants.X_OK) && !isFolder(path);
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function readable(path: string): boolean {
  return allows(path, constants.R_OK);
}

function allows(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
