import { describe, expect, it } from "vitest";
import { SourceText } from "../../text/tree.ts";
import { readScripted } from "./read-scripted.ts";

function findings(yaml: string) {
  const { script, diagnostics } = readScripted(new SourceText("x.scripted.yaml", yaml));
  expect(script === null).toBe(diagnostics.some((entry) => entry.severity === "error"));
  return diagnostics.map(({ code, line, column, path, message, help }) => ({
    code,
    line,
    column,
    path,
    message,
    help,
  }));
}

function turn(yaml: string) {
  return findings(`agents:\n  triage:\n    - turns:\n        - ${yaml}\n`);
}

describe("reading a scripted agent file", () => {
  it("takes a file without agents", () => {
    expect(findings("agents: {}\n")).toEqual([]);
  });

  it("points at an unknown key and proposes the nearest one", () => {
    expect(turn("{ finsh: { a: 1 } }")).toMatchObject([
      {
        code: "deployment.invalid",
        line: 4,
        column: 13,
        path: "agents.triage[0].turns[0].finsh",
        help: expect.stringMatching(/finish/),
      },
    ]);
  });

  it("reports all faults of a file at once", () => {
    const found = findings(`
agents:
  triage:
    - stepp: resolve
      turns:
        - { tokens: some }
        - { repeat: 0 }
        - { wait: 5 }
        - { call: [a] }
`);
    expect(found.map((entry) => entry.path)).toEqual([
      "agents.triage[0].stepp",
      "agents.triage[0].turns[0].tokens",
      "agents.triage[0].turns[1].repeat",
      "agents.triage[0].turns[2].wait",
      "agents.triage[0].turns[3].call",
    ]);
    expect(new Set(found.map((entry) => entry.code))).toEqual(new Set(["deployment.invalid"]));
  });

  it.each([
    ["{ with: { a: 1 } }", "agents.triage[0].turns[0].with"],
    ["{ args_text: x }", "agents.triage[0].turns[0].args_text"],
    ["{ call: a.b, with: {}, args_text: x }", "agents.triage[0].turns[0].args_text"],
    ["{ call: a.b, calls: [] }", "agents.triage[0].turns[0].calls"],
    ["{ calls: [ { with: {} } ] }", "agents.triage[0].turns[0].calls[0]"],
    ["{ error: { message: x } }", "agents.triage[0].turns[0].error"],
    ["{ when: { result: x } }", "agents.triage[0].turns[0].when.result"],
    ["{ tokens: -1 }", "agents.triage[0].turns[0].tokens"],
    ["{ tokens: { in: 1 } }", "agents.triage[0].turns[0].tokens.in"],
    ["{ repeat: always }", "agents.triage[0].turns[0].repeat"],
    ["{ forever: 3 }", "agents.triage[0].turns[0].forever"],
  ])("refuses %s", (yaml, path) => {
    expect(turn(yaml)).toMatchObject([{ code: "deployment.invalid", path }]);
  });

  it("checks templates where they stand: syntax, and names that a script cannot read", () => {
    expect(turn('{ say: "hello {{ contxt.a }}" }')).toMatchObject([
      { code: "deployment.invalid", line: 4, column: 28, path: "agents.triage[0].turns[0].say" },
    ]);
    expect(turn('{ finish: { a: "{{ 1 + }}" } }')).toMatchObject([{ code: "deployment.invalid", line: 4 }]);
    expect(turn('{ finish: { a: { $literal: "{{ 1 + }}" } } }')).toEqual([]);
  });

  it("keeps keys like __proto__ as plain data", () => {
    const { script } = readScripted(
      new SourceText("x", "agents: { a: [ { turns: [ { finish: { __proto__: { x: 1 } } } ] } ] }"),
    );
    expect(script?.agents.get("a")?.[0]?.turns[0]?.finish).toEqual([
      { map: [["__proto__", { map: [["x", { lit: 1 }]] }]] },
    ]);
  });

  it("passes on what the YAML reader says", () => {
    expect(findings("agents: { a: &x [] , b: *x }").map((entry) => entry.code)).toContain("yaml.alias");
    expect(findings("agents: {").map((entry) => entry.code)).toContain("yaml.syntax");
    expect(findings("")).toMatchObject([{ code: "deployment.invalid", line: 1 }]);
  });
});
