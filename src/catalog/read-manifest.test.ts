import { describe, expect, test } from "vitest";
import { SourceText } from "../text/tree.ts";
import { parseYaml } from "../text/yaml.ts";
import { BUILTIN_MANIFESTS } from "./builtin-manifests.ts";
import { readManifest } from "./read-manifest.ts";
import { compileSchema } from "./value-schema.ts";

function read(text: string, connector?: string) {
  const source = new SourceText("crm.yaml", text);
  const { root, diagnostics } = parseYaml(source);
  if (root === null) throw new Error(JSON.stringify(diagnostics));
  return readManifest(source, root, connector === undefined ? {} : { connector });
}

/** A manifest of one action with these lines below the required ones. */
function withAction(lines: string): string {
  return `connector: crm
version: 1.2.0
actions:
  search:
    input: { type: object, properties: { query: { type: string }, request_key: { type: string } } }
    output: { type: object, required: [n], properties: { n: { type: integer } } }
    effects: write
${lines
  .split("\n")
  .map((line) => `    ${line}`)
  .join("\n")}
`;
}

describe("a schema whose check gives no verdict", () => {
  test.each([
    ["$async", "{ type: object, $async: true }"],
    ["comes back to itself", "{ $ref: '#/$defs/a', $defs: { a: { anyOf: [ { $ref: '#/$defs/a' } ] } } }"],
  ])("%s is catalog.invalid_manifest, for arguments and results", (said, schema) => {
    for (const place of ["input", "output"]) {
      const other = place === "input" ? "output" : "input";
      const { manifest, diagnostics } = read(
        `connector: crm\nversion: 1.0.0\nactions:\n  go: { ${place}: ${schema}, ${other}: {}, effects: write }\n`,
      );
      expect(manifest).toBeNull();
      expect(diagnostics[0]).toMatchObject({ code: "catalog.invalid_manifest", severity: "error" });
      expect(diagnostics[0]?.message).toContain(said);
    }
  });
});

describe("a manifest", () => {
  test("with every key", () => {
    const { manifest, diagnostics } = read(`connector: crm
version: 1.2.0
protocol: "2025-06-18"
actions:
  search:
    description: Find accounts by text.
    input:  { type: object, required: [query], properties: { query: { type: string }, k: { type: string } } }
    output: { type: object, required: [accounts], properties: { accounts: { type: array } } }
    effects: write
    idempotency: { keyed: k }
    retry: { attempts: 3, backoff: 200ms, on: [unavailable, busy, flow.timeout] }
    timeout: 10s
    dry_run: { simulate: { accounts: [] } }
    scopes: [crm.read]
    requires: [x]
    ambiguous: [lost]
    tool: find-accounts
    pin: sha256:${"4f".repeat(32)}
`);
    expect(diagnostics).toEqual([]);
    expect(manifest).toMatchObject({ connector: "crm", version: "1.2.0", protocol: "2025-06-18" });
    expect(manifest?.actions["search"]).toMatchObject({
      name: "crm.search",
      effects: "write",
      idempotency: { kind: "keyed", field: "k" },
      retry: { attempts: 3, backoff: 200, on: ["action.unavailable", "crm.busy", "flow.timeout"] },
      timeout: 10_000,
      dryRun: { kind: "simulate", output: { accounts: [] } },
      scopes: ["crm.read"],
      ambiguous: ["crm.lost"],
      tool: "find-accounts",
    });
  });

  test("what is left out", () => {
    const { manifest } = read(
      "connector: c\nversion: a\nactions: { r: { input: {}, effects: read }, w: { input: {}, effects: write } }",
    );
    expect(manifest?.actions["r"]).toMatchObject({
      description: "",
      output: {},
      idempotency: { kind: "none" },
      retry: { attempts: 1, backoff: 0, on: [] },
      timeout: 60_000,
      dryRun: { kind: "execute" },
    });
    expect(manifest?.actions["w"]?.dryRun).toEqual({ kind: "suppress" });
  });
});

describe("catalog.invalid_manifest, with the place", () => {
  test.each([
    ["an unknown key", withAction("effect: read"), "actions.search.effect", 8],
    ["a missing key", "connector: c\nversion: a\nactions: { x: { effects: read } }", "actions.x", 3],
    ["effects that are none", withAction("").replace("effects: write", "effects: writes"), "actions.search.effects", 7],
    ["a timeout without a unit", withAction("timeout: 10"), "actions.search.timeout", 8],
    ["no timeout at all", withAction("timeout: 0s"), "actions.search.timeout", 8],
    ["a pause that is too long", withAction("retry: { attempts: 2, backoff: 31s }"), "actions.search.retry.backoff", 8],
    ["retries without end", withAction("retry: { attempts: 1000 }"), "actions.search.retry.attempts", 8],
    ["a key field that is no input", withAction("idempotency: { keyed: key }"), "actions.search.idempotency.keyed", 8],
    ["an idempotency that is none", withAction("idempotency: yes"), "actions.search.idempotency", 8],
    [
      "a simulated answer off the schema",
      withAction("dry_run: { simulate: { n: x } }"),
      "actions.search.dry_run.simulate",
      8,
    ],
    ["a pin that is none", withAction("pin: sha256:abc"), "actions.search.pin", 8],
    ["a code that is none", withAction("ambiguous: [a b]"), "actions.search.ambiguous[0]", 8],
    ["a schema that is none", withAction("").replace("type: integer", "type: whole"), "actions.search.output", 6],
    [
      "an input that is no object",
      withAction("").replace("input: { type: object", "input: { type: array"),
      "actions.search.input",
      5,
    ],
    [
      "an action name with a dot",
      "connector: c\nversion: a\nactions: { a.b: { input: {}, effects: read } }",
      'actions["a.b"]',
      3,
    ],
    ["a version that is a number", "connector: c\nversion: 1.0\nactions: {}", "version", 2],
  ])("%s", (_name, text, path, line) => {
    const { manifest, diagnostics } = read(text);
    expect(manifest).toBeNull();
    expect(diagnostics[0]).toMatchObject({ code: "catalog.invalid_manifest", path, line, file: "crm.yaml" });
  });

  test.each(["wf", "internal", "goal", "introspection", "a__b", "1a", "a.b"])("the connector name %s", (name) => {
    expect(read(`connector: ${name}\nversion: a\nactions: {}`).manifest).toBeNull();
  });

  test("a manifest written for another connector", () => {
    expect(read(withAction("").replace("connector: crm", "connector: erp"), "crm").manifest).toBeNull();
    expect(read(withAction(""), "crm").manifest).not.toBeNull();
  });

  test("a slip of a key gets the nearest one", () => {
    expect(read(withAction("timout: 3s")).diagnostics[0]?.help).toContain('Did you mean "timeout"?');
  });

  test("__proto__ as an action's name is an own key", () => {
    const { manifest } = read("connector: c\nversion: a\nactions: { __proto__: { input: {}, effects: read } }");
    expect(Object.keys(manifest?.actions ?? {})).toEqual(["__proto__"]);
  });
});

test("built-in manifests hold usable schemas, and their retries cannot repeat a write", () => {
  for (const manifest of Object.values(BUILTIN_MANIFESTS)) {
    for (const [name, action] of Object.entries(manifest.actions)) {
      expect(action.name).toBe(`${manifest.connector}.${name}`);
      expect(compileSchema(action.input)).toHaveProperty("check");
      expect(compileSchema(action.output)).toHaveProperty("check");
      expect(action.retry.attempts).toBe(1);
    }
  }
  expect(BUILTIN_MANIFESTS["files"]?.actions["delete"]).toMatchObject({ effects: "destructive" });
});
