import { resolve } from "node:path";
import { expect, test } from "vitest";
import type { ConnectorConfig } from "../admit/deployment.ts";
import { readManifest } from "../catalog/read-manifest.ts";
import { Refusal } from "../errors/fault.ts";
import { SourceText } from "../text/tree.ts";
import { parseYaml } from "../text/yaml.ts";
import { importManifest } from "./connector-tools.ts";
import type { LoadedDeployment } from "./deployment.ts";
import { findDrift, withDrift } from "./drift.ts";

const server = resolve(import.meta.dirname, "../../test/contracts/servers/honest.mjs");
const OLD = `sha256:${"0".repeat(64)}`;
const signal = new AbortController().signal;

function connector(text: string): ConnectorConfig {
  const source = new SourceText("crm.yaml", text);
  const { root } = parseYaml(source);
  const manifest = root === null ? null : readManifest(source, root).manifest;
  if (manifest === null) throw new Error("no manifest");
  const how = { kind: "mcp" as const, command: "node", args: [server], env: {}, cwd: import.meta.dirname };
  return { name: "honest", how, manifest, connections: [], knowledge: false };
}

test("what has changed is said: both hashes, the parts, and the command that pins it again", async () => {
  const empty = connector("connector: honest\nversion: '1'\nactions: {}\n");
  const deployment = { connectors: { honest: empty } } as unknown as LoadedDeployment;
  const imported = await importManifest(deployment, "honest", process.env);
  expect(await findDrift(connector(imported), process.env, signal)).toEqual([]);

  const repinned = imported
    .replace("Says the text again.", "Says it.")
    .replace(/(Says it\.[\s\S]*?pin: )sha256:[0-9a-f]{64}/, `$1${OLD}`);
  const config = connector(repinned);
  const [drift, ...others] = await findDrift(config, process.env, signal);
  expect(others).toEqual([]);
  expect(drift).toMatchObject({ action: "honest.echo", pinned: OLD, parts: ["the description"] });

  const refusal = new Refusal("catalog.drift", "It is another one.", {
    action: "honest.echo",
    pinned: OLD,
    found: drift?.found ?? "",
  });
  const { fault } = await withDrift(refusal, config, process.env, signal);
  expect(fault.message).toContain(OLD.slice(0, 19));
  expect(fault.message).toContain(drift?.found.slice(0, 19));
  expect(fault.message).toContain("the two differ in the description");
  expect(fault.message).toContain("ambit connectors import honest prints it");
  expect(fault.details).toMatchObject({ pinned: OLD, parts: ["the description"] });
}, 60_000);
