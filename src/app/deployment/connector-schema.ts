import { connectorName, plainName } from "../../catalog/manifest-schema.ts";
import {
  boolean,
  closed,
  integer,
  list,
  mapOr,
  oneOf,
  open,
  reference,
  type Schema,
  text,
  when,
} from "../../text/schema.ts";
import { full, path, rate, secretHere, textOrSecret, texts } from "./schema-terms.ts";

export const FOREIGN = [
  "type",
  "transport",
  "transportType",
  "disabled",
  "enabled",
  "autoApprove",
  "alwaysAllow",
  "timeout",
  "description",
  "name",
  "icon",
  "gallery",
  "version",
  "dev",
  "sandbox",
  "oauth",
];

/** An MCP server; `foreign` are keys that other programs keep in the blocks that people paste. */
export function server(foreign: readonly string[]): Schema {
  const keys: { [key: string]: Schema } = {
    command: full({ description: "The program that is started; it speaks over its standard streams." }),
    args: texts({ description: "Its arguments." }),
    env: open(textOrSecret(), null, { description: "Its environment, beside a safe default." }),
    cwd: path({ description: "Its folder; that of ambit.yaml by default." }),
    url: full({ description: "The server's address, instead of a command." }),
    headers: open(textOrSecret(), null, { description: "Headers of each request." }),
    ...Object.fromEntries(foreign.map((key) => [key, {}])),
  };
  // A pasted server may be switched off and then lack anything.
  if (foreign.length > 0) return closed(keys);
  const stdio = { required: ["command"], properties: { headers: false } };
  const http = { properties: { command: false, args: false, env: false, cwd: false } };
  const one = when({ required: ["url"] }, http, stdio);
  return { ...closed(keys), ...when({ propertyNames: { enum: Object.keys(keys) } }, one) };
}

export function mcpServers(): Schema {
  const servers = open(reference("pasted-server"));
  const wrapped = (key: string): Schema => when({ required: [key] }, { properties: { [key]: servers } });
  const words = { description: "A block as people paste it, or the path of a file with one." };
  const wrap = when({ required: ["mcpServers"] }, wrapped("mcpServers"), wrapped("servers"));
  const any = { anyOf: [{ required: ["mcpServers"] }, { required: ["servers"] }] };
  return mapOr(when(any, wrap, servers), full(), words);
}

const KINDS = ["mcp", "module", "http", "workflows", "stub"];

export function connectors(): Schema {
  const replaced = { anyOf: [...KINDS, "manifest"].map((kind) => ({ required: [kind] })) };
  const properties = Object.fromEntries(
    Object.entries(builtins()).map(([name, keys]) => [name, when(replaced, reference("connector"), closed(keys))]),
  );
  return {
    ...open(reference("connector"), connectorName(), { description: "What workflows can call, by name." }),
    properties,
  };
}

function builtins(): { [name: string]: { [key: string]: Schema } } {
  const limits = reference("limits");
  const hosts = texts({ description: "Hosts that may be reached." });
  return {
    messaging: {
      post: oneOf(["console"], { description: "console prints on standard error." }),
      webhook: secretHere({ description: "The address that messages are sent to." }),
      limits,
    },
    files: {
      root: path({ description: "The folder that files are below, or none." }),
      write: boolean({ description: "Whether files may be changed." }),
      limits,
    },
    http: {
      hosts,
      private_hosts: texts({ description: "Hosts in private networks that may be reached." }),
      headers: open(open(textOrSecret()), null, { description: "Headers by host." }),
      limits,
    },
    shell: {
      commands: list(mapOr(closed({ argv: texts() }, ["argv"]), text()), {
        description: 'Whole command lines, or { argv: [git, fetch, "*"] } where * takes one argument.',
      }),
      cwd: path({ description: "The folder that commands run in." }),
      limits,
    },
    state: { limits },
  };
}

export function connector(): Schema {
  return closed({
    mcp: reference("server", { description: "An MCP server." }),
    module: path({ description: "A module that exports defineConnector(...)." }),
    http: closed({ openapi: path(), base_url: full(), hosts: texts() }, [], {
      description: "Requests from an OpenAPI file.",
    }),
    workflows: open(text(), null, { description: "Workflows, each offered as an action." }),
    stub: path({ description: "Scripted answers." }),
    manifest: mapOr(reference("manifest"), full(), { description: "The manifest or its path." }),
    knowledge: boolean({ description: "Taken away by @no-kg in AWL." }),
    limits: reference("limits"),
    connections: open(
      closed({
        default: boolean({ description: "The one that is used." }),
        scopes: texts({ description: "What it may do; all of the manifest without this." }),
        env: open(textOrSecret(), null, { description: "Environment of the server." }),
        headers: open(textOrSecret(), null, { description: "Headers of each request." }),
        auth: secretHere({ description: "The credential." }),
      }),
      plainName(),
      { description: "Accounts that calls are made with, by name." },
    ),
  });
}

export function callLimits(): Schema {
  const none = when({ type: "string" }, { enum: ["none"] }, integer({ min: 1, max: 10_000 }));
  return closed(
    { concurrency: { description: "Calls at once.", ...none }, rate: rate({ description: "Starts per time." }) },
    [],
    { description: "How much a process may call at once." },
  );
}
