import { isObject, type Json } from "../../base/json.ts";
import type { LoadedDeployment } from "../deployment.ts";

/**
 * The hosts and the command lines that each connector may reach, as `ambit.yaml` declares them, for the report of
 * `plan`. What a server or a module of somebody's own reaches stands in no file of ours.
 */
export function reachOf(deployment: LoadedDeployment): {
  hosts: { [connector: string]: string[] };
  commands: { [connector: string]: string[] };
} {
  const hosts: { [connector: string]: string[] } = {};
  const commands: { [connector: string]: string[] } = {};
  for (const { name, how } of Object.values(deployment.connectors)) {
    if (how.kind === "http") hosts[name] = unique([...how.hosts, ...hostIn(how.baseUrl)]);
    else if (how.kind === "mcp-http") hosts[name] = hostIn(how.url);
    else if (how.kind === "builtin") {
      hosts[name] = texts(how.settings["hosts"]);
      commands[name] = listOf(how.settings["commands"]).flatMap(lineOf);
    }
  }
  return { hosts, commands };
}

function hostIn(url: string | null): string[] {
  return url !== null && URL.canParse(url) ? [new URL(url).host] : [];
}

/** A whole line, or its arguments by blanks where each is checked by itself. */
function lineOf(command: Json): string[] {
  if (!isObject(command)) return [];
  const { line, argv } = command as { [key: string]: Json };
  return typeof line === "string" ? [line] : [texts(argv).join(" ")];
}

function texts(value: unknown): string[] {
  return listOf(value).filter((entry) => typeof entry === "string");
}

function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}

function unique(values: string[]): string[] {
  return [...new Set(values)];
}
