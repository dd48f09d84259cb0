import type { SecretRef } from "../../admit/deployment.ts";
import { Refusal } from "../../errors/fault.ts";
import { readRegularFile } from "../../host/files/regular-file.ts";
import type { Environment } from "./section.ts";

const MAX_SECRET_BYTES = 64 * 1024;

/**
 * Gives a secret in clear, its prefix put before it. Called at dispatch; the value is kept nowhere. A trailing
 * line break of a file does not count. Refuses with `deployment.missing_secret`, naming the reference only.
 */
export function secretResolver(env: Environment): (ref: SecretRef) => Promise<string> {
  return async (ref) => {
    const value = "env" in ref ? fromEnvironment(ref.env, env) : fromFile(ref.file);
    return `${ref.prefix ?? ""}${value}`;
  };
}

function fromEnvironment(name: string, env: Environment): string {
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (value !== undefined && value !== "") return value;
  throw new Refusal("deployment.missing_secret", `The environment variable ${name} is not set.`, { env: name });
}

function fromFile(file: string): string {
  const read = readRegularFile(file, MAX_SECRET_BYTES);
  if (!read.ok) {
    throw new Refusal("deployment.missing_secret", `The secret file ${file} cannot be read: ${read.why}.`, { file });
  }
  const value = read.text.replace(/\r?\n$/, "");
  if (value !== "") return value;
  throw new Refusal("deployment.missing_secret", `The secret file ${file} is empty.`, { file });
}
