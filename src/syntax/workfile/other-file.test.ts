import { expect, test } from "vitest";
import { diagnose } from "../diagnose.ts";

test.each([
  ["version: '1'\nagents: { a: { provider: scripted } }\nconnectors: {}", "a deployment (ambit.yaml)", "ambit doctor"],
  ["mcpServers: {}", "a deployment", "ambit plan"],
  ["connector: crm\nversion: '1'\nactions: {}", "the manifest of a connector", "manifest"],
  ["agents:\n  triage:\n    - turns: [ { say: hi } ]", "a script of agents", "--scripted"],
  ["actions:\n  crm.search: [ { return: {} } ]", "what a stub answers", "stub"],
  ['{ "openapi": "3.1.0", "paths": {}, "components": {} }', "an OpenAPI document", "openapi"],
])("a known file that is no Workfile is called what it is: %s", (text, is, help) => {
  const { plan, diagnostics } = diagnose(text, "x.yaml");
  expect(plan).toBeNull();
  expect(diagnostics).toHaveLength(1);
  expect(diagnostics[0]).toMatchObject({ code: "workfile.not_supported", line: 1, column: expect.any(Number) });
  expect(diagnostics[0]?.message).toContain(is);
  expect(diagnostics[0]?.help).toContain(help);
});

test("a Workfile with a key of another file, and a map of unknown keys, are still judged as Workfiles", () => {
  for (const text of ["workfile: '1'\nname: a\nagents: {}\nsteps: []", "steps: []\nconnectors: {}", "nmae: a"]) {
    expect(diagnose(text, "x.yaml").diagnostics.map((entry) => entry.code)).not.toContain("workfile.not_supported");
  }
});
