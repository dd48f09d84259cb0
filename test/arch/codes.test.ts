import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { CODES } from "../../src/errors/codes.ts";
import { DELIVERY_KINDS, NOTE_KINDS } from "../../src/journal/event.ts";
import { CODE_TESTS } from "../conformance/code-tests.mjs";
import { codeCases, registeredCodes } from "../conformance/table.mjs";

const root = resolve(import.meta.dirname, "../..");
const codes = Object.keys(CODES);

/** What the engine is made of, without the table of codes itself and without tests. */
const sources = readdirSync(join(root, "src"), { withFileTypes: true, recursive: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith(".ts") && !entry.name.endsWith(".test.ts"))
  .map((entry) => relative(root, join(entry.parentPath, entry.name)))
  .filter((file) => !file.startsWith("src/errors/codes") && !file.includes("/testing/"))
  .map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }));

/** Texts of a code's form that name something else: kinds of records, actions, keys of the language. */
const OTHER: ReadonlySet<string> = new Set([
  ...DELIVERY_KINDS,
  ...NOTE_KINDS,
  "agent.reconcile",
  "agent.retry",
  ...["append", "delete", "list", "read", "write"].map((action) => `files.${action}`),
  ...["get", "request"].map((action) => `http.${action}`),
  "shell.run",
  ...["add", "delete", "get", "put"].map((action) => `state.${action}`),
]);

describe("every registered code", () => {
  test("is found by the table of cases", () => {
    expect(registeredCodes().sort()).toEqual([...codes].sort());
  });

  test("has a case that expects it, or a test that is named for it", () => {
    const cases = codeCases();
    expect(codes.filter((code) => !cases.has(code) && !Object.hasOwn(CODE_TESTS, code))).toEqual([]);
  });

  test("that is named with a test has no case, and the test is there and names it", () => {
    const cases = codeCases();
    const faults = Object.entries(CODE_TESTS).flatMap(([code, file]) => {
      if (!codes.includes(code)) return [`${code} is not registered`];
      if (cases.has(code)) return [`${code} has a case: take it out of code-tests.mjs`];
      if (!existsSync(join(root, file))) return [`${code}: there is no ${file}`];
      return readFileSync(join(root, file), "utf8").includes(`"${code}"`) ? [] : [`${file} does not name ${code}`];
    });
    expect(faults).toEqual([]);
  });

  test("is used outside its own table", () => {
    expect(codes.filter((code) => !sources.some(({ text }) => text.includes(`"${code}"`)))).toEqual([]);
  });
});

test("every code that a source names is registered", () => {
  const families = new Set(codes.flatMap((code) => (code.includes(".") ? [code.slice(0, code.indexOf("."))] : [])));
  const unknown = sources.flatMap(({ file, text }) =>
    [...text.matchAll(/"([a-z]+)\.[a-z_]+"/g)]
      .filter(([, family]) => family !== undefined && families.has(family))
      .map(([literal]) => literal.slice(1, -1))
      .filter((code) => !Object.hasOwn(CODES, code) && !OTHER.has(code))
      .map((code) => `${file}: ${code}`),
  );
  expect(unknown).toEqual([]);
});
