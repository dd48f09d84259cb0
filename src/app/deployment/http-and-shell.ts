import type { ConnectorKind } from "../../admit/deployment.ts";
import type { Json, JsonObject } from "../../base/json.ts";
import { readHostGrant } from "../../host/connectors/http-hosts.ts";
import { setOwn } from "../../plan/marked.ts";
import { itemPath, keyPath } from "../../text/path.ts";
import { clip } from "../../text/reader.ts";
import type { TreeNode } from "../../text/tree.ts";
import { isHttpUrl } from "./agents.ts";
import { type Keys, keySpan, type Section } from "./section.ts";

const GRANT_HELP = "Write api.example.org (ports 80 and 443), or localhost:8080.";

/** `connectors.NAME.http`: `{ openapi, base_url, hosts }`. */
export function readHttp(section: Section, node: TreeNode, path: string): ConnectorKind | null {
  const keys = section.reader.closed(node, path, "the HTTP service", ["openapi", "base_url", "hosts"], ["openapi"]);
  if (!keys) return null;
  const openapi = section.path(keys, path, "openapi");
  const baseUrl = section.text(keys, path, "base_url");
  const hosts = readHosts(section, keys, path, "hosts");
  const entry = keys.get("base_url");
  if (entry && baseUrl !== undefined && !isHttpUrl(baseUrl)) {
    section.bad(entry.value, keyPath(path, "base_url"), `The base_url is no http URL: "${clip(baseUrl)}".`);
  }
  return openapi === undefined ? null : { kind: "http", openapi, baseUrl: baseUrl ?? null, hosts };
}

/** The built-in `http`: hosts that may be called, and the headers that each is given. */
export function readHttpSettings(section: Section, keys: Keys, path: string): JsonObject {
  const headers: JsonObject = {};
  for (const { entry, path: at } of section.entries(keys, path, "headers")) {
    const inner: Keys = new Map([[entry.key, entry]]);
    if (readHostGrant(entry.key) === null) {
      section.bad(keySpan(entry), at, `"${clip(entry.key)}" is no host.`, GRANT_HELP);
    }
    setOwn(headers, entry.key, section.settingsOrSecrets(inner, keyPath(path, "headers"), entry.key) as JsonObject);
  }
  return {
    hosts: readHosts(section, keys, path, "hosts"),
    private_hosts: readHosts(section, keys, path, "private_hosts"),
    headers,
  };
}

function readHosts(section: Section, keys: Keys, path: string, key: string): string[] {
  const hosts = section.texts(keys, path, key) ?? [];
  const entry = keys.get(key);
  for (const host of hosts) {
    if (readHostGrant(host) !== null || !entry) continue;
    section.bad(entry.value, keyPath(path, key), `"${clip(host)}" is no host.`, GRANT_HELP);
  }
  return hosts;
}

/** The built-in `shell`: whole lines, or `{ argv }` with `*` for one argument. */
export function readShellSettings(section: Section, keys: Keys, path: string): JsonObject {
  const at = keyPath(path, "commands");
  const entry = keys.get("commands");
  const commands: Json[] = [];
  for (const [i, item] of ((entry && section.reader.list(entry.value, at, "commands")) ?? []).entries()) {
    const where = itemPath(at, i);
    if (item.kind !== "map") {
      const line = section.reader.text(item, where, "a command line");
      if (line !== null && line.trim() !== "") commands.push({ line });
      else if (line !== null) section.bad(item, where, "A command line must not be empty.");
      continue;
    }
    const inner = section.reader.closed(item, where, "the command", ["argv"], ["argv"]);
    const argv = inner ? section.texts(inner, where, "argv") : undefined;
    if (argv === undefined) continue;
    if (argv[0] === undefined || argv[0] === "*" || argv[0] === "") {
      section.bad(
        { start: item.start, end: item.start + 1 },
        where,
        "The program of a command is named: it is no star.",
      );
    } else commands.push({ argv });
  }
  return { commands, cwd: section.path(keys, path, "cwd") ?? section.folder };
}
