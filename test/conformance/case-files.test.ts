import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import {
  expectOlderSpelling,
  readCase,
  replaceOnce,
  toOlderSpelling,
  trialsOf,
  usesNewerSpelling,
} from "./case-files.ts";

let folder = "";
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function caseOf(files: { [name: string]: string }): ReturnType<typeof readCase> {
  folder = mkdtempSync(join(tmpdir(), "ambit-case-"));
  mkdirSync(join(folder, "c"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, "c", name), text);
  return readCase(join(folder, "c"), "c");
}

describe("a case folder", () => {
  test("has exactly one workflow", () => {
    expect(() => caseOf({})).toThrow("exactly one");
    expect(() => caseOf({ "workflow.yaml": "", "workflow.awl": "" })).toThrow("exactly one");
  });

  test("knows its keys: a slip is an error of the case", () => {
    expect(() => caseOf({ "workflow.yaml": "", "case.json": '{"input":{}}' })).toThrow('"input"');
    expect(() => caseOf({ "workflow.yaml": "", "expect.json": '{"stauts":"completed"}' })).toThrow('"stauts"');
    expect(() => caseOf({ "workflow.yaml": "", "expect.json": '{"stage":"check"}' })).toThrow("stage");
    expect(() => caseOf({ "workflow.yaml": "", "case.json": '{"then":["repeat"]}' })).toThrow("then");
    expect(() => caseOf({ "workflow.yaml": "", "case.json": '{"clock":"fast"}' })).toThrow("clock");
  });

  test("gives a test per variant, and the older spelling where the newer one is used", () => {
    const variant = '{"variants":[{"name":"v","file":"workflow.yaml","replace":{"x":"wf.agent: y"}}]}';
    const names = trialsOf(caseOf({ "workflow.yaml": "x", "case.json": variant })).map((trial) => [
      trial.name,
      trial.olderSpelling,
    ]);
    expect(names).toEqual([
      ["c", false],
      ["c/v", false],
      ["c/v", true],
    ]);
  });
});

test("a replacement hits exactly once", () => {
  const variant = (replace: { [old: string]: string }) => ({ name: "v", file: "f", replace, older: true });
  expect(replaceOnce("a b", variant({ a: "$&" }), "c")).toBe("$& b");
  expect(() => replaceOnce("a a", variant({ a: "b" }), "c")).toThrow("2 times");
  expect(() => replaceOnce("a", variant({ b: "c" }), "c")).toThrow("0 times");
});

describe("the older spelling", () => {
  test("changes keys and no values", () => {
    expect(toOlderSpelling("- a:\n    wf.agent: x\n- b: { wf.run: python, code: 'wf.agent' }\n")).toBe(
      "- a:\n    agent: x\n- b: { run: python, code: 'wf.agent' }\n",
    );
    expect(usesNewerSpelling("tools: [wf.agent]\nx: wf.agent.y\nwf.agents: 1")).toBe(false);
  });

  test("moves expected places behind a key to the left, and names the older key in paths", () => {
    const text = "steps:\n  - a: { wf.agent: x, gaol: y }\n";
    const diagnostics = [{ line: 2, column: 22, path: 'steps[0].a["wf.agent"]' }, { line: 2, column: 5 }, { line: 1 }];
    expect(expectOlderSpelling({ diagnostics }, text)).toEqual({
      diagnostics: [{ line: 2, column: 19, path: "steps[0].a.agent" }, { line: 2, column: 5 }, { line: 1 }],
    });
  });
});
