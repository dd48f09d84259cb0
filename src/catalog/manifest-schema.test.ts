import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import type { Json } from "../base/json.ts";
import { closedMaps, STRANGER } from "../text/testing/closed-maps.ts";
import { SourceText, type TreeNode, toJson } from "../text/tree.ts";
import { parseYaml } from "../text/yaml.ts";
import { BUILTIN_MANIFESTS } from "./builtin-manifests.ts";
import { manifestSchema } from "./manifest-schema.ts";
import { readManifest } from "./read-manifest.ts";

const schema = manifestSchema();
const takes = new Ajv({ strict: false }).compile(schema);

function read(text: string) {
  const source = new SourceText("m.yaml", text);
  const root = parseYaml(source).root as TreeNode;
  return { ...readManifest(source, root), json: toJson(root) };
}

const manifest = (action: string): string => `connector: crm\nversion: 1.0.0\nactions:\n  find: ${action}\n`;

describe("the schema of manifests", () => {
  test.each(closedMaps(schema, (definition) => (definition === "" ? { connector: "crm", version: "1" } : {})))(
    "knows the keys of the reader: $at",
    ({ document, keys }) => {
      const { diagnostics } = read(JSON.stringify(document));
      const stranger = diagnostics.find((entry) => entry.path.endsWith(STRANGER));
      expect(/keys: (.*)\.$/.exec(stranger?.help ?? "")?.[1]?.split(", ")).toEqual(keys);
    },
  );

  test.each([
    "{ input: {}, effects: read }",
    "{ input: { type: object, properties: { key: { type: string } } }, effects: write, idempotency: { keyed: key } }",
    "{ input: {}, effects: none, idempotency: natural, retry: { attempts: 3, backoff: 200ms, on: [unavailable, crm.busy] }, timeout: PT10S, dry_run: { simulate: 5 } }",
    `{ input: {}, output: { type: array }, effects: destructive, dry_run: suppress, scopes: [a], requires: [], ambiguous: [lost], tool: Find, description: "", pin: "sha256:${"0".repeat(64)}" }`,
  ])("takes what the reader takes: %s", (action) => {
    const { manifest: made, diagnostics, json } = read(manifest(action));
    expect(diagnostics).toEqual([]);
    expect(made).not.toBeNull();
    expect(takes(json), JSON.stringify(takes.errors)).toBe(true);
  });

  test.each([
    "{ input: {}, effects: reed }",
    "{ input: {}, effect: read }",
    "{ input: { type: array }, effects: read }",
    "{ input: {}, effects: read, retry: { attempts: 21 } }",
    "{ input: {}, effects: read, retry: { backoff: 1s } }",
    "{ input: {}, effects: read, timeout: 10 }",
    "{ input: {}, effects: read, pin: abc }",
    "{ input: {}, effects: read, idempotency: { key: a } }",
    "{ input: {}, effects: read, ambiguous: [a.b.c] }",
    "{ effects: read }",
  ])("refuses what the reader refuses: %s", (action) => {
    const { manifest: made, json } = read(manifest(action));
    expect(made).toBeNull();
    expect(takes(json)).toBe(false);
  });

  test.each(["wf", "a__b", "1a", ""])("takes no connector that is called %j", (name) => {
    expect(takes({ connector: name, version: "1", actions: {} })).toBe(false);
    expect(read(JSON.stringify({ connector: name, version: "1", actions: {} })).manifest).toBeNull();
  });

  test("takes the connectors that are built in", () => {
    for (const { connector, version, actions } of Object.values(BUILTIN_MANIFESTS)) {
      const bare = Object.entries(actions).map(([name, { input, output, effects }]) => [
        name,
        { input, output, effects },
      ]);
      expect(takes({ connector, version, actions: Object.fromEntries(bare) as Json })).toBe(true);
    }
  });
});
