import { describe, expect, test } from "vitest";
import { Catalog, type CatalogConnection } from "./catalog.ts";
import type { ActionManifest, Manifest } from "./manifest.ts";
import { connectorNameProblem, fullFailureCode, isFailureCode, splitActionName } from "./names.ts";
import { toolDefinitionPin } from "./tool-definition.ts";

function action(name: string, scopes: string[] = []): ActionManifest {
  return {
    name,
    description: "",
    input: {},
    output: {},
    effects: "read",
    idempotency: { kind: "natural" },
    retry: { attempts: 1, backoff: 0, on: [] },
    timeout: 1,
    dryRun: { kind: "execute" },
    scopes,
    requires: [],
    ambiguous: [],
  };
}

function manifest(connector: string, names: string[], scopes: string[] = []): Manifest {
  return {
    connector,
    version: "1",
    actions: Object.fromEntries(names.map((name) => [name, action(`${connector}.${name}`, scopes)])),
  };
}

function catalog(connections: CatalogConnection[] = []): Catalog {
  return new Catalog([
    { name: "crm", manifest: manifest("crm", ["search", "tag"], ["crm.read", "crm.write"]), connections },
    { name: "erp", manifest: manifest("erp", ["search"]), connections: [] },
  ]);
}

describe("actions by name", () => {
  test("HO-07: two connectors may offer one name", () => {
    const found = catalog().find("erp.search");
    expect(found.ok && found.connector).toBe("erp");
    expect(catalog().actionNames()).toEqual(["crm.search", "crm.tag", "erp.search"]);
  });

  test.each([
    "search",
    "Crm.search",
    "crm.SEARCH",
    "crm.search ",
    "crm.seаrch",
    "crm..search",
    "crm.search.x",
    "crm.__proto__",
    "crm.constructor",
    "__proto__.x",
    "",
  ])("WX-42: %j is not found", (name) => expect(catalog().find(name).ok).toBe(false));

  test("a slip gets the nearest name, an unknown action what there is", () => {
    const slip = catalog().find("crm.serach");
    expect(!slip.ok && slip.help).toContain('Did you mean "crm.search"?');
    const other = catalog().find("crm.unheard_of");
    expect(!other.ok && other.help).toContain("search, tag");
    const far = catalog().find("zzz.yyy");
    expect(!far.ok && far.help).toContain("crm, erp");
  });
});

describe("WX-29: the default connection", () => {
  const one = (isDefault: boolean): CatalogConnection => ({ name: "a", isDefault });

  test("is implicit where none is listed", () => {
    expect(catalog().connectionOf("crm")).toEqual({ ok: true, connection: "default", scopes: null });
  });

  test("a single connection is the default only if it says so", () => {
    expect(catalog([one(false)]).connectionOf("crm")).toMatchObject({
      ok: false,
      code: "catalog.no_default_connection",
    });
    expect(catalog([one(true)]).connectionOf("crm")).toMatchObject({ ok: true, connection: "a" });
  });

  test("two of them need exactly one default", () => {
    const b = { name: "b", isDefault: false };
    expect(catalog([one(false), b]).connectionOf("crm").ok).toBe(false);
    expect(catalog([one(true), { ...b, isDefault: true }]).connectionOf("crm").ok).toBe(false);
    expect(catalog([one(true), b]).connectionOf("crm")).toMatchObject({ ok: true, connection: "a" });
  });

  test("WX-31: scopes that it lacks", () => {
    const search = action("crm.search", ["crm.read", "crm.write"]);
    expect(catalog([{ ...one(true), scopes: ["crm.read"] }]).missingScopes(search)).toEqual(["crm.write"]);
    expect(catalog([one(true)]).missingScopes(search)).toEqual([]);
  });
});

test("names", () => {
  expect(splitActionName("crm.search")).toEqual({ connector: "crm", name: "search" });
  expect(splitActionName("a.b.c")).toBeNull();
  expect(connectorNameProblem("mcp__x")).toMatch(/__/);
  expect(connectorNameProblem("files")).toBeNull();
  expect(fullFailureCode("rate_limited", "crm")).toBe("action.rate_limited");
  expect(fullFailureCode("gone", "crm")).toBe("crm.gone");
  expect(fullFailureCode("crm.gone", "x")).toBe("crm.gone");
  expect(isFailureCode("a.b.c")).toBe(false);
});

test("a pin is of the canonical definition, without what the transport adds", () => {
  const pin = toolDefinitionPin({ name: "a", inputSchema: { type: "object" } });
  expect(pin).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(toolDefinitionPin({ inputSchema: { type: "object" }, name: "a", _meta: { x: 1 } })).toBe(pin);
  expect(toolDefinitionPin({ name: "a", inputSchema: { type: "object" }, description: "" })).not.toBe(pin);
  expect(toolDefinitionPin("a")).toBeNull();
});
