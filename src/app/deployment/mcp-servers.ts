import { resolve } from "node:path";
import type { ConnectorKind, SecretRef } from "../../admit/deployment.ts";
import { emptyObject } from "../../base/json.ts";
import { setOwn } from "../../plan/marked.ts";
import { keyPath } from "../../text/path.ts";
import { clip } from "../../text/reader.ts";
import type { MapEntry, TreeNode } from "../../text/tree.ts";
import { isHttpUrl } from "./agents.ts";
import { asSecretRef, expandVariables } from "./environment-text.ts";
import { type Environment, type Keys, keySpan, type Section } from "./section.ts";

type McpKind = Extract<ConnectorKind, { kind: "mcp" | "mcp-http" }>;

const OWN_KEYS = ["command", "args", "env", "cwd", "url", "headers"] as const;
/** What editors and other hosts keep beside a server; it means nothing to us. */
const FOREIGN_KEYS = [
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
] as const;

/** `connectors.NAME.mcp`: `{ command, args, env, cwd }` or `{ url, headers }`. */
export function readMcp(section: Section, node: TreeNode, path: string, env: Environment): McpKind | null {
  const keys = section.reader.closed(node, path, "the MCP server", OWN_KEYS);
  return keys && readServer(section, keys, node, path, env, false);
}

/** The servers of a pasted block, by name: `{ name: server }`, `{ mcpServers: ... }` or `{ servers: ... }`. */
export function readPastedServers(
  section: Section,
  node: TreeNode,
  base: string,
  env: Environment,
): { name: string; entry: MapEntry; how: McpKind }[] {
  const { servers, path } = unwrap(section, node, base);
  if (servers === null) return [];
  return (section.reader.open(servers, path, "the MCP servers") ?? []).flatMap((entry) => {
    const at = keyPath(path, entry.key);
    const keys = section.reader.closed(entry.value, at, `the server ${clip(entry.key)}`, [
      ...OWN_KEYS,
      ...FOREIGN_KEYS,
    ]);
    if (!keys || isSwitchedOff(keys)) return [];
    const how = readServer(section, keys, entry.value, at, env, true);
    return how ? [{ name: entry.key, entry, how }] : [];
  });
}

function unwrap(section: Section, node: TreeNode, path: string): { servers: TreeNode | null; path: string } {
  if (node.kind !== "map") {
    section.reader.wrong(node, path, "the MCP servers", "a map of servers");
    return { servers: null, path };
  }
  for (const key of ["mcpServers", "servers"]) {
    const inner = node.entries.find((entry) => entry.key === key);
    if (inner) return { servers: inner.value, path: keyPath(path, key) };
  }
  return { servers: node, path };
}

function isSwitchedOff(keys: Keys): boolean {
  const value = (key: string): unknown => {
    const node = keys.get(key)?.value;
    return node?.kind === "scalar" ? node.value : undefined;
  };
  return value("disabled") === true || value("enabled") === false;
}

function readServer(
  section: Section,
  keys: Keys,
  node: TreeNode,
  path: string,
  env: Environment,
  pasted: boolean,
): McpKind | null {
  const command = keys.get("command");
  const url = keys.get("url");
  if ((command === undefined) === (url === undefined)) {
    const at = { start: node.start, end: Math.min(node.start + 1, node.end) };
    section.bad(at, path, "An MCP server has either a command or a url.");
    return null;
  }
  const expand = (text: string, key: string): string => {
    if (!pasted) return text;
    const { text: expanded, missing } = expandVariables(text, env);
    const entry = keys.get(key);
    if (missing.length > 0 && entry) {
      section.reader.report(
        "deployment.missing_secret",
        entry.value,
        keyPath(path, key),
        `The environment variable ${missing.join(", ")} is not set.`,
        "The server will be started with the text as it stands.",
        "warning",
      );
    }
    return expanded;
  };
  if (url) {
    const text = section.text(keys, path, "url");
    for (const key of ["args", "env", "cwd"]) stray(section, keys, path, key, "command");
    const headers = values(section, keys, path, "headers", expand, pasted);
    if (text === undefined) return null;
    const expanded = expand(text, "url");
    if (!isHttpUrl(expanded)) {
      section.bad(url.value, keyPath(path, "url"), `The url is no http URL: "${clip(text)}".`);
      return null;
    }
    return { kind: "mcp-http", url: expanded, headers };
  }
  stray(section, keys, path, "headers", "url");
  const program = section.text(keys, path, "command");
  const args = section.texts(keys, path, "args") ?? [];
  const cwd = section.text(keys, path, "cwd");
  if (program === undefined) return null;
  return {
    kind: "mcp",
    command: expand(program, "command"),
    args: args.map((arg) => expand(arg, "args")),
    env: values(section, keys, path, "env", expand, pasted),
    cwd: cwd === undefined ? section.folder : resolve(section.folder, expand(cwd, "cwd")),
  };
}

function values(
  section: Section,
  keys: Keys,
  path: string,
  key: string,
  expand: (text: string, key: string) => string,
  pasted: boolean,
): { [name: string]: string | SecretRef } {
  const out = emptyObject<string | SecretRef>();
  for (const [name, value] of Object.entries(section.settingsOrSecrets(keys, path, key))) {
    if (typeof value !== "string") setOwn(out, name, value);
    else setOwn(out, name, (pasted ? asSecretRef(value) : null) ?? expand(value, key));
  }
  return out;
}

function stray(section: Section, keys: Keys, path: string, key: string, partner: string): void {
  const entry = keys.get(key);
  if (entry) section.bad(keySpan(entry), keyPath(path, key), `${key} goes with ${partner} only.`);
}
