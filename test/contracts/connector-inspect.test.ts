import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { ConnectorConfig } from "../../src/admit/deployment.ts";
import { inspectServer } from "../../src/app/deployment/inspect-server.ts";
import { makeConnector } from "../../src/app/deployment/make-connectors.ts";
import { toolDefinitionPin } from "../../src/catalog/tool-definition.ts";
import { manifestOf, never, requestOf } from "./connector.ts";

const folder = fileURLToPath(new URL("./servers/", import.meta.url));

function configOf(args: string[], more: Partial<ConnectorConfig["manifest"]> = {}): ConnectorConfig {
  return {
    name: "demo",
    how: { kind: "mcp", command: "node", args, env: {}, cwd: folder },
    manifest: { connector: "demo", version: "1", actions: { echo: manifestOf("demo.echo") }, ...more },
    connections: [],
    knowledge: false,
  };
}

test("an import finds the version and the tools, and a run connects with that version to the same definitions", async () => {
  const found = await inspectServer(configOf(["honest.mjs"]), {}, never());
  expect(found.protocol).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  expect(found.server).toEqual({ name: "honest", version: "1.0.0" });
  const echo = found.tools.find((tool) => tool.name === "echo");
  const connector = makeConnector(configOf(["honest.mjs"], { protocol: found.protocol ?? "" }), { env: {} });
  try {
    const offer = await connector.connect(never());
    expect(offer.actions["demo.echo"]?.pin).toBe(toolDefinitionPin(echo?.definition));
    expect(await connector.call(requestOf("demo.echo", { text: "a" }), never())).toEqual({
      is: "ok",
      value: { text: "a" },
    });
  } finally {
    await connector.close();
  }
});

test("a server that ends at once refuses with its end and what it printed, and what is no server has nothing to show", async () => {
  await expect(inspectServer(configOf(["liar.mjs", "dead"]), {}, never())).rejects.toMatchObject({
    code: "catalog.unavailable",
  });
  const dying = inspectServer(configOf(["-e", "console.error('no key'); process.exit(3)"]), {}, never());
  await expect(dying).rejects.toThrow(/ended with exit code 3 before it answered; it printed: no key/);
  const stub: ConnectorConfig = { ...configOf([]), how: { kind: "builtin", settings: {} } };
  await expect(inspectServer(stub, {}, never())).rejects.toMatchObject({ code: "catalog.unavailable" });
});
