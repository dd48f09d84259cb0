import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { idOf, rowTests, TABLE_FILE, tableText } from "./table.mjs";

test("docs/conformance.md is what the generator gives (node test/conformance/table.mjs --write)", () => {
  expect(readFileSync(TABLE_FILE, "utf8")).toBe(tableText());
});

let root = "";
afterEach(() => rmSync(root, { recursive: true, force: true }));

function tableOf(cases: { [folder: string]: object }, pending: { [name: string]: string }): string[] {
  root = mkdtempSync(join(tmpdir(), "ambit-table-"));
  writeFileSync(join(root, "ids.json"), JSON.stringify({ "WX-1": "one | first", "WX-12": "twelve", "WC-2": "two" }));
  writeFileSync(join(root, "pending.json"), JSON.stringify(pending));
  for (const [folder, settings] of Object.entries(cases)) {
    mkdirSync(join(root, folder));
    writeFileSync(join(root, folder, "case.json"), JSON.stringify(settings));
  }
  return tableText(root)
    .split("\n")
    .filter((line) => line.startsWith("| W"));
}

test("an id passes by the folders that begin with it or cover it, and by no longer number", () => {
  expect(tableOf({ "WX-12-a": { covers: ["WC-2"] } }, {})).toEqual([
    "| WX-1 | one \\| first |  | later |",
    "| WX-12 | twelve | `WX-12-a` | passes |",
    "| WC-2 | two | `WX-12-a` | passes |",
  ]);
});

test("a pending case, or a pending variant of one, is shown with its reason", () => {
  expect(tableOf({ "WX-1-a": {}, "WX-12-a": {}, "WX-12-ab": {} }, { "WX-1-a": "why", "WX-12-a/v": "how" })).toEqual([
    "| WX-1 | one \\| first | `WX-1-a` | pending (`WX-1-a`: why) |",
    "| WX-12 | twelve | `WX-12-a`, `WX-12-ab` | pending (`WX-12-a/v`: how) |",
    "| WC-2 | two |  | later |",
  ]);
});

test("a test that begins with an id stands for it, one that only names it does not", () => {
  root = mkdtempSync(join(tmpdir(), "ambit-table-"));
  writeFileSync(join(root, "a.test.ts"), 'test("WX-1, WX-12: shown", () => {});\ntest("as in WC-2: not", () => {});\n');
  const tests = rowTests(root);
  expect([...tests]).toEqual([
    ["WX-1", ["a.test.ts"]],
    ["WX-12", ["a.test.ts"]],
  ]);
  writeFileSync(join(root, "ids.json"), JSON.stringify({ "WX-1": "one", "WC-2": "two" }));
  const rows = tableText(root, [], tests)
    .split("\n")
    .filter((line) => line.startsWith("| W"));
  expect(rows).toEqual([
    "| WX-1 | one | [a.test.ts](../test/conformance-rows/a.test.ts) | passes |",
    "| WC-2 | two |  | later |",
  ]);
});

test("a case stands for ids that are there", () => {
  expect(() => tableOf({ "WX-1-a": { covers: ["WX-99"] } }, {})).toThrow("WX-99");
  expect(() => tableOf({ slug: {} }, {})).toThrow("slug");
  expect(idOf("WX-12-slug-3")).toBe("WX-12");
});

test("a code is shown with the cases that expect it, those about codes first, and counts as none elsewhere", () => {
  root = mkdtempSync(join(tmpdir(), "ambit-table-"));
  writeFileSync(join(root, "ids.json"), JSON.stringify({ "WX-1": "one" }));
  const files = {
    "WX-1-a/expect.json": '{"error":{"code":"a.b"},"notices":["c.d"]}',
    "CODE-x/case.json": '{"inputs":{"code":"c.d"},"variants":[{"expect":{"diagnostics":[{"code":"a.b"}]}}]}',
    "CODE-x/expect.json": "{}",
    "CODE-y/case.json": '{"then":[{"expect":{"events":[{"body":{"fault":{"code":"e.f"}}}]}}]}',
  };
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  const rows = tableText(root, ["a.b", "c.d", "e.f", "run.owned"]).split("\n");
  expect(rows.filter((row) => row.startsWith("| `"))).toEqual([
    "| `a.b` | `CODE-x`, `WX-1-a` |",
    "| `c.d` |  |",
    "| `e.f` | `CODE-y` |",
    "| `run.owned` | [test/faults/owner.test.ts](../test/faults/owner.test.ts) |",
  ]);
});
