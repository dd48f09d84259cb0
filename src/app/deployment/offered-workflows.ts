import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { ConnectorKind } from "../../admit/deployment.ts";
import type { ActionManifest, Manifest } from "../../catalog/manifest.ts";
import { isPlainName } from "../../catalog/names.ts";
import { setOwn } from "../../plan/marked.ts";
import { FILE_ENDINGS } from "../../plan/offered.ts";
import { keyPath } from "../../text/path.ts";
import { clip } from "../../text/reader.ts";
import { type Keys, keySpan, type Section } from "./section.ts";

/** Settings of a connector that only mean something where calls are dispatched to it. */
const OF_DISPATCH = ["manifest", "limits", "connections"] as const;

/** `workflows: { triage: ./triage.workfile.yaml }`; each name becomes an action. */
export function readOffered(section: Section, keys: Keys, path: string): Extract<ConnectorKind, { kind: "workflows" }> {
  const files: { [action: string]: string } = {};
  for (const key of OF_DISPATCH) {
    const entry = keys.get(key);
    if (!entry) continue;
    const message = `Workflows take no ${key}: a step that names one is a call of its file.`;
    section.bad(keySpan(entry), keyPath(path, key), message, "Set it at the connectors that the file uses.");
  }
  for (const { entry, path: at } of section.entries(keys, path, "workflows")) {
    const text = section.reader.text(entry.value, at, "the workflow's path");
    if (text === null) continue;
    if (!isPlainName(entry.key) || FILE_ENDINGS.includes(entry.key)) {
      section.bad(keySpan(entry), at, `"${clip(entry.key)}" cannot be the name of a workflow's action.`);
      continue;
    }
    const file = resolve(section.folder, text);
    if (existsSync(file)) setOwn(files, entry.key, file);
    else section.bad(entry.value, at, `There is no file ${clip(file)}.`);
  }
  return { kind: "workflows", files };
}

/** Its actions by name, for what lists and hints; what they do is told by the files. */
export function offeredManifest(connector: string, files: { [action: string]: string }): Manifest {
  const actions = Object.entries(files).map(([name, path]): [string, ActionManifest] => [
    name,
    {
      name: `${connector}.${name}`,
      description: `The workflow ${path}.`,
      input: {},
      output: {},
      effects: "destructive",
      idempotency: { kind: "none" },
      retry: { attempts: 1, backoff: 0, on: [] },
      timeout: 0,
      dryRun: { kind: "suppress" },
      scopes: [],
      requires: [],
      ambiguous: [],
    },
  ]);
  return { connector, version: "0", actions: Object.fromEntries(actions) };
}
